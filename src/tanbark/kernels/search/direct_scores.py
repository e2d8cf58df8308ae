"""Scores of nodes under every subset of columns, counted separately for each family."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.configurations import HISTOGRAM_SIZE, refine
from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.search.subset_sums import compensated_sum, histogram_sum

BY_CONFIGURATIONS, BY_SEEN, BY_CELLS, LIKELIHOOD = 0, 1, 2, 3
"""How the prior's weight is distributed: over all parent configurations, over the configurations that occur, one per
cell, or not at all (maximum likelihood)."""


@njit(nogil=True, cache=True)
def histogram_terms(concentration: float, out: NDArray[np.float64]) -> None:
    """Write the terms of cells with the weights 0, 1, 2, ...."""
    out[0] = 0.0
    for w in range(1, len(out)):
        if concentration > 0.0:
            out[w] = out[w - 1] + np.log(concentration + (w - 1))
        else:
            out[w] = w * np.log(w)


@njit(nogil=True, cache=True)
def direct_scores(
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    weights: NDArray[np.float64],
    whole: bool,
    first: NDArray[np.int64],
    free: int,
    nodes: NDArray[np.int64],
    max_size: int,
    max_cells: float,
    rule: int,
    ess: float,
    penalty: float,
    unit: float,
    out: NDArray[np.float64],
) -> None:
    """Write the scores of nodes whose parents are `first` and any of the columns below `free`.

    Parameters
    ----------
    codes, arity, weights, whole
        The columns; the number of codes of each; the weight of each case, and whether all weights are whole.
    first, free
        Columns that are always parents; the columns below `free` are optional parents.
    nodes
        Columns to score. Nothing is written for sets of parents that include the node.
    max_size, max_cells
        Sets with more parents and families with more cells are skipped.
    rule, ess, penalty
        How the prior's weight is distributed; its total weight; the penalty per parameter.
    unit
        Scores are rounded to multiples of this number.
    out : array of shape (nodes, 2 ** free)
    """
    size = codes.shape[1]
    levels = len(first) + free + 1
    rows = np.empty((levels, size), np.int32)
    ends = np.empty((levels, size), np.int32)
    cells = np.zeros(levels, np.int64)
    settled = np.zeros((levels, HISTOGRAM_SIZE), np.float64)
    heavy_weights = np.empty(size, np.float64)
    heavy_count = np.zeros(levels, np.int64)
    buffer = np.empty(arity.max(), np.int32)
    mass = np.zeros(arity.max(), np.float64)
    column = np.zeros(levels, np.int64)
    subset = np.zeros(levels, np.int64)
    configurations = np.ones(levels, np.float64)
    # Nodes of the same arity share all terms that do not depend on their values.
    arity_index = np.searchsorted(np.unique(arity), arity)
    computed = np.zeros(len(arity), np.bool_)
    parent_sums = np.zeros(len(arity), np.float64)
    terms = np.zeros((len(arity), HISTOGRAM_SIZE), np.float64)
    cell_sums = np.zeros(HISTOGRAM_SIZE, np.float64)
    zeros = np.zeros(HISTOGRAM_SIZE, np.float64)
    histogram = np.zeros(HISTOGRAM_SIZE, np.float64)
    listed = np.empty(size, np.float64)
    rows[0] = np.arange(size)
    ends[0, 0] = size
    cells[0] = 1
    for k in range(len(first)):
        u = first[k]
        refine(codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy_weights, heavy_count, k, buffer)
        configurations[k + 1] = configurations[k] * arity[u]
    level = len(first)
    bottom = level
    if level > max_size:
        return
    while True:
        # The cells of the parents, settled or not.
        cell_sums[:] = settled[level]
        n_heavy = heavy_count[level]
        start = 0
        for cell in range(cells[level]):
            w = 0.0
            for p in range(start, ends[level, cell]):
                w += weights[rows[level, p]]
            start = ends[level, cell]
            if whole and w < HISTOGRAM_SIZE:
                cell_sums[int(w)] += 1.0
            else:
                heavy_weights[n_heavy] = w
                n_heavy += 1
        n_occurring = settled[level].sum() + heavy_count[level] + cells[level]
        computed[:] = False
        for k in range(len(nodes)):
            u = nodes[k]
            if u < free and subset[level] >> u & 1:
                continue
            r = arity[u]
            if configurations[level] * r > max_cells:
                continue
            row = 0.0
            if rule == BY_CONFIGURATIONS:
                row = ess / configurations[level]
            elif rule == BY_SEEN:
                row = ess / n_occurring
            elif rule == BY_CELLS:
                row = float(r)
            index = arity_index[u]
            if not computed[index]:
                computed[index] = True
                histogram_terms(row, terms[index])
                parent_sums[index] = histogram_sum(cell_sums, zeros, terms[index])
                parent_sums[index] += compensated_sum(row, heavy_weights, n_heavy, zeros, 0)
                histogram_terms(row / r, terms[index])
            histogram[:] = 0.0
            n_listed, start = 0, 0
            for cell in range(cells[level]):
                end = ends[level, cell]
                if end - start == 2 and whole:
                    i1, i2 = rows[level, start], rows[level, start + 1]
                    w = weights[i1] + weights[i2]
                    if w < HISTOGRAM_SIZE:
                        if codes[u, i1] == codes[u, i2]:
                            histogram[int(w)] += 1.0
                        else:
                            histogram[int(weights[i1])] += 1.0
                            histogram[int(weights[i2])] += 1.0
                        start = end
                        continue
                for p in range(start, end):
                    i = rows[level, p]
                    mass[codes[u, i]] += weights[i]
                for v in range(r):
                    w = mass[v]
                    mass[v] = 0.0
                    if whole and w < HISTOGRAM_SIZE:
                        histogram[int(w)] += 1.0
                    elif w > 0.0:
                        listed[n_listed] = w
                        n_listed += 1
                start = end
            # Each settled cell of the parents is also a single cell of the family.
            total = compensated_sum(row / r, heavy_weights, heavy_count[level], listed, n_listed)
            total += histogram_sum(settled[level], histogram, terms[index]) - parent_sums[index]
            total -= penalty * (r - 1) * configurations[level]
            out[k, subset[level]] = np.round(total / unit) * unit
        # The next set: add the column below the last one, or else replace the last column by the next lower one.
        column[level] = (free if level == bottom else column[level - 1]) - 1
        u = column[level]
        while u < 0 or level >= max_size:
            level -= 1
            if level < bottom:
                return
            column[level] -= 1
            u = column[level]
        refine(
            codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy_weights, heavy_count, level, buffer
        )
        configurations[level + 1] = configurations[level] * arity[u]
        subset[level + 1] = subset[level] | (1 << u)
        level += 1
