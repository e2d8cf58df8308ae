"""The design of weighted evidence: leave-one-out evidence of every row, and the corrections of its codes and edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.evidence.back_off_tables import Cells, code_counts, evidence_increments, joint_counts, left_out_evidence
from tanbark.evidence.parent_selection import Parents
from tanbark.evidence.questions import Array, Integers, Questions, code_weights, typical_values
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.memory import check_free_memory
from tanbark.schema import Number, Schema

MAX_STANDARD_SCORE = 5.0
"""Standard scores of values beyond are clipped."""
FINE_BIN_LEVELS = 3
"""Besides the digits that numbers have as parents, eight intervals have corrections of their own."""


@dataclass(frozen=True, eq=False)
class BackOff:
    """The counts of an attribute with its parents, and the strengths of back-off.

    Parameters
    ----------
    joint : array of shape (digits of each parent, codes, classes)
        The weight of the rows with each combination.
    strengths : array of shape (grids, depths)
    """

    joint: Array
    strengths: Array


@dataclass(frozen=True, eq=False)
class Corrections:
    """The features of codes and edges that get a coefficient for each class.

    Parameters
    ----------
    features : array of shape (codes, 2)
        The standard score of a code of a number, and its rank from -1 to 1; 0 for categories.
    bins : array of shape (codes, 2)
        The rows of the coefficients of the code's digit and of its finer interval, -1 for none.
    edges : tuple of int
        For each attribute the first row of the coefficients of the edge from its first parent, -1 if it has none.
    n_codes, n_edges : int
        The number of rows of lines and bins, and of edges.
    """

    features: Array
    bins: Integers
    edges: tuple[int, ...]
    n_codes: int
    n_edges: int

    @classmethod
    def of(cls, schema: Schema, questions: Questions, parents: Parents, by_code: Sequence[Array]) -> Corrections:
        """Return the corrections of a model."""
        rows = 2 * len(schema.columns)
        features, bins, edges = [], [], []
        for u, (column, weights) in enumerate(zip(schema.columns, by_code, strict=True)):
            of_column = np.full((len(weights), 2), -1, np.int64)
            of_column[:, 0] = rows + questions.digits[u][:-1]
            rows += int(questions.digits[u][-1])
            leaves = questions.leaves[u]
            if len(leaves):
                of_column[: leaves.shape[1], 1] = rows + (leaves[0] >> (questions.levels - FINE_BIN_LEVELS))
                rows += 1 << FINE_BIN_LEVELS
            bins.append(of_column)
            features.append(_lines(column, leaves, questions.levels, weights))
        n_codes = rows
        for u, above in enumerate(parents):
            edges.append(rows if above else -1)
            if above:
                rows += int(questions.digits[u][-1]) * int(questions.digits[above[0]][-1])
        return cls(np.concatenate(features), np.concatenate(bins), tuple(edges), n_codes, rows - n_codes)

    def edge_rows(self, questions: Questions, u: int, above: int, codes: Integers, digits: Integers) -> Integers:
        """Return the row of the edge of `u` from its first parent for each code and digit of it, -1 if missing."""
        size = int(questions.digits[above][-1])
        at = self.edges[u] + questions.digits[u][codes] * size + digits
        return np.where(digits < size, at, -1)


def _lines(column: object, leaves: Integers, levels: int, weights: Array) -> Array:
    """Return the standard score and the rank of each code of a number; zeros for other codes."""
    out = np.zeros((len(weights), 2))
    if not isinstance(column, Number) or not len(leaves):
        return out
    values = typical_values(column)
    total = weights[: len(values)].sum()
    if not total > 0:
        return out
    # Shares are at most 1, so that neither huge values nor huge weights overflow.
    span = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    values, shares = values / span, weights[: len(values)] / total
    values = values - shares @ values
    deviation = float(np.sqrt(shares @ values**2))
    if deviation > 0:
        out[: len(values), 0] = np.clip(values / deviation, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE)
    out[: len(values), 1] = leaves[0] / 2 ** (levels - 1) - 1
    return out


@dataclass(frozen=True, eq=False)
class Design:
    """The evidence of rows, ready for fitting weights.

    Parameters
    ----------
    evidence : array of shape (cells, depths, classes)
        The leave-one-out evidence increments of the cells of all attributes.
    start : array of shape (attributes + 1,)
        Where the cells of each attribute begin.
    cell_codes, cell_edges : arrays of shape (cells,)
        The position of the cell's code among all codes, and the row of its edge correction, -1 for none.
    cells : array of int32 of shape (attributes, rows)
        The cell of each row, -1 if the value is missing.
    classes, weights : arrays of shape (rows,)
    log_prior : array of shape (classes,)
    corrections : Corrections
    groups : array of shape (depths, cells)
        Cells of the same group have the same evidence up to a depth.
    """

    evidence: Array
    start: Integers
    cell_codes: Integers
    cell_edges: Integers
    cells: NDArray[np.int32]
    classes: Integers
    weights: Array
    log_prior: Array
    corrections: Corrections
    groups: Integers

    def __post_init__(self) -> None:
        assert self.groups.shape == self.evidence.shape[1::-1]

    def up_to(self, depth: int, edges: bool) -> Design:
        """Return the design without the evidence beyond a depth, and without edges unless asked for.

        Cells that differ only in further parents are merged, which leaves far fewer.
        """
        # The corrections of edges depend on the first parent.
        parents = max(depth, int(edges))
        cell_edges = self.cell_edges if edges else np.full_like(self.cell_edges, -1)
        if parents + 1 >= len(self.groups):
            return replace(self, cell_edges=cell_edges)
        group = self.groups[parents]
        first = np.flatnonzero(np.diff(group, prepend=-1))
        evidence = self.evidence[first]
        evidence[:, parents + 1 :] = 0.0
        return replace(
            self,
            evidence=evidence,
            start=np.append(group, len(first))[self.start],
            cell_codes=self.cell_codes[first],
            cell_edges=cell_edges[first],
            # The last entry is for missing values, whose cell is -1.
            cells=np.append(group, -1).astype(np.int32)[self.cells],
            groups=self.groups[:, first],
        )


@dataclass(frozen=True, eq=False)
class LearnedDesign:
    """The leave-one-out design of rows, and the tables from which the evidence of other rows follows.

    Parameters
    ----------
    design : Design
    tables : tuple of BackOff
        The counts and strengths of each attribute.
    questions : Questions
    parents : tuple of tuples of int
    ess : float
        The strength by which shares whatever the class are pulled towards equal shares.
    """

    design: Design
    tables: tuple[BackOff, ...]
    questions: Questions
    parents: Parents
    ess: float

    def of_rows(self, rows: Rows, n_jobs: int | None) -> Design:
        """Return the design of rows that were not learned from, so that none is left out."""

        def evidence(u: int, cells: Cells) -> Array:
            joint, strengths = self.tables[u].joint, self.tables[u].strengths
            whole = replace(cells, left_out=np.zeros_like(cells.left_out))
            return evidence_increments(joint, self.questions.paths(u, code_counts(joint)), whole, self.ess, strengths)

        design = self.design
        return _design(rows, self.questions, self.parents, design.log_prior, design.corrections, evidence, n_jobs)


def learn_design(
    rows: Rows, questions: Questions, parents: Parents, log_prior: Array, ess: float, n_jobs: int | None
) -> LearnedDesign:
    """Return the leave-one-out design of distinct rows, with the counts and strengths of each attribute.

    Parameters
    ----------
    rows : Rows
        Distinct rows, see `Rows.distinct`.
    questions : Questions
    parents : tuple of tuples of int
    log_prior : array of shape (classes,)
    ess : float
        The strength by which shares whatever the class are pulled towards equal shares.
    n_jobs : int or None
    """
    sizes, arity, n_classes = questions.sizes.tolist(), rows.schema.arity.tolist(), len(rows.schema.classes)
    learned: dict[int, BackOff] = {}

    def evidence(u: int, cells: Cells) -> Array:
        joint = joint_counts(cells, (*(sizes[p] for p in parents[u]), arity[u], n_classes))
        found, strengths = left_out_evidence(joint, questions.paths(u, code_counts(joint)), cells, ess)
        learned[u] = BackOff(joint, strengths)
        return found

    corrections = Corrections.of(rows.schema, questions, parents, code_weights(rows))
    design = _design(rows, questions, parents, log_prior, corrections, evidence, n_jobs)
    return LearnedDesign(design, tuple(learned[u] for u in range(len(arity))), questions, parents, ess)


def _design(
    rows: Rows,
    questions: Questions,
    parents: Parents,
    log_prior: Array,
    corrections: Corrections,
    evidence_of: Callable[[int, Cells], Array],
    n_jobs: int | None,
) -> Design:
    """Return the design of rows, given a function from an attribute and its cells to their evidence increments."""
    schema, n, classes = rows.schema, len(rows.schema.columns), rows.classes.astype(np.int64)
    n_classes, depths = len(schema.classes), 1 + max(map(len, parents), default=0)
    needed = 8 * len(classes) * n * n_classes * (depths + 2)
    check_free_memory(needed, f"learning evidence from {len(classes):,} distinct rows", "fit fewer rows")
    sizes, arity, weights = questions.sizes.tolist(), schema.arity.tolist(), rows.each
    digits = questions.digits_of(rows.codes)
    parts: dict[int, tuple[Array, Cells, Integers]] = {}

    def add(u: int) -> None:
        present = np.flatnonzero(rows.codes[u] < arity[u])
        above = digits[np.array(parents[u], np.int64)][:, present]
        shape = (*(sizes[p] for p in parents[u]), arity[u], n_classes)
        codes = rows.codes[u][present].astype(np.int64)
        cells, place = Cells.of(above, codes, classes[present], weights[present], shape)
        of_row = np.full(len(classes), -1, np.int64)
        of_row[present] = place
        parts[u] = evidence_of(u, cells), cells, of_row

    run([partial(add, u) for u in range(n)], thread_count(n_jobs, 50 * n * len(classes)))
    start = np.concatenate([[0], np.cumsum([len(parts[u][0]) for u in range(n)])]).astype(np.int64)
    all_evidence = np.zeros((int(start[-1]), depths, n_classes))
    cell_codes, cell_edges = np.empty(int(start[-1]), np.int64), np.full(int(start[-1]), -1, np.int64)
    of_rows = np.empty((n, len(classes)), np.int32)
    groups, n_groups = np.empty((depths, int(start[-1])), np.int64), np.zeros(depths, np.int64)
    for u in range(n):
        evidence, cells, of_row = parts[u]
        own = slice(int(start[u]), int(start[u + 1]))
        for depth in range(depths if len(evidence) else 0):
            groups[depth, own] = n_groups[depth] + cells.groups(depth)
            n_groups[depth] = groups[depth, own][-1] + 1
        all_evidence[own, : evidence.shape[1]] = evidence
        cell_codes[own] = schema.offset[u] + cells.codes
        if parents[u]:
            cell_edges[own] = corrections.edge_rows(questions, u, parents[u][0], cells.codes, cells.digits[0])
        of_rows[u] = np.where(of_row >= 0, of_row + start[u], -1)
    return Design(
        all_evidence, start, cell_codes, cell_edges, of_rows, classes, weights, log_prior, corrections, groups
    )
