"""Sums over all spanning trees, and the probability of each edge, without subtractions.

The sum over all spanning trees of the product of their edges' weights (Kirchhoff's determinant) is computed for many
graphs at once, by eliminating one node after another. The degree ``d`` of the node, the sum of its edges' weights, is a
factor of the result, and each pair of its neighbours is joined by a further edge of weight ``w_ki w_kj / d`` (star-mesh
transformation). Only sums, products and quotients of positive numbers occur, so the relative error stays close to
machine precision however ill-conditioned the determinant is (Alfa, Xue and Ye 2002). A number is represented by a
mantissa and an exponent, ``m * 2**e``, both doubles, so that nothing underflows or overflows. `LANES` graphs are
reduced side by side, one in each lane of a vector.

The probability of an edge in a tree sampled in proportion to its weight is the edge's weight divided by the conductance
between its ends in the graph as a network of conductors. After all other nodes have been eliminated by star-mesh
transformations, the weight between the two ends is this conductance; again only sums, products and quotients of
positive numbers occur. Every pair of nodes lies within two of three parts of the nodes. Eliminating each third in turn,
and continuing with the rest recursively, gives all pairs in time cubic in the number of nodes. Logarithms would not
suffice: for weights whose ratios reach e^100,000 they would leave only eleven digits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.intrinsics import LANES, add_product, split

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ZERO_EXPONENT = -1e300
"""Exponent of the weight of an impossible edge, too small to affect any sum."""
MIN_SHIFT = -2200.0
"""Exponent differences are clipped to this value; multiplied by this power of two every double becomes zero."""


@njit(nogil=True, cache=True)
def _reduce(n: int, m: Floats, e: Floats, star: Floats, total: Floats) -> None:
    """Write the tree sums of `LANES` graphs on `n` nodes to ``total[0] * 2**total[1]``; the graphs are overwritten.

    `m` and `e` hold the edges (1, 0), (2, 0), (2, 1), (3, 0), ..., with the lanes of each edge adjacent. `star` is work
    space for the edges of a node.
    """
    edges, exponents, quotient, degree = star[0], star[1], star[2:4], star[4:6]
    ones = star[6]
    ones[:] = 1.0
    zeros = star[7]
    zeros[:] = 0.0
    total[0, :] = 1.0
    total[1, :] = 0.0
    for k in range(n - 1, 0, -1):
        first = k * (k - 1) // 2 * LANES
        degree[0, :LANES] = 0.0
        degree[1, :LANES] = ZERO_EXPONENT
        for j in range(0, k * LANES, LANES):
            split(m, e, first + j, edges, exponents, j)
            add_product(degree[0], degree[1], 0, edges, exponents, j, ones, zeros, 0)
        for lane in range(LANES):
            total[0, lane] *= degree[0, lane]
            total[1, lane] += degree[1, lane]
        split(total[0], total[1], 0, total[0], total[1], 0)
        position = 0
        for i in range(1, k):
            for lane in range(LANES):
                quotient[0, lane] = edges[i * LANES + lane] / degree[0, lane]
                quotient[1, lane] = exponents[i * LANES + lane] - degree[1, lane]
            for j in range(0, i * LANES, LANES):
                add_product(m, e, position, quotient[0], quotient[1], 0, edges, exponents, j)
                position += LANES


@njit(nogil=True, cache=True)
def tree_sum(mantissa: Floats, exponent: Floats) -> tuple[float, float]:
    """Return the tree sum of a graph with the weights ``mantissa * 2**exponent`` as a mantissa and an exponent."""
    n = len(mantissa)
    m, e = np.empty(n * (n - 1) // 2 * LANES), np.empty(n * (n - 1) // 2 * LANES)
    position = 0
    for u in range(1, n):
        for v in range(u):
            m[position : position + LANES] = mantissa[u, v]
            e[position : position + LANES] = exponent[u, v]
            position += LANES
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
        The number of each attribute's first value among all values.
    log_values : array of shape (values, classes)
        ``log P(i | k)``.
    ratios : array of shape (values, values, classes)
        ``P(i, j | k) / (P(i | k) P(j | k))``.
    mantissa, exponent : arrays of shape (1 or classes, attributes, attributes)
        The posterior weights of the edges, ``mantissa * 2**exponent``, for all classes together or for each class.
    total : array of shape (1 or classes, 2)
        Their tree sums, as mantissa and exponent.
    out : array of shape (rows, classes)
    """
    n, classes = len(codes), log_values.shape[1]
    m, e = np.ones(n * (n - 1) // 2 * LANES), np.zeros(n * (n - 1) // 2 * LANES)
    star, sums = np.empty((8, n * LANES)), np.empty((2, LANES))
    value = np.zeros((n, LANES), np.int64)
    lane_row, lane_class = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    groups = len(mantissa)
    for first in range(start * classes, stop * classes, LANES):
        width = min(LANES, stop * classes - first)
        for lane in range(width):
            lane_row[lane], lane_class[lane] = divmod(first + lane, classes)
            for u in range(n):
                value[u, lane] = offset[u] + codes[u, lane_row[lane]]
        position = 0
        for u in range(1, n):
            for v in range(u):
                for lane in range(width):
                    k = lane_class[lane]
                    group = k if groups > 1 else 0
                    m[position + lane] = mantissa[group, u, v] * ratios[value[u, lane], value[v, lane], k]
                    e[position + lane] = exponent[group, u, v]
                position += LANES
        _reduce(n, m, e, star, sums)
        for lane in range(width):
            k = lane_class[lane]
            group = k if groups > 1 else 0
            likelihood = math.log(sums[0, lane] / total[group, 0])
            likelihood += (sums[1, lane] - total[group, 1]) * math.log(2.0)
            for u in range(n):
                likelihood += log_values[value[u, lane], k]
            out[lane_row[lane], k] = likelihood


@njit(nogil=True, cache=True)
def _eliminate_nodes(m: Floats, e: Floats, n_left: int) -> None:
    """Eliminate all nodes except the first `n_left` of the graph with the weights ``m * 2**e`` below the diagonal."""
    for k in range(len(m) - 1, n_left - 1, -1):
        top = e[k, 0]
        for j in range(k):
            m[k, j], exponent = math.frexp(m[k, j])
            e[k, j] += exponent
            top = max(top, e[k, j])
        degree = 0.0
        for j in range(k):
            degree += math.ldexp(m[k, j], int(max(e[k, j] - top, MIN_SHIFT)))
        for i in range(1, k):
            for j in range(i):
                product = m[k, i] / degree * m[k, j]
                exponent = e[k, i] - top + e[k, j]
                gap = exponent - e[i, j]
                if gap > 0.0:
                    m[i, j] = product + math.ldexp(m[i, j], int(max(-gap, MIN_SHIFT)))
                    e[i, j] = exponent
                else:
                    m[i, j] += math.ldexp(product, int(max(gap, MIN_SHIFT)))


@njit(nogil=True, cache=True)
def _conductances(m: Floats, e: Floats, nodes: Integers, to_m: Floats, to_e: Floats) -> None:
    """Write the conductance between each pair of `nodes` to ``to_m * 2**to_e``, below the diagonal."""
    size = len(nodes)
    if size == 2:
        u, v = max(nodes[0], nodes[1]), min(nodes[0], nodes[1])
        to_m[u, v], to_e[u, v] = m[1, 0], e[1, 0]
        return
    for part in range(3):
        start, stop = part * size // 3, (part + 1) * size // 3
        order = np.concatenate((np.arange(start), np.arange(stop, size), np.arange(start, stop)))
        n_left = size - (stop - start)
        sub_m, sub_e = np.empty((size, size)), np.empty((size, size))
        for i in range(size):
            for j in range(i):
                u, v = max(order[i], order[j]), min(order[i], order[j])
                sub_m[i, j], sub_e[i, j] = m[u, v], e[u, v]
        _eliminate_nodes(sub_m, sub_e, n_left)
        _conductances(sub_m[:n_left, :n_left].copy(), sub_e[:n_left, :n_left].copy(), nodes[order[:n_left]], to_m, to_e)


@njit(nogil=True, cache=True)
def edge_probabilities(mantissa: Floats, exponent: Floats) -> Floats:
    """Return the probability of every edge of a graph with the weights ``mantissa * 2**exponent``."""
    n = len(mantissa)
    out = np.zeros((n, n))
    if n < 2:
        return out
    m, e = np.empty((n, n)), np.empty((n, n))
    _conductances(mantissa.copy(), exponent.copy(), np.arange(n), m, e)
    for u in range(n):
        for v in range(u):
            gap = int(max(exponent[u, v] - e[u, v], MIN_SHIFT))
            out[u, v] = min(math.ldexp(mantissa[u, v] / m[u, v], gap), 1.0)
            out[v, u] = out[u, v]
    return out
