"""Estimate conditional probability tables from counts: smoothing, raking to margins, and all tables of a tree."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_RAKING_ROUNDS = 2000
"""Maximum number of rounds of iterative proportional fitting."""
RAKING_TOLERANCE = 1e-14
"""Fitting stops when no sum differs from its margin by a larger relative error."""


@njit(nogil=True, cache=True)
def normalise_rows(counts: Floats, out: Floats) -> None:
    """Write each row of `counts` divided by its sum to `out`; a row without counts becomes uniform."""
    rows, values = counts.shape
    for i in range(rows):
        total = 0.0
        for j in range(values):
            total += counts[i, j]
        for j in range(values):
            out[i, j] = counts[i, j] / total if total > 0 else 1.0 / values


@njit(nogil=True, cache=True)
def log_conditional(counts: NDArray[np.generic], prior: Floats, out: Floats) -> None:
    """Write ``log P(j | i, k)`` to `out[i, k, j]` from `counts[k, i, j]` and the prior's weight of each value `j`."""
    classes, configurations, values = counts.shape
    for i in range(configurations):
        for k in range(classes):
            total = 0.0
            for j in range(values):
                out[i, k, j] = counts[k, i, j] + prior[j]
                total += out[i, k, j]
            for j in range(values):
                share = out[i, k, j] / total if total > 0 else 1.0 / values
                out[i, k, j] = math.log(share) if share > 0 else -np.inf


@njit(nogil=True, cache=True)
def _scale(table: Floats, rows: Floats, columns: Floats, power: float, sums: Floats) -> float:
    """Scale each row, then each column, to its margin; return the largest relative error before scaling.

    The factors of the columns are raised to `power`; a power above 1 overshoots. `sums` is work space with one element
    per column. Memory is traversed by rows only.
    """
    max_error = 0.0
    sums[:] = 0.0
    for i in range(table.shape[0]):
        row = table[i]
        total = 0.0
        for j in range(len(row)):
            total += row[j]
        max_error = max(max_error, abs(total / rows[i] - 1.0))
        factor = rows[i] / total
        for j in range(len(row)):
            row[j] *= factor
            sums[j] += row[j]
    for j in range(table.shape[1]):
        max_error = max(max_error, abs(sums[j] / columns[j] - 1.0))
        sums[j] = columns[j] / sums[j]
        if power != 1.0:
            sums[j] **= power
    for i in range(table.shape[0]):
        row = table[i]
        for j in range(len(row)):
            row[j] *= sums[j]
    return max_error


@njit(nogil=True, cache=True)
def rake(table: Floats, rows: Floats, columns: Floats) -> None:
    """Scale a positive table in place until its margins are `rows` and `columns` (of equal total).

    This is iterative proportional fitting, which preserves the odds ratios of the table. Its error soon shrinks by a
    constant factor per round. One round then takes all further steps at once, whose sum is a geometric series; the next
    such leap waits until the error has decreased. The remaining error is distributed as in Altschuler, Weed and
    Rigollet (2017): no sum may exceed its margin, then the outer product of the deficits is added. Both margins
    therefore hold up to rounding, however slowly the fitting converges.
    """
    r, s = table.shape
    sums = np.empty(s)
    last_error, last_ratio, power, leap_error = np.inf, 0.0, 1.0, np.inf
    for _ in range(MAX_RAKING_ROUNDS):
        error = _scale(table, rows, columns, power, sums)
        if error < RAKING_TOLERANCE:
            return
        ratio = error / last_error
        steady = power == 1.0 and error < 0.1 * leap_error and abs(ratio - last_ratio) < 0.2 * (1.0 - ratio)
        power = 1.0
        if steady and 100.0 * RAKING_TOLERANCE < error < 0.5 * (1.0 - ratio):
            power = 1.0 / (1.0 - ratio)
            leap_error = error
        last_error, last_ratio = error, ratio if power == 1.0 else 0.0
    for i in range(r):
        table[i] *= min(1.0, rows[i] / table[i].sum())
    for j in range(s):
        table[:, j] *= min(1.0, columns[j] / table[:, j].sum())
    row_deficits = np.empty(r)
    column_deficits = np.empty(s)
    for i in range(r):
        row_deficits[i] = max(rows[i] - table[i].sum(), 0.0)
    for j in range(s):
        column_deficits[j] = max(columns[j] - table[:, j].sum(), 0.0)
    total = row_deficits.sum()
    if total > 0.0:
        for i in range(r):
            for j in range(s):
                table[i, j] += row_deficits[i] * column_deficits[j] / total
    _scale(table, rows, columns, 1.0, sums)


@njit(nogil=True, cache=True)
def smooth_margins(values: Floats, class_counts: NDArray[np.generic], offset: Integers, ess: float) -> None:
    """Add a prior of `ess` rows to the values of each class and scale each attribute to the class's smoothed total."""
    classes = len(values)
    for k in range(classes):
        for u in range(len(offset) - 1):
            counts = values[k, offset[u] : offset[u + 1]]
            counts += ess / (classes * len(counts))
            counts *= (class_counts[k] + ess / classes) / counts.sum()


@njit(nogil=True, cache=True)
def rake_pairs(
    table: Floats, offset: Integers, has_missing: NDArray[np.bool_], ess: float, margins: Floats, out: Floats
) -> None:
    """Write the raked table of every pair that includes an attribute with missing values to its two blocks of `out`.

    Parameters
    ----------
    table : array of shape (classes, values, values)
        Counts of pairs of values. A prior of `ess` rows is spread evenly over the cells of each pair.
    has_missing : array of bool
        Whether each attribute has missing values.
    margins : array of shape (classes, values)
        Margins of the raked tables.
    out : array of shape (classes, values, values)
    """
    classes, n = len(table), len(offset) - 1
    for u in range(n):
        for v in range(u):
            if not (has_missing[u] or has_missing[v]):
                continue
            first, second = slice(offset[v], offset[v + 1]), slice(offset[u], offset[u + 1])
            for k in range(classes):
                pair = table[k, first, second].copy()
                pair += ess / (classes * pair.size)
                rake(pair, margins[k, first], margins[k, second])
                out[k, first, second] = pair
                out[k, second, first] = pair.T


@njit(nogil=True, cache=True)
def tree_log_tables(
    table: NDArray[np.generic],
    single: NDArray[np.generic],
    offset: Integers,
    parent: Integers,
    prior: Floats,
    start: Integers,
    out: Floats,
) -> None:
    """Write ``log P(j | i, k)`` of every attribute to `out`, from ``start[u]`` on: parent's value, class, own value.

    Parameters
    ----------
    table : array of shape (classes, values, values)
        Counts of pairs of values; empty if no attribute has a parent.
    single : array of shape (classes, 1, values)
        Counts of single values.
    parent : array
        The parent of each attribute, or -1.
    prior : array of shape (values,)
        The prior's weight of each value, which is added to its count.
    """
    classes = len(single)
    for u in range(len(parent)):
        first, last, p = offset[u], offset[u + 1], parent[u]
        configurations = 1 if p < 0 else offset[p + 1] - offset[p]
        cells = out[start[u] : start[u + 1]].reshape((configurations, classes, last - first))
        if p < 0:
            log_conditional(single[:, :, first:last], prior[first:last], cells)
        else:
            log_conditional(table[:, offset[p] : offset[p + 1], first:last], prior[first:last], cells)


@njit(nogil=True, cache=True)
def _log_raked(
    table: NDArray[np.generic], offset: Integers, p: int, u: int, prior: float, margins: Floats, out: Floats
) -> None:
    """Write ``log P(j | i)`` of attribute `u` given its parent `p` within a class, from the raked pair."""
    low, high = min(p, u), max(p, u)
    pair = np.empty((offset[low + 1] - offset[low], offset[high + 1] - offset[high]))
    for i in range(pair.shape[0]):
        for j in range(pair.shape[1]):
            pair[i, j] = table[offset[low] + i, offset[high] + j] + prior
    rake(pair, margins[offset[low] : offset[low + 1]], margins[offset[high] : offset[high + 1]])
    joint = pair if p == low else pair.T
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(out.shape[1]):
            total += joint[i, j]
        for j in range(out.shape[1]):
            out[i, j] = math.log(joint[i, j] / total)


@njit(nogil=True, cache=True)
def raked_log_tables(
    table: NDArray[np.generic],
    offset: Integers,
    parent: Integers,
    prior: Floats,
    has_missing: NDArray[np.bool_],
    margins: Floats,
    start: Integers,
    out: Floats,
) -> None:
    """Write the tables of attributes for which they or their parents have missing values, from raked pairs.

    The other tables come from `tree_log_tables`. This is a separate kernel because it takes long to compile, and data
    without missing values do not need it.

    Parameters
    ----------
    has_missing : array of bool
        Whether each attribute has missing values.
    margins : array of shape (classes, values)
        Margins of the raked pairs.
    """
    classes = len(table)
    for u in range(len(parent)):
        p = parent[u]
        if p < 0 or not (has_missing[u] or has_missing[p]):
            continue
        shape = (offset[p + 1] - offset[p], classes, offset[u + 1] - offset[u])
        cells = out[start[u] : start[u + 1]].reshape(shape)
        for k in range(classes):
            _log_raked(table[k], offset, p, u, prior[offset[u]], margins[k], cells[:, k])
