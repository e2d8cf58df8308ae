"""Revise a tree when counts have grown.

Roure's heuristic checks whether the arcs of the tree are still in the order in which Prim's algorithm adds them, and
rebuilds the tree from the first arc that is not.

Roure Alcobé, J. (2002). Incremental learning of tree augmented naive Bayes classifiers. IBERAMIA, 32-41.
"""

from __future__ import annotations

import numpy as np

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.trees.information_trees import Floats, Integers, Table, pair_information
from tanbark.kernels.trees.score_weights import pair_evidence

CALCULATED, RECALLED = 0, 1
"""Elements of `work`: the number of weights calculated and the number of weights looked at."""


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
    buffer: Floats,
    work: Integers,
) -> float:
    """Return the weight of a pair, calculating it on first use.

    The weight is the log Bayes factor under a prior of `ess` rows, or the conditional information if `ess` is 0.
    `products`, `units` and `sums` are described in `pair_information`.
    """
    work[RECALLED] += 1
    weight: float = weights[u, v]
    if weight == weight:
        return weight
    work[CALCULATED] += 1
    weight = 0.0
    if ess > 0:
        for k in range(table.shape[0]):
            weight += pair_evidence(table, offset, k, max(u, v), min(u, v), ess, buffer[0], buffer[1])
    elif len(products):
        # Exact in either order; the rows of `u` in the table are close to the ones read last.
        weight = pair_information(table, offset, u, v, products, units, sums, buffer[0], buffer[1])
    else:
        weight = pair_information(table, offset, max(u, v), min(u, v), products, units, sums, buffer[0], buffer[1])
    weights[u, v] = weight
    weights[v, u] = weight
    return weight


@njit(nogil=True, cache=True)
def _exceeds(a: float, b: float) -> bool:
    """Return whether weight `a` is greater than `b` by more than rounding error."""
    return a - b > 1e-12 * max(abs(a), abs(b))


@njit(nogil=True, cache=True)
def count_ordered_arcs(
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
    """Return the number of leading arcs of a tree, in the order in which they were added, that are still in place.

    An arc is in place if it is the heaviest of the tree's arcs that leave the part built by the arcs before it (for the
    first arc: of the arcs at the root). Calculated weights are written to `weights`, where NaN means not yet
    calculated.
    """
    n = len(weights)
    buffer = np.empty((2, 2 * table.shape[1]))
    inside = np.zeros(n, np.bool_)
    inside[us[0]] = True
    for step in range(len(us)):
        own = _weight(table, offset, ess, products, units, sums, us[step], vs[step], weights, buffer, work)
        for other in range(step + 1, len(us)):
            if inside[us[other]] != inside[vs[other]]:
                weight = _weight(table, offset, ess, products, units, sums, us[other], vs[other], weights, buffer, work)
                if _exceeds(weight, own):
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
    """Keep the first `kept` arcs of a tree, at least one, and complete it by Prim's algorithm."""
    n = len(weights)
    buffer = np.empty((2, 2 * table.shape[1]))
    inside = np.zeros(n, np.bool_)
    for step in range(kept):
        inside[us[step]] = True
        inside[vs[step]] = True
    # The inner end of the heaviest arc to each attribute outside; its weight is already calculated.
    start = np.full(n, -1, np.int64)
    new = -1
    for step in range(kept, n - 1):
        best, recalled = -1, work[RECALLED]
        for v in range(n):
            if inside[v]:
                continue
            for u in range(n) if new < 0 else range(new, new + 1):
                if inside[u]:
                    weight = _weight(table, offset, ess, products, units, sums, u, v, weights, buffer, work)
                    old_weight = weights[start[v], v]
                    heavier = start[v] < 0 or _exceeds(weight, old_weight)
                    if heavier or (u < start[v] and not _exceeds(old_weight, weight)):
                        start[v] = u
            if best < 0 or _exceeds(weights[start[v], v], weights[start[best], best]):
                best = v
        # Count as the paper does: each step looks at every arc that leaves the tree.
        work[RECALLED] = recalled + (step + 1) * (n - step - 1)
        us[step], vs[step] = start[best], best
        inside[best] = True
        new = best
