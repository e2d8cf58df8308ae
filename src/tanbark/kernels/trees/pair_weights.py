"""Edge weights between attributes: conditional information, log Bayes factors and approximate conditional likelihood.

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
def _stirling_remainder(x: float) -> float:
    """Return the remainder of Stirling's formula, ``lgamma(x) - (x - 1/2) log x + x - 1/2 log 2 pi``."""
    if x < 16.0:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - 0.5 * math.log(2.0 * math.pi)
    y = 1.0 / (x * x)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x


@njit(nogil=True, cache=True)
def _log1p(x: float) -> float:
    """Return ``log(1 + x)``, by `log` instead of `log1p` where it is faster and equally accurate."""
    return math.log1p(x) if x < 1.0 else math.log(1.0 + x)


@njit(nogil=True, cache=True)
def _lower_order_terms(count: float, prior: float, prior_remainder: float) -> float:
    """Return ``f(prior + count) - f(prior)`` for ``f(x) = lgamma(x) - x log x + x``.

    `prior_remainder` is the Stirling remainder of `prior`.
    """
    terms: float = _stirling_remainder(prior + count) - prior_remainder - 0.5 * _log1p(count / prior)
    return terms


@njit(nogil=True, cache=True)
def _log_ratio(cell: float, total: float, row: float, column: float) -> float:
    """Return ``log[(1 + cell)(1 + total) / ((1 + row)(1 + column))]``, each count being divided by its prior."""
    if total < 1.0:
        difference = cell + total + cell * total - row - column - row * column
        return math.log1p(difference / ((1.0 + row) * (1.0 + column)))
    return math.log((1.0 + cell) / (1.0 + row) * ((1.0 + total) / (1.0 + column)))


@njit(nogil=True, cache=True)
def pair_evidence(
    table: Table, offset: Integers, k: int, u: int, v: int, ess: float, rows: Floats, columns: Floats
) -> float:
    """Return the log Bayes factor of an edge against no edge, for the pair's complete rows in class `k`.

    This is ``log W`` (eq 22 of Cerquides and Lopez de Mantaras 2003, with the prior of eq 24) plus the class term that
    it omits, ``lgamma(N'_c + N_c) - lgamma(N'_c)``. The terms have magnitude ``N log N`` and cancel except for the
    information of the pair. Stirling's formula therefore splits each term: the parts ``x log x`` combine into one sum
    of ``x log(ratio)``, and the small remainders are summed separately. The rounding error is then relative to the
    result, not to its terms. `rows` and `columns` are work space for twice the values of each attribute.
    """
    classes = table.shape[0]
    r, s = offset[u + 1] - offset[u], offset[v + 1] - offset[v]
    class_prior, row_prior, column_prior = ess / classes, ess / (classes * r), ess / (classes * s)
    cell_prior = ess / (classes * r * s)
    class_remainder, row_remainder = _stirling_remainder(class_prior), _stirling_remainder(row_prior)
    column_remainder, cell_remainder = _stirling_remainder(column_prior), _stirling_remainder(cell_prior)
    cells = table[k, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
    total = margins(cells, rows, columns)
    evidence: float = _lower_order_terms(total, class_prior, class_remainder)
    log_total = _log1p(total / class_prior)
    log_rows, log_columns = rows[r:], columns[s:]
    for i in range(r):
        evidence -= _lower_order_terms(rows[i], row_prior, row_remainder)
        rows[i] /= row_prior
        log_rows[i] = _log1p(rows[i])
    for j in range(s):
        evidence -= _lower_order_terms(columns[j], column_prior, column_remainder)
        columns[j] /= column_prior
        log_columns[j] = _log1p(columns[j])
    for i in range(r):
        for j in range(s):
            count = cells[i, j]
            if count > 0:
                evidence += _lower_order_terms(count, cell_prior, cell_remainder)
                ratio = _log_ratio(count / cell_prior, total / class_prior, rows[i], columns[j])
            else:
                ratio = log_total - log_rows[i] - log_columns[j]
            evidence += (cell_prior + count) * ratio
    return evidence


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
def sequence_evidence(counts: Floats, prior: float) -> float:
    """Return the log probability of a sequence with these counts under a Dirichlet prior with weight `prior` per value.

    Stirling's formula splits the terms as in `pair_evidence`, so a prior much larger than the counts loses no accuracy.
    """
    rows, total_prior = counts.sum(), prior * len(counts)
    evidence: float = -_lower_order_terms(rows, total_prior, _stirling_remainder(total_prior))
    remainder = _stirling_remainder(prior)
    for i in range(len(counts)):
        evidence += _lower_order_terms(counts[i], prior, remainder) - counts[i] * math.log(len(counts))
        cell, row = counts[i] / prior, rows / total_prior
        ratio = math.log1p((cell - row) / (1.0 + row)) if row < 1.0 else math.log((1.0 + cell) / (1.0 + row))
        evidence += (prior + counts[i]) * ratio
    return evidence


@njit(nogil=True, cache=True)
def table_evidence(table: Floats, prior: float) -> float:
    """Return the log evidence of the rows of a table, each with a Dirichlet prior of weight `prior` per value."""
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
            counts = values[k, offset[u] : offset[u + 1]]
            total += sequence_evidence(counts, ess / (classes * len(counts)))
    return total


@njit(nogil=True, cache=True)
def _floored_count(count: float, all_classes: float, beta: float, floor: float) -> float:
    """Return ``max(count + beta * all_classes, floor)``."""
    return max(count + beta * all_classes, floor)


@njit(nogil=True, cache=True)
def acll_gains(table: Floats, offset: Integers, beta: float, floor: float, out: Floats) -> None:
    """Write ``aCLL(v | u, C) - aCLL(v | C)`` to ``out[u, v]``, with all counts from the pair's complete rows.

    Equation 7 of Sugahara, Uto and Ueno (2018). With ``M = N + beta * (N of all classes)`` and ``F = max(M, floor)``,
    an edge adds ``M(i,j,k) log[F(i,j,k) F(k) / (F(i,k) F(j,k))]`` for each cell. Here ``F(i,k)`` is the sum of the
    floored cells of a parent value, ``F(j,k)`` is the floored count of a child value, and ``F(k)`` is the sum of the
    latter.
    """
    classes, n = table.shape[0], len(offset) - 1
    max_arity = 1
    for u in range(n):
        max_arity = max(max_arity, offset[u + 1] - offset[u])
    cells = np.empty((max_arity, max_arity))
    # For the values of u and v: floored margins and sums of floored cells.
    margin_u, cell_sum_u = np.empty(max_arity), np.empty(max_arity)
    margin_v, cell_sum_v = np.empty(max_arity), np.empty(max_arity)
    for u in range(n):
        for v in range(u):
            r, s = offset[u + 1] - offset[u], offset[v + 1] - offset[v]
            counts = table[:, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
            all_classes = np.zeros((r, s))
            for k in range(classes):
                all_classes += counts[k]
            gain_v, gain_u = 0.0, 0.0
            for k in range(classes):
                total_u, total_v = 0.0, 0.0
                cell_sum_v[:s] = 0.0
                for i in range(r):
                    cell_sum_u[i] = 0.0
                    for j in range(s):
                        cells[i, j] = _floored_count(counts[k, i, j], all_classes[i, j], beta, floor)
                        cell_sum_u[i] += cells[i, j]
                        cell_sum_v[j] += cells[i, j]
                    margin_u[i] = _floored_count(counts[k, i].sum(), all_classes[i].sum(), beta, floor)
                    total_u += margin_u[i]
                for j in range(s):
                    margin_v[j] = _floored_count(counts[k, :, j].sum(), all_classes[:, j].sum(), beta, floor)
                    total_v += margin_v[j]
                for i in range(r):
                    for j in range(s):
                        weight = counts[k, i, j] + beta * all_classes[i, j]
                        if weight != 0.0:
                            gain_v += weight * math.log(cells[i, j] / cell_sum_u[i] * (total_v / margin_v[j]))
                            gain_u += weight * math.log(cells[i, j] / cell_sum_v[j] * (total_u / margin_u[i]))
            out[u, v], out[v, u] = gain_v, gain_u
