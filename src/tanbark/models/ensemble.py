"""A log-linear pool of boosted tables and networks around weighted evidence: the model of `EnsembleBN`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.evidence.log_linear_pool import pool_members
from tanbark.models.boosted_class_tables import BoostedClassTables
from tanbark.models.evidence_model import EvidenceModel
from tanbark.models.model import Array, Model, StoredModel, checked_log_prior, stored_prior_ratio
from tanbark.models.network_mixture import NetworkMixture
from tanbark.schema.encode.columns import Codes

MEMBERS = ("evidence", "tables", "tables from evidence", "networks")
"""The members of the pool, in the order of their weights."""
MAX_WEIGHT = 1e6
"""Bound on the weights in a file."""


@dataclass(frozen=True, eq=False)
class Ensemble(Model):
    """Members whose log probabilities are added up with weights.

    Parameters
    ----------
    counts : Counts
        Counts of single values.
    evidence_model : EvidenceModel
    tables : BoostedClassTables
    tables_from_evidence : BoostedClassTables
        Started from the log probabilities of `evidence_model`.
    mixture : NetworkMixture
    weights : array of shape (4,)
        The weights of the members, in the order of `MEMBERS`.
    class_log_prior, prior_ratio : arrays of shape (classes,)
        The class prior in use, and its log ratio to the learned one.
    """

    counts: Counts
    evidence_model: EvidenceModel
    tables: BoostedClassTables
    tables_from_evidence: BoostedClassTables
    mixture: NetworkMixture
    weights: Array
    class_log_prior: Array
    prior_ratio: Array

    has_joint = False

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return log posteriors up to a constant for each row."""
        evidence = self.evidence_model.log_posterior(codes, n_jobs)
        members = [evidence]
        for weight, model in zip(self.weights[1:], (self.tables, self.tables_from_evidence, self.mixture), strict=True):
            if not weight:
                members.append(evidence)
            elif model is self.tables_from_evidence:
                members.append(self.tables_from_evidence.log_scores_from(evidence, codes, n_jobs))
            else:
                members.append(model.log_posterior(codes, n_jobs))
        return pool_members(members, self.weights) + self.prior_ratio

    def to_arrays(self) -> StoredModel:
        """Return the members and their weights; the names of a member's arrays begin with its field."""
        state: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {
            "pool_weights": self.weights,
            "log_prior": self.class_log_prior,
            "prior_ratio": self.prior_ratio,
        }
        for name, model in self._stored_members().items():
            stored = model.to_arrays()
            state[name] = stored.state
            arrays |= {f"{name}.{key}": array for key, array in stored.arrays.items()}
        return StoredModel(state, arrays)

    def _stored_members(self) -> dict[str, Model]:
        return {
            "evidence_model": self.evidence_model,
            "tables": self.tables,
            "tables_from_evidence": self.tables_from_evidence,
            "mixture": self.mixture,
        }

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        arrays, classes = stored.arrays, len(counts.class_counts)

        def part(name: str) -> StoredModel:
            own = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
            return StoredModel(stored.state[name], own)

        weights = arrays["pool_weights"]
        fits = weights.dtype == np.float64 and weights.shape == (len(MEMBERS),)
        if not fits or not ((weights >= 0) & (weights <= MAX_WEIGHT)).all():
            raise ValueError("the weights of its members are invalid")
        return cls(
            counts,
            EvidenceModel.from_arrays(counts, part("evidence_model")),
            BoostedClassTables.from_arrays(counts, part("tables")),
            BoostedClassTables.from_arrays(counts, part("tables_from_evidence")),
            NetworkMixture.from_arrays(counts, part("mixture")),
            weights,
            checked_log_prior(arrays, "log_prior", classes),
            stored_prior_ratio(arrays, classes),
        )
