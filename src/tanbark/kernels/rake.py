"""Fitting a positive table to given margins."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS = 2000
CLOSE = 1e-14


@njit(nogil=True, cache=True)
def _scale(table: Floats, rows: Floats, columns: Floats) -> float:
    """Scale each row, then each column, to its sum; return the largest relative distance met."""
    worst = 0.0
    for i in range(table.shape[0]):
        total = table[i].sum()
        worst = max(worst, abs(total / rows[i] - 1.0))
        table[i] *= rows[i] / total
    for j in range(table.shape[1]):
        total = table[:, j].sum()
        worst = max(worst, abs(total / columns[j] - 1.0))
        table[:, j] *= columns[j] / total
    return worst


@njit(nogil=True, cache=True)
def rake(table: Floats, rows: Floats, columns: Floats) -> None:
    """Scale a positive table in place until its sums are `rows` and `columns` (of equal total).

    Iterative proportional fitting, which keeps the table's odds ratios; what little it may leave over is spread as in
    Altschuler, Weed and Rigollet (2017): no sum too large, then the shortfalls' outer product, so that both margins
    hold to rounding however slowly the fitting converges.
    """
    r, s = table.shape
    for _ in range(ROUNDS):
        if _scale(table, rows, columns) < CLOSE:
            return
    for i in range(r):
        table[i] *= min(1.0, rows[i] / table[i].sum())
    for j in range(s):
        table[:, j] *= min(1.0, columns[j] / table[:, j].sum())
    short_rows = np.empty(r)
    short_columns = np.empty(s)
    for i in range(r):
        short_rows[i] = max(rows[i] - table[i].sum(), 0.0)
    for j in range(s):
        short_columns[j] = max(columns[j] - table[:, j].sum(), 0.0)
    total = short_rows.sum()
    if total > 0.0:
        for i in range(r):
            for j in range(s):
                table[i, j] += short_rows[i] * short_columns[j] / total
    _scale(table, rows, columns)
