"""Log Bayes factors of edges between attributes, each from the pair's own table, and log evidence of sequences."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.information import Table, margins

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
