"""The shape of an attribute: the mean evidence of each of its values, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.evidence.back_off_tables import Cells, all_cells, context_counts
from tanbark.evidence.questions import Array, Integers, Path
from tanbark.immutable import Immutable
from tanbark.messages import counted


@dataclass(frozen=True, eq=False)
class Shape(Immutable):
    """The evidence that the values of an attribute give, averaged over the training rows with each value.

    Parameters
    ----------
    attribute : str
        The name of the attribute.
    labels : tuple of str
        The levels or intervals.
    classes : tuple
        The classes.
    evidence : array of shape (labels, classes)
        The mean weight of evidence for each class, in nats, centred over the classes. For a value without training
        rows it is the evidence without parents.
    standard_errors : array of shape (labels, classes)
        The standard error of the evidence that is due to the counts of the tables. Weights and corrections are taken
        as known, so that the true standard errors are larger.
    rows : array of shape (labels,)
        The weight of the training rows with each value.
    """

    attribute: str
    labels: tuple[str, ...]
    classes: tuple[Any, ...]
    evidence: Array
    standard_errors: Array
    rows: Array

    def __str__(self) -> str:
        width = max(map(len, self.labels))
        lines = [f"{self.attribute}: weight of evidence for {', '.join(map(str, self.classes))}"]
        for label, rows, means, errors in zip(
            self.labels, self.rows.tolist(), self.evidence.tolist(), self.standard_errors.tolist(), strict=True
        ):
            values = "  ".join(f"{mean:+.2f} ± {error:.2f}" for mean, error in zip(means, errors, strict=True))
            lines.append(f"  {label:{width}}  {values}  ({counted(rows, 'row')})")
        return "\n".join(lines)


def context_shares(joint: Array, fixed: Mapping[int, int]) -> tuple[Array, Array]:
    """Return the share of each context among the rows of each code, and the weight of these rows.

    `fixed` maps the position of a parent to the digit that it must have. A code without rows has the context in which
    all other parents are missing.

    Returns
    -------
    shares : array of shape (contexts, codes)
    rows : array of shape (codes,)
    """
    *sizes, arity, _ = joint.shape
    weights = joint.sum(axis=-1)
    for parent, digit in fixed.items():
        kept = np.zeros(sizes[parent], np.bool_)
        kept[digit] = True
        weights = weights * kept.reshape([-1 if p == parent else 1 for p in range(joint.ndim - 1)])
    weights = weights.reshape(-1, arity)
    rows = weights.sum(axis=0)
    shares = weights / np.where(rows > 0, rows, 1.0)
    default = [fixed.get(parent, size - 1) for parent, size in enumerate(sizes)]
    shares[np.ravel_multi_index(default, sizes) if sizes else 0, rows <= 0] = 1.0
    return shares, rows


def standard_errors(
    joint: Array, paths: Sequence[Path], ess: float, strengths: Array, weights: Array, shares: Array
) -> Array:
    """Return the standard error of the mean evidence of each code for each class, by the delta method.

    The mean evidence ``S`` is a smooth function of the counts ``N`` of rows with each combination of context, code and
    class. With independent Poisson counts its variance is ``sum N (dS / dN)**2``. The derivatives go back through the
    logarithms and the chain ``theta_d = (n_d + m_d theta_(d-1)) / (t_d + m_d)``.

    Parameters
    ----------
    joint : array of shape (digits of each parent, codes, classes)
    paths : sequence of Path
    ess : float
    strengths : array of shape (grids, depths)
    weights : array of shape (depths,)
        The weights of the evidence increments.
    shares : array of shape (contexts, codes)
        The output of `context_shares`.

    Returns
    -------
    array of shape (codes, classes)
    """
    *sizes, arity, classes = joint.shape
    counts = joint.reshape(-1, arity, classes)
    contexts = _contexts(sizes)
    tables = [context_counts(joint, depth) for depth in range(len(sizes) + 1)]
    out = np.zeros((arity, classes))
    for code in range(arity):
        by_class = np.zeros_like(counts)
        by_all = np.zeros((arity, classes))
        for path, strength in zip(paths, strengths, strict=True):
            factors = _log_share_factors(shares[:, code], contexts, weights) / len(paths)
            for level in range(len(path.nodes)):
                if path.nodes[level, code] >= 0:
                    chain = _Chain(tables, path, level, code, ess, strength, contexts)
                    chain.add_derivatives(factors, by_class, by_all)
        by_all -= by_all.mean(axis=1, keepdims=True)
        for k in range(classes):
            own = np.full(classes, -1.0 / classes)
            own[k] += 1.0
            slope = by_class * own + by_all[:, k, None]
            out[code, k] = np.sqrt((counts * slope**2).sum())
    return out


def _contexts(sizes: Sequence[int]) -> Integers:
    """Return the number of the context of each full context at each depth, -1 if one of its parents is missing."""
    shape = (*sizes, 1, 1)
    cells: Cells = all_cells(shape)
    return np.stack([cells.contexts(sizes, depth) for depth in range(len(sizes) + 1)])


def _log_share_factors(shares: Array, contexts: Integers, weights: Array) -> Array:
    """Return the factor of ``log theta_d`` of each full context in the mean evidence, of shape (depths, contexts)."""
    depths = len(contexts)
    factors = np.zeros(contexts.shape)
    for d in range(depths):
        known = contexts[d] >= 0
        deeper = contexts[d + 1] >= 0 if d + 1 < depths else np.zeros_like(known)
        following = weights[d + 1] if d + 1 < depths else 0.0
        factors[d] = shares * np.where(known, weights[d] - np.where(deeper, following, 0.0), 0.0)
    return factors


class _Chain:
    """The probabilities of one answer at all depths, and their derivatives in the counts."""

    def __init__(
        self,
        tables: Sequence[Array],
        path: Path,
        level: int,
        code: int,
        ess: float,
        strengths: Array,
        contexts: Integers,
    ) -> None:
        node = path.nodes[level, code]
        self._contexts = contexts
        self._answer = path.nodes[level] == node
        asked = path.nodes[level] >= 0
        self._asked = asked & (path.question[np.where(asked, path.nodes[level], 0)] == path.question[node])
        free = tables[0].sum(axis=(0, 2))
        self._free_strength = ess * (1 + level)
        self._free_asked = float(free[self._asked].sum()) + self._free_strength
        given = float(free[self._answer].sum())
        self._free = (given + self._free_strength / path.answers[level]) / self._free_asked
        self._shares: list[Array] = []
        self._totals: list[Array] = []
        self._pull: list[Array] = []
        before = np.full((1, tables[0].shape[2]), self._free)
        for depth, table in enumerate(tables):
            if depth:
                before = np.repeat(before, len(table) // len(before), axis=0)
            strength = strengths[depth] * (1 + level)
            total = table[:, self._asked].sum(axis=1) + strength
            before = (table[:, self._answer].sum(axis=1) + strength * before) / total
            self._shares.append(before)
            self._totals.append(total)
            self._pull.append(strength / total)

    def add_derivatives(self, factors: Array, by_class: Array, by_all: Array) -> None:
        """Add the derivatives in the counts of a class, and in those of all classes, of the sum with these factors."""
        later: Array | None = None
        for depth in reversed(range(len(self._shares))):
            share, total = self._shares[depth], self._totals[depth]
            known = self._contexts[depth] >= 0
            factor = np.bincount(self._contexts[depth][known], factors[depth][known], len(share))
            slope = factor[:, None] / share
            if later is not None:
                slope = slope + later
            of_answer = slope / total
            of_asked = -slope * share / total
            at = self._contexts[depth][known]
            by_class[np.ix_(known, self._answer)] += of_answer[at][:, None]
            by_class[np.ix_(known, self._asked)] += of_asked[at][:, None]
            later = slope * self._pull[depth]
            fewer = len(self._shares[depth - 1]) if depth else 1
            later = later.reshape(fewer, -1, later.shape[1]).sum(axis=1)
        assert later is not None
        by_all[self._answer] += later / self._free_asked
        by_all[self._asked] -= later * self._free / self._free_asked
