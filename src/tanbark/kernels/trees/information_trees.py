"""Conditional mutual information of pairs of attributes, and growing and rooting maximum spanning trees.

Tables hold counts of pairs of values, of shape (classes, values, values); the values of attribute `u` are numbered
``offset[u]`` to ``offset[u + 1] - 1``. If an attribute has missing values, the weight of a pair uses the rows in which
both of its attributes are known.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Table = NDArray[np.int64] | NDArray[np.float64]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def margins(cells: Table, rows: Floats, columns: Floats) -> float:
    """Write the row sums and column sums of a table; return its total."""
    rows[: cells.shape[0]] = 0.0
    columns[: cells.shape[1]] = 0.0
    total = 0.0
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            rows[i] += cells[i, j]
            columns[j] += cells[i, j]
            total += cells[i, j]
    return total


@njit(nogil=True, cache=True)
def _information(cells: Table, rows: Floats, columns: Floats) -> float:
    """Return ``sum N(i,j) log[N(i,j) N / (N(i) N(j))]``."""
    total = margins(cells, rows, columns)
    gain = 0.0
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            count = cells[i, j]
            if count > 0:
                ratio = count / rows[i] * (total / columns[j])
                if 0.0 < ratio < np.inf:
                    gain += count * math.log(ratio)
                else:
                    gain += count * (math.log(count) - math.log(rows[i]) + math.log(total) - math.log(columns[j]))
    return gain


@njit(nogil=True, cache=True)
def margin_products(
    table: Table, class_counts: Table, offset: Integers, has_missing: NDArray[np.bool_], products: Integers
) -> Integers:
    """Return the sum of ``N log N`` over each attribute's values in all classes and, as last element, over the classes.

    The sum is -1 for an attribute with missing values, because the margins of its pairs differ. `products` is described
    in `pair_information`.
    """
    n = len(offset) - 1
    sums = np.zeros(n + 1, np.int64)
    for u in range(n):
        for i in range(offset[u], offset[u + 1]):
            for k in range(len(table)):
                count = int(table[k, i, i])
                if has_missing[u] or not 0 <= count < len(products):
                    sums[u] = -1
                elif sums[u] >= 0:
                    sums[u] += products[count]
    for k in range(len(class_counts)):
        in_class = int(class_counts[k])
        if 0 <= in_class < len(products):
            sums[n] += products[in_class]
    return sums


@njit(nogil=True, cache=True)
def _integer_information(
    table: Table, offset: Integers, u: int, v: int, products: Integers, sums: Integers, rows: Floats, columns: Floats
) -> int:
    """Return the information in units of `products`, or -1 if a count is outside its range."""
    gain = np.int64(0)
    # Unsigned indices are faster. A negative count becomes a large number and is rejected.
    limit = np.uint64(len(products))
    first, last = offset[v], offset[v + 1]
    for k in range(len(table)):
        for i in range(offset[u], offset[u + 1]):
            row = table[k, i]
            for j in range(first, last):
                count = np.uint64(row[np.uint64(j)])
                if count >= limit:
                    return -1
                gain += products[count]
    if sums[u] >= 0 and sums[v] >= 0:
        gain += sums[len(sums) - 1] - sums[u] - sums[v]
    else:
        for k in range(len(table)):
            cells = table[k, offset[u] : offset[u + 1], first:last]
            total = margins(cells, rows, columns)
            if total >= len(products):
                return -1
            gain += products[int(total)]
            for i in range(cells.shape[0]):
                gain -= products[int(rows[i])]
            for j in range(cells.shape[1]):
                gain -= products[int(columns[j])]
    return int(max(gain, np.int64(0)))


@njit(nogil=True, cache=True)
def _float_information(table: Table, offset: Integers, u: int, v: int, rows: Floats, columns: Floats) -> float:
    """Return the information of a pair in nats times rows."""
    gain = 0.0
    for k in range(len(table)):
        cells = table[k, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
        gain += _information(cells, rows, columns)
    return max(gain, 0.0)


@njit(nogil=True, cache=True)
def pair_information(
    table: Table,
    offset: Integers,
    u: int,
    v: int,
    products: Integers,
    units: float,
    sums: Integers,
    rows: Floats,
    columns: Floats,
) -> float:
    """Return ``sum N(i,j,k) log[N(i,j,k) N(k) / (N(i,k) N(j,k))]`` of a pair, with all counts from its complete rows.

    Parameters
    ----------
    products : array
        ``N log N`` for ``N = 0, 1, ...``, rounded to integer multiples of ``1 / units``; the result has the same unit.
        Integer sums are exact, so the order of the values does not matter. Empty if the counts are not integers.
    sums : array
        The result of `margin_products`.
    rows, columns : arrays
        Work space for the values of each attribute.
    """
    if len(products):
        total = _integer_information(table, offset, u, v, products, sums, rows, columns)
        if total >= 0:
            return float(total)
    information: float = _float_information(table, offset, u, v, rows, columns)
    return units * information


@njit(nogil=True, cache=True)
def conditional_information(
    table: Table,
    class_counts: Table,
    offset: Integers,
    has_missing: NDArray[np.bool_],
    products: Integers,
    units: float,
    out: Floats,
) -> None:
    """Write `pair_information` of each pair to `out`.

    Divided by the number of rows this is the conditional mutual information ``I(U; V | C)`` in nats.
    """
    sums = margin_products(table, class_counts, offset, has_missing, products)
    rows = np.empty(table.shape[1])
    columns = np.empty(table.shape[1])
    for u in range(len(offset) - 1):
        for v in range(u):
            out[u, v] = pair_information(table, offset, u, v, products, units, sums, rows, columns)
            out[v, u] = out[u, v]


@njit(nogil=True, cache=True)
def class_gains(values: Table, offset: Integers, out: Floats) -> None:
    """Write ``sum N(i,k) log[N(i,k) N / (N(i) N(k))]`` of each attribute to `out`, from the rows in which it is known.

    `values` holds counts of shape (classes, values). Divided by the number of rows this is the mutual information
    ``I(U; C)`` in nats.
    """
    rows = np.empty(len(values))
    columns = np.empty(values.shape[1])
    for u in range(len(out)):
        out[u] = max(_information(values[:, offset[u] : offset[u + 1]], rows, columns), 0.0)


@njit(nogil=True, cache=True)
def grow_tree(weights: Floats, us: Integers, vs: Integers) -> None:
    """Write the edges of the maximum spanning tree to `us` and `vs` in the order in which Prim's algorithm adds them.

    Each edge leads from the tree outwards. The first is the heaviest pair. Ties go to the lower column, of the outer
    end first.
    """
    n = len(weights)
    us[0], vs[0] = 0, 1
    for u in range(n):
        for v in range(u + 1, n):
            if weights[u, v] > weights[us[0], vs[0]]:
                us[0], vs[0] = u, v
    inside = np.zeros(n, np.bool_)
    # The inner end of the heaviest edge from the tree to each attribute outside.
    start = np.full(n, us[0], np.int64)
    inside[us[0]] = True
    for step in range(n - 1):
        new = vs[step]
        inside[new] = True
        if step == n - 2:
            break
        best = -1
        for v in range(n):
            if inside[v]:
                continue
            new_weight, old_weight = weights[new, v], weights[start[v], v]
            if new_weight > old_weight or (new_weight == old_weight and new < start[v]):
                start[v] = new
            if best < 0 or weights[start[v], v] > weights[start[best], best]:
                best = v
        us[step + 1], vs[step + 1] = start[best], best


@njit(nogil=True, cache=True)
def root_trees(trees: Integers, root: int, order: Integers, parent: Integers) -> None:
    """Root each tree at `root`: write its nodes, parents before children, and the parent of each node.

    The parent of the root is -1.
    """
    n_trees, n_edges = trees.shape[:2]
    for t in range(n_trees):
        parent[t] = -1
        order[t, 0] = root
        reached = 1
        for step in range(n_edges + 1):
            u = order[t, step]
            for i, j in trees[t]:
                v = j if i == u else i
                if u in (i, j) and v != parent[t, u]:
                    parent[t, v] = u
                    order[t, reached] = v
                    reached += 1
