"""How good the probabilities are that a classifier gives to classes.

Every function takes the true class of each row as its number and the logarithms of the probabilities, of shape (rows,
classes). A probability below 2**-52 counts as that, as in scikit-learn, so that no single row weighs without bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Truth = NDArray[np.int64]
LogProbabilities = NDArray[np.float64]
Metric = Callable[[Truth, LogProbabilities], float]

LEAST = float(np.log(np.finfo(np.float64).eps))
BINS = 15
"""Into so many intervals of equal width confidences fall where calibration is measured (Guo et al. 2017)."""


def error(truth: Truth, log_probabilities: LogProbabilities) -> float:
    """Return the share of rows whose most probable class is not theirs; among equals the first counts.

    >>> import numpy as np
    >>> log_p = np.log([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    >>> error(np.array([0, 0, 0, 1]), log_p)
    0.25
    """
    return float((log_probabilities.argmax(axis=1) != truth).mean())


def log_score(truth: Truth, log_probabilities: LogProbabilities) -> float:
    """Return the negative log probability of the classes in nats, summed over rows (eq 30 of Cerquides 2003)."""
    given = log_probabilities[np.arange(len(truth)), truth]
    return float(-np.maximum(given, LEAST).sum())


def log_loss(truth: Truth, log_probabilities: LogProbabilities) -> float:
    """Return the mean negative log probability of the classes in nats."""
    return log_score(truth, log_probabilities) / len(truth)


def brier(truth: Truth, log_probabilities: LogProbabilities) -> float:
    """Return the mean over rows of the squared distance of the probabilities from the truth, from 0 to 2.

    >>> import numpy as np
    >>> round(brier(np.array([0, 1]), np.log([[0.75, 0.25], [0.5, 0.5]])), 4)
    0.3125
    """
    probabilities = np.exp(log_probabilities)
    given = probabilities[np.arange(len(truth)), truth]
    return float((np.square(probabilities).sum(axis=1) - 2.0 * given + 1.0).mean())


def auc(truth: Truth, log_probabilities: LogProbabilities) -> float:
    """Return the area under the ROC curve: of more than two classes the mean of each against the rest.

    A class that no row has, or all have, is left out; where none is left it is NaN.

    >>> import numpy as np
    >>> auc(np.array([0, 0, 1, 1]), np.log([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]]))
    0.75
    """
    from sklearn.metrics import roc_auc_score

    classes = log_probabilities.shape[1]
    chosen = [1] if classes == 2 else range(classes)
    # Impossible classes have the least of all scores, not minus infinity.
    scores = np.maximum(log_probabilities, np.finfo(np.float64).min)
    areas = [roc_auc_score(truth == k, scores[:, k]) for k in chosen if 0 < (truth == k).sum() < len(truth)]
    return float(np.mean(areas)) if areas else float("nan")


@dataclass(frozen=True)
class ByConfidence:
    """Rows in intervals of equal width of the probability of their most probable class.

    Parameters
    ----------
    rows : array of shape (BINS,)
        How many fall into each interval.
    confidence, accuracy : array of shape (BINS,)
        The mean of that probability, and the share of rows whose most probable class is theirs; 0 where there are none.
    """

    rows: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def by_confidence(truth: Truth, log_probabilities: LogProbabilities) -> ByConfidence:
    """Return how sure a classifier is and how often it is right, by how sure it is."""
    confidence = np.exp(log_probabilities.max(axis=1))
    right = log_probabilities.argmax(axis=1) == truth
    at = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    rows = np.bincount(at, minlength=BINS)
    some = np.maximum(rows, 1)
    return ByConfidence(rows, np.bincount(at, confidence, BINS) / some, np.bincount(at, right, BINS) / some)


def calibration_error(truth: Truth, log_probabilities: LogProbabilities) -> float:
    """Return the expected calibration error: how far accuracy is from confidence, averaged over intervals of it.

    Confidence is the probability of the most probable class, in fifteen intervals of equal width.

    >>> import numpy as np
    >>> round(calibration_error(np.array([0, 0, 1, 1]), np.log(np.full((4, 2), 0.5))), 4)
    0.0
    >>> round(calibration_error(np.array([0, 1]), np.log([[0.9, 0.1], [0.9, 0.1]])), 4)
    0.4
    """
    found = by_confidence(truth, log_probabilities)
    return float(np.abs(found.rows * (found.accuracy - found.confidence)).sum() / len(truth))


METRICS: dict[str, Metric] = {
    "error": error,
    "log_loss": log_loss,
    "brier": brier,
    "auc": auc,
    "calibration_error": calibration_error,
}
"""What is measured in every fold."""

HIGHER_IS_BETTER = frozenset({"auc"})
