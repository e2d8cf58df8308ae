"""Maximum spanning trees: the best, the k best, and the best rooted tree for directed weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.trees.tree_growth import grow_tree

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


Weights = NDArray[np.float64]
Flags = NDArray[np.bool_]


def best_trees(weights: Weights, k: int) -> list[list[Edge]]:
    """Return the `k` spanning trees of greatest total weight (fewer where there are fewer), the heaviest first.

    Gabow's (1977) division: the heaviest tree and its best exchange of one edge for another give the second; the trees
    without the edge and those with it are then two smaller problems, each with a heaviest tree and a best exchange of
    its own. An edge of weight -inf is in no tree.

    >>> best_trees(np.array([[0, 1, 5], [1, 0, 3], [5, 3, 0.0]]), 2)
    [[(0, 2), (1, 2)], [(0, 1), (0, 2)]]
    """
    n = len(weights)
    forbidden = ~np.isfinite(weights)
    finite = weights[~forbidden]
    first = maximum_spanning_tree(np.where(forbidden, 2.0 * finite.min(initial=0) - finite.max(initial=0) - 1, weights))
    none = np.zeros((n, n), np.bool_)
    tree = none.copy()
    for u, v in first:
        tree[u, v] = tree[v, u] = True
    found = [_edges(tree)]
    waiting: list[_Exchange] = []
    if k > 1:
        _push(waiting, weights, tree, none, none)
    while waiting and len(found) < k:
        best = heappop(waiting)
        tree = best.tree.copy()
        _set(tree, best.leaves, False)
        _set(tree, best.enters, True)
        found.append(_edges(tree))
        without, with_ = best.banned.copy(), best.kept.copy()
        _set(without, best.leaves, True)
        _set(with_, best.leaves, True)
        _push(waiting, weights, tree, best.kept, without)
        _push(waiting, weights, best.tree, with_, best.banned)
    return found


@dataclass
class _Exchange:
    """A tree, the edges that must and must not be in it, and the exchange of one edge that costs least."""

    weight: float
    tree: Flags
    kept: Flags
    banned: Flags
    leaves: Edge
    enters: Edge

    def __lt__(self, other: _Exchange) -> bool:
        mine = (-self.weight, self.leaves, self.enters)
        return mine < (-other.weight, other.leaves, other.enters)


def _push(waiting: list[_Exchange], weights: Weights, tree: Flags, kept: Flags, banned: Flags) -> None:
    """Add the best exchange in `tree` of an edge not kept for one not banned, if there is one."""
    lightest, where = _lightest_on_path(np.where(kept, np.inf, weights), tree)
    cost = np.where(tree | banned | ~np.isfinite(lightest), np.inf, lightest - weights)
    enters = divmod(int(np.argmin(cost)), len(tree))
    if np.isfinite(cost[enters]):
        leaves = divmod(int(where[enters]), len(tree))
        weight = float(weights[tree].sum()) / 2 - float(cost[enters])
        heappush(waiting, _Exchange(weight, tree, kept, banned, leaves, enters))


def _lightest_on_path(weights: Weights, tree: Flags) -> tuple[Weights, NDArray[np.int64]]:
    """Return the weight of the lightest edge on the tree's path between every two nodes, and which edge it is."""
    n = len(tree)
    lightest = np.full((n, n), np.inf)
    where = np.zeros((n, n), np.int64)
    reached = [0]
    for u in reached:
        for v in np.flatnonzero(tree[u]).tolist():
            if v in reached:
                continue
            # The paths from v to the nodes reached so far are those from u and one edge more.
            edge = min(u, v) * n + max(u, v)
            before = np.array(reached)
            nearer = lightest[u, before] <= weights[u, v]
            nearer[before == u] = False
            lightest[v, before] = np.where(nearer, lightest[u, before], weights[u, v])
            where[v, before] = np.where(nearer, where[u, before], edge)
            lightest[before, v], where[before, v] = lightest[v, before], where[v, before]
            reached.append(v)
    return lightest, where


def _set(flags: Flags, edge: Edge, value: bool) -> None:
    flags[edge] = flags[edge[::-1]] = value


def _edges(tree: Flags) -> list[Edge]:
    return [(u, v) for u, v in np.argwhere(np.triu(tree)).tolist()]
