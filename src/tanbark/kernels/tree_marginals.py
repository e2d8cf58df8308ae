"""The probability of what is known of a row under each of many trees that share their pairs' tables."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CodeArray = NDArray[np.unsignedinteger]

SMALL, LARGE = 1e-100, 1e100


@njit(nogil=True, cache=True)
def _told(value: int, weights: Floats, first: int, ratios: Floats) -> float:
    """Return what an attribute tells one value of a neighbour: its ratio, or the sum over what it may be."""
    if value >= 0:
        return float(ratios[value])
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * ratios[first + i]
    return total


@njit(nogil=True, cache=True)
def _marginal(
    value: Integers,
    offset: Integers,
    log_values: Floats,
    ratios: Floats,
    order: Integers,
    parent: Integers,
    belief: Floats,
) -> float:
    """Return ``log P(row | class, tree)`` less the sum of ``log P(i | class)`` over what is known.

    `value` holds places among all values, -1 for what is missing; `log_values` and `ratios` are those of one class;
    `belief` is room for the logarithms of what missing attributes are told.
    """
    log_sum, product = 0.0, 1.0
    for u in order:
        if value[u] < 0:
            for i in range(offset[u], offset[u + 1]):
                belief[i] = log_values[i]
    for u in order[::-1]:
        above = parent[u]
        mine = belief[offset[u] : offset[u + 1]]
        if value[u] < 0:
            top = mine.max()
            log_sum += top
            for i in range(len(mine)):
                mine[i] = math.exp(mine[i] - top)
        if above < 0:
            product *= 1.0 if value[u] >= 0 else mine.sum()
        elif value[above] >= 0:
            product *= _told(value[u], mine, offset[u], ratios[:, value[above]])
        else:
            for j in range(offset[above], offset[above + 1]):
                belief[j] += math.log(_told(value[u], mine, offset[u], ratios[:, j]))
        if not SMALL < product < LARGE:
            log_sum += math.log(product)
            product = 1.0
    return log_sum + math.log(product)


@njit(nogil=True, cache=True)
def tree_marginals(
    codes: CodeArray,
    missing: int,
    offset: Integers,
    log_values: Floats,
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
    log_values, ratios : arrays of shape (values, classes) and (values, values, classes)
        ``log P(i | k)`` and ``P(i, j | k) / (P(i | k) P(j | k))``.
    order, parent : arrays of shape (trees, attributes)
        The attributes, parents before children, and each attribute's parent.
    out : array of shape (rows, trees, classes)
    """
    n = len(codes)
    value = np.empty(n, np.int64)
    belief = np.empty(len(log_values))
    for row in range(start, stop):
        known = 0.0
        for u in range(n):
            code = np.int64(codes[u, row])
            value[u] = -1 if code == missing else offset[u] + code
            if value[u] >= 0:
                known += log_values[value[u], k]
        for t in range(len(order)):
            gain = _marginal(value, offset, log_values[:, k], ratios[:, :, k], order[t], parent[t], belief)
            out[row, t, k] = known + gain
