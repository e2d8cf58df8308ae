"""Trees sampled from their posterior, rows sampled from trees, and the probability of a row under each tree.

Trees drawn in proportion to their weights, exactly.

The nodes of the graph are taken out one by one, last to first, every graph on the way being kept (see `tree_sums`); a
tree of two nodes is their edge; and the nodes are put back one by one. An edge between two old nodes stood in the
larger graph with probability (its weight there) / (its weight here), and otherwise led through the node that comes
back. With the latter edges gone the tree is in parts, and the node is joined to each part by one edge, drawn in
proportion to its weight. Random walks (Wilson 1996) draw the same trees, but need forever where weights differ by
hundreds of orders of magnitude. Logarithms serve here: a draw needs no more digits than they have.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

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


@njit(nogil=True, cache=True)
def _draw_value(weights: Floats, point: float) -> int:
    """Return which of the weights a point between 0 and 1 falls on, the weights laid end to end from 0 to 1."""
    target = point * weights.sum()
    reached = 0.0
    for i in range(len(weights)):
        reached += weights[i]
        if target < reached:
            return i
    return len(weights) - 1


@njit(nogil=True, cache=True)
def draw_rows(
    classes: Integers,
    offset: Integers,
    values: Floats,
    ratios: Floats,
    order: Integers,
    parent: Integers,
    rng: np.random.Generator,
    out: Integers,
) -> None:
    """Write codes of rows of the given classes to `out`, of shape (attributes, rows), each row drawn from its tree."""
    for row in range(len(classes)):
        k = classes[row]
        for u in order[row]:
            weights = values[offset[u] : offset[u + 1], k]
            above = parent[row, u]
            if above >= 0:
                weights = weights * ratios[offset[above] + out[above, row], offset[u] : offset[u + 1], k]
            out[u, row] = _draw_value(weights, rng.random())


CodeArray = NDArray[np.unsignedinteger]


@njit(nogil=True, cache=True)
def complete_rows(codes: CodeArray, missing: int, arity: Integers, start: Integers, out: CodeArray) -> None:
    """Write every completion of every row; those of row `i` are the columns ``start[i]`` to ``start[i + 1]``."""
    for row in range(codes.shape[1]):
        each = 1
        for u in range(len(codes)):
            code = codes[u, row]
            if code != missing:
                out[u, start[row] : start[row + 1]] = code
                continue
            for at in range(start[row], start[row + 1]):
                out[u, at] = (at - start[row]) // each % arity[u]
            each *= arity[u]


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
