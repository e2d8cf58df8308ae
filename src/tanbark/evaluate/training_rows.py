"""Whether rows are those that a model learned from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.counts import Tally
from tanbark.schema.encode.columns import Codes

TRAINING_ROWS_NOTE = "these are the rows that the model learned from; on new rows its performance is probably lower"

TOLERANCE = 1e-9
"""Relative tolerance for rounding errors in sums of weights."""


class TrainingRowsCheck:
    """Detects whether rows, which come in batches, are those that a classifier learned from.

    They are if the number of rows of each class and of each value in each class equal the counts of the classifier,
    which do not depend on the order of rows or the name of a file. Weights of classes are divided out. A part of the
    training rows is not recognised, and neither are rows whose weights are not given.

    Parameters
    ----------
    model : CountsClassifier
        A fitted classifier.

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate.training_rows import TrainingRowsCheck
    >>> X, y = lenses()
    >>> model = NaiveBayes().fit(X, y)
    >>> check = TrainingRowsCheck(model)
    >>> for part in (slice(12, 24), slice(0, 12)):
    ...     check.add(model.encode(X[part]), model.schema_.encode_target(y[part]))
    ...     print(check.found)
    False
    True
    """

    def __init__(self, model: CountsClassifier) -> None:
        self._learned = model.counts_
        self._has_class_weights = model.class_weight is not None
        self._n_jobs = model.n_jobs
        self._tally = Tally(self._learned.schema, order=1)
        self._class_counts = np.zeros(len(self._learned.class_counts))
        self._possible = True

    def add(self, codes: Codes, classes: NDArray[np.int64], weights: NDArray[np.float64] | None = None) -> None:
        """Add a batch of rows.

        Parameters
        ----------
        codes : array of shape (attributes, rows)
            The rows, encoded by the classifier.
        classes : array of shape (rows,)
            The class of each row as an index into the classes of the schema. Rows without a class, -1, are left out. A
            smaller number is an unknown class.
        weights : array of shape (rows,), default=None
            The weight of each row.
        """
        known = classes >= 0 if weights is None else (classes >= 0) & (weights > 0)
        each = None if weights is None else weights[known]
        self._class_counts += np.bincount(classes[known], each, len(self._class_counts))
        most = self._learned.class_counts * (1 + TOLERANCE)
        too_many = not self._has_class_weights and (self._class_counts > most).any()
        self._possible = self._possible and not too_many and not (classes < -1).any()
        if self._possible:
            self._tally.add(codes if known.all() else codes[:, known], classes[known], each, self._n_jobs)

    @property
    def found(self) -> bool:
        """Whether the rows so far are the training rows."""
        if not self._possible:
            return False
        values, learned = self._tally.counts().values, self._learned
        own, theirs = self._class_counts[:, None], learned.class_counts[:, None]
        if self._has_class_weights:
            # The counts of each class are multiplied by the same factor.
            values, learned_values = values * theirs, learned.values * own
            same_classes = np.array_equal(own > 0, theirs > 0)
        else:
            learned_values = learned.values
            same_classes = np.allclose(own, theirs, rtol=TOLERANCE, atol=0)
        return bool(same_classes and np.allclose(values, learned_values, rtol=TOLERANCE, atol=0))
