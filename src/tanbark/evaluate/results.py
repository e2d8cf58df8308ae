"""Results of a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.evaluate.folds import Places
from tanbark.evaluate.metrics import METRICS, ByConfidence, by_confidence
from tanbark.evaluate.significance import standard_error
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fold:
    """Predictions for the rows of a fold by a classifier fitted to the others.

    Parameters
    ----------
    rows : array of shape (rows of the fold,)
        Positions of the rows in the table.
    truth : array of shape (rows of the fold,)
        The class of each row, as an index into the classes.
    log_probabilities : array of shape (rows of the fold, classes)
    learned_from : int
        Number of training rows.
    fit_seconds, predict_seconds : float
        Seconds to fit and to predict. If the whole table was read, encoded and counted at once, they include the
        fold's share of that time.
    weights : array of shape (rows of the fold,), default=None
        The weights of the rows; None gives each row weight 1.
    """

    rows: Places
    truth: Places
    log_probabilities: Array
    learned_from: int
    fit_seconds: float
    predict_seconds: float
    weights: Array | None = None


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Performance of a classifier on held-out rows, fold by fold.

    Parameters
    ----------
    classes : array
        The classes; those that only the classifier knows come last.
    folds : tuple of Fold
        The folds of all repetitions, those of the first one first.
    repeats : int
        Number of repetitions.
    shared : int
        Number of folds in which the classifier was fitted to the counts of all rows minus those of the fold.
    """

    classes: NDArray[Any]
    folds: tuple[Fold, ...]
    repeats: int
    shared: int
    _scores: dict[str, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    def score(self, metric: str) -> Array:
        """Return a metric for each fold.

        {metric_parameter}

        Returns
        -------
        array of shape (folds,)
        """
        if metric not in METRICS:
            raise ValueError(f"there is no metric {metric!r}; the metrics are {', '.join(METRICS)}")
        if metric not in self._scores:
            measure = METRICS[metric]
            self._scores[metric] = np.array(
                [measure(fold.truth, fold.log_probabilities, fold.weights) for fold in self.folds]
            )
        return self._scores[metric]

    @property
    def fit_seconds(self) -> Array:
        """Seconds to fit, for each fold."""
        return np.array([fold.fit_seconds for fold in self.folds])

    @property
    def predict_seconds(self) -> Array:
        """Seconds to predict, for each fold."""
        return np.array([fold.predict_seconds for fold in self.folds])

    @property
    def pooled(self) -> tuple[Places, Array]:
        """The true classes and the log probabilities of the rows of all folds, concatenated."""
        folds = self.folds
        return np.concatenate([f.truth for f in folds]), np.concatenate([f.log_probabilities for f in folds])

    @property
    def pooled_weights(self) -> Array | None:
        """The weights of the rows of all folds, concatenated; None if each row has weight 1."""
        weights = [fold.weights for fold in self.folds if fold.weights is not None]
        return np.concatenate(weights) if weights else None

    @property
    def learned_from(self) -> float:
        """Mean number of training rows per fold."""
        return float(np.mean([fold.learned_from for fold in self.folds]))

    @property
    def test_to_train(self) -> float:
        """Ratio of the number of test rows to the number of training rows."""
        return sum(len(fold.rows) for fold in self.folds) / sum(fold.learned_from for fold in self.folds)

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the folds in which it is defined.

        The calibration error is that of the rows of all folds together: that of a single fold is too high, because few
        rows are in each interval of confidence.

        {metric_parameter}

        Returns
        -------
        float
            NaN if the metric is undefined in every fold.
        """
        if metric == "calibration_error":
            return ByConfidence.merged(self._by_confidence).calibration_error
        known = self._known(metric)
        return float(known.mean()) if len(known) else float("nan")

    def standard_error(self, metric: str) -> float:
        """Return the standard error of the mean, corrected for folds that share training rows.

        The correction is that of Nadeau and Bengio (2003). The standard error of the calibration error, which is not a
        mean, is computed from its jackknife pseudo-values over folds.

        {metric_parameter}

        Returns
        -------
        float
            NaN if the metric is defined in fewer than two folds.
        """
        known = self._calibration_values() if metric == "calibration_error" else self._known(metric)
        if len(known) < 2:
            return float("nan")
        return standard_error(known, self.test_to_train)

    @cached_property
    def _by_confidence(self) -> tuple[ByConfidence, ...]:
        """The rows of each fold by confidence."""
        return tuple(by_confidence(fold.truth, fold.log_probabilities, fold.weights) for fold in self.folds)

    def _calibration_values(self) -> Array:
        """Return the jackknife pseudo-values of the calibration error t: n t - (n - 1) t(without fold k)."""
        bins = self._by_confidence
        n_folds = len(bins)
        if n_folds < 2:
            return np.empty(0)
        left = [ByConfidence.merged(bins[:k] + bins[k + 1 :]).calibration_error for k in range(n_folds)]
        values: Array = n_folds * self.mean("calibration_error") - (n_folds - 1) * np.array(left)
        return values

    def _known(self, metric: str) -> Array:
        scores = self.score(metric)
        return scores[~np.isnan(scores)]

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {self.mean(name):.4f} ± {self.standard_error(name):.4f}" for name in METRICS)
        return f"<CrossValidation of {len(self.folds)} folds: {found}>"
