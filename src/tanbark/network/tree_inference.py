"""Exact inference in trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.graph import Structure
from tanbark.kernels.infer.tree_joint import tree_evidence, tree_log_joint
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import run, spans, thread_count
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree and its tables, laid out for the kernels.

    Parameters
    ----------
    order : array
        The attributes, parents before children.
    parent : array
        Each attribute's parent, -1 for a root.
    arity, start : arrays
        How many values each attribute has, and where its table begins in `tables`.
    tables : array
        ``log P(j | i, k)``, class fastest, then `j`, then `i`.
    log_prior : array
    """

    order: NDArray[np.int64]
    parent: NDArray[np.int64]
    arity: NDArray[np.int64]
    start: NDArray[np.int64]
    tables: Array
    log_prior: Array

    @classmethod
    def of(cls, structure: Structure, arity: NDArray[np.int64], log_tables: Sequence[Array]) -> Tree:
        """Return the tree of a structure with tables of shape (parent's value, class, value) or (class, value)."""
        n = len(arity)
        above = [structure.attribute_parents(u) for u in range(n)]
        # The kernels want class fastest; a table's axes follow the node's parents, and its own values are last.
        laid = []
        for u in range(n):
            axes = [structure.parents[u].index(p) for p in above[u]]
            axes += [log_tables[u].ndim - 1, structure.parents[u].index(structure.of_class)]
            laid.append(np.ascontiguousarray(log_tables[u].transpose(axes)).ravel())
        start = np.concatenate([[0], np.cumsum([len(t) for t in laid])]).astype(np.int64)
        return cls(
            np.array([v for v in structure.topological_order() if v != n], np.int64),
            np.array([p[0] if p else -1 for p in above], np.int64),
            arity.copy(),
            start,
            np.concatenate(laid),
            log_tables[n].copy(),
        )

    def log_joint(self, codes: Codes, n_jobs: int | None) -> Array:
        """Return ``log P(row, class)``, what is missing being summed out."""
        rows = codes.shape[1]
        out = np.empty((rows, len(self.log_prior)))
        threads = thread_count(n_jobs, rows)
        layout = (self.order, self.parent, self.arity, self.start, self.tables, self.log_prior)
        call = partial(tree_log_joint, codes, *map(frozen, layout))
        run([partial(call, *span, out) for span in spans(rows, threads)], threads)
        return out

    def evidence(self, codes: Codes) -> Array:
        """Return each attribute's share of the log joint, of shape (rows, 1 + attributes, classes), prior first."""
        out = np.zeros((codes.shape[1], 1 + len(self.arity), len(self.log_prior)))
        out[:, 0] = self.log_prior
        layout = (self.order, self.parent, self.arity, self.start, self.tables)
        tree_evidence(codes, *map(frozen, (*layout, *self._shares)), out)
        return out

    @property
    def alone(self) -> list[Array]:
        """``log P(j | k)`` of every attribute, of shape (values, classes)."""
        return np.split(self._shares[0], np.cumsum(self.arity)[:-1])

    @cached_property
    def _shares(self) -> tuple[Array, Array]:
        """``log P(j | k)`` of every value, and ``log P(j | i, k) - log P(j | k)`` laid out as the tables."""
        classes = len(self.log_prior)
        alone: list[Array] = [np.empty(0)] * len(self.arity)
        ratios = np.zeros_like(self.tables)
        for u in self.order.tolist():
            part = slice(int(self.start[u]), int(self.start[u + 1]))
            table = self.tables[part].reshape(-1, int(self.arity[u]), classes)
            above = int(self.parent[u])
            weight = np.exp(alone[above])[:, None, :] if above >= 0 else 1.0
            with np.errstate(divide="ignore", invalid="ignore"):
                alone[u] = np.log((np.exp(table) * weight).sum(axis=0))
                ratio = table - alone[u] if above >= 0 else np.zeros_like(table)
            ratios[part] = np.where(np.isneginf(alone[u]), 0.0, ratio).ravel()
        return np.concatenate(alone), ratios
