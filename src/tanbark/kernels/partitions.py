"""Partitions of cases by their values, refined one column after the other.

A cell is the cases that agree in the columns so far. A cell that is down to one distinct case is *settled*: no further
column splits it, so it leaves the partition and only its weight is kept. Weights are kept as a histogram where they are
whole and below `FEW`, else one by one.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

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
