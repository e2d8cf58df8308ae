"""Information between attributes, and between each and the class, from counts."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Table = NDArray[np.int64] | NDArray[np.float64]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def margin_products(
    table: Table, class_counts: Table, offset: Integers, holes: NDArray[np.bool_], products: Integers
) -> Integers:
    """Return the sum of ``N log N`` over an attribute's values in all classes, for each; last over the classes.

    It is -1 for an attribute with holes: a pair with it has other margins. `products` are as in `pair_information`.
    """
    n = len(offset) - 1
    sums = np.zeros(n + 1, np.int64)
    for u in range(n):
        for i in range(offset[u], offset[u + 1]):
            for k in range(len(table)):
                seen = int(table[k, i, i])
                if holes[u] or not 0 <= seen < len(products):
                    sums[u] = -1
                elif sums[u] >= 0:
                    sums[u] += products[seen]
    for k in range(len(class_counts)):
        in_class = int(class_counts[k])
        if 0 <= in_class < len(products):
            sums[n] += products[in_class]
    return sums


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
    """Return ``sum N(i,j,k) log[N(i,j,k) N(k) / (N(i,k) N(j,k))]`` of a pair, all counts of the pair's rows.

    Parameters
    ----------
    products : array
        ``N log N`` of the whole numbers from 0 on, in so many `units` to the one, as the result is: sums of whole
        numbers are exact, so that the order of the values does not matter. None where counts are not whole.
    sums : array
        What `margin_products` returns.
    rows, columns : arrays
        Room for the values of either.
    """
    if len(products):
        gain = _by_products(table, offset, u, v, products, sums, rows, columns)
        if gain >= 0:
            return float(gain)
    information: float = _by_logarithms(table, offset, u, v, rows, columns)
    return units * information


@njit(nogil=True, cache=True)
def _by_products(
    table: Table, offset: Integers, u: int, v: int, products: Integers, sums: Integers, rows: Floats, columns: Floats
) -> int:
    """Return the information in units, -1 where a count has no product."""
    gain = np.int64(0)
    # An index that cannot be negative is quicker; a negative count becomes a large one.
    most = np.uint64(len(products))
    first, last = offset[v], offset[v + 1]
    for k in range(len(table)):
        for i in range(offset[u], offset[u + 1]):
            line = table[k, i]
            for j in range(first, last):
                seen = np.uint64(line[np.uint64(j)])
                if seen >= most:
                    return -1
                gain += products[seen]
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
def _by_logarithms(table: Table, offset: Integers, u: int, v: int, rows: Floats, columns: Floats) -> float:
    gain = 0.0
    for k in range(len(table)):
        cells = table[k, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
        gain += _gain(cells, rows, columns)
    return max(gain, 0.0)


@njit(nogil=True, cache=True)
def _gain(cells: Table, rows: Floats, columns: Floats) -> float:
    """Return ``sum N(i,j) log[N(i,j) N / (N(i) N(j))]``."""
    total = margins(cells, rows, columns)
    gain = 0.0
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            seen = cells[i, j]
            if seen > 0:
                ratio = seen / rows[i] * (total / columns[j])
                if 0.0 < ratio < np.inf:
                    gain += seen * math.log(ratio)
                else:
                    gain += seen * (math.log(seen) - math.log(rows[i]) + math.log(total) - math.log(columns[j]))
    return gain


@njit(nogil=True, cache=True)
def margins(cells: Table, rows: Floats, columns: Floats) -> float:
    """Write the sums of the rows and of the columns; return the sum of all."""
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
def conditional_information(
    table: Table,
    class_counts: Table,
    offset: Integers,
    holes: NDArray[np.bool_],
    products: Integers,
    units: float,
    out: Floats,
) -> None:
    """Write `pair_information` of each pair to `out`.

    Divided by the number of rows this is the conditional mutual information ``I(U; V | C)`` in nats.
    """
    sums = margin_products(table, class_counts, offset, holes, products)
    rows = np.empty(table.shape[1])
    columns = np.empty(table.shape[1])
    for u in range(len(offset) - 1):
        for v in range(u):
            out[u, v] = pair_information(table, offset, u, v, products, units, sums, rows, columns)
            out[v, u] = out[u, v]


@njit(nogil=True, cache=True)
def class_gains(values: Table, offset: Integers, out: Floats) -> None:
    """Write ``sum N(i,k) log[N(i,k) N / (N(i) N(k))]`` of each attribute's rows to `out`.

    `values` are counts of shape (classes, values). Divided by the number of rows this is the mutual information
    ``I(U; C)`` in nats.
    """
    rows = np.empty(len(values))
    columns = np.empty(values.shape[1])
    for u in range(len(out)):
        out[u] = max(_gain(values[:, offset[u] : offset[u + 1]], rows, columns), 0.0)
