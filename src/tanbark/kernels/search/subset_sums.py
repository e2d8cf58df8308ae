"""Sums over the cells of every subset of columns, from one traversal of the subsets that refines partitions.

The terms of whole weights below `HISTOGRAM_SIZE` are summed by a histogram of the weights; all others one by one.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.configurations import HISTOGRAM_SIZE, refine
from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.log_functions import log_rising_factorial


@njit(nogil=True, cache=True)
def cell_term(concentration: float, weight: float) -> float:
    """Return ``log G(a + N) / G(a)`` for concentration `a` and weight `N`, or ``N log N`` if `a` is zero."""
    if concentration > 0.0:
        return float(log_rising_factorial(concentration, weight))
    return float(weight * np.log(weight))


@njit(nogil=True, cache=True)
def compensated_sum(
    concentration: float, first: NDArray[np.float64], n_first: int, second: NDArray[np.float64], n_second: int
) -> float:
    """Return the sum of the terms of two lists of cell weights, accurate to the last digit in any order (Neumaier)."""
    total, error = 0.0, 0.0
    for i in range(n_first + n_second):
        term = cell_term(concentration, first[i] if i < n_first else second[i - n_first])
        next_total = total + term
        error += (total - next_total) + term if abs(total) >= abs(term) else (term - next_total) + total
        total = next_total
    return total + error


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def histogram_sum(a: NDArray[np.float64], b: NDArray[np.float64], terms: NDArray[np.float64]) -> float:
    """Return the sum of `terms`, each multiplied by its frequency in the two histograms."""
    total = 0.0
    for w in range(HISTOGRAM_SIZE):
        total += (a[w] + b[w]) * terms[w]
    return total


@njit(nogil=True, cache=True)
def subset_sums(
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    weights: NDArray[np.float64],
    whole: bool,
    first: NDArray[np.int64],
    prefix: int,
    free: int,
    tail: NDArray[np.unsignedinteger],
    part: NDArray[np.int32],
    bits: int,
    tail_configurations: NDArray[np.float64],
    max_size: int,
    max_configurations: float,
    concentrations: NDArray[np.float64],
    shared: bool,
    penalty: float,
    step: NDArray[np.int64],
    tail_step: NDArray[np.int64],
    tables: NDArray[np.float64],
    unit: float,
    out: NDArray[np.float64],
) -> None:
    """Write sums over the cells of every subset that consists of `prefix` and any of the columns below `free`.

    For each concentration `a` the sum is that of ``log G(a + N) / G(a)`` over the cells with weights `N`, or of ``N log
    N`` if `a` is zero. A `shared` concentration is divided among all configurations. The penalty per configuration is
    subtracted from every sum.

    The traversal omits the lowest columns, the *tail*. The sums of all subsets of the tail are computed together from
    the joint values of the tail in each cell.

    Parameters
    ----------
    codes, arity, weights, whole
        One column for each bit of a subset, lowest first, followed by any columns that are in every subset; the number
        of codes of each column; the weight of each case, and whether all weights are whole.
    first
        The columns that all these subsets include.
    prefix, free
        The bits of `first`; the columns below `free` are optional.
    tail, part, bits, tail_configurations
        The joint value of the tail's columns in each case; the number of the cell of each joint value under each subset
        of the tail, unique over all subsets; the number of columns of the tail; the number of configurations of each
        subset.
    max_size, max_configurations
        Subsets with more columns (including `first`) and subsets with more configurations are skipped.
    step, tail_step, tables
        The sum of the steps of a subset's columns is the row of `tables` to use. It has the terms of whole weights
        below `HISTOGRAM_SIZE` for each concentration. Empty if terms are not tabulated.
    unit
        Sums are rounded to multiples of this number.
    out : array of shape (concentrations, subsets)
    """
    size = codes.shape[1]
    levels = len(first) + max(free - bits, 0) + 1
    rows = np.empty((levels, size), np.int32)
    ends = np.empty((levels, size), np.int32)
    cells = np.zeros(levels, np.int64)
    settled = np.zeros((levels, HISTOGRAM_SIZE), np.float64)
    heavy_weights = np.empty(size, np.float64)
    heavy_count = np.zeros(levels, np.int64)
    buffer = np.empty(arity.max(), np.int32)
    column = np.zeros(levels, np.int64)
    subset = np.zeros(levels, np.int64)
    configurations = np.ones(levels, np.float64)
    row = np.zeros(levels, np.int64)
    subsets = 1 << bits
    mass = np.zeros(len(part), np.float64)
    touched = np.empty(len(part), np.int64)
    merged = np.zeros(part.max() + 1, np.float64)
    histogram = np.zeros((subsets, HISTOGRAM_SIZE), np.float64)
    listed = np.empty((subsets, size), np.float64)
    n_listed = np.zeros(subsets, np.int64)
    common = np.zeros(HISTOGRAM_SIZE, np.float64)
    terms = np.zeros(HISTOGRAM_SIZE, np.float64)
    # For two joint values of the tail, the set of the columns in which they agree.
    agree = np.zeros((len(part), len(part)), np.int64)
    for v in range(len(part)):
        for w in range(len(part)):
            for u in range(bits):
                if part[v, 1 << u] == part[w, 1 << u]:
                    agree[v, w] |= 1 << u
    sizes = np.zeros(subsets, np.int64)
    for s in range(1, subsets):
        sizes[s] = sizes[s >> 1] + (s & 1)
    rows[0] = np.arange(size)
    ends[0, 0] = size
    cells[0] = 1
    for k in range(len(first)):
        u = first[k]
        refine(codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy_weights, heavy_count, k, buffer)
        configurations[k + 1] = configurations[k] * arity[u]
        row[k + 1] = row[k] + step[u]
    level = len(first)
    bottom = level
    subset[level] = prefix
    if level > max_size or configurations[level] > max_configurations:
        return
    while True:
        # Split the cells of this subset by each subset of the tail.
        common[:] = settled[level]
        histogram[:] = 0.0
        n_listed[:] = 0
        start = 0
        for cell in range(cells[level]):
            end = ends[level, cell]
            n_touched = 0
            for p in range(start, end):
                i = rows[level, p]
                v = tail[i]
                if mass[v] == 0.0:
                    touched[n_touched] = v
                    n_touched += 1
                mass[v] += weights[i]
            start = end
            total = 0.0
            for k in range(n_touched):
                total += mass[touched[k]]
            if n_touched <= 2 and whole and total < HISTOGRAM_SIZE:
                # One joint value is one cell under every subset; two are one cell if they agree in the subset.
                for k in range(n_touched):
                    common[int(mass[touched[k]])] += 1.0
                if n_touched == 2:
                    v1, v2 = touched[0], touched[1]
                    agreeing = agree[v1, v2]
                    s = agreeing
                    while True:
                        histogram[s, int(total)] += 1.0
                        histogram[s, int(mass[v1])] -= 1.0
                        histogram[s, int(mass[v2])] -= 1.0
                        if s == 0:
                            break
                        s = (s - 1) & agreeing
                for k in range(n_touched):
                    mass[touched[k]] = 0.0
                continue
            for k in range(n_touched):
                v = touched[k]
                for s in range(subsets):
                    merged[part[v, s]] += mass[v]
            for k in range(n_touched):
                v = touched[k]
                mass[v] = 0.0
                for s in range(subsets):
                    w = merged[part[v, s]]
                    if w > 0.0:
                        merged[part[v, s]] = 0.0
                        if whole and w < HISTOGRAM_SIZE:
                            histogram[s, int(w)] += 1.0
                        else:
                            listed[s, n_listed[s]] = w
                            n_listed[s] += 1
        for s in range(subsets):
            q = configurations[level] * tail_configurations[s]
            if level + sizes[s] > max_size or q > max_configurations:
                continue
            for k in range(len(concentrations)):
                a = concentrations[k] / q if shared else concentrations[k]
                total = compensated_sum(a, heavy_weights, heavy_count[level], listed[s], n_listed[s])
                if len(tables) > 0:
                    total += histogram_sum(common, histogram[s], tables[row[level] + tail_step[s], k])
                else:
                    for w in range(1, HISTOGRAM_SIZE):
                        terms[w] = cell_term(a, float(w)) if common[w] + histogram[s, w] > 0.0 else 0.0
                    total += histogram_sum(common, histogram[s], terms)
                total -= penalty * q
                out[k, subset[level] | s] = np.round(total / unit) * unit
        # The next subset: add the column below the last one, or else replace the last column by the next lower one.
        column[level] = (free if level == bottom else column[level - 1]) - 1
        u = column[level]
        while u < bits or level >= max_size or configurations[level] * arity[u] > max_configurations:
            if u < bits or level >= max_size:
                level -= 1
                if level < bottom:
                    return
            column[level] -= 1
            u = column[level]
        refine(
            codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy_weights, heavy_count, level, buffer
        )
        configurations[level + 1] = configurations[level] * arity[u]
        row[level + 1] = row[level] + step[u]
        subset[level + 1] = subset[level] | (1 << u)
        level += 1
