"""Counts of families of any size, stored sparsely, and of the edges of a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.accumulator import Array
from tanbark.counts.counts import Counts
from tanbark.kernels.count.configurations import family_keys
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.shared_docs import insert_shared_docs

if TYPE_CHECKING:
    from tanbark.counts.encoded_rows import Rows

MAX_BINCOUNT_CELLS = 2**22
"""A family with at most this many cells is counted in a dense array."""
MAX_DENSE_CELLS = 2**28
"""A table with more cells is not converted to a dense array."""
MAX_CELL_KEYS = 2**62
"""Cells are numbered by 64-bit integers; a family with this many cells or more is refused."""


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """Joint counts of the class and some attributes.

    Parameters
    ----------
    columns : tuple of int
        The attributes, in the order of the axes.
    shape : tuple of int
        Number of classes, then the arity of each attribute (plus one if missing values count as a level).
    keys : ndarray of int64
        The non-empty cells, as ascending indices into a flattened row-major array of this shape.
    counts : ndarray
        The count of each of these cells.
    """

    columns: tuple[int, ...]
    shape: tuple[int, ...]
    keys: NDArray[np.int64]
    counts: NDArray[Any]

    def dense(self) -> NDArray[Any]:
        """Return the counts as a dense array.

        Returns
        -------
        table : ndarray of shape `shape`

        Raises
        ------
        ValueError
            If the table is too large.
        """
        cells = math.prod(self.shape)
        if cells > MAX_DENSE_CELLS:
            raise ValueError(
                f"a table of shape {self.shape} has {cells:,} cells, too many for a dense array; use the sparse counts"
            )
        table = np.zeros(cells, self.counts.dtype)
        table[self.keys] = self.counts
        return table.reshape(self.shape)


@insert_shared_docs
def count_family(
    schema: Schema,
    codes: Codes,
    y: NDArray[np.integer],
    columns: Sequence[int],
    weights: NDArray[np.float64] | None = None,
    missing_as_level: bool = False,
) -> FamilyCounts:
    """Count the joint values of the class and some attributes.

    Parameters
    ----------
    {encoded_rows}
    y : ndarray of shape (n_rows,)
        Class of each row, as an index into ``schema.classes``.
    columns : sequence of int
        Indices of the attributes.
    weights : ndarray of shape (n_rows,), default=None
        Weight of each row; None gives each row weight 1.
    missing_as_level : bool, default=False
        Whether missing values count as a further level of each attribute, as structure searches require. If False,
        rows with a missing value in `columns` are left out.

    Returns
    -------
    counts : FamilyCounts

    Raises
    ------
    ValueError
        If the family has too many cells to be numbered by 64-bit integers.
    """
    columns = tuple(int(u) for u in columns)
    arity = schema.arity[list(columns)] + missing_as_level
    shape = (len(schema.classes), *(int(r) for r in arity))
    cells = math.prod(shape)
    if cells >= MAX_CELL_KEYS:
        raise ValueError(f"a family of shape {shape} has too many cells for 64-bit keys; use fewer attributes")
    keys = np.asarray(y).astype(np.int64)
    chosen = codes[list(columns)]
    if missing_as_level:
        chosen = np.minimum(chosen, schema.arity[list(columns), None]).astype(codes.dtype)
    family_keys(chosen, arity.astype(np.int64), keys)
    known = keys >= 0
    if not known.all():
        keys = keys[known]
        weights = None if weights is None else weights[known]
    if cells <= max(MAX_BINCOUNT_CELLS, 4 * len(keys)):
        table = np.bincount(keys, weights, minlength=cells)
        seen = np.flatnonzero(table)
        return FamilyCounts(columns, shape, seen, table[seen])
    seen, cell = np.unique(keys, return_inverse=True)
    return FamilyCounts(columns, shape, seen, np.bincount(cell, weights, minlength=len(seen)))


@dataclass(frozen=True, eq=False)
class TreeCounts(Counts):
    """Counts of single values, and of pairs of values along the edges of a tree.

    Parameters
    ----------
    schema : Schema
        The columns, their levels and the classes.
    class_counts : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    table : ndarray of shape (n_classes, n_values)
        Counts of single values.
    pairs : mapping of (int, int) to ndarray of shape (n_classes, arity of u, arity of v)
        Counts of the pairs of values along each edge ``(u, v)`` with ``u < v``.
    """

    pairs: Mapping[tuple[int, int], Array]

    def pair(self, u: int, v: int) -> Array:
        """Return the counts of the pairs of values of two attributes that share an edge; see `Counts.pair`."""
        return self.pairs[u, v] if u < v else self.pairs[v, u].transpose(0, 2, 1)


def count_tree(
    rows: Rows, parent: Sequence[int], weights: NDArray[np.float64], n_jobs: int | None = None
) -> TreeCounts:
    """Count the values, and the pairs of each attribute and its parent.

    Parameters
    ----------
    rows : Rows
        The encoded rows; their own weights are not used.
    parent : sequence of int
        Parent of each attribute, -1 for a root.
    weights : ndarray of shape (n_rows,)
        Weight of each row.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn.

    Returns
    -------
    counts : TreeCounts
    """
    single = Counts.of(rows.schema, rows.codes, rows.classes, weights, 1, n_jobs)
    edges = [(min(u, p), max(u, p)) for u, p in enumerate(parent) if p >= 0]
    pairs: dict[tuple[int, int], Array] = {}

    def count(edge: tuple[int, int]) -> None:
        pairs[edge] = count_family(rows.schema, rows.codes, rows.classes, edge, weights).dense()

    run([partial(count, edge) for edge in edges], thread_count(n_jobs, len(rows.classes)))
    return TreeCounts(single.schema, single.class_counts, single.table, pairs)
