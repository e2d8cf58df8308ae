"""What came of a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.evaluate.folds import Places
from tanbark.evaluate.metrics import METRICS
from tanbark.evaluate.significance import standard_error

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fold:
    """What a classifier said of the rows of a fold, having learned from others.

    Parameters
    ----------
    rows : array of shape (rows of the fold,)
        Which rows of the table they are.
    truth : array of shape (rows of the fold,)
        The number of each row's class.
    log_probabilities : array of shape (rows of the fold, classes)
    learned_from : int
        How many rows were learned from.
    fit_seconds, predict_seconds : float
        How long learning and predicting took. Where all rows were read, encoded and counted at once, each fold is
        charged its share of that.
    """

    rows: Places
    truth: Places
    log_probabilities: Array
    learned_from: int
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """How well a classifier predicted rows that it had not seen.

    Parameters
    ----------
    classes : array
        The classes, in the order of their numbers; those that no row has but the classifier knows come last.
    folds : tuple of Folds
        Those of the first repetition first.
    repeats : int
    shared : int
        In how many folds the counts were those of all rows less the fold's.
    """

    classes: NDArray[Any]
    folds: tuple[Fold, ...]
    repeats: int
    shared: int
    _scores: dict[str, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    def score(self, metric: str) -> Array:
        """Return a metric in each fold: see `tanbark.evaluate.METRICS`."""
        if metric not in METRICS:
            raise ValueError(f"there is no metric {metric!r}; there are {', '.join(METRICS)}")
        if metric not in self._scores:
            measure = METRICS[metric]
            self._scores[metric] = np.array([measure(fold.truth, fold.log_probabilities) for fold in self.folds])
        return self._scores[metric]

    @property
    def fit_seconds(self) -> Array:
        """How long learning took in each fold."""
        return np.array([fold.fit_seconds for fold in self.folds])

    @property
    def predict_seconds(self) -> Array:
        """How long predicting took in each fold."""
        return np.array([fold.predict_seconds for fold in self.folds])

    @property
    def pooled(self) -> tuple[Places, Array]:
        """The true classes and the log probabilities of the rows of all folds."""
        folds = self.folds
        return np.concatenate([f.truth for f in folds]), np.concatenate([f.log_probabilities for f in folds])

    @property
    def learned_from(self) -> float:
        """How many rows were learned from in a fold, on average."""
        return float(np.mean([fold.learned_from for fold in self.folds]))

    @property
    def test_to_train(self) -> float:
        """How many rows were predicted for each that was learned from."""
        return sum(len(fold.rows) for fold in self.folds) / sum(fold.learned_from for fold in self.folds)

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the folds in which it is defined, NaN where there is none."""
        known = self._known(metric)
        return float(known.mean()) if len(known) else float("nan")

    def standard_error(self, metric: str) -> float:
        """Return the standard error of that mean, enlarged since folds share training rows (Nadeau and Bengio 2003)."""
        known = self._known(metric)
        if len(known) < 2:
            return float("nan")
        return standard_error(known, self.test_to_train)

    def _known(self, metric: str) -> Array:
        scores = self.score(metric)
        return scores[~np.isnan(scores)]

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {self.mean(name):.4f} ± {self.standard_error(name):.4f}" for name in METRICS)
        return f"<CrossValidation of {len(self.folds)} folds: {found}>"
