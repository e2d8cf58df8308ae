"""What shares of votes are worth as probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

Array = NDArray[np.float64]

MILDEST, SHARPEST = 1e-3, 1e4


def usual_temperature(classes: int) -> float:
    """Return the factor of the shares of votes that gives the probabilities of scikit-learn's AdaBoostClassifier."""
    return classes / (classes - 1) ** 2 if classes > 1 else 1.0


def fitted_temperature(shares: Array, classes: NDArray[np.integer], weights: Array) -> float:
    """Return the factor ``t`` that makes the rows' classes most probable under ``p(k) ~ exp(t * share_k)``.

    One more row, of all votes for one class and itself of every class alike, keeps it finite where every vote is right.
    The log likelihood is concave in ``t``, so its maximum is where its slope is zero.
    """
    many = shares.shape[1]
    if many < 2:
        return 1.0
    of_own = weights @ shares[np.arange(len(shares)), classes] + 1.0 / many

    def slope(t: float) -> float:
        expected = weights @ (softmax(t * shares, axis=1) * shares).sum(axis=1)
        return float(of_own - expected - 1.0 / (1.0 + (many - 1) * math.exp(-t)))

    if slope(MILDEST) <= 0.0:
        return MILDEST
    if slope(SHARPEST) >= 0.0:
        return SHARPEST
    return float(brentq(slope, MILDEST, SHARPEST, xtol=1e-12, rtol=1e-14))


def log_loss(log_scores: Array, classes: NDArray[np.integer], weights: Array) -> float:
    """Return the weighted mean of the negative log probability of the rows' classes."""
    return float(-(weights @ log_softmax(log_scores, axis=1)[np.arange(len(classes)), classes]) / weights.sum())
