"""How well a classifier predicts rows that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Quality:
    """The share of rows predicted rightly, and the mean negative log probability of their classes in nats."""

    folds: int
    accuracy: float
    log_loss: float


def stratified_folds(classes: NDArray[np.int64], folds: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the fold of each row, so that every class is spread over the folds as evenly as can be.

    >>> import numpy as np
    >>> sorted(stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    import numpy as np

    shuffled = np.random.default_rng(seed).permutation(len(classes))
    grouped = shuffled[np.argsort(classes[shuffled], kind="stable")]
    fold = np.empty(len(classes), np.int64)
    fold[grouped] = np.arange(len(classes)) % folds
    return fold


def cross_validate(
    learn: Callable[[pa.Table, Any], Any], X: pa.Table, y: Any, folds: int, step: Callable[[], None] = lambda: None
) -> Quality:
    """Return how well the rows of each fold are predicted by what is learned from the other folds.

    Parameters
    ----------
    learn : callable
        Returns a fitted classifier of a table and its classes.
    X : pyarrow.Table
    y : narwhals.Series
        Rows without a class are left out.
    folds : int
    step : callable
        Called after each fold.
    """
    import numpy as np

    from tanbark.schema.target import read_target

    target = read_target(y)
    known = np.flatnonzero(target.codes >= 0)
    codes = target.codes[known]
    labels = target.labels.tolist()
    fold = stratified_folds(codes, folds)
    right, loss = 0, 0.0
    for k in range(folds):
        inside, outside = known[fold != k], known[fold == k]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = learn(X.take(inside), y[inside])
            found = model.predict_proba(X.take(outside))
        # A class that the other folds lack was given no probability.
        probabilities = np.zeros((len(outside), len(labels)))
        probabilities[:, [labels.index(label) for label in model.classes_.tolist()]] = found
        truth = codes[fold == k]
        right += int((probabilities.argmax(axis=1) == truth).sum())
        given = np.maximum(probabilities[np.arange(len(truth)), truth], np.finfo(np.float64).eps)
        loss -= float(np.log(given).sum())
        step()
    return Quality(folds, right / len(known), loss / len(known))
