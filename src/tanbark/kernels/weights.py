"""Edge weights of all pairs of attributes, each from the pair's own table."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def _margins(cells: Floats, rows: Floats, columns: Floats) -> float:
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
def conditional_information(table: Floats, offset: Integers, out: Floats) -> None:
    """Write ``sum N(i,j,k) log[N(i,j,k) N(k) / (N(i,k) N(j,k))]`` of each pair to `out`, all counts of the pair's rows.

    Divided by the number of rows this is the conditional mutual information ``I(U; V | C)`` in nats.
    """
    classes = table.shape[0]
    n = len(offset) - 1
    rows = np.empty(table.shape[1])
    columns = np.empty(table.shape[1])
    for u in range(n):
        for v in range(u):
            gain = 0.0
            for k in range(classes):
                cells = table[k, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
                total = _margins(cells, rows, columns)
                for i in range(cells.shape[0]):
                    for j in range(cells.shape[1]):
                        seen = cells[i, j]
                        if seen > 0:
                            gain += seen * math.log(seen / rows[i] * (total / columns[j]))
            out[u, v] = max(gain, 0.0)
            out[v, u] = out[u, v]


@njit(nogil=True, cache=True)
def dirichlet_evidence(table: Floats, offset: Integers, ess: float, out: Floats) -> None:
    """Write the log Bayes factor of an edge against none to `out`, for each pair, all counts of the pair's rows.

    ``log W`` (eq 22 of Cerquides and Lopez de Mantaras 2003, with the prior of eq 24) and the class term that it lacks:
    ``sum_k lgamma(N'_c + N_c) - lgamma(N'_c)``.
    """
    classes = table.shape[0]
    n = len(offset) - 1
    rows = np.empty(table.shape[1])
    columns = np.empty(table.shape[1])
    for u in range(n):
        for v in range(u):
            r, s = offset[u + 1] - offset[u], offset[v + 1] - offset[v]
            of_class, of_row, of_column = ess / classes, ess / (classes * r), ess / (classes * s)
            of_cell = ess / (classes * r * s)
            gain = 0.0
            for k in range(classes):
                cells = table[k, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
                total = _margins(cells, rows, columns)
                for i in range(r):
                    for j in range(s):
                        seen = cells[i, j]
                        if seen > 0:
                            gain += math.lgamma(of_cell + seen) - math.lgamma(of_cell)
                for i in range(r):
                    gain -= math.lgamma(of_row + rows[i]) - math.lgamma(of_row)
                for j in range(s):
                    gain -= math.lgamma(of_column + columns[j]) - math.lgamma(of_column)
                gain += math.lgamma(of_class + total) - math.lgamma(of_class)
            out[u, v] = gain
            out[v, u] = gain
