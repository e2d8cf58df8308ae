"""The tree of greatest total weight where an edge weighs differently in its two directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.structure.spanning_tree import Edge

Integers = NDArray[np.int64]

STEPS = 1e12
"""Weights are told apart in steps of the greatest over this: what is equal but for rounding is equal."""
NEVER = -(2**62)


def maximum_arborescence(weights: NDArray[np.float64]) -> list[Edge]:
    """Return the edges (parent, child) of the rooted tree of greatest total weight, parents before children.

    ``weights[u, v]`` is what the edge from `u` to `v` is worth. By the algorithm of Chu and Liu (1965) and Edmonds
    (1967): every node takes its best parent, and as long as some of them form a cycle, the cycle becomes one node. All
    sums are of whole numbers, so ties are ties; they go to column order.

    >>> maximum_arborescence(np.array([[0, 1, 5], [4, 0, 3], [5, 2, 0.0]]))
    [(1, 0), (0, 2)]
    """
    n = len(weights)
    largest = float(np.abs(weights).max(initial=0.0)) or 1.0
    steps = np.rint(weights / largest * STEPS).astype(np.int64)
    # A node above all, so dear that only one edge leads from it: to the root.
    inner = np.full((n + 1, n + 1), NEVER, np.int64)
    inner[:n, :n] = steps
    inner[n, :n] = steps.min(initial=0) - 1
    np.fill_diagonal(inner, NEVER)
    return _from_the_root(_best_parents(inner))


def _best_parents(weights: Integers) -> Integers:
    """Return every node's parent in the maximum arborescence under the last node, which has itself."""
    top = len(weights) - 1
    gone = np.zeros(top + 1, np.bool_)
    contracted: list[tuple[Integers, Integers, Integers, Integers]] = []
    while True:
        parent: Integers = weights.argmax(axis=0)
        parent[gone] = parent[top] = top
        cycle = _cycle(parent)
        if not len(cycle):
            break
        # Whoever enters the cycle at a node spares the cycle's own edge to it.
        entering = weights[:, cycle] - weights[parent[cycle], cycle]
        leaving = weights[cycle]
        contracted.append((cycle, parent[cycle], cycle[entering.argmax(axis=1)], cycle[leaving.argmax(axis=0)]))
        into, out_of = entering.max(axis=1), leaving.max(axis=0)
        gone[cycle] = True
        weights[cycle], weights[:, cycle] = NEVER, NEVER
        one = cycle[0]
        gone[one] = False
        weights[:, one], weights[one] = np.where(gone, NEVER, into), np.where(gone, NEVER, out_of)
        weights[one, one] = NEVER
    for cycle, around, entered, left in reversed(contracted):
        above = parent[cycle[0]]
        below = np.flatnonzero(parent == cycle[0])
        parent[below] = left[below]
        parent[cycle] = around
        parent[entered[above]] = above
    return parent


def _cycle(parent: Integers) -> Integers:
    """Return the nodes of a cycle among the edges to parents in ascending order, none where there is no cycle."""
    seen = np.full(len(parent), -1)
    seen[-1] = len(parent)
    for start in range(len(parent)):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = int(parent[node])
        if seen[node] == start:
            cycle = [node]
            while parent[cycle[-1]] != node:
                cycle.append(int(parent[cycle[-1]]))
            return np.array(sorted(cycle))
    return np.empty(0, np.int64)


def _from_the_root(parent: Integers) -> list[Edge]:
    """Return the edges from the root down, level by level; the last node is above the root."""
    top = len(parent) - 1
    edges: list[Edge] = []
    level = np.flatnonzero(parent[:top] == top).tolist()
    while level:
        below = [(u, v) for u in level for v in np.flatnonzero(parent[:top] == u).tolist()]
        edges += below
        level = [v for _, v in below]
    return edges
