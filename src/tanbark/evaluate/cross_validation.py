"""How well a classifier predicts rows that it has not seen."""

from __future__ import annotations

from typing import Any

from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.trial import Progress, Trial


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    share: float = 1.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CrossValidation:
    """Return how well a classifier predicts each fold, having learned from the others.

    Every class is spread over the folds as evenly as can be. Where the training parts would all teach the same schema
    (a `Schema` is given as the encoder, or all columns are categories whose levels are declared or occur in each part)
    one of tanbark's classifiers learns from counts of all rows less those of the fold: the same to the last bit as
    learning anew, and the table is read, encoded and counted once. All else is learned anew: cut points of numbers
    belong to the training part, and a warning is passed on if it comes in every fold. Every metric is of the
    probabilities, whatever threshold `predict` may have.

    Parameters
    ----------
    model : classifier
        One of tanbark's or scikit-learn's; it is cloned.
    X : array, data frame or Arrow table of shape (rows, attributes)
    y : array or series of shape (rows,)
        Rows without a class are left out.
    folds, repeats : int
        How many folds, and how often the table is split anew.
    share : float
        Which share of the training rows is learned from, of each class alike.
    random_state : int
        Decides the folds.
    n_jobs : int or None
        How many processes learn at once; a classifier that counts suffice for learns in this one, where as many
        threads count. As in scikit-learn None is one, -1 all.
    progress : callable, optional
        Called with how many folds are done, and of how many.

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate import cross_validate
    >>> X, y = lenses()
    >>> found = cross_validate(TAN(), X, y, folds=4)
    >>> found.score("error").round(2)
    array([0.33, 0.17, 0.33, 0.33])
    """
    return Trial(X, y, folds, repeats, random_state, n_jobs).of(model, share, progress)
