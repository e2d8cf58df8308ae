"""SAMME boosting: rounds, held-out rows, and probabilities from votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

from tanbark.counts import Rows
from tanbark.kernels.average.pooling import SLACK, most_probable
from tanbark.network import Network
from tanbark.schema.encode.columns import Codes

FEWEST = 30
"""With fewer distinct rows nothing is held out."""

PART = 5


def held_out(rows: Rows, seed: int) -> NDArray[np.bool_]:
    """Return which of distinct rows are held out: a fifth of each class, rounded down.

    They are those whose key is the least (`Rows.keys`); rows that differ in nothing but the class have the same key, so
    that they tend to be on one side.
    """
    out = np.zeros(len(rows.classes), np.bool_)
    if len(out) < FEWEST:
        return out
    keys = rows.keys(seed)
    for k in range(len(rows.schema.classes)):
        at = np.flatnonzero(rows.classes == k)
        out[at[np.argsort(keys[at], kind="stable")[: len(at) // PART]]] = True
    return out


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


@dataclass(frozen=True)
class Round:
    """A network, the weighted share of training rows that it gets wrong, and the weight of its vote."""

    network: Network
    error: float
    weight: float


def boost(rows: Rows, learn: Callable[[Array], Network], n_jobs: int | None = None) -> Iterator[Round]:
    """Yield rounds of boosting for as long as a network is asked for and does better than chance.

    With ``e`` the weighted error of a round's network among ``K`` classes, its vote weighs
    ``alpha = log((1 - e) / e) + log(K - 1)`` (Zhu et al. 2009), and the rows that it gets wrong weigh ``exp(alpha)``
    times as much in the next round, all weights then scaled to their sum before: the wrong rows together have
    ``(K - 1) / K`` of it. A network without errors votes with weight 1 and ends it, as in scikit-learn; one no better
    than chance ends it without a vote, unless it is the first.

    Parameters
    ----------
    rows : Rows
        Distinct rows with their weights.
    learn : callable
        Returns the network that is learned from the rows with the weights given.
    """
    classes = len(rows.schema.classes)
    chance = 1.0 - 1.0 / classes
    weights = rows.each
    first = True
    while True:
        network = learn(weights)
        wrong = votes(network, rows.codes, n_jobs) != rows.classes
        error = float(weights[wrong].sum() / weights.sum())
        # Without the slack, a network learned again could be a hair better than chance, by rounding, and go on forever.
        if error <= 0.0 or error >= chance - SLACK:
            if first or error <= 0.0:
                yield Round(network, error, 1.0)
            return
        yield Round(network, error, math.log1p(-error) - math.log(error) + math.log(classes - 1))
        weights = np.where(wrong, weights / error * chance, weights / (1.0 - error) / classes)
        first = False


def votes(network: Network, codes: Codes, n_jobs: int | None = None) -> NDArray[np.int64]:
    """Return the most probable class of each row, the first of those that differ by rounding.

    Where no class can have made a row it is that of the greatest prior.
    """
    joint = network.log_joint(codes, n_jobs)
    out = np.empty(len(joint), np.int64)
    most_probable(joint, network.class_log_prior, 0, len(joint), out)
    return out


class Votes:
    """The votes on some rows, network by network."""

    def __init__(self, codes: Codes, classes: int, n_jobs: int | None = None) -> None:
        self._codes = codes
        self._n_jobs = n_jobs
        self._rows = np.arange(codes.shape[1])
        self._tally = np.zeros((codes.shape[1], classes))
        self._total = 0.0

    def add(self, network: Network, weight: float) -> None:
        """Let a network vote."""
        self._tally[self._rows, votes(network, self._codes, self._n_jobs)] += weight
        self._total += weight

    @property
    def shares(self) -> Array:
        """Each class's share of the votes so far, of shape (rows, classes)."""
        return self._tally / self._total
