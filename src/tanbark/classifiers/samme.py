"""SAMME: boosting of networks for any number of classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.kernels.votes import SLACK, most_probable
from tanbark.network import Network
from tanbark.schema.columns import Codes

Array = NDArray[np.float64]


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
