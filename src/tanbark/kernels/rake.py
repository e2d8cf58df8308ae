"""Fitting a positive table to given margins."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROUNDS = 2000
CLOSE = 1e-14


@njit(nogil=True, cache=True)
def _scale(table: Floats, rows: Floats, columns: Floats, power: float, sums: Floats) -> float:
    """Scale each row, then each column, to its sum; return the largest relative distance met.

    The columns' factors are raised to `power`; above 1 they overshoot. `sums` has room for a number for each column.
    Memory is walked along the rows only.
    """
    worst = 0.0
    sums[:] = 0.0
    for i in range(table.shape[0]):
        line = table[i]
        total = 0.0
        for j in range(len(line)):
            total += line[j]
        worst = max(worst, abs(total / rows[i] - 1.0))
        factor = rows[i] / total
        for j in range(len(line)):
            line[j] *= factor
            sums[j] += line[j]
    for j in range(table.shape[1]):
        worst = max(worst, abs(sums[j] / columns[j] - 1.0))
        sums[j] = columns[j] / sums[j]
        if power != 1.0:
            sums[j] **= power
    for i in range(table.shape[0]):
        line = table[i]
        for j in range(len(line)):
            line[j] *= sums[j]
    return worst


@njit(nogil=True, cache=True)
def rake(table: Floats, rows: Floats, columns: Floats) -> None:
    """Scale a positive table in place until its sums are `rows` and `columns` (of equal total).

    Iterative proportional fitting, which keeps the table's odds ratios. Its distance soon shrinks by the same factor in
    every round: then one round leaps by all further steps at once, whose sum is a geometric series; the next leap waits
    until the distance has come down. What little is left over is spread as in Altschuler, Weed and Rigollet (2017): no
    sum too large, then the shortfalls' outer product, so that both margins hold to rounding however slowly the fitting
    converges.
    """
    r, s = table.shape
    sums = np.empty(s)
    last, shrank, power, leapt = np.inf, 0.0, 1.0, np.inf
    for _ in range(ROUNDS):
        far = _scale(table, rows, columns, power, sums)
        if far < CLOSE:
            return
        shrinks = far / last
        steady = power == 1.0 and far < 0.1 * leapt and abs(shrinks - shrank) < 0.2 * (1.0 - shrinks)
        power = 1.0
        if steady and 100.0 * CLOSE < far < 0.5 * (1.0 - shrinks):
            power = 1.0 / (1.0 - shrinks)
            leapt = far
        last, shrank = far, shrinks if power == 1.0 else 0.0
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
    _scale(table, rows, columns, 1.0, sums)


@njit(nogil=True, cache=True)
def fill_up(values: Floats, class_counts: NDArray[np.generic], offset: Integers, ess: float) -> None:
    """Add a prior of `ess` rows to the values in each class and scale each attribute's to the class with its prior."""
    classes = len(values)
    for k in range(classes):
        for u in range(len(offset) - 1):
            seen = values[k, offset[u] : offset[u + 1]]
            seen += ess / (classes * len(seen))
            seen *= (class_counts[k] + ess / classes) / seen.sum()


@njit(nogil=True, cache=True)
def rake_pairs(
    table: Floats, offset: Integers, holes: NDArray[np.bool_], ess: float, seen: Floats, out: Floats
) -> None:
    """Write the raked table of every pair with an attribute that has holes to its two places in `out`.

    Parameters
    ----------
    table : array of shape (classes, values, values)
        Counts of pairs of values; a prior of `ess` rows is spread evenly over the cells of each pair.
    seen : array of shape (classes, values)
        What the tables are to sum to.
    out : array of shape (classes, values, values)
    """
    classes, n = len(table), len(offset) - 1
    for u in range(n):
        for v in range(u):
            if not (holes[u] or holes[v]):
                continue
            first, second = slice(offset[v], offset[v + 1]), slice(offset[u], offset[u + 1])
            for k in range(classes):
                pair = table[k, first, second].copy()
                pair += ess / (classes * pair.size)
                rake(pair, seen[k, first], seen[k, second])
                out[k, first, second] = pair
                out[k, second, first] = pair.T
