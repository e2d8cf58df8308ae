"""The maximum arborescence of directed edges, and the `k` best spanning trees of undirected edges.

Weights are compared after rounding, so that ties are exact and go to column order.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from tanbark.structure.trees.learned_trees import Edge, Matrix, maximum_spanning_tree

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

WEIGHT_STEPS = 1e12
"""Number of integer steps up to the largest absolute weight of an arborescence."""
NO_EDGE = -(2**62)
"""Integer weight of an edge that cannot be in an arborescence."""


def maximum_arborescence(weights: Matrix) -> list[Edge]:
    """Return the edges (parent, child) of the rooted tree of greatest total weight, parents before children.

    ``weights[u, v]`` is the weight of the edge from `u` to `v`. The algorithm is that of Chu and Liu (1965) and Edmonds
    (1967): every node takes its best parent, and as long as some of these edges form a cycle, the cycle is contracted
    to one node. All sums are of integers, so ties are exact; they go to column order.

    >>> maximum_arborescence(np.array([[0, 1, 5], [4, 0, 3], [5, 2, 0.0]]))
    [(1, 0), (0, 2)]
    """
    n = len(weights)
    largest = float(np.abs(weights).max(initial=0.0)) or 1.0
    steps = np.rint(weights / largest * WEIGHT_STEPS).astype(np.int64)
    # An artificial top node, whose edges weigh so little that only one is used: the edge to the root.
    extended = np.full((n + 1, n + 1), NO_EDGE, np.int64)
    extended[:n, :n] = steps
    extended[n, :n] = steps.min(initial=0) - 1
    np.fill_diagonal(extended, NO_EDGE)
    return _edges_from_root(_best_parents(extended))


def _best_parents(weights: Integers) -> Integers:
    """Return every node's parent in the maximum arborescence rooted at the last node, which is its own parent."""
    top = len(weights) - 1
    gone = np.zeros(top + 1, np.bool_)
    contracted: list[tuple[Integers, Integers, Integers, Integers]] = []
    while True:
        parent: Integers = weights.argmax(axis=0)
        parent[gone] = parent[top] = top
        cycle = _cycle(parent)
        if not len(cycle):
            break
        # An edge that enters the cycle at a node replaces the cycle's own edge to that node.
        entering = weights[:, cycle] - weights[parent[cycle], cycle]
        leaving = weights[cycle]
        contracted.append((cycle, parent[cycle], cycle[entering.argmax(axis=1)], cycle[leaving.argmax(axis=0)]))
        into, out_of = entering.max(axis=1), leaving.max(axis=0)
        gone[cycle] = True
        weights[cycle], weights[:, cycle] = NO_EDGE, NO_EDGE
        one = cycle[0]
        gone[one] = False
        weights[:, one], weights[one] = np.where(gone, NO_EDGE, into), np.where(gone, NO_EDGE, out_of)
        weights[one, one] = NO_EDGE
    for cycle, around, entered, left in reversed(contracted):
        above = parent[cycle[0]]
        below = np.flatnonzero(parent == cycle[0])
        parent[below] = left[below]
        parent[cycle] = around
        parent[entered[above]] = above
    return parent


def _cycle(parent: Integers) -> Integers:
    """Return the nodes of a cycle among the edges to parents in ascending order; empty if there is no cycle."""
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


def _edges_from_root(parent: Integers) -> list[Edge]:
    """Return the edges from the root down, level by level; the last node is the parent of the root."""
    top = len(parent) - 1
    edges: list[Edge] = []
    level = np.flatnonzero(parent[:top] == top).tolist()
    while level:
        below = [(u, v) for u in level for v in np.flatnonzero(parent[:top] == u).tolist()]
        edges += below
        level = [v for _, v in below]
    return edges


def best_trees(weights: Matrix, k: int) -> list[list[Edge]]:
    """Return the `k` spanning trees of greatest total weight, heaviest first; all trees if there are fewer than `k`.

    By Gabow's (1977) division: exchanging one edge of the heaviest tree for another gives the second tree. The trees
    without the removed edge and the trees with it are then two smaller problems, each with its own heaviest tree and
    best exchange. An edge of weight -inf is in no tree.

    >>> best_trees(np.array([[0, 1, 5], [1, 0, 3], [5, 3, 0.0]]), 2)
    [[(0, 2), (1, 2)], [(0, 1), (0, 2)]]
    """
    n = len(weights)
    forbidden = ~np.isfinite(weights)
    finite = weights[~forbidden]
    first = maximum_spanning_tree(np.where(forbidden, 2.0 * finite.min(initial=0) - finite.max(initial=0) - 1, weights))
    none = np.zeros((n, n), np.bool_)
    tree = none.copy()
    for edge in first:
        _set(tree, edge, True)
    trees = [_edges(tree)]
    waiting: list[_Exchange] = []
    if k > 1:
        _push(waiting, weights, tree, none, none)
    while waiting and len(trees) < k:
        best = heappop(waiting)
        tree = best.tree.copy()
        _set(tree, best.removed, False)
        _set(tree, best.added, True)
        trees.append(_edges(tree))
        banned_more, required_more = best.banned.copy(), best.required.copy()
        _set(banned_more, best.removed, True)
        _set(required_more, best.removed, True)
        _push(waiting, weights, tree, best.required, banned_more)
        _push(waiting, weights, best.tree, required_more, best.banned)
    return trees


@dataclass
class _Exchange:
    """A tree, the edges that are required and banned, and the exchange of one edge that costs least."""

    weight: float
    tree: Flags
    required: Flags
    banned: Flags
    removed: Edge
    added: Edge

    def __lt__(self, other: _Exchange) -> bool:
        mine = (-self.weight, self.removed, self.added)
        return mine < (-other.weight, other.removed, other.added)


def _push(waiting: list[_Exchange], weights: Matrix, tree: Flags, required: Flags, banned: Flags) -> None:
    """Add the best exchange in `tree` of an edge that is not required for one that is not banned, if there is one."""
    lightest, where = _lightest_on_path(np.where(required, np.inf, weights), tree)
    cost = np.where(tree | banned | ~np.isfinite(lightest), np.inf, lightest - weights)
    added = divmod(int(np.argmin(cost)), len(tree))
    if np.isfinite(cost[added]):
        removed = divmod(int(where[added]), len(tree))
        weight = float(weights[tree].sum()) / 2 - float(cost[added])
        heappush(waiting, _Exchange(weight, tree, required, banned, removed, added))


def _lightest_on_path(weights: Matrix, tree: Flags) -> tuple[Matrix, Integers]:
    """Return the weight of the lightest edge on the tree's path between every two nodes, and which edge it is."""
    n = len(tree)
    lightest = np.full((n, n), np.inf)
    where = np.zeros((n, n), np.int64)
    reached = [0]
    for u in reached:
        for v in np.flatnonzero(tree[u]).tolist():
            if v in reached:
                continue
            # The paths from v to the nodes reached so far are those from u and one more edge.
            edge = min(u, v) * n + max(u, v)
            before = np.array(reached)
            from_u = lightest[u, before] <= weights[u, v]
            from_u[before == u] = False
            lightest[v, before] = np.where(from_u, lightest[u, before], weights[u, v])
            where[v, before] = np.where(from_u, where[u, before], edge)
            lightest[before, v], where[before, v] = lightest[v, before], where[v, before]
            reached.append(v)
    return lightest, where


def _set(flags: Flags, edge: Edge, value: bool) -> None:
    flags[edge] = flags[edge[::-1]] = value


def _edges(tree: Flags) -> list[Edge]:
    return [(u, v) for u, v in np.argwhere(np.triu(tree)).tolist()]
