"""The probability of what is known of a row under each of many trees that share their pairs' tables."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CodeArray = NDArray[np.unsignedinteger]

SMALL, LARGE = 1e-100, 1e100


@njit(nogil=True, cache=True)
def _scale(belief: Floats) -> float:
    """Divide `belief` by its largest value where that is very small or large; return the logarithm of the divisor."""
    top = belief.max()
    if SMALL < top < LARGE:
        return 0.0
    belief /= top
    return math.log(top)


@njit(nogil=True, cache=True)
def _marginal(
    value: Integers, offset: Integers, values: Floats, ratios: Floats, order: Integers, parent: Integers, belief: Floats
) -> float:
    """Return ``log P(row | class, tree)`` less the sum of ``log P(i | class)`` over what is known.

    `value` holds places among all values, -1 for what is missing; `values` and `ratios` are those of one class;
    `belief` is room for the messages of missing attributes.
    """
    log_sum, product = 0.0, 1.0
    for u in order:
        if value[u] < 0:
            for i in range(offset[u], offset[u + 1]):
                belief[i] = values[i]
    for u in order[::-1]:
        above = parent[u]
        known, known_above = value[u] >= 0, above >= 0 and value[above] >= 0
        mine = belief[offset[u] : offset[u + 1]]
        if known_above or above < 0:
            if known and above >= 0:
                product *= ratios[value[u], value[above]]
            elif not known:
                arrived = 0.0
                for i in range(len(mine)):
                    arrived += mine[i] * (ratios[offset[u] + i, value[above]] if above >= 0 else 1.0)
                product *= arrived
            if not SMALL < product < LARGE:
                log_sum += math.log(product)
                product = 1.0
            continue
        for j in range(offset[above], offset[above + 1]):
            if known:
                belief[j] *= ratios[value[u], j]
            else:
                arrived = 0.0
                for i in range(len(mine)):
                    arrived += mine[i] * ratios[offset[u] + i, j]
                belief[j] *= arrived
        log_sum += _scale(belief[offset[above] : offset[above + 1]])
    return log_sum + math.log(product)


@njit(nogil=True, cache=True)
def tree_marginals(
    codes: CodeArray,
    missing: int,
    offset: Integers,
    values: Floats,
    ratios: Floats,
    order: Integers,
    parent: Integers,
    k: int,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Write ``log P(row | class k, tree)`` of rows `start` to `stop` for many trees, what is missing being summed out.

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    values, ratios : arrays of shape (values, classes) and (values, values, classes)
        ``P(i | k)`` and ``P(i, j | k) / (P(i | k) P(j | k))``.
    order, parent : arrays of shape (trees, attributes)
        The attributes, parents before children, and each attribute's parent.
    out : array of shape (rows, trees, classes)
    """
    n = len(codes)
    value = np.empty(n, np.int64)
    belief = np.empty(len(values))
    for row in range(start, stop):
        known = 0.0
        for u in range(n):
            code = np.int64(codes[u, row])
            value[u] = -1 if code == missing else offset[u] + code
            if value[u] >= 0:
                known += math.log(values[value[u], k])
        for t in range(len(order)):
            gain = _marginal(value, offset, values[:, k], ratios[:, :, k], order[t], parent[t], belief)
            out[row, t, k] = known + gain
