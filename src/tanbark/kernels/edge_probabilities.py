"""How probable each edge is in a tree drawn in proportion to its weight.

That is the edge's weight over the conductance between its ends in the whole graph, taken as a net of conductors. When
all other nodes have been taken out by star-mesh transformations, the weight that is left between the two ends is that
conductance: sums, products and quotients of positive numbers again. Every pair of nodes lies within two of three parts
of the nodes, so taking out each third in turn, and going on with the rest, gives all pairs in a time that grows with
the cube of the number of nodes. Numbers are mantissas and exponents, as in `tree_sums`: logarithms of weights as far
apart as e^100,000 would leave only eleven digits.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAINT = -2200.0
"""A power of two that makes nothing of any double."""


@njit(nogil=True, cache=True)
def _take_out(m: Floats, e: Floats, left: int) -> None:
    """Take out all nodes but the first `left` of the graph with the weights ``m * 2**e`` below the diagonal."""
    for k in range(len(m) - 1, left - 1, -1):
        top = e[k, 0]
        for j in range(k):
            m[k, j], exponent = math.frexp(m[k, j])
            e[k, j] += exponent
            top = max(top, e[k, j])
        degree = 0.0
        for j in range(k):
            degree += math.ldexp(m[k, j], int(max(e[k, j] - top, FAINT)))
        for i in range(1, k):
            for j in range(i):
                product = m[k, i] / degree * m[k, j]
                exponent = e[k, i] - top + e[k, j]
                apart = exponent - e[i, j]
                if apart > 0.0:
                    m[i, j] = product + math.ldexp(m[i, j], int(max(-apart, FAINT)))
                    e[i, j] = exponent
                else:
                    m[i, j] += math.ldexp(product, int(max(apart, FAINT)))


@njit(nogil=True, cache=True)
def _conductances(m: Floats, e: Floats, nodes: Integers, to_m: Floats, to_e: Floats) -> None:
    """Write the conductance between every two of `nodes` to ``to_m * 2**to_e``, below the diagonal."""
    size = len(nodes)
    if size == 2:
        u, v = max(nodes[0], nodes[1]), min(nodes[0], nodes[1])
        to_m[u, v], to_e[u, v] = m[1, 0], e[1, 0]
        return
    for part in range(3):
        start, stop = part * size // 3, (part + 1) * size // 3
        order = np.concatenate((np.arange(start), np.arange(stop, size), np.arange(start, stop)))
        left = size - (stop - start)
        sub_m, sub_e = np.empty((size, size)), np.empty((size, size))
        for i in range(size):
            for j in range(i):
                u, v = max(order[i], order[j]), min(order[i], order[j])
                sub_m[i, j], sub_e[i, j] = m[u, v], e[u, v]
        _take_out(sub_m, sub_e, left)
        _conductances(sub_m[:left, :left].copy(), sub_e[:left, :left].copy(), nodes[order[:left]], to_m, to_e)


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
            apart = int(max(exponent[u, v] - e[u, v], FAINT))
            out[u, v] = min(math.ldexp(mantissa[u, v] / m[u, v], apart), 1.0)
            out[v, u] = out[u, v]
    return out
