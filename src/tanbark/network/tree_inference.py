"""Exact inference in trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import Immutable, read_only
from tanbark.kernels.infer.tree_joint import tree_evidence, tree_log_joint
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.network.structure import Structure
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree(Immutable):
    """A tree and its tables in the memory layout of the kernels.

    Parameters
    ----------
    order : ndarray of shape (n_attributes,)
        The attributes, parents before children.
    parent : ndarray of shape (n_attributes,)
        Parent of each attribute, -1 for a root.
    arity : ndarray of shape (n_attributes,)
        Number of values of each attribute.
    start : ndarray of shape (n_attributes + 1,)
        Start of each attribute's table in `tables`.
    tables : ndarray
        ``log P(j | i, k)`` of value `j` under the parent's value `i` and class `k`; `k` varies fastest, then `j`.
    log_prior : ndarray of shape (n_classes,)
        ``log P(k)``.
    """

    order: NDArray[np.int64]
    parent: NDArray[np.int64]
    arity: NDArray[np.int64]
    start: NDArray[np.int64]
    tables: Array
    log_prior: Array

    @classmethod
    def of(cls, structure: Structure, arity: NDArray[np.int64], log_tables: Sequence[Array]) -> Tree:
        """Return the tree of a structure with tables whose axes are the parents and, last, the node's own values."""
        n = len(arity)
        attribute_parents = [structure.attribute_parents(u) for u in range(n)]
        # Move the class to the last axis, where it varies fastest.
        flat_tables = []
        for u in range(n):
            axes = [structure.parents[u].index(p) for p in attribute_parents[u]]
            axes += [log_tables[u].ndim - 1, structure.parents[u].index(structure.of_class)]
            flat_tables.append(np.ascontiguousarray(log_tables[u].transpose(axes)).ravel())
        start = np.concatenate([[0], np.cumsum([len(t) for t in flat_tables])]).astype(np.int64)
        return cls(
            np.array([v for v in structure.topological_order() if v != n], np.int64),
            np.array([p[0] if p else -1 for p in attribute_parents], np.int64),
            arity.copy(),
            start,
            np.concatenate(flat_tables),
            log_tables[n].copy(),
        )

    def log_joint(self, codes: Codes, n_jobs: int | None) -> Array:
        """Return ``log P(row, class)``, with missing values marginalised."""
        rows = codes.shape[1]
        out = np.empty((rows, len(self.log_prior)))
        layout = (self.order, self.parent, self.arity, self.start, self.tables, self.log_prior)
        run_over_rows(partial(tree_log_joint, codes, *layout, out=out), rows, n_jobs)
        return out

    def evidence(self, codes: Codes) -> Array:
        """Return the contributions to the log joint, of shape (rows, 1 + attributes, classes), the prior first."""
        out = np.zeros((codes.shape[1], 1 + len(self.arity), len(self.log_prior)))
        out[:, 0] = self.log_prior
        layout = (self.order, self.parent, self.arity, self.start, self.tables)
        tree_evidence(codes, *layout, *map(read_only, self._log_ratios), out)
        return out

    @property
    def log_given_class(self) -> list[Array]:
        """``log P(j | k)`` of every attribute, of shape (values, classes)."""
        return np.split(self._log_ratios[0], np.cumsum(self.arity)[:-1])

    @cached_property
    def _log_ratios(self) -> tuple[Array, Array]:
        """``log P(j | k)`` of every value, and ``log P(j | i, k) - log P(j | k)`` in the layout of `tables`."""
        classes = len(self.log_prior)
        log_given_class: list[Array] = [np.empty(0)] * len(self.arity)
        ratios = np.zeros_like(self.tables)
        for u in self.order.tolist():
            part = slice(int(self.start[u]), int(self.start[u + 1]))
            table = self.tables[part].reshape(-1, int(self.arity[u]), classes)
            p = int(self.parent[u])
            weight = np.exp(log_given_class[p])[:, None, :] if p >= 0 else 1.0
            with np.errstate(divide="ignore", invalid="ignore"):
                marginal = np.log((np.exp(table) * weight).sum(axis=0))
                ratio = table - marginal if p >= 0 else np.zeros_like(table)
            log_given_class[u] = marginal
            ratios[part] = np.where(np.isneginf(marginal), 0.0, ratio).ravel()
        return np.concatenate(log_given_class), ratios
