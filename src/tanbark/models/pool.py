"""A weighted pool of networks or classifiers: the generalised additive Bayesian network of Li et al. (2007)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.averaging import MAX_JOINT_CELLS, Networks, SuperParents
from tanbark.counts import Counts
from tanbark.immutable import read_only
from tanbark.kernels.average.pooling import pooled_scores, to_log_posteriors
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.models.model import (
    Array,
    Arrays,
    Model,
    StoredModel,
    centred,
    checked_log_prior,
    checked_log_table,
    networks_arrays,
    networks_from_arrays,
    pairs_from_arrays,
    pairs_to_arrays,
    stored_number,
    stored_prior_ratio,
    stored_seed,
)
from tanbark.network import Network
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes


class FittedClassifier(Protocol):
    """A classifier with a fitted model."""

    model_: Any


@dataclass(frozen=True)
class Classifiers:
    """Fitted classifiers over the same schema, as members of a pool.

    They are copied, so that a classifier that is fitted again elsewhere does not change the pool.
    """

    classifiers: tuple[FittedClassifier, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "classifiers", tuple(map(copy, self.classifiers)))

    def __len__(self) -> int:
        return len(self.classifiers)

    @property
    def models(self) -> list[Model]:
        """The fitted models."""
        return [classifier.model_ for classifier in self.classifiers]

    def only(self, at: Sequence[int]) -> Classifiers:
        """Return some of the members."""
        return Classifiers(tuple(self.classifiers[m] for m in at))

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the scores of each row, class and classifier, of shape (rows, classes, classifiers).

        A row that a classifier finds impossible in every class gets the prior of that classifier.
        """
        scores = [model.log_scores(codes, n_jobs) for model in self.models]
        for model, score in zip(self.models, scores, strict=True):
            score[np.isneginf(score).all(axis=1)] = model.class_log_prior
        return np.stack(scores, axis=2)


@dataclass(frozen=True, eq=False)
class Pool(Model):
    """Members whose class posteriors are pooled with weights.

    Parameters
    ----------
    counts : Counts
    members : SuperParents, Networks or Classifiers
    weights : array
        Nonnegative weights that sum to 1: one for each member; with super-parents one for each attribute.
    linear : bool
        Whether probabilities are averaged instead of their logarithms.
    learned_log_prior : array of shape (classes,)
        The class prior under which the members' joints become posteriors.
    class_log_prior, prior_ratio : arrays of shape (classes,)
        The prior in use, and its log ratio to the learned one.
    seed : int
        The seed of the values that networks sample for rows with too many missing values.
    optimality_gap : float
        Bound on the relative gain in log likelihood that other weights could have.
    log_likelihood : float
        The log likelihood of the training classes under the pool.
    """

    counts: Counts
    members: SuperParents | Networks | Classifiers
    weights: Array
    linear: bool
    learned_log_prior: Array
    class_log_prior: Array
    prior_ratio: Array
    seed: int
    optimality_gap: float
    log_likelihood: float

    has_joint = False

    @property
    def has_evidence(self) -> bool:
        """Whether the pool is logarithmic and all its members are additive."""
        members = self.members.models if isinstance(self.members, Classifiers) else ()
        return not self.linear and all(member.has_evidence for member in members)

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks of the members that have a weight."""
        if isinstance(self.voting, Classifiers):
            return tuple(network for model in self.voting.models for network in model.networks)
        members = self.member_list
        return tuple(members[m] for m in np.flatnonzero(self.weights).tolist())

    @property
    def member_list(self) -> list[Any]:
        """All members: networks, or copies of the fitted classifiers. With super-parents, a network per attribute."""
        if isinstance(self.members, Classifiers):
            return list(map(copy, self.members.classifiers))
        return list(self.members.networks if isinstance(self.members, Networks) else self._super_parent_networks)

    @cached_property
    def _super_parent_networks(self) -> list[Network]:
        assert isinstance(self.members, SuperParents)
        attributes = range(len(self.schema.columns))
        return [self.members.network(self.schema, self.learned_log_prior, u) for u in attributes]

    @cached_property
    def voting(self) -> SuperParents | Networks | Classifiers:
        """The members that have a weight."""
        return self.members.only(self._positions.tolist())

    @property
    def voting_weights(self) -> Array:
        """The positive weights."""
        return self.weights[self.weights > 0]

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        """Where the members that have a weight stand among all members."""
        at = np.flatnonzero(self.weights)
        return np.searchsorted(self.members.members, at) if isinstance(self.members, SuperParents) else at

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return pooled log posteriors up to a constant for each row."""
        rows, classes = codes.shape[1], len(self.class_log_prior)
        out = np.empty((rows, classes))
        weights, voting = read_only(self.voting_weights), self.voting
        step = 1 + MAX_JOINT_CELLS // (classes * len(voting))
        for start in range(0, rows, step):
            joints = voting.log_joints(np.ascontiguousarray(codes[:, start : start + step]), n_jobs)
            normalise_joints(joints, self.learned_log_prior[None], n_jobs)
            call = partial(pooled_scores, joints, weights, self.linear, out=out[start : start + step])
            run_over_rows(call, len(joints), n_jobs)
        return out + self.prior_ratio

    def evidence(self, codes: Codes, n_jobs: int | None = None) -> Array | None:
        """Return the members' weights of evidence, combined with the weights of the pool."""
        if not self.has_evidence:
            return None
        posteriors = self.voting.log_joints(codes, n_jobs)
        normalise_joints(posteriors, self.learned_log_prior[None], n_jobs)
        total = np.zeros((codes.shape[1], 1 + len(codes), len(self.class_log_prior)))
        voting = zip(self.voting_weights.tolist(), np.flatnonzero(self.weights).tolist(), strict=True)
        for m, (weight, member) in enumerate(voting):
            parts = self._member_evidence(member, codes, n_jobs)
            # A member that finds a class impossible has no finite parts: the prior part takes its whole answer.
            whole = ~np.isfinite(parts).all(axis=(1, 2))
            parts[whole] = 0.0
            parts[whole, 0] = posteriors[whole, :, m]
            total += weight * parts
        total[:, 0] += self.prior_ratio
        return centred(total)

    def _member_evidence(self, member: int, codes: Codes, n_jobs: int | None) -> Array:
        if isinstance(self.members, Classifiers):
            parts = self.members.models[member].evidence(codes, n_jobs)
            assert parts is not None
            return parts
        if isinstance(self.members, Networks):
            return self.members.networks[member].evidence(codes, n_jobs, seed=self.seed)
        network = self.members.network(self.schema, self.learned_log_prior, member)
        return network.evidence(codes, n_jobs)

    def to_arrays(self) -> StoredModel:
        """Return the weights, and the members' tables or the members that are classifiers."""
        state: dict[str, Any] = {
            "optimality_gap": self.optimality_gap,
            "log_likelihood": self.log_likelihood,
            "seed": self.seed,
            "linear": self.linear,
        }
        arrays: Arrays = {
            "weights": self.weights,
            "learned_prior": self.learned_log_prior,
            "log_prior": self.class_log_prior,
            "prior_ratio": self.prior_ratio,
        }
        if isinstance(self.members, Classifiers):
            state["members"] = list(self.members.classifiers)
        elif isinstance(self.members, Networks):
            networks = self.members.networks
            state["parents"] = [[list(above) for above in network.structure.parents] for network in networks]
            arrays |= networks_arrays(networks, "member_")
        else:
            estimator, pairs = pairs_to_arrays(self.members.pairs, self.members.estimator)
            state |= estimator
            arrays |= pairs | {"own": self.members.own, "super_parents": self.members.members}
        return StoredModel(state, arrays)

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        state, arrays, classes = stored.state, stored.arrays, len(counts.class_counts)
        weights, linear = arrays["weights"], state["linear"]
        if not isinstance(linear, bool):
            raise ValueError(f"its setting 'linear' must be true or false, got {linear!r}")
        members = _stored_members(counts, stored, weights)
        expected = len(counts.schema.columns) if isinstance(members, SuperParents) else len(members)
        fits = weights.dtype == np.float64 and weights.shape == (expected,) and (weights >= 0).all()
        if not fits or not np.isclose(weights.sum(), 1.0):
            raise ValueError("its weights do not fit its members")
        return cls(
            counts,
            members,
            weights,
            linear,
            checked_log_prior(arrays, "learned_prior", classes),
            checked_log_prior(arrays, "log_prior", classes),
            stored_prior_ratio(arrays, classes),
            stored_seed(state),
            stored_number(state, "optimality_gap"),
            stored_number(state, "log_likelihood"),
        )


def _stored_members(counts: Counts, stored: StoredModel, weights: Array) -> SuperParents | Networks | Classifiers:
    state, arrays, schema = stored.state, stored.arrays, counts.schema
    if "members" in state:
        return _same_schema(Classifiers(tuple(state["members"])), schema)
    if "parents" in state:
        return Networks(tuple(networks_from_arrays(schema, state["parents"], arrays, "member_")), stored_seed(state))
    classes, values = counts.values.shape
    own = checked_log_table(arrays, "own", (values, classes))
    pairs, estimator = pairs_from_arrays(counts, stored)
    chosen = arrays["super_parents"]
    if chosen.dtype != np.int64 or chosen.ndim != 1 or not (chosen[1:] > chosen[:-1]).all():
        raise ValueError("its super-parents are not in ascending order")
    if not set(np.flatnonzero(weights)) <= set(chosen.tolist()) <= set(range(len(schema.columns))):
        raise ValueError("its super-parents do not fit its weights")
    return SuperParents(schema.offset, chosen, own, pairs, estimator)


def _same_schema(members: Classifiers, schema: Schema) -> Classifiers:
    if any(model.schema != schema for model in members.models):
        raise ValueError("a member has another schema than the pool")
    return members


def normalise_joints(joints: Array, log_prior: Array, n_jobs: int | None) -> None:
    """Turn log joints of shape (rows, classes, members) into log posteriors in place."""
    run_over_rows(partial(to_log_posteriors, joints, read_only(log_prior)), len(joints), n_jobs)
