"""Grow, revise and root maximum spanning trees.

Roure's heuristic: is the order in which a tree's arcs were added still right, and the tree if it is not.

Roure Alcobé, J. (2002). Incremental learning of tree augmented naive Bayes classifiers. IBERAMIA, 32-41.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.trees.pair_weights import Table, pair_evidence, pair_information


@njit(nogil=True, cache=True)
def grow_tree(weights: NDArray[np.float64], us: NDArray[np.int64], vs: NDArray[np.int64]) -> None:
    """Write the edges of the tree to `us` and `vs` in the order in which they are added, each from the tree outwards.

    The first is the heaviest pair; ties go to the lower column, first of the end outside.
    """
    n = len(weights)
    us[0], vs[0] = 0, 1
    for u in range(n):
        for v in range(u + 1, n):
            if weights[u, v] > weights[us[0], vs[0]]:
                us[0], vs[0] = u, v
    inside = np.zeros(n, np.bool_)
    # The heaviest edge from the tree to each attribute outside starts there.
    start = np.full(n, us[0], np.int64)
    inside[us[0]] = True
    for step in range(n - 1):
        new = vs[step]
        inside[new] = True
        if step == n - 2:
            break
        best = -1
        for v in range(n):
            if inside[v]:
                continue
            now, then = weights[new, v], weights[start[v], v]
            if now > then or (now == then and new < start[v]):
                start[v] = new
            if best < 0 or weights[start[v], v] > weights[start[best], best]:
                best = v
        us[step + 1], vs[step + 1] = start[best], best


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CALCULATED, RECALLED = 0, 1


@njit(nogil=True, cache=True)
def _weight(
    table: Table,
    offset: Integers,
    ess: float,
    products: Integers,
    units: float,
    sums: Integers,
    u: int,
    v: int,
    weights: Floats,
    room: Floats,
    work: Integers,
) -> float:
    """Return the weight of a pair, which is calculated when it is first asked for.

    It is the log Bayes factor under a prior of `ess` rows, and the conditional information where that is 0: `products`,
    `units` and `sums` are as in `pair_information`.
    """
    work[RECALLED] += 1
    weight: float = weights[u, v]
    if weight == weight:
        return weight
    work[CALCULATED] += 1
    weight = 0.0
    if ess > 0:
        for k in range(table.shape[0]):
            weight += pair_evidence(table, offset, k, max(u, v), min(u, v), ess, room[0], room[1])
    elif len(products):
        # Exact whichever comes first, and the rows of the table that belong to `u` are next to those just read.
        weight = pair_information(table, offset, u, v, products, units, sums, room[0], room[1])
    else:
        weight = pair_information(table, offset, max(u, v), min(u, v), products, units, sums, room[0], room[1])
    weights[u, v] = weight
    weights[v, u] = weight
    return weight


@njit(nogil=True, cache=True)
def _exceeds(a: float, b: float) -> bool:
    """Return whether one weight is greater than another by more than rounding."""
    return a - b > 1e-12 * max(abs(a), abs(b))


@njit(nogil=True, cache=True)
def arcs_in_order(
    table: Table,
    offset: Integers,
    ess: float,
    products: Integers,
    units: float,
    sums: Integers,
    us: Integers,
    vs: Integers,
    weights: Floats,
    work: Integers,
) -> int:
    """Return how many arcs of a tree, taken in the order in which they were added, are still where they should be.

    An arc is where it should be if it is the heaviest of the tree's arcs that leave the part built by those before it
    (for the first: of the arcs at the root). `weights` are filled where they are calculated; NaN says not yet.
    """
    n = len(weights)
    room = np.empty((2, 2 * table.shape[1]))
    inside = np.zeros(n, np.bool_)
    inside[us[0]] = True
    for step in range(len(us)):
        own = _weight(table, offset, ess, products, units, sums, us[step], vs[step], weights, room, work)
        for other in range(step + 1, len(us)):
            if inside[us[other]] != inside[vs[other]]:
                there = _weight(table, offset, ess, products, units, sums, us[other], vs[other], weights, room, work)
                if _exceeds(there, own):
                    return step
        inside[us[step]] = True
        inside[vs[step]] = True
    return len(us)


@njit(nogil=True, cache=True)
def finish_tree(
    table: Table,
    offset: Integers,
    ess: float,
    products: Integers,
    units: float,
    sums: Integers,
    us: Integers,
    vs: Integers,
    kept: int,
    weights: Floats,
    work: Integers,
) -> None:
    """Keep a tree's first `kept` arcs, at least one, and write those by which Prim's algorithm goes on."""
    n = len(weights)
    room = np.empty((2, 2 * table.shape[1]))
    inside = np.zeros(n, np.bool_)
    for step in range(kept):
        inside[us[step]] = True
        inside[vs[step]] = True
    # The heaviest arc to each attribute outside starts there; looking at it again is no calculation.
    start = np.full(n, -1, np.int64)
    new = -1
    for step in range(kept, n - 1):
        best, looked = -1, work[RECALLED]
        for v in range(n):
            if inside[v]:
                continue
            for u in range(n) if new < 0 else range(new, new + 1):
                if inside[u]:
                    weight = _weight(table, offset, ess, products, units, sums, u, v, weights, room, work)
                    then = weights[start[v], v]
                    heavier = start[v] < 0 or _exceeds(weight, then)
                    if heavier or (u < start[v] and not _exceeds(then, weight)):
                        start[v] = u
            if best < 0 or _exceeds(weights[start[v], v], weights[start[best], best]):
                best = v
        # As the paper counts: every arc from the tree outwards is looked at in every step.
        work[RECALLED] = looked + (step + 1) * (n - step - 1)
        us[step], vs[step] = start[best], best
        inside[best] = True
        new = best


@njit(nogil=True, cache=True)
def hang_trees(trees: Integers, root: int, order: Integers, parent: Integers) -> None:
    """Write the nodes of each tree, parents before children, and each node's parent, -1 for the root."""
    many, edges = trees.shape[:2]
    for t in range(many):
        parent[t] = -1
        order[t, 0] = root
        reached = 1
        for step in range(edges + 1):
            u = order[t, step]
            for i, j in trees[t]:
                v = j if i == u else i
                if (i == u or j == u) and v != parent[t, u]:
                    parent[t, v] = u
                    order[t, reached] = v
                    reached += 1
