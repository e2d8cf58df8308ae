"""Counts of single values and of the pairs along the edges of a given tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.accumulator import Array
from tanbark.counts.counts import Counts
from tanbark.counts.encoded_rows import Rows
from tanbark.counts.family_counts import count_family
from tanbark.kernels.runtime.threads import run, thread_count


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
        """Return the counts of the pairs of values of two attributes that share an edge.

        Parameters
        ----------
        u, v : int
            Indices of the attributes.

        Returns
        -------
        counts : ndarray of shape (n_classes, arity of u, arity of v)
        """
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
