"""Counts of single values and of the pairs along a tree, for a tree that is known before counting."""

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
    """Counts of order 1, and for each of a tree's edges ``(u, v)`` with ``u < v`` the table of its pair."""

    pairs: Mapping[tuple[int, int], Array]

    def pair(self, u: int, v: int) -> Array:
        """Return how often each pair of values of two neighbours was seen, of shape (classes, arity u, arity v)."""
        return self.pairs[u, v] if u < v else self.pairs[v, u].transpose(0, 2, 1)


def count_tree(
    rows: Rows, parent: Sequence[int], weights: NDArray[np.float64], n_jobs: int | None = None
) -> TreeCounts:
    """Return the weighted counts of the rows' values and of the pairs of each attribute and its parent (-1: none)."""
    single = Counts.of(rows.schema, rows.codes, rows.classes, weights, 1, n_jobs)
    edges = [(min(u, above), max(u, above)) for u, above in enumerate(parent) if above >= 0]
    pairs: dict[tuple[int, int], Array] = {}

    def count(edge: tuple[int, int]) -> None:
        pairs[edge] = count_family(rows.schema, rows.codes, rows.classes, edge, weights).dense()

    run([partial(count, edge) for edge in edges], thread_count(n_jobs, len(rows.classes)))
    return TreeCounts(single.schema, single.class_counts, single.table, pairs)
