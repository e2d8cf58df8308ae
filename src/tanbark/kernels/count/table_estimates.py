"""Conditional probability tables from counts: smoothing, raking to margins, and all tables of a tree."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def divide_by_sums(seen: Floats, out: Floats) -> None:
    """Write each row of `seen` divided by its sum to `out`, uniform where nothing was seen."""
    rows, values = seen.shape
    for i in range(rows):
        total = 0.0
        for j in range(values):
            total += seen[i, j]
        for j in range(values):
            out[i, j] = seen[i, j] / total if total > 0 else 1.0 / values


@njit(nogil=True, cache=True)
def log_conditional(seen: NDArray[np.generic], added: Floats, out: Floats) -> None:
    """Write ``log P(j | i, k)`` to `out[i, k, j]` from the counts `seen[k, i, j]` and what each value `j` gets more."""
    classes, configurations, values = seen.shape
    for i in range(configurations):
        for k in range(classes):
            total = 0.0
            for j in range(values):
                out[i, k, j] = seen[k, i, j] + added[j]
                total += out[i, k, j]
            for j in range(values):
                share = out[i, k, j] / total if total > 0 else 1.0 / values
                out[i, k, j] = math.log(share) if share > 0 else -np.inf


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


@njit(nogil=True, cache=True)
def tree_log_tables(
    table: NDArray[np.generic],
    single: NDArray[np.generic],
    offset: Integers,
    parent: Integers,
    added: Floats,
    start: Integers,
    out: Floats,
) -> None:
    """Write ``log P(j | i, k)`` of every attribute to `out`, from ``start[u]`` on: parent's value, class, own value.

    Parameters
    ----------
    table : array of shape (classes, values, values)
        Counts of pairs of values; empty where no attribute has a parent.
    single : array of shape (classes, 1, values)
        Counts of single values.
    parent : array
        Each attribute's parent, -1 for none.
    added : array of shape (values,)
        What the count of each value gets more.
    """
    classes = len(single)
    for u in range(len(parent)):
        first, last, above = offset[u], offset[u + 1], parent[u]
        configurations = 1 if above < 0 else offset[above + 1] - offset[above]
        cells = out[start[u] : start[u + 1]].reshape((configurations, classes, last - first))
        if above < 0:
            log_conditional(single[:, :, first:last], added[first:last], cells)
        else:
            log_conditional(table[:, offset[above] : offset[above + 1], first:last], added[first:last], cells)


@njit(nogil=True, cache=True)
def raked_log_tables(
    table: NDArray[np.generic],
    offset: Integers,
    parent: Integers,
    added: Floats,
    holes: NDArray[np.bool_],
    values: Floats,
    start: Integers,
    out: Floats,
) -> None:
    """Write the tables of `tree_log_tables` where an attribute or its parent has holes, so that pairs must be raked.

    It is a kernel of its own since it takes long to compile, and tables without holes do not need it.

    Parameters
    ----------
    holes : array of bool
        Which attributes have holes.
    values : array of shape (classes, values)
        What raked pairs are to sum to.
    """
    classes = len(table)
    for u in range(len(parent)):
        above = parent[u]
        if above < 0 or not (holes[u] or holes[above]):
            continue
        shape = (offset[above + 1] - offset[above], classes, offset[u + 1] - offset[u])
        cells = out[start[u] : start[u + 1]].reshape(shape)
        for k in range(classes):
            _log_raked(table[k], offset, above, u, added[offset[u]], values[k], cells[:, k])


@njit(nogil=True, cache=True)
def _log_raked(
    table: NDArray[np.generic], offset: Integers, above: int, u: int, more: float, values: Floats, out: Floats
) -> None:
    """Write ``log P(j | i)`` of a pair within a class, raked to what its values are to sum to."""
    low, high = min(above, u), max(above, u)
    pair = np.empty((offset[low + 1] - offset[low], offset[high + 1] - offset[high]))
    for i in range(pair.shape[0]):
        for j in range(pair.shape[1]):
            pair[i, j] = table[offset[low] + i, offset[high] + j] + more
    rake(pair, values[offset[low] : offset[low + 1]], values[offset[high] : offset[high + 1]])
    joint = pair if above == low else pair.T
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(out.shape[1]):
            total += joint[i, j]
        for j in range(out.shape[1]):
            out[i, j] = math.log(joint[i, j] / total)
