"""Weights of edges by score: log Bayes factors (BDeu), and gains in the approximate conditional likelihood (aCLL).

Tables hold counts of pairs of values, of shape (classes, values, values); the values of attribute `u` are numbered
``offset[u]`` to ``offset[u + 1] - 1``. If an attribute has missing values, the weight of a pair uses the rows in which
both of its attributes are known.
"""

import math

import numpy as np

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.trees.information_trees import Floats, Integers, Table, margins


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
