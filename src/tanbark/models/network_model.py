"""A model that is a single network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tanbark.counts import Counts
from tanbark.models.model import (
    Array,
    Arrays,
    Model,
    StoredModel,
    centred,
    checked_log_prior,
    network_arrays,
    network_from_arrays,
    stored_number,
    stored_prior_ratio,
    stored_seed,
)
from tanbark.network import Network
from tanbark.schema.encode.columns import Codes
from tanbark.structure import RestructureStats

TreeEdges = tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, eq=False)
class Findings:
    """What the search for a structure found besides the structure. None stands for what it does not report.

    Parameters
    ----------
    tree_edges : tuple of (int, int, float), optional
        The edges of a tree or a forest, with their weights.
    log_score : float, optional
        The score of the structure.
    search : str, optional
        The search that found it.
    super_parent : str, optional
        The attribute that is a parent of all others.
    accuracies : array of shape (attributes,), optional
        The leave-one-out accuracy of each attribute as super-parent.
    restructure_stats : RestructureStats, optional
        The work that revising a tree took. Not stored in files.
    """

    tree_edges: TreeEdges | None = None
    log_score: float | None = None
    search: str | None = None
    super_parent: str | None = None
    accuracies: Array | None = None
    restructure_stats: RestructureStats | None = None


@dataclass(frozen=True, eq=False)
class NetworkModel(Model):
    """A network, the counts it was learned from, and the class prior.

    Parameters
    ----------
    counts : Counts
    network : Network
    class_log_prior : array of shape (classes,)
        The prior in use.
    prior_ratio : array of shape (classes,)
        The log ratio of the prior in use to that of the network. It is nonzero only if another prior was given for a
        class that has parents, because then no table of the network holds the prior.
    seed : int, optional
        The seed of the values that are sampled for rows with too many missing values to marginalise exactly. None for
        trees, which are always exact.
    findings : Findings
    """

    counts: Counts
    network: Network
    class_log_prior: Array
    prior_ratio: Array
    seed: int | None = None
    findings: Findings = Findings()

    has_joint = True

    @classmethod
    def with_prior(
        cls, counts: Counts, network: Network, given: Array | None, seed: int | None, findings: Findings
    ) -> NetworkModel:
        """Return the model of a network under the given log class prior, or under the learned one if it is None."""
        learned = network.class_log_prior
        prior, ratio = prior_and_ratio(given, learned)
        if given is not None and not network.structure.parents[-1]:
            network = Network(network.schema, network.structure, (*network.log_tables[:-1], given))
            ratio = np.zeros_like(learned)
        return cls(counts, network, prior, ratio, seed, findings)

    @property
    def has_evidence(self) -> bool:
        """Networks are additive: every family is a factor of the joint."""
        return True

    @property
    def networks(self) -> tuple[Network, ...]:
        """The network."""
        return (self.network,)

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return ``log P(row, class)`` of encoded rows, with missing values marginalised."""
        scores = self.network.log_joint(codes, n_jobs, seed=self.seed or 0)
        return scores + self.prior_ratio if self.prior_ratio.any() else scores

    def evidence(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return additive weights of evidence; two attributes share equally what they say together."""
        parts = self.network.evidence(codes, n_jobs, seed=self.seed or 0)
        parts[:, 0] += self.prior_ratio
        with np.errstate(invalid="ignore"):
            impossible = np.isneginf(parts.sum(axis=1)).all(axis=1)
        parts[impossible] = 0.0
        parts[impossible, 0] = self.class_log_prior
        return centred(parts)

    def standard_error(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the standard error of the posterior, which is zero except for rows that are sampled."""
        return self.network.standard_error(codes, n_jobs, seed=self.seed or 0, log_factors=self.prior_ratio)

    def to_arrays(self) -> StoredModel:
        """Return the model, except for its counts, as plain values and arrays."""
        found = self.findings
        state: dict[str, Any] = {} if self.seed is None else {"seed": self.seed}
        if found.log_score is not None:
            state["log_score"] = found.log_score
        if found.search is not None:
            state["search"] = found.search
        if found.tree_edges is not None:
            state["tree_edges"] = [list(edge) for edge in found.tree_edges]
        if found.super_parent is not None:
            state["parent"] = found.super_parent
        arrays: Arrays = network_arrays(self.network)
        if self.prior_ratio.any():
            arrays |= {"prior_ratio": self.prior_ratio, "log_prior": self.class_log_prior}
        if found.accuracies is not None:
            arrays["accuracies"] = found.accuracies
        return StoredModel(state, arrays, [list(parents) for parents in self.network.structure.parents])

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        state, arrays = stored.state, stored.arrays
        if stored.parents is None:
            raise ValueError("its network is missing")
        network = network_from_arrays(counts.schema, stored.parents, arrays)
        classes = len(counts.class_counts)
        prior, ratio = network.class_log_prior, np.zeros(classes)
        if "prior_ratio" in arrays:
            ratio = stored_prior_ratio(arrays, classes)
        if ratio.any():
            prior = checked_log_prior(arrays, "log_prior", classes)
        seed = stored_seed(state) if "seed" in state else None
        return cls(counts, network, prior, ratio, seed, _stored_findings(counts, stored))


def prior_and_ratio(given: Array | None, learned: Array) -> tuple[Array, Array]:
    """Return the log class prior to use, and its log ratio to the learned one.

    A class without a learned prior is not divided by it.
    """
    if given is None:
        return learned, np.zeros_like(learned)
    return given, given - np.where(np.isneginf(learned), 0.0, learned)


def _stored_findings(counts: Counts, stored: StoredModel) -> Findings:
    state, names = stored.state, counts.schema.names
    edges = None
    if "tree_edges" in state:
        edges = tuple((int(u), int(v), float(weight)) for u, v, weight in state["tree_edges"])
        if not all(0 <= node < len(names) for u, v, _ in edges for node in (u, v)):
            raise ValueError("its tree has an edge to an attribute that does not exist")
    accuracies = stored.arrays.get("accuracies")
    if accuracies is not None and accuracies.shape != (len(names),):
        raise ValueError("its super-parent does not fit its schema")
    parent = str(state["parent"]) if "parent" in state else None
    if parent is not None and parent not in names:
        raise ValueError("its super-parent does not fit its schema")
    return Findings(
        tree_edges=edges,
        log_score=stored_number(state, "log_score") if "log_score" in state else None,
        search=str(state["search"]) if "search" in state else None,
        super_parent=parent,
        accuracies=accuracies,
    )
