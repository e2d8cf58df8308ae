"""The tree of greatest total weight, and a root for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
    weights = settled(weights)
    pairs = np.triu(np.ones((n, n), np.bool_), 1)
    u, v = divmod(int(np.argmax(np.where(pairs, weights, -np.inf))), n)
    edges = [(u, v)]
    inside = np.zeros(n, np.bool_)
    inside[[u, v]] = True
    # The heaviest edge from the tree to each attribute outside, and where in the tree it starts.
    start = np.where(weights[v] > weights[u], v, u)
    reach = np.maximum(weights[u], weights[v])
    while len(edges) < n - 1:
        new = int(np.argmax(np.where(inside, -np.inf, reach)))
        edges.append((int(start[new]), new))
        inside[new] = True
        better = (weights[new] > reach) | ((weights[new] == reach) & (new < start))
        start[better] = new
        reach[better] = weights[new][better]
    return edges


def settled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights without their last few bits, so that what is equal but for rounding is equal.

    >>> a, b = settled(np.array([0.1 + 0.2, 0.3]))
    >>> bool(a == b)
    True
    """
    unit = float(np.abs(weights).max(initial=0.0)) * 1e-12
    return np.round(weights / unit) * unit if unit > 0 else weights


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
