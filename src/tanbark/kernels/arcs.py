"""Roure's heuristic: is the order in which a tree's arcs were added still right, and the tree if it is not.

Roure Alcobé, J. (2002). Incremental learning of tree augmented naive Bayes classifiers. IBERAMIA, 32-41.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.evidence import pair_evidence
from tanbark.kernels.information import Table, pair_information

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
