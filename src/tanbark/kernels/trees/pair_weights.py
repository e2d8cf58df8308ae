"""Weights of edges between attributes: information, log Bayes factors and approximate conditional log likelihood."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

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


@njit(nogil=True, cache=True)
def _remainder(x: float) -> float:
    """Return ``lgamma(x) - (x - 1/2) log x + x - 1/2 log 2 pi``, what Stirling's formula leaves."""
    if x < 16.0:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - 0.5 * math.log(2.0 * math.pi)
    y = 1.0 / (x * x)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x


@njit(nogil=True, cache=True)
def _log_one_plus(x: float) -> float:
    """Return ``log(1 + x)``, by the quicker function where it is as good."""
    return math.log1p(x) if x < 1.0 else math.log(1.0 + x)


@njit(nogil=True, cache=True)
def _beyond_frequencies(seen: float, prior: float, of_prior: float) -> float:
    """Return ``lgamma(x) - x log x + x`` at `prior + seen` less the same at `prior`, which leaves `of_prior`."""
    gain: float = _remainder(prior + seen) - of_prior - 0.5 * _log_one_plus(seen / prior)
    return gain


@njit(nogil=True, cache=True)
def _log_ratio(cell: float, total: float, row: float, column: float) -> float:
    """Return ``log[(1 + cell)(1 + total) / ((1 + row)(1 + column))]``, all being counts in units of their prior."""
    if total < 1.0:
        above = cell + total + cell * total - row - column - row * column
        return math.log1p(above / ((1.0 + row) * (1.0 + column)))
    return math.log((1.0 + cell) / (1.0 + row) * ((1.0 + total) / (1.0 + column)))


@njit(nogil=True, cache=True)
def pair_evidence(
    table: Table, offset: Integers, k: int, u: int, v: int, ess: float, rows: Floats, columns: Floats
) -> float:
    """Return the log Bayes factor of an edge against none, of the pair's rows in class `k`.

    ``log W`` (eq 22 of Cerquides and Lopez de Mantaras 2003, with the prior of eq 24) and the class term that it lacks:
    ``lgamma(N'_c + N_c) - lgamma(N'_c)``. Its terms are of the size ``N log N`` and cancel but for the information that
    the pair has. So Stirling's formula splits each: the parts ``x log x`` make one sum of ``x log(ratio)``, the small
    rest is summed by itself, and the error is that of a number of the size of the result. `rows` and `columns` have
    room for twice the values of either.
    """
    classes = table.shape[0]
    r, s = offset[u + 1] - offset[u], offset[v + 1] - offset[v]
    of_class, of_row, of_column = ess / classes, ess / (classes * r), ess / (classes * s)
    of_cell = ess / (classes * r * s)
    rest_class, rest_row, rest_column = _remainder(of_class), _remainder(of_row), _remainder(of_column)
    rest_cell = _remainder(of_cell)
    cells = table[k, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
    total = margins(cells, rows, columns)
    gain: float = _beyond_frequencies(total, of_class, rest_class)
    growth = _log_one_plus(total / of_class)
    log_rows, log_columns = rows[r:], columns[s:]
    for i in range(r):
        gain -= _beyond_frequencies(rows[i], of_row, rest_row)
        rows[i] /= of_row
        log_rows[i] = _log_one_plus(rows[i])
    for j in range(s):
        gain -= _beyond_frequencies(columns[j], of_column, rest_column)
        columns[j] /= of_column
        log_columns[j] = _log_one_plus(columns[j])
    for i in range(r):
        for j in range(s):
            seen = cells[i, j]
            if seen > 0:
                gain += _beyond_frequencies(seen, of_cell, rest_cell)
                ratio = _log_ratio(seen / of_cell, total / of_class, rows[i], columns[j])
            else:
                ratio = growth - log_rows[i] - log_columns[j]
            gain += (of_cell + seen) * ratio
    return gain


@njit(nogil=True, cache=True)
def dirichlet_evidence(table: Table, offset: Integers, ess: float, out: Floats) -> None:
    """Write `pair_evidence` of each class and pair to `out`."""
    rows = np.empty(2 * table.shape[1])
    columns = np.empty(2 * table.shape[1])
    for u in range(len(offset) - 1):
        for v in range(u):
            for k in range(table.shape[0]):
                out[k, u, v] = pair_evidence(table, offset, k, u, v, ess, rows, columns)
                out[k, v, u] = out[k, u, v]


@njit(nogil=True, cache=True)
def sequence_evidence(seen: Floats, prior: float) -> float:
    """Return the log probability of a sequence with these counts under a Dirichlet prior of `prior` for each value.

    Stirling's formula splits the terms as in `dirichlet_evidence`: a prior far larger than the counts does no harm.
    """
    rows, before = seen.sum(), prior * len(seen)
    evidence: float = -_beyond_frequencies(rows, before, _remainder(before))
    rest = _remainder(prior)
    for i in range(len(seen)):
        evidence += _beyond_frequencies(seen[i], prior, rest) - seen[i] * math.log(len(seen))
        cell, row = seen[i] / prior, rows / before
        ratio = math.log1p((cell - row) / (1.0 + row)) if row < 1.0 else math.log((1.0 + cell) / (1.0 + row))
        evidence += (prior + seen[i]) * ratio
    return evidence


@njit(nogil=True, cache=True)
def table_evidence(table: Floats, prior: float) -> float:
    """Return the log evidence of the rows of a table, each under a Dirichlet prior of `prior` for each value."""
    total = 0.0
    for row in range(len(table)):
        total += sequence_evidence(table[row], prior)
    return total


@njit(nogil=True, cache=True)
def values_evidence(values: Floats, offset: Integers, ess: float) -> float:
    """Return the log evidence of all attributes' values given the class, from counts of shape (classes, values)."""
    classes = len(values)
    total = 0.0
    for u in range(len(offset) - 1):
        for k in range(classes):
            seen = values[k, offset[u] : offset[u + 1]]
            total += sequence_evidence(seen, ess / (classes * len(seen)))
    return total


@njit(nogil=True, cache=True)
def _floored(seen: float, in_all: float, beta: float, floor: float) -> float:
    """Return a count less the share of it that speaks for all classes, or the floor."""
    return max(seen + beta * in_all, floor)


@njit(nogil=True, cache=True)
def acll_gains(table: Floats, offset: Integers, beta: float, floor: float, out: Floats) -> None:
    """Write ``aCLL(v | u, C) - aCLL(v | C)`` to ``out[u, v]``, all counts those of the pair's rows.

    Equation 7 of Sugahara, Uto and Ueno (2018). With ``M = N + beta * (N of all classes)`` and ``F = max(M, floor)``
    an edge adds ``M(i,j,k) log[F(i,j,k) F(k) / (F(i,k) F(j,k))]`` for each cell, where ``F(i,k)`` sums the floored
    cells of a value of the parent, ``F(j,k)`` is the floored count of a value of the child, and ``F(k)`` sums those.
    """
    classes, n = table.shape[0], len(offset) - 1
    most = 1
    for u in range(n):
        most = max(most, offset[u + 1] - offset[u])
    cells = np.empty((most, most))
    # Of the values of u and of v: floored sums, and sums of floored cells.
    alone_u, above_u, alone_v, above_v = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    for u in range(n):
        for v in range(u):
            r, s = offset[u + 1] - offset[u], offset[v + 1] - offset[v]
            here = table[:, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
            all_classes = np.zeros((r, s))
            for k in range(classes):
                all_classes += here[k]
            to_v, to_u = 0.0, 0.0
            for k in range(classes):
                total_u, total_v = 0.0, 0.0
                above_v[:s] = 0.0
                for i in range(r):
                    above_u[i] = 0.0
                    for j in range(s):
                        cells[i, j] = _floored(here[k, i, j], all_classes[i, j], beta, floor)
                        above_u[i] += cells[i, j]
                        above_v[j] += cells[i, j]
                    alone_u[i] = _floored(here[k, i].sum(), all_classes[i].sum(), beta, floor)
                    total_u += alone_u[i]
                for j in range(s):
                    alone_v[j] = _floored(here[k, :, j].sum(), all_classes[:, j].sum(), beta, floor)
                    total_v += alone_v[j]
                for i in range(r):
                    for j in range(s):
                        weight = here[k, i, j] + beta * all_classes[i, j]
                        if weight != 0.0:
                            to_v += weight * math.log(cells[i, j] / above_u[i] * (total_v / alone_v[j]))
                            to_u += weight * math.log(cells[i, j] / above_v[j] * (total_u / alone_u[i]))
            out[u, v], out[v, u] = to_v, to_u
