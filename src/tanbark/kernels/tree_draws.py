"""Trees drawn in proportion to their weights, exactly.

The nodes of the graph are taken out one by one, last to first, every graph on the way being kept (see `tree_sums`); a
tree of two nodes is their edge; and the nodes are put back one by one. An edge between two old nodes stood in the
larger graph with probability (its weight there) / (its weight here), and otherwise led through the node that comes
back. With the latter edges gone the tree is in parts, and the node is joined to each part by one edge, drawn in
proportion to its weight. Random walks (Wilson 1996) draw the same trees, but need forever where weights differ by
hundreds of orders of magnitude. Logarithms serve here: a draw needs no more digits than they have.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def _level(k: int) -> int:
    """Return where the graph on the nodes 0 to `k` begins."""
    return (k - 1) * k * (k + 1) // 6


@njit(nogil=True, cache=True)
def _edge(i: int, j: int) -> int:
    """Return the place of the edge between `i` and `j` in a graph."""
    return i * (i - 1) // 2 + j if i > j else j * (j - 1) // 2 + i


@njit(nogil=True, cache=True)
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@njit(nogil=True, cache=True)
def reduced_graphs(log_weights: Floats) -> Floats:
    """Return the log weights of the graphs on the nodes 0 to 1, 0 to 2, ..., 0 to the last, one after another."""
    n = len(log_weights)
    graphs = np.empty(max(_level(n), 0))
    at = _level(n - 1) if n > 1 else 0
    for i in range(n):
        for j in range(i):
            graphs[at + _edge(i, j)] = log_weights[i, j]
    for k in range(n - 1, 1, -1):
        here, next_ = graphs[_level(k) :], graphs[_level(k - 1) :]
        star = here[_edge(k, 0) :]
        degree = -np.inf
        for j in range(k):
            degree = _log_add(degree, star[j])
        for i in range(1, k):
            for j in range(i):
                through = star[i] - degree + star[j]
                next_[_edge(i, j)] = _log_add(here[_edge(i, j)], through)
    return graphs


@njit(nogil=True, cache=True)
def _top(part: Integers, u: int) -> int:
    """Return the node that stands for the part of `u`, halving the way there."""
    while part[u] != u:
        part[u] = part[part[u]]
        u = part[u]
    return u


@njit(nogil=True, cache=True)
def draw_trees(graphs: Floats, rng: np.random.Generator, out: Integers) -> None:
    """Write trees to `out`, of shape (trees, nodes - 1, 2), drawn by what `reduced_graphs` returns."""
    many, edges = out.shape[:2]
    part = np.empty(edges + 1, np.int64)
    neighbour = np.empty(edges + 1, np.int64)
    nearest = np.empty(edges + 1)
    for t in range(many):
        tree = out[t]
        tree[0] = 1, 0
        for k in range(2, edges + 1):
            here, before = graphs[_level(k) :], graphs[_level(k - 1) :]
            for u in range(k):
                part[u] = u
            kept = 0
            for i, j in tree[: k - 1]:
                at = _edge(i, j)
                if rng.standard_exponential() > before[at] - here[at]:
                    tree[kept] = i, j
                    kept += 1
                    part[_top(part, i)] = _top(part, j)
            nearest[:k] = -np.inf
            star = here[_edge(k, 0) :]
            for u in range(k):
                # The greatest of log weights with Gumbel noise is drawn in proportion to the weights.
                noisy = star[u] - math.log(rng.standard_exponential())
                top = _top(part, u)
                if noisy > nearest[top]:
                    nearest[top] = noisy
                    neighbour[top] = u
            for u in range(k):
                if part[u] == u:
                    tree[kept] = k, neighbour[u]
                    kept += 1
