"""The table in which structures are searched: the class a node like the others, missing a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows

Array = NDArray[np.float64]

MOST_CELLS = 2**20
"""Configurations are numbered as they come while there are at most so many, or four times the cases."""


@dataclass(frozen=True, eq=False)
class Cases:
    """Distinct rows with their weights, the class as the last node.

    Parameters
    ----------
    codes : array of shape (nodes, cases)
        Every code is below the node's arity: what is missing is one more level of a column that lacks values.
    arity : array of shape (nodes,)
    weights : array of shape (cases,)
    """

    codes: NDArray[np.unsignedinteger]
    arity: NDArray[np.int64]
    weights: Array

    @classmethod
    def of(cls, rows: Rows) -> Cases:
        """Return the cases of some rows, in ascending order whatever the order of the rows."""
        distinct = rows.distinct
        arity = rows.schema.arity.astype(np.int64)
        holed = (distinct.codes >= arity[:, None].astype(distinct.codes.dtype)).any(axis=1)
        codes = np.minimum(distinct.codes, arity[:, None]).astype(np.uint16)
        codes = np.concatenate([codes, distinct.classes[None].astype(np.uint16)])
        arity = np.append(arity + holed, len(rows.schema.classes))
        if arity.max() <= 2**8:
            codes = codes.astype(np.uint8)
        return cls(np.ascontiguousarray(codes), arity, distinct.each)

    @property
    def of_class(self) -> int:
        """The node of the class."""
        return len(self.arity) - 1

    def configurations(self, nodes: Sequence[int]) -> float:
        """Return how many joint values some nodes can have."""
        return float(math.prod(self.arity[list(nodes)].astype(np.float64).tolist()))

    def numbered(self, nodes: Sequence[int]) -> tuple[NDArray[np.int64], int]:
        """Return for each case the number of its configuration of the nodes, and how many numbers there are.

        Not every number need occur, but there are never many more of them than cases.
        """
        at = np.zeros(len(self.weights), np.int64)
        many = 1
        room = max(MOST_CELLS, 4 * len(at))
        for node in nodes:
            at = at * self.arity[node] + self.codes[node]
            many *= int(self.arity[node])
            if many > room:
                seen, at = np.unique(at, return_inverse=True)
                many = len(seen)
        return at, many

    def table(self, node: int, parents: Sequence[int]) -> Array:
        """Return how often each value of a node was seen under each configuration of the parents that was seen."""
        own = int(self.arity[node])
        at, many = self.numbered(parents)
        if many * own > max(MOST_CELLS, 4 * len(at)):
            configurations, at = np.unique(at, return_inverse=True)
            many = len(configurations)
        seen = np.bincount(at * own + self.codes[node], self.weights, many * own).reshape(many, own)
        return np.asarray(seen[seen.any(axis=1)], np.float64)
