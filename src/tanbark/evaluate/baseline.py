"""Predictions that ignore the attributes, and whether a classifier is better than them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.significance import standard_error
from tanbark.messages import percent

MIN_STANDARD_ERRORS = 2.0
"""A classifier is clearly better if the difference is above this many standard errors."""
TOLERANCE = 1e-9
"""Smaller differences are rounding errors."""
BASELINE_NAME = "majority class"
"""The name of the baseline beside classifiers."""


@dataclass(frozen=True)
class Baseline:
    """Performance of predictions that ignore the attributes.

    Parameters
    ----------
    commonest : str
        The most frequent class.
    share : float
        The proportion of rows in that class: the accuracy of always predicting it.
    log_loss : float
        The log loss of predicting the class frequencies for every row, in nats: the entropy of the class. The
        frequencies are those of the rows that are evaluated, so no other constant prediction has a lower log loss.
    """

    commonest: str
    share: float
    log_loss: float

    @classmethod
    def of(cls, result: CrossValidation) -> Baseline:
        """Return the baseline for the rows of a cross-validation.

        Parameters
        ----------
        result : CrossValidation

        Returns
        -------
        Baseline
        """
        shares = _shares(result)
        commonest = most_frequent(shares, result.classes.tolist())
        return cls(str(result.classes.tolist()[commonest]), float(shares[commonest]), entropy(shares))


@dataclass(frozen=True)
class Gain:
    """How much better a classifier is than the baseline, by one metric.

    Parameters
    ----------
    difference : float
        The difference of the means, above 0 if the classifier is better.
    standard_error : float
        The standard error of the difference, which is paired by fold or by row.
    """

    difference: float
    standard_error: float

    @property
    def is_positive(self) -> bool:
        """Whether the classifier is better at all."""
        return self.difference > TOLERANCE

    @property
    def is_clear(self) -> bool:
        """Whether the classifier is better by more than two standard errors."""
        return self.is_positive and self.difference > MIN_STANDARD_ERRORS * self.standard_error


@dataclass(frozen=True)
class BaselineComparison:
    """Whether a classifier is better than always predicting the most frequent class, and than the class frequencies.

    Parameters
    ----------
    baseline : Baseline
    accuracy, log_loss : Gain
        The difference of the classifier's accuracy and log loss from those of the baseline.
    """

    baseline: Baseline
    accuracy: Gain
    log_loss: Gain

    @classmethod
    def of(cls, result: CrossValidation) -> BaselineComparison:
        """Return the comparison over the folds of a cross-validation.

        Parameters
        ----------
        result : CrossValidation

        Returns
        -------
        BaselineComparison
        """
        constant = constant_predictions(result)
        gains = []
        for metric in ("error", "log_loss"):
            better = constant.score(metric) - result.score(metric)
            error = standard_error(better, result.test_to_train) if len(better) > 1 else nan
            gains.append(Gain(float(better.mean()), error))
        return cls(Baseline.of(result), *gains)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the figures that are not clearly better than those of the baseline.

        The tuple is empty if all rows have the same class, because the baseline is then perfect.
        """
        if self.baseline.share == 1.0:
            return ()
        found = []
        always = f"always predicting {self.baseline.commonest!r} ({percent(self.baseline.share)})"
        if not self.accuracy.is_clear:
            gain = f"{100 * self.accuracy.difference:.1f} percentage points"
            text = _not_better("accuracy", self.accuracy, always, gain, f"{100 * self.accuracy.standard_error:.1f}")
            found.append(f"{text}; the log loss is better" if self.log_loss.is_clear else text)
        if not self.log_loss.is_clear:
            frequencies = f"always predicting the class frequencies ({self.baseline.log_loss:.3f} nats)"
            gain = f"{self.log_loss.difference:.3f} nats"
            found.append(
                _not_better("log loss", self.log_loss, frequencies, gain, f"{self.log_loss.standard_error:.3f}")
            )
        return tuple(found)


def _not_better(metric: str, gain: Gain, baseline: str, difference: str, error: str) -> str:
    if not gain.is_positive:
        return f"the {metric} is no better than {baseline}"
    return f"the {metric} is not clearly better than {baseline}: the difference is {difference} ± {error}"


def constant_predictions(result: CrossValidation) -> CrossValidation:
    """Return the results of predicting the class frequencies of all rows for every row.

    Parameters
    ----------
    result : CrossValidation
        A cross-validation, which determines the folds.

    Returns
    -------
    CrossValidation
        On the same folds.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(_shares(result))
    folds = (
        replace(fold, log_probabilities=np.tile(logs, (len(fold.truth), 1)), fit_seconds=0.0, predict_seconds=0.0)
        for fold in result.folds
    )
    return CrossValidation(result.classes, tuple(folds), result.repeats, 0)


def most_frequent(counts: NDArray[np.number], classes: Sequence[Any]) -> int:
    """Return the position of the most frequent class; of several, the one whose label comes first as text."""
    return min(np.flatnonzero(counts == counts.max()).tolist(), key=lambda k: str(classes[k]))


def entropy(shares: NDArray[np.float64]) -> float:
    """Return the entropy of a distribution in nats.

    >>> import numpy as np
    >>> round(entropy(np.array([0.5, 0.5, 0.0])), 4)
    0.6931
    """
    return -float(shares @ np.log(np.maximum(shares, np.finfo(np.float64).tiny)))


def _shares(result: CrossValidation) -> NDArray[np.float64]:
    """Return the proportion of the rows in each class."""
    counts = np.bincount(result.pooled[0], result.pooled_weights, len(result.classes))
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares
