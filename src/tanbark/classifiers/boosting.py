"""SAMME boosting: held-out rows, rounds, and the temperature that turns votes into probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

from tanbark.counts import Rows
from tanbark.kernels.average.pooling import LOG_TIE_TOLERANCE
from tanbark.models.votes import votes_of
from tanbark.network import Network

MIN_ROWS_TO_HOLD_OUT = 30
"""With fewer distinct rows, none is held out."""
HELD_OUT_FRACTION = 5
"""One row in this many is held out."""


def held_out(rows: Rows, seed: int) -> NDArray[np.bool_]:
    """Return which of the distinct rows are held out: a fifth of each class, rounded down.

    They are the rows with the smallest keys (`Rows.keys`). Rows that differ only in the class have the same key, so
    that they tend to be on the same side.
    """
    out = np.zeros(len(rows.classes), np.bool_)
    if len(out) < MIN_ROWS_TO_HOLD_OUT:
        return out
    keys = rows.keys(seed)
    for k in range(len(rows.schema.classes)):
        at = np.flatnonzero(rows.classes == k)
        out[at[np.argsort(keys[at], kind="stable")[: len(at) // HELD_OUT_FRACTION]]] = True
    return out


Array = NDArray[np.float64]

MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-3, 1e4


def default_temperature(classes: int) -> float:
    """Return the temperature that gives the probabilities of scikit-learn's AdaBoostClassifier."""
    return classes / (classes - 1) ** 2 if classes > 1 else 1.0


def fitted_temperature(shares: Array, classes: NDArray[np.integer], weights: Array) -> float:
    """Return the ``t`` that maximises the likelihood of the rows' classes under ``p(k) ~ exp(t * share_k)``.

    A pseudo-row with all votes for one class, and equally of every class, keeps it finite if every vote is right. The
    log likelihood is concave in ``t``, so that its maximum is where its slope is zero.
    """
    many = shares.shape[1]
    if many < 2:
        return 1.0
    of_own = weights @ shares[np.arange(len(shares)), classes] + 1.0 / many

    def slope(t: float) -> float:
        expected = weights @ (softmax(t * shares, axis=1) * shares).sum(axis=1)
        return float(of_own - expected - 1.0 / (1.0 + (many - 1) * math.exp(-t)))

    if slope(MIN_TEMPERATURE) <= 0.0:
        return MIN_TEMPERATURE
    if slope(MAX_TEMPERATURE) >= 0.0:
        return MAX_TEMPERATURE
    return float(brentq(slope, MIN_TEMPERATURE, MAX_TEMPERATURE, xtol=1e-12, rtol=1e-14))


def log_loss(log_scores: Array, classes: NDArray[np.integer], weights: Array) -> float:
    """Return the weighted mean negative log probability of the rows' classes."""
    return float(-(weights @ log_softmax(log_scores, axis=1)[np.arange(len(classes)), classes]) / weights.sum())


@dataclass(frozen=True)
class Round:
    """A network, its weighted error on the training rows, and the weight of its vote."""

    network: Network
    error: float
    weight: float


def boost(rows: Rows, learn: Callable[[Array], Network], n_jobs: int | None = None) -> Iterator[Round]:
    """Yield rounds of boosting until a network has no errors or is no better than chance.

    With ``e`` the weighted error of a round's network among ``K`` classes, the weight of its vote is
    ``alpha = log((1 - e) / e) + log(K - 1)`` (Zhu et al. 2009). The weights of the misclassified rows are multiplied by
    ``exp(alpha)``, then all weights are scaled to their former sum: the misclassified rows together have
    ``(K - 1) / K`` of it. A network without errors votes with weight 1 and is the last, as in scikit-learn. A network
    no better than chance is the last and does not vote, unless it is the first.

    Parameters
    ----------
    rows : Rows
        Distinct rows with their weights.
    learn : callable
        Returns the network learned from the rows with the given weights.
    """
    classes = len(rows.schema.classes)
    chance = 1.0 - 1.0 / classes
    weights = rows.each
    first = True
    while True:
        network = learn(weights)
        wrong = votes_of(network, rows.codes, n_jobs) != rows.classes
        error = float(weights[wrong].sum() / weights.sum())
        # Without the slack, rounding could make every network slightly better than chance: boosting would not end.
        if error <= 0.0 or error >= chance - LOG_TIE_TOLERANCE:
            if first or error <= 0.0:
                yield Round(network, error, 1.0)
            return
        yield Round(network, error, math.log1p(-error) - math.log(error) + math.log(classes - 1))
        weights = np.where(wrong, weights / error * chance, weights / (1.0 - error) / classes)
        first = False
