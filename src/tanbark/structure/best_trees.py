"""The k trees of greatest total weight."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from tanbark.structure.spanning_tree import Edge, maximum_spanning_tree

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
