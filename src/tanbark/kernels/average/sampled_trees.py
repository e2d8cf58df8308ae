"""Sample trees from their posterior and rows from trees, and compute the probability of a row under each tree.

Trees are sampled exactly, in proportion to their weights. The nodes of the graph are eliminated one by one, last to
first, and every intermediate graph is stored (see `tree_sums`). A tree on two nodes is their edge. The nodes are then
restored one by one. An edge between two old nodes existed in the larger graph with probability (its weight there) /
(its weight here); otherwise it led through the restored node. Removing the latter edges splits the tree into parts, and
the node is joined to each part by one edge, sampled in proportion to its weight. Random walks (Wilson 1996) sample the
same trees, but do not terminate in practice if weights differ by hundreds of orders of magnitude. Weights are stored as
logarithms, whose precision is sufficient for sampling.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Codes = NDArray[np.unsignedinteger]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MIN_PRODUCT, MAX_PRODUCT = 1e-100, 1e100
"""Running products outside these limits are replaced by their logarithms."""


@njit(nogil=True, cache=True)
def _graph_start(k: int) -> int:
    """Return the position of the graph on the nodes 0 to `k`."""
    return (k - 1) * k * (k + 1) // 6


@njit(nogil=True, cache=True)
def _edge_index(i: int, j: int) -> int:
    """Return the index of the edge between `i` and `j` in a graph."""
    return i * (i - 1) // 2 + j if i > j else j * (j - 1) // 2 + i


@njit(nogil=True, cache=True)
def _log_add(a: float, b: float) -> float:
    """Return ``log(exp(a) + exp(b))``."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@njit(nogil=True, cache=True)
def reduced_graphs(log_weights: Floats) -> Floats:
    """Return the log weights of the graphs on the nodes 0 to 1, 0 to 2, ..., 0 to the last, concatenated."""
    n = len(log_weights)
    graphs = np.empty(max(_graph_start(n), 0))
    start = _graph_start(n - 1) if n > 1 else 0
    for i in range(n):
        for j in range(i):
            graphs[start + _edge_index(i, j)] = log_weights[i, j]
    for k in range(n - 1, 1, -1):
        graph, smaller = graphs[_graph_start(k) :], graphs[_graph_start(k - 1) :]
        star = graph[_edge_index(k, 0) :]
        degree = -np.inf
        for j in range(k):
            degree = _log_add(degree, star[j])
        for i in range(1, k):
            for j in range(i):
                through = star[i] - degree + star[j]
                smaller[_edge_index(i, j)] = _log_add(graph[_edge_index(i, j)], through)
    return graphs


@njit(nogil=True, cache=True)
def _find_root(part: Integers, u: int) -> int:
    """Return the representative of the part of `u`, halving the path to it."""
    while part[u] != u:
        part[u] = part[part[u]]
        u = part[u]
    return u


@njit(nogil=True, cache=True)
def sample_spanning_trees(graphs: Floats, rng: np.random.Generator, out: Integers) -> None:
    """Sample trees from the result of `reduced_graphs` and write them to `out`, of shape (trees, nodes - 1, 2)."""
    n_trees, n_edges = out.shape[:2]
    part = np.empty(n_edges + 1, np.int64)
    neighbour = np.empty(n_edges + 1, np.int64)
    best = np.empty(n_edges + 1)
    for t in range(n_trees):
        tree = out[t]
        tree[0] = 1, 0
        for k in range(2, n_edges + 1):
            graph, smaller = graphs[_graph_start(k) :], graphs[_graph_start(k - 1) :]
            for u in range(k):
                part[u] = u
            n_kept = 0
            for i, j in tree[: k - 1]:
                edge = _edge_index(i, j)
                if rng.standard_exponential() > smaller[edge] - graph[edge]:
                    tree[n_kept] = i, j
                    n_kept += 1
                    part[_find_root(part, i)] = _find_root(part, j)
            best[:k] = -np.inf
            star = graph[_edge_index(k, 0) :]
            for u in range(k):
                # Gumbel-max trick: the greatest perturbed log weight is a sample in proportion to the weights.
                perturbed = star[u] - math.log(rng.standard_exponential())
                root = _find_root(part, u)
                if perturbed > best[root]:
                    best[root] = perturbed
                    neighbour[root] = u
            for u in range(k):
                if part[u] == u:
                    tree[n_kept] = k, neighbour[u]
                    n_kept += 1


@njit(nogil=True, cache=True)
def _sample_value(weights: Floats, point: float) -> int:
    """Return the index in whose share of the total weight the quantile `point`, between 0 and 1, lies."""
    target = point * weights.sum()
    reached = 0.0
    for i in range(len(weights)):
        reached += weights[i]
        if target < reached:
            return i
    return len(weights) - 1


@njit(nogil=True, cache=True)
def sample_rows(
    classes: Integers,
    offset: Integers,
    values: Floats,
    ratios: Floats,
    order: Integers,
    parent: Integers,
    rng: np.random.Generator,
    out: Integers,
) -> None:
    """Sample rows of the given classes, each from its own tree, and write their codes to `out[attribute, row]`."""
    for row in range(len(classes)):
        k = classes[row]
        for u in order[row]:
            weights = values[offset[u] : offset[u + 1], k]
            p = parent[row, u]
            if p >= 0:
                weights = weights * ratios[offset[p] + out[p, row], offset[u] : offset[u + 1], k]
            out[u, row] = _sample_value(weights, rng.random())


@njit(nogil=True, cache=True)
def complete_rows(codes: Codes, missing: int, arity: Integers, start: Integers, out: Codes) -> None:
    """Write every completion of every row; those of row `i` are the columns ``start[i]`` to ``start[i + 1]``."""
    for row in range(codes.shape[1]):
        stride = 1
        for u in range(len(codes)):
            code = codes[u, row]
            if code != missing:
                out[u, start[row] : start[row + 1]] = code
                continue
            for column in range(start[row], start[row + 1]):
                out[u, column] = (column - start[row]) // stride % arity[u]
            stride *= arity[u]


@njit(nogil=True, cache=True)
def _message(value: int, weights: Floats, first: int, ratios: Floats) -> float:
    """Return the message of an attribute to one value of a neighbour.

    This is the ratio of the two values, or the weighted sum of the ratios if the attribute is missing.
    """
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
    """Return ``log P(row | class, tree)`` minus the sum of ``log P(i | class)`` over the known values.

    `value` holds positions among all values, or -1 for missing values. `log_values` and `ratios` are those of one
    class. `belief` is work space for the logarithms of the messages to missing attributes.
    """
    log_sum, product = 0.0, 1.0
    for u in order:
        if value[u] < 0:
            for i in range(offset[u], offset[u + 1]):
                belief[i] = log_values[i]
    for u in order[::-1]:
        p = parent[u]
        own_belief = belief[offset[u] : offset[u + 1]]
        if value[u] < 0:
            largest = own_belief.max()
            log_sum += largest
            for i in range(len(own_belief)):
                own_belief[i] = math.exp(own_belief[i] - largest)
        if p < 0:
            product *= 1.0 if value[u] >= 0 else own_belief.sum()
        elif value[p] >= 0:
            product *= _message(value[u], own_belief, offset[u], ratios[:, value[p]])
        else:
            for j in range(offset[p], offset[p + 1]):
                belief[j] += math.log(_message(value[u], own_belief, offset[u], ratios[:, j]))
        if not MIN_PRODUCT < product < MAX_PRODUCT:
            log_sum += math.log(product)
            product = 1.0
    return log_sum + math.log(product)


@njit(nogil=True, cache=True)
def tree_marginals(
    codes: Codes,
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
    """Write ``log P(row | class k, tree)`` of rows `start` to `stop` for many trees, marginalising missing values.

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    log_values, ratios : arrays of shape (values, classes) and (values, values, classes)
        ``log P(i | k)`` and ``P(i, j | k) / (P(i | k) P(j | k))``.
    order, parent : arrays of shape (trees, attributes)
        The attributes, parents before children, and the parent of each attribute.
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
