"""The tree of greatest total weight, and a root for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.prim import grow_tree

Edge = tuple[int, int]


def maximum_spanning_tree(weights: NDArray[np.float64]) -> list[Edge]:
    """Return the edges of the maximum spanning tree in the order in which Prim's algorithm adds them.

    It grows from the heaviest pair; each further edge leads from the tree so far to a new attribute. Ties go to column
    order. The order is what an incremental learner checks first when weights have changed (Roure 2002).

    >>> maximum_spanning_tree(np.array([[0, 1, 5], [1, 0, 3], [5, 3, 0.0]]))
    [(0, 2), (2, 1)]
    """
    n = len(weights)
    if n < 2:
        return []
    us, vs = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    grow_tree(settled(np.asarray(weights, np.float64)), us, vs)
    return list(zip(us.tolist(), vs.tolist()))


def settled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights in whole units of 1e-12 of the greatest, so that what is equal but for rounding is equal.

    Sums of them are exact, so that trees of equal weight are equal too.

    >>> settled(np.array([0.1 + 0.2, 0.3, -0.15])).tolist()
    [1000000000000.0, 1000000000000.0, -500000000000.0]
    """
    unit = float(np.abs(weights).max(initial=0.0)) * 1e-12
    return np.round(weights / unit) if unit > 0 else weights


def rooted(n: int, edges: Sequence[Edge], roots: Sequence[int]) -> tuple[int, ...]:
    """Return each attribute's parent when the tree hangs from the first of `roots`, -1 where it has none.

    Parts that are not reached hang from the next of `roots` that is in them, else from their first in column order.

    >>> rooted(3, [(0, 2), (2, 1)], roots=[1])
    (2, -1, 1)
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    parent = [-1] * n
    reached = [False] * n
    for top in [*roots, *range(n)]:
        waiting = [] if reached[top] else [top]
        reached[top] = True
        while waiting:
            u = waiting.pop()
            for v in neighbours[u]:
                if not reached[v]:
                    reached[v] = True
                    parent[v] = u
                    waiting.append(v)
    return tuple(parent)
