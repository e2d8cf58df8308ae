"""The table on which structures are scored: the class is a node like the others, a missing value is a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

MIN_CELL_LIMIT = 2**20
"""Tables of up to this many cells are always stored densely, however few the cases."""


class Nodes:
    """Nodes with a fixed number of values each; the class is the last node."""

    arity: Integers

    @property
    def of_class(self) -> int:
        """The node of the class."""
        return len(self.arity) - 1

    def configurations(self, nodes: Sequence[int]) -> float:
        """Return the number of joint values that some nodes can take.

        Parameters
        ----------
        nodes : sequence of int
            The nodes; an empty sequence has one configuration.

        Returns
        -------
        float
            The product of the numbers of values.
        """
        return math.prod([self._sizes[node] for node in nodes], start=1.0)

    @cached_property
    def _sizes(self) -> list[float]:
        return [float(r) for r in self.arity]


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class Cases(Nodes):
    """Distinct rows with their weights, the class as the last node.

    Parameters
    ----------
    codes : array of shape (nodes, cases)
        The value of each node in each case. Every code is below the node's arity: a column with missing values has
        one more level for them.
    arity : array of shape (nodes,)
        The number of values of each node.
    weights : array of shape (cases,)
        The weight of each case, the sum of the weights of its rows.
    """

    codes: NDArray[np.unsignedinteger]
    arity: Integers
    weights: Array

    @classmethod
    def of(cls, rows: Rows) -> Cases:
        """Return the cases of some rows.

        Parameters
        ----------
        rows : Rows
            Encoded rows with their classes, in any order.

        Returns
        -------
        Cases
            The distinct rows in ascending order, whatever the order of `rows`.
        """
        distinct = rows.distinct
        arity = rows.schema.arity.astype(np.int64)
        is_missing = distinct.codes >= arity[:, None].astype(distinct.codes.dtype)
        has_missing = np.any(is_missing, axis=1)
        is_empty = np.all(is_missing, axis=1)
        codes = np.minimum(distinct.codes, arity[:, None]).astype(np.uint16)
        # A column without a known value has one value. With levels that never occur, it would not be neutral as a
        # parent: the BDeu score of a family would improve, since its prior would be spread over more cells.
        codes[is_empty], arity[is_empty], has_missing[is_empty] = 0, 1, False
        codes = np.concatenate([codes, distinct.classes[None].astype(np.uint16)])
        arity = np.append(arity + has_missing, len(rows.schema.classes))
        if arity.max() <= 2**8:
            codes = codes.astype(np.uint8)
        return cls(np.ascontiguousarray(codes), arity, distinct.each)

    @property
    def max_cells(self) -> int:
        """The number of cells up to which a table is stored densely."""
        return max(MIN_CELL_LIMIT, 4 * len(self.weights))

    def numbered(self, nodes: Sequence[int]) -> tuple[Integers, int]:
        """Return the number of each case's configuration of some nodes.

        Parameters
        ----------
        nodes : sequence of int
            The nodes.

        Returns
        -------
        numbers : array of shape (cases,)
            The number of each case's configuration.
        size : int
            All numbers are below `size`, which is at most `max_cells`. Not every number need occur.
        """
        numbers = np.zeros(len(self.weights), np.int64)
        size = 1
        for node in nodes:
            numbers = numbers * self.arity[node] + self.codes[node]
            size *= int(self.arity[node])
            if size > self.max_cells:
                observed, numbers = np.unique(numbers, return_inverse=True)
                size = len(observed)
        return numbers, size

    def table(self, node: int, parents: Sequence[int]) -> Array:
        """Count the values of a node under the configurations of its parents.

        Parameters
        ----------
        {node_and_parents}

        Returns
        -------
        array of shape (observed configurations, values)
            The weight of the cases in each cell. Configurations of the parents that no case has are left out.
        """
        values = int(self.arity[node])
        numbers, size = self.numbered(parents)
        if size * values > self.max_cells:
            observed, numbers = np.unique(numbers, return_inverse=True)
            size = len(observed)
        counts = np.bincount(numbers * values + self.codes[node], self.weights, size * values).reshape(size, values)
        return np.asarray(counts[counts.any(axis=1)], np.float64)
