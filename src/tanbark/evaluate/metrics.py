"""Metrics of predicted class probabilities.

Every function takes the true class of each row, as an integer, and the log probabilities of all classes, of shape
(rows, classes); optionally also the weights of the rows: a weight of three counts the row three times. As in
scikit-learn, probabilities below 2**-52 are raised to it, so that the loss of a row is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.shared_docs import insert_shared_docs

Truth = NDArray[np.int64]
LogProbabilities = NDArray[np.float64]
Weights = NDArray[np.float64]
Metric = Callable[[Truth, LogProbabilities, Weights | None], float]

MIN_LOG_PROBABILITY = float(np.log(np.finfo(np.float64).eps))
N_CONFIDENCE_BINS = 15
"""Number of intervals of equal width into which calibration metrics sort confidences (Guo et al. 2017)."""


@insert_shared_docs
def error(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> float:
    """Return the proportion of misclassified rows; ties between classes go to the first.

    {metric_parameters}

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> log_p = np.log([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    >>> error(np.array([0, 0, 0, 1]), log_p)
    0.25
    """
    return float(np.average(log_probabilities.argmax(axis=1) != truth, weights=weights))


@insert_shared_docs
def log_score(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> float:
    """Return the negative log probability of the true classes in nats, summed over rows.

    This is LogScore, eq 30 of Cerquides and Lopez de Mantaras (2003).

    {metric_parameters}

    Returns
    -------
    float
    """
    given = log_probabilities[np.arange(len(truth)), truth]
    losses = -np.maximum(given, MIN_LOG_PROBABILITY)
    return float(losses.sum() if weights is None else weights @ losses)


@insert_shared_docs
def log_loss(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> float:
    """Return the mean negative log probability of the true classes in nats.

    {metric_parameters}

    Returns
    -------
    float
    """
    return log_score(truth, log_probabilities, weights) / _total(truth, weights)


@insert_shared_docs
def brier(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> float:
    """Return the Brier score: the mean squared distance between probabilities and true classes, from 0 to 2.

    {metric_parameters}

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> round(brier(np.array([0, 1]), np.log([[0.75, 0.25], [0.5, 0.5]])), 4)
    0.3125
    """
    probabilities = np.exp(log_probabilities)
    given = probabilities[np.arange(len(truth)), truth]
    return float(np.average(np.square(probabilities).sum(axis=1) - 2.0 * given + 1.0, weights=weights))


@insert_shared_docs
def auc(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> float:
    """Return the area under the ROC curve; for more than two classes the mean over each class against the rest.

    Classes that no row or every row belongs to are left out. The result is NaN if no class remains.

    {metric_parameters}

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> auc(np.array([0, 0, 1, 1]), np.log([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]]))
    0.75
    """
    from sklearn.metrics import roc_auc_score

    classes = log_probabilities.shape[1]
    chosen = [1] if classes == 2 else range(classes)
    # scikit-learn does not accept minus infinity.
    scores = np.maximum(log_probabilities, np.finfo(np.float64).min)
    areas = [
        roc_auc_score(truth == k, scores[:, k], sample_weight=weights)
        for k in chosen
        if 0 < (truth == k).sum() < len(truth)
    ]
    return float(np.mean(areas)) if areas else float("nan")


@dataclass(frozen=True)
class ByConfidence:
    """Accuracy and confidence of rows in intervals of confidence, the probability of the predicted class.

    Parameters
    ----------
    rows : array of shape (N_CONFIDENCE_BINS,)
        Number, or total weight, of the rows in each interval.
    confidence, accuracy : array of shape (N_CONFIDENCE_BINS,)
        Mean confidence and proportion of correct predictions; 0 in empty intervals.
    """

    rows: NDArray[np.int64] | NDArray[np.float64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @property
    def calibration_error(self) -> float:
        """The mean distance between accuracy and confidence, weighted by the rows of the intervals."""
        return float(np.abs(self.rows * (self.accuracy - self.confidence)).sum() / self.rows.sum())

    @classmethod
    def merged(cls, parts: Iterable[ByConfidence]) -> ByConfidence:
        """Return the intervals of several sets of rows together.

        Parameters
        ----------
        parts : iterable of ByConfidence

        Returns
        -------
        ByConfidence
        """
        parts = list(parts)
        rows = np.sum([part.rows for part in parts], axis=0)
        divisor = np.where(rows > 0, rows, 1)
        confidence = np.sum([part.rows * part.confidence for part in parts], axis=0) / divisor
        return cls(rows, confidence, np.sum([part.rows * part.accuracy for part in parts], axis=0) / divisor)


@insert_shared_docs
def by_confidence(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> ByConfidence:
    """Return accuracy and mean confidence in intervals of confidence.

    {metric_parameters}

    Returns
    -------
    ByConfidence
    """
    confidence = np.exp(log_probabilities.max(axis=1))
    correct = log_probabilities.argmax(axis=1) == truth
    at = np.minimum((confidence * N_CONFIDENCE_BINS).astype(np.int64), N_CONFIDENCE_BINS - 1)
    rows = np.bincount(at, weights, N_CONFIDENCE_BINS)
    each = np.ones(len(truth)) if weights is None else weights
    divisor = np.where(rows > 0, rows, 1)
    return ByConfidence(
        rows,
        np.bincount(at, each * confidence, N_CONFIDENCE_BINS) / divisor,
        np.bincount(at, each * correct, N_CONFIDENCE_BINS) / divisor,
    )


@insert_shared_docs
def calibration_error(truth: Truth, log_probabilities: LogProbabilities, weights: Weights | None = None) -> float:
    """Return the expected calibration error: the mean distance between accuracy and confidence.

    Confidence is the probability of the predicted class. Rows are grouped by it into fifteen intervals of equal width,
    and each interval is weighted by its number of rows (Guo et al. 2017). Every calibration error in tanbark is this
    one; that of a cross-validation is computed from the held-out rows of all folds together.

    {metric_parameters}

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> round(calibration_error(np.array([0, 0, 1, 1]), np.log(np.full((4, 2), 0.5))), 4)
    0.0
    >>> round(calibration_error(np.array([0, 1]), np.log([[0.9, 0.1], [0.9, 0.1]])), 4)
    0.4
    """
    return by_confidence(truth, log_probabilities, weights).calibration_error


def _total(truth: Truth, weights: Weights | None) -> float:
    """Return the number, or the total weight, of the rows."""
    return float(len(truth) if weights is None else weights.sum())


METRICS: dict[str, Metric] = {
    "error": error,
    "log_loss": log_loss,
    "brier": brier,
    "auc": auc,
    "calibration_error": calibration_error,
}
"""The metrics of every fold, by name."""

HIGHER_IS_BETTER = frozenset({"auc"})
