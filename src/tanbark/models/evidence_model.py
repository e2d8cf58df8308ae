"""Weighted evidence of single attributes in their contexts: the model of `EvidenceBN`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.evidence.additive_tables import AdditiveTables
from tanbark.evidence.back_off_tables import Cells, all_cells, code_counts, evidence_increments
from tanbark.evidence.design import Corrections
from tanbark.evidence.parent_selection import Parents
from tanbark.evidence.penalised_weights import Setting
from tanbark.evidence.questions import Questions
from tanbark.evidence.shapes import Shape, context_shares, standard_errors
from tanbark.evidence.table_averages import mean_absolute_changes, mean_absolute_entries
from tanbark.models.model import Array, Model, StoredModel, centred
from tanbark.models.stored_evidence import StoredEvidence
from tanbark.network import Structure
from tanbark.schema.encode.columns import Codes

MAX_UINT32_CELLS = 1 << 31
"""The places of more cells are stored as int64."""


@dataclass(frozen=True, eq=False)
class EvidenceModel(Model):
    """An additive model of back-off tables with weights and corrections.

    Parameters
    ----------
    counts : Counts
        Counts of single values.
    learned_log_prior, class_log_prior, prior_ratio : arrays of shape (classes,)
        The learned class prior, the one in use, and its log ratio to the learned one.
    parents : tuple of tuples of int
        The parents of each attribute, beside the class.
    questions : Questions
        How the codes of the attributes are divided.
    joints : tuple of arrays of shape (digits of each parent, arity, classes)
        The weight of the training rows with each combination.
    strengths : tuple of arrays of shape (grids, depths)
        The strengths of back-off.
    ess : float
        The strength by which shares whatever the class are pulled towards equal shares.
    weights : array of shape (depths, attributes)
        The weight of each increment of evidence.
    bias : array of shape (classes,)
    corrections : Corrections
    coefficients : array of shape (corrections, classes)
    settings : tuple of (Setting or None, float, float)
        The settings that were tried, with their held-out log loss per row and their weight in the average.
    temperature, optimality_gap : float
    """

    counts: Counts
    learned_log_prior: Array
    class_log_prior: Array
    prior_ratio: Array
    parents: Parents
    questions: Questions
    joints: tuple[Array, ...]
    strengths: tuple[Array, ...]
    ess: float
    weights: Array
    bias: Array
    corrections: Corrections
    coefficients: Array
    settings: tuple[tuple[Setting | None, float, float], ...]
    temperature: float
    optimality_gap: float

    has_joint = False

    @property
    def has_evidence(self) -> bool:
        """The model is additive."""
        return True

    @cached_property
    def compiled(self) -> AdditiveTables:
        """The model as one table for each attribute: all that predictions, explanations and exports need."""
        tables = tuple(self._compiled_table(u) for u in range(len(self.joints)))
        return AdditiveTables(tables, self.parents, self.questions.digits)

    @property
    def base_scores(self) -> Array:
        """The scores of the classes before any evidence: the class prior in use and the biases."""
        return self.learned_log_prior + self.bias + self.prior_ratio

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return log posteriors up to a constant for each row."""
        scores = np.tile(self.base_scores, (codes.shape[1], 1))
        self.compiled.add_to(scores, codes, n_jobs)
        return scores

    def evidence(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the entries of the compiled tables; the class prior and the biases come first."""
        parts = self.compiled.entries(codes, n_jobs)
        parts[:, 0] = self.base_scores
        return centred(parts)

    def shape(self, attribute: int, given: Mapping[int, int] | None = None) -> Shape:
        """Return the mean evidence of each value of an attribute.

        Parameters
        ----------
        attribute : int
        given : mapping of int to int, default=None
            The codes of some of its parents. Evidence is averaged over the training rows that have these.
        """
        u, joint, column = attribute, self.joints[attribute], self.schema.columns[attribute]
        fixed = {self.parents[u].index(p): int(self.questions.digits[p][code]) for p, code in (given or {}).items()}
        shares, rows = context_shares(joint, fixed)
        entries = self.compiled.tables[u][..., :-1, :].reshape(*shares.shape, -1)
        paths, weights = self.questions.paths(u, code_counts(joint)), self.weights[: joint.ndim - 1, u]
        errors = standard_errors(joint, paths, self.ess, self.strengths[u], weights, shares)
        evidence = np.einsum("fa,fak->ak", shares, entries)
        return Shape(column.name, column.labels, self.schema.classes, evidence, errors, rows)

    def mean_absolute_evidence(self) -> Array:
        """Return the mean absolute weight of evidence of each attribute over training rows and classes, in nats.

        Returns
        -------
        means : array of shape (attributes,)
        """
        return mean_absolute_entries(self.compiled, self.joints, self._total)

    def edge_strengths(self) -> dict[tuple[int, int], float]:
        """Return the strength of each edge in nats, by the positions of parent and child.

        The strength is the absolute change of the child's evidence if the parent becomes unknown, averaged over
        training rows and classes. The child then falls back to the context of the parents before this one.

        Returns
        -------
        strengths : dict of (parent, child) to float
        """
        return mean_absolute_changes(self.compiled, self.joints, self._total)

    @property
    def structure(self) -> Structure:
        """The edges between the attributes, and from the class to each of them."""
        of_class = len(self.parents)
        return Structure((*((*above, of_class) for above in self.parents), ()))

    @property
    def _total(self) -> float:
        """The weight of the training rows."""
        return float(self.counts.class_counts.sum())

    def with_rows(
        self, rows: Rows, counts: Counts, learned_log_prior: Array, class_log_prior: Array, prior_ratio: Array
    ) -> Self:
        """Return the model with the counts of further rows; questions, strengths and weights stay.

        Parameters
        ----------
        rows : Rows
            Further rows under the schema of the model.
        counts : Counts
            The counts of all rows.
        learned_log_prior, class_log_prior, prior_ratio : arrays of shape (classes,)
            The class prior of all rows, the one to use, and its log ratio to the learned one.
        """
        arity = self.schema.arity.tolist()
        digits = self.questions.digits_of(rows.codes)
        joints = []
        for u, joint in enumerate(self.joints):
            present = np.flatnonzero(rows.codes[u] < arity[u])
            above = [digits[p][present] for p in self.parents[u]]
            place = (*above, rows.codes[u][present].astype(np.int64), rows.classes[present].astype(np.int64))
            keys = np.ravel_multi_index(place, joint.shape)
            joints.append(joint + np.bincount(keys, rows.each[present], joint.size).reshape(joint.shape))
        return replace(
            self,
            counts=counts,
            learned_log_prior=learned_log_prior,
            class_log_prior=class_log_prior,
            prior_ratio=prior_ratio,
            joints=tuple(joints),
        )

    def _compiled_table(self, u: int) -> Array:
        """Return the weighted evidence and corrections of an attribute, by its parents' digits and its code."""
        joint = self.joints[u]
        *sizes, arity, classes = joint.shape
        cells = all_cells(joint.shape)
        paths = self.questions.paths(u, code_counts(joint))
        increments = evidence_increments(joint, paths, cells, self.ess, self.strengths[u])
        scores = np.einsum("adk,d->ak", increments, self.weights[: increments.shape[1], u])
        scores += self._correction_scores(u, cells)
        table = np.zeros((*sizes, arity + 1, classes))
        table[..., :arity, :] = (scores - scores.mean(axis=1, keepdims=True)).reshape(*sizes, arity, classes)
        return table

    def _correction_scores(self, u: int, cells: Cells) -> Array:
        codes = self.schema.offset[u] + cells.codes
        features, bins = self.corrections.features[codes], self.corrections.bins[codes]
        scores: Array = features @ self.coefficients[2 * u : 2 * u + 2]
        for kind in range(bins.shape[1]):
            scores += np.where(bins[:, kind, None] >= 0, self.coefficients[bins[:, kind]], 0.0)
        if self.parents[u]:
            first = self.parents[u][0]
            rows = self.corrections.edge_rows(self.questions, u, first, cells.codes, cells.digits[0])
            scores += np.where(rows[:, None] >= 0, self.coefficients[rows], 0.0)
        return scores

    def to_arrays(self) -> StoredModel:
        """Return the counts, questions and coefficients; the compiled tables follow from them."""
        joint = np.concatenate([table.ravel() for table in self.joints])
        place = np.flatnonzero(joint)
        arrays: dict[str, NDArray[Any]] = {
            "leaves": np.concatenate([leaf.ravel() for leaf in self.questions.leaves]).astype(np.int16),
            "digits": np.concatenate(self.questions.digits).astype(np.int16),
            "joint_places": place.astype(np.uint32 if joint.size < MAX_UINT32_CELLS else np.int64),
            "joint_counts": joint[place],
            "strengths": np.concatenate([strength.ravel() for strength in self.strengths]),
            "weights": self.weights,
            "bias": self.bias,
            "features": self.corrections.features,
            "coefficients": self.coefficients,
            "learned_prior": self.learned_log_prior,
            "log_prior": self.class_log_prior,
            "prior_ratio": self.prior_ratio,
        }
        tried = [[None if s is None else list(vars(s).values()), loss, share] for s, loss, share in self.settings]
        state = {
            "levels": self.questions.levels,
            "grids": [len(leaf) for leaf in self.questions.leaves],
            "evidence_parents": [list(above) for above in self.parents],
            "evidence_ess": self.ess,
            "settings": tried,
            "temperature": self.temperature,
            "optimality_gap": self.optimality_gap,
        }
        return StoredModel(state, arrays)

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        return cls(*StoredEvidence(counts, stored).fields())
