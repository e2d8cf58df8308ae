"""Trees that vote with weights, as boosting learns them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from tanbark.counts import Counts
from tanbark.immutable import read_only
from tanbark.kernels.average.pooling import most_probable, tally_votes
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.models.model import (
    Array,
    Model,
    StoredModel,
    checked_log_prior,
    networks_arrays,
    networks_from_arrays,
    stored_number,
    stored_prior_ratio,
)
from tanbark.network import Network
from tanbark.schema.encode.columns import Codes

Integers = NDArray[np.int64]

MAX_TOTAL_WEIGHT = 1e300
"""The weights of all votes sum to less, so that shares of them are finite."""


@dataclass(frozen=True, eq=False)
class Votes(Model):
    """Networks that each vote for their most probable class; probabilities follow from the shares of the votes.

    Parameters
    ----------
    counts : Counts
    members : tuple of Network
        Trees over the attributes.
    weights : array of shape (networks,)
        The weight of each vote.
    errors : array of shape (networks,)
        The weighted training error of each network in its round.
    held_out_losses : array
        The log loss on held-out rows after each round.
    temperature : float
        ``p(class) ~ exp(temperature * share of the votes)``.
    class_log_prior, prior_ratio : arrays of shape (classes,)
        The prior in use, and its log ratio to the learned one.
    """

    counts: Counts
    members: tuple[Network, ...]
    weights: Array
    errors: Array
    held_out_losses: Array
    temperature: float
    class_log_prior: Array
    prior_ratio: Array

    has_joint = False

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks that vote."""
        return self.members

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return log posteriors up to a constant for each row."""
        return self._scores_of(self._shares(codes, n_jobs))

    def staged_posteriors(self, codes: Codes, n_jobs: int | None = None) -> Iterator[Array]:
        """Yield the posterior after the first vote, after the second, and so on."""
        tally = VoteTally(codes, len(self.class_log_prior), n_jobs)
        for network, weight in zip(self.members, self.weights.tolist(), strict=True):
            tally.add(network, weight)
            yield softmax(self._scores_of(tally.shares), axis=1)

    def _scores_of(self, shares: Array) -> Array:
        scores: Array = self.temperature * shares + self.prior_ratio
        return scores

    def _shares(self, codes: Codes, n_jobs: int | None) -> Array:
        """Return the share of the votes for each class, of shape (rows, classes)."""
        rows = codes.shape[1]
        tally = np.zeros((rows, len(self.class_log_prior)))
        work = np.empty_like(tally), np.empty(rows, np.int64)
        call = partial(tally_votes, codes, *map(read_only, (*self._layout, self.weights)))
        steps = self._layout[1].size * tally.shape[1]
        run_over_rows(lambda *piece: call(*piece, *work, tally), rows, n_jobs, steps)
        return np.asarray(tally / self.weights.sum())

    @cached_property
    def _layout(self) -> tuple[Integers, Integers, Integers, Integers, Array, Array]:
        """The trees, laid out one after the other for the kernel: order, parents, arity, starts, tables, priors."""
        trees = [network.tree for network in self.members if network.tree is not None]
        before = np.cumsum([0, *(len(tree.tables) for tree in trees)])[:-1]
        return (
            np.stack([tree.order for tree in trees]),
            np.stack([tree.parent for tree in trees]),
            trees[0].arity,
            np.stack([tree.start + start for tree, start in zip(trees, before, strict=True)]),
            np.concatenate([tree.tables for tree in trees]),
            np.stack([tree.log_prior for tree in trees]),
        )

    def to_arrays(self) -> StoredModel:
        """Return the networks, their weights and errors, and the temperature."""
        parents = [[list(above) for above in network.structure.parents] for network in self.members]
        arrays = {
            "estimator_weights": self.weights,
            "estimator_errors": self.errors,
            "held_out_losses": self.held_out_losses,
            "log_prior": self.class_log_prior,
            "prior_ratio": self.prior_ratio,
        }
        state = {"parents": parents, "temperature": self.temperature}
        return StoredModel(state, arrays | networks_arrays(self.members, "round_"))

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        state, arrays, classes = stored.state, stored.arrays, len(counts.class_counts)
        networks = tuple(networks_from_arrays(counts.schema, state["parents"], arrays, "round_"))
        weights, errors = arrays["estimator_weights"], arrays["estimator_errors"]
        if not networks or weights.shape != (len(networks),) or errors.shape != weights.shape:
            raise ValueError("the number of its networks differs from that of their weights")
        if (
            weights.dtype != np.float64
            or not (weights > 0).all()
            or not weights.max() < MAX_TOTAL_WEIGHT / len(weights)
        ):
            raise ValueError("the weights of its votes must be positive and finite")
        if any(network.tree is None for network in networks):
            raise ValueError("one of its networks is not a tree")
        temperature = stored_number(state, "temperature")
        if not 0 < temperature < np.inf:
            raise ValueError(f"its temperature must be a positive finite number, got {temperature!r}")
        prior, ratio = checked_log_prior(arrays, "log_prior", classes), stored_prior_ratio(arrays, classes)
        return cls(counts, networks, weights, errors, arrays["held_out_losses"], temperature, prior, ratio)


class VoteTally:
    """The votes on some rows, added network by network."""

    def __init__(self, codes: Codes, classes: int, n_jobs: int | None = None) -> None:
        self._codes = codes
        self._n_jobs = n_jobs
        self._rows = np.arange(codes.shape[1])
        self._tally = np.zeros((codes.shape[1], classes))
        self._total = 0.0

    def add(self, network: Network, weight: float) -> None:
        """Add the vote of a network on each row."""
        self._tally[self._rows, votes_of(network, self._codes, self._n_jobs)] += weight
        self._total += weight

    @property
    def shares(self) -> Array:
        """The share of the votes for each class so far, of shape (rows, classes)."""
        return self._tally / self._total


def votes_of(network: Network, codes: Codes, n_jobs: int | None = None) -> Integers:
    """Return the most probable class of each row; ties up to rounding go to the first class.

    Rows that are impossible in every class get the class of greatest prior.
    """
    joint = network.log_joint(codes, n_jobs)
    out = np.empty(len(joint), np.int64)
    most_probable(joint, network.class_log_prior, 0, len(joint), out)
    return out
