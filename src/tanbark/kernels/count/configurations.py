"""Number the configurations of several columns, count them, and partition cases by them.

A partition is refined one column at a time. A *cell* contains the cases that agree in all columns so far. A cell with a
single distinct case is *settled*: no further column can split it, so it leaves the partition and only its weight is
stored, in a histogram if the weight is whole and below `HISTOGRAM_SIZE`, otherwise in a list.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

HISTOGRAM_SIZE = 64
"""Whole weights below this number are counted in a histogram, all others are listed individually."""


@njit(nogil=True, cache=True)
def family_keys(
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> None:
    """Append the columns to each row's key as further digits, with the last column varying fastest.

    A row with a missing value (a code that is not a level of its column) gets the key -1, which later calls preserve.
    """
    for u in range(len(codes)):
        column = codes[u]
        radix = arity[u]
        for i in range(keys.shape[0]):
            code = np.int64(column[i])
            if keys[i] < 0 or code >= radix:
                keys[i] = -1
            else:
                keys[i] = keys[i] * radix + code


@njit(nogil=True, cache=True)
def joint_counts(
    number: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    start: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the total weight of the cases for each pair of a case number and a code, for every column.

    The table of column `u`, of shape (numbers, arity), begins at ``start[u]``.
    """
    counts = np.zeros(start[-1])
    for u in range(len(codes)):
        column = codes[u]
        table = counts[start[u] :]
        radix = arity[u]
        for i in range(len(number)):
            table[number[i] * radix + column[i]] += weights[i]
    return counts


@njit(nogil=True, cache=True)
def refine(
    column: NDArray[np.unsignedinteger],
    radix: int,
    weights: NDArray[np.float64],
    whole: bool,
    rows: NDArray[np.int32],
    ends: NDArray[np.int32],
    cells: NDArray[np.int64],
    settled: NDArray[np.float64],
    heavy_weights: NDArray[np.float64],
    heavy_count: NDArray[np.int64],
    at: int,
    buffer: NDArray[np.int32],
) -> None:
    """Split the cells of partition `at` by a column into partition `at + 1`.

    Parameters
    ----------
    column, radix, weights, whole
        The codes of the column and their number; the weights of all cases and whether all weights are whole.
    rows, ends, cells
        For each partition, its unsettled cases, ordered by cell; the end of each cell; the number of cells.
    settled, heavy_weights, heavy_count
        For each partition, the histogram of the weights of settled cells. Weights outside the histogram are on a stack,
        whose height at each partition is `heavy_count`.
    buffer
        Work space with one element for each code of the column.
    """
    new = at + 1
    settled[new] = settled[at]
    n_heavy = heavy_count[at]
    start, position, n_cells = 0, 0, 0
    for cell in range(cells[at]):
        end = ends[at, cell]
        for v in range(radix):
            buffer[v] = 0
        for p in range(start, end):
            buffer[column[rows[at, p]]] += 1
        for v in range(radix):
            size = buffer[v]
            if size == 1:
                buffer[v] = -1
            elif size > 1:
                buffer[v] = position
                position += size
                ends[new, n_cells] = position
                n_cells += 1
        for p in range(start, end):
            i = rows[at, p]
            v = column[i]
            if buffer[v] >= 0:
                rows[new, buffer[v]] = i
                buffer[v] += 1
            elif whole and weights[i] < HISTOGRAM_SIZE:
                settled[new, int(weights[i])] += 1.0
            else:
                heavy_weights[n_heavy] = weights[i]
                n_heavy += 1
        start = end
    heavy_count[new] = n_heavy
    cells[new] = n_cells
