"""Sums over all spanning trees, for many graphs at once, without a single subtraction.

The sum over the trees of a weighted graph of the product of their edges' weights (Kirchhoff's determinant) is found by
taking out one node after another: the node's degree ``d``, the sum of its edges' weights, is a factor of the result,
and every two of its neighbours are joined by a further edge of weight ``w_ki w_kj / d`` (star-mesh transformation).
Only sums, products and quotients of positive numbers occur, so the relative error stays near a double's however ill
conditioned the determinant is (Alfa, Xue and Ye 2002). A number is a mantissa and an exponent, ``m * 2**e``, both
doubles, so that nothing under- or overflows. `LANES` graphs are reduced side by side, one in each lane of a vector.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.intrinsics import LANES, add_product, split

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NOTHING = -1e300
"""The exponent of a number that no sum of others notices: an edge that cannot be."""


@njit(nogil=True, cache=True)
def _reduce(n: int, m: Floats, e: Floats, star: Floats, total: Floats) -> None:
    """Write the tree sums of `LANES` graphs on `n` nodes to ``total[0] * 2**total[1]``; the graphs are used up.

    `m` and `e` hold the edges (1, 0), (2, 0), (2, 1), (3, 0), ..., lane by lane; `star` is room for a node's edges.
    """
    edges, exponents, quotient, degree = star[0], star[1], star[2:4], star[4:6]
    one = star[6]
    one[:] = 1.0
    zero = star[7]
    zero[:] = 0.0
    total[0, :] = 1.0
    total[1, :] = 0.0
    for k in range(n - 1, 0, -1):
        first = k * (k - 1) // 2 * LANES
        degree[0, :LANES] = 0.0
        degree[1, :LANES] = NOTHING
        for j in range(0, k * LANES, LANES):
            split(m, e, first + j, edges, exponents, j)
            add_product(degree[0], degree[1], 0, edges, exponents, j, one, zero, 0)
        for lane in range(LANES):
            total[0, lane] *= degree[0, lane]
            total[1, lane] += degree[1, lane]
        split(total[0], total[1], 0, total[0], total[1], 0)
        at = 0
        for i in range(1, k):
            for lane in range(LANES):
                quotient[0, lane] = edges[i * LANES + lane] / degree[0, lane]
                quotient[1, lane] = exponents[i * LANES + lane] - degree[1, lane]
            for j in range(0, i * LANES, LANES):
                add_product(m, e, at, quotient[0], quotient[1], 0, edges, exponents, j)
                at += LANES


@njit(nogil=True, cache=True)
def tree_sum(mantissa: Floats, exponent: Floats) -> tuple[float, float]:
    """Return the tree sum of a graph with the weights ``mantissa * 2**exponent`` as a mantissa and an exponent."""
    n = len(mantissa)
    m, e = np.empty(n * (n - 1) // 2 * LANES), np.empty(n * (n - 1) // 2 * LANES)
    at = 0
    for u in range(1, n):
        for v in range(u):
            m[at : at + LANES] = mantissa[u, v]
            e[at : at + LANES] = exponent[u, v]
            at += LANES
    total = np.empty((2, LANES))
    _reduce(n, m, e, np.empty((8, n * LANES)), total)
    return total[0, 0], total[1, 0]


@njit(nogil=True, cache=True)
def averaged_log_likelihood(
    codes: NDArray[np.unsignedinteger],
    offset: Integers,
    log_values: Floats,
    ratios: Floats,
    mantissa: Floats,
    exponent: Floats,
    total: Floats,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Write ``log P(row | class)``, averaged over all trees, of complete rows `start` to `stop` (eq 17).

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    offset : array
        Where each attribute's values begin among all values.
    log_values : array of shape (values, classes)
        ``log P(i | k)``.
    ratios : array of shape (values, values, classes)
        ``P(i, j | k) / (P(i | k) P(j | k))``.
    mantissa, exponent : arrays of shape (1 or classes, attributes, attributes)
        The edges' posterior weights, ``mantissa * 2**exponent``, for all classes or for each.
    total : array of shape (1 or classes, 2)
        Their tree sums, as mantissa and exponent.
    out : array of shape (rows, classes)
    """
    n, classes = len(codes), log_values.shape[1]
    m, e = np.ones(n * (n - 1) // 2 * LANES), np.zeros(n * (n - 1) // 2 * LANES)
    star, sums = np.empty((8, n * LANES)), np.empty((2, LANES))
    value = np.zeros((n, LANES), np.int64)
    row, of_class = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    groups = len(mantissa)
    for first in range(start * classes, stop * classes, LANES):
        width = min(LANES, stop * classes - first)
        for lane in range(width):
            row[lane], of_class[lane] = divmod(first + lane, classes)
            for u in range(n):
                value[u, lane] = offset[u] + codes[u, row[lane]]
        at = 0
        for u in range(1, n):
            for v in range(u):
                for lane in range(width):
                    k = of_class[lane]
                    group = k if groups > 1 else 0
                    m[at + lane] = mantissa[group, u, v] * ratios[value[u, lane], value[v, lane], k]
                    e[at + lane] = exponent[group, u, v]
                at += LANES
        _reduce(n, m, e, star, sums)
        for lane in range(width):
            k = of_class[lane]
            group = k if groups > 1 else 0
            likelihood = math.log(sums[0, lane] / total[group, 0])
            likelihood += (sums[1, lane] - total[group, 1]) * math.log(2.0)
            for u in range(n):
                likelihood += log_values[value[u, lane], k]
            out[row[lane], k] = likelihood
