"""Number the configurations of several columns, count them, and partition cases by them.

Partitions of cases by their values, refined one column after the other.

A cell is the cases that agree in the columns so far. A cell that is down to one distinct case is *settled*: no further
column splits it, so it leaves the partition and only its weight is kept. Weights are kept as a histogram where they are
whole and below `FEW`, else one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit


@njit(nogil=True, cache=True)
def family_keys(
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> None:
    """Append the columns to each row's key as further digits, last column fastest.

    A row that lacks a value (a code that is no level of its column) gets the key -1 and keeps it.
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
    at: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    start: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the weight of the cases with each number and each code of one column, for every column.

    Column `u` has its table (numbers, arity) from ``start[u]`` on.
    """
    counts = np.zeros(start[-1])
    for u in range(len(codes)):
        column = codes[u]
        table = counts[start[u] :]
        radix = arity[u]
        for i in range(len(at)):
            table[at[i] * radix + column[i]] += weights[i]
    return counts


FEW = 64


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
    heavy: NDArray[np.float64],
    heavies: NDArray[np.int64],
    at: int,
    many: NDArray[np.int32],
) -> None:
    """Split the cells of partition `at` by a column into partition `at + 1`.

    Parameters
    ----------
    column, radix, weights, whole
        The codes of the column and how many there are; the weights of all cases, and whether they are whole.
    rows, ends, cells
        For each partition its unsettled cases, cell by cell; where each cell ends; how many cells there are.
    settled, heavy, heavies
        For each partition the histogram of the weights of settled cells; those that have no place in it, a stack whose
        height at each partition is `heavies`.
    many
        Room for as many numbers as the column has codes.
    """
    new = at + 1
    settled[new] = settled[at]
    height = heavies[at]
    start, place, made = 0, 0, 0
    for cell in range(cells[at]):
        end = ends[at, cell]
        for v in range(radix):
            many[v] = 0
        for p in range(start, end):
            many[column[rows[at, p]]] += 1
        for v in range(radix):
            size = many[v]
            if size == 1:
                many[v] = -1
            elif size > 1:
                many[v] = place
                place += size
                ends[new, made] = place
                made += 1
        for p in range(start, end):
            i = rows[at, p]
            v = column[i]
            if many[v] >= 0:
                rows[new, many[v]] = i
                many[v] += 1
            elif whole and weights[i] < FEW:
                settled[new, int(weights[i])] += 1.0
            else:
                heavy[height] = weights[i]
                height += 1
        start = end
    heavies[new] = height
    cells[new] = made
