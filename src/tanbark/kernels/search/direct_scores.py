"""Scores of nodes under every subset of columns, each counted for itself."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.configurations import FEW, refine
from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.search.subset_sums import exact_sum, histogram_sum

BY_CONFIGURATIONS, BY_SEEN, BY_CELLS, LIKELIHOOD = 0, 1, 2, 3
"""Whether the rows of a table share the prior's weight, those seen do, each cell has one, or there is no prior."""


@njit(nogil=True, cache=True)
def small_terms(concentration: float, out: NDArray[np.float64]) -> None:
    """Write the terms of cells by whole weights."""
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
    largest: int,
    most: float,
    rule: int,
    ess: float,
    penalty: float,
    unit: float,
    out: NDArray[np.float64],
) -> None:
    """Write the scores of some nodes when their parents are `first` and any of the columns below `free`.

    Parameters
    ----------
    codes, arity, weights, whole
        The columns, how many codes each has, how much each case weighs, and whether all weights are whole.
    first, free
        Columns that are always among the parents, and below which number they may be.
    nodes
        Columns to score; under parents that include the node itself nothing is written.
    largest, most
        Sets of more parents, and families with more cells, are left out.
    rule, ess, penalty
        How a prior is shared; its weight; the price of a parameter.
    unit
        Scores are rounded to multiples of it.
    out : array of shape (nodes, 2 ** free)
    """
    size = codes.shape[1]
    levels = len(first) + free + 1
    rows = np.empty((levels, size), np.int32)
    ends = np.empty((levels, size), np.int32)
    cells = np.zeros(levels, np.int64)
    settled = np.zeros((levels, FEW), np.float64)
    heavy = np.empty(size, np.float64)
    heavies = np.zeros(levels, np.int64)
    many = np.empty(arity.max(), np.int32)
    mass = np.zeros(arity.max(), np.float64)
    column = np.zeros(levels, np.int64)
    subset = np.zeros(levels, np.int64)
    configurations = np.ones(levels, np.float64)
    # Nodes of the same arity share what does not depend on their values.
    kinds = np.searchsorted(np.unique(arity), arity)
    known = np.zeros(len(arity), np.bool_)
    of_parents = np.zeros(len(arity), np.float64)
    terms = np.zeros((len(arity), FEW), np.float64)
    cell_sums = np.zeros(FEW, np.float64)
    none = np.zeros(FEW, np.float64)
    loose = np.zeros(FEW, np.float64)
    bulky = np.empty(size, np.float64)
    rows[0] = np.arange(size)
    ends[0, 0] = size
    cells[0] = 1
    for k in range(len(first)):
        u = first[k]
        refine(codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy, heavies, k, many)
        configurations[k + 1] = configurations[k] * arity[u]
    at = len(first)
    bottom = at
    if at > largest:
        return
    while True:
        # The cells of the parents, settled or not.
        cell_sums[:] = settled[at]
        stacked = heavies[at]
        start = 0
        for cell in range(cells[at]):
            w = 0.0
            for p in range(start, ends[at, cell]):
                w += weights[rows[at, p]]
            start = ends[at, cell]
            if whole and w < FEW:
                cell_sums[int(w)] += 1.0
            else:
                heavy[stacked] = w
                stacked += 1
        seen = settled[at].sum() + heavies[at] + cells[at]
        known[:] = False
        for k in range(len(nodes)):
            u = nodes[k]
            if u < free and subset[at] >> u & 1:
                continue
            r = arity[u]
            if configurations[at] * r > most:
                continue
            row = 0.0
            if rule == BY_CONFIGURATIONS:
                row = ess / configurations[at]
            elif rule == BY_SEEN:
                row = ess / seen
            elif rule == BY_CELLS:
                row = float(r)
            kind = kinds[u]
            if not known[kind]:
                known[kind] = True
                small_terms(row, terms[kind])
                of_parents[kind] = histogram_sum(cell_sums, none, terms[kind])
                of_parents[kind] += exact_sum(row, heavy, stacked, none, 0)
                small_terms(row / r, terms[kind])
            loose[:] = 0.0
            bulk, start = 0, 0
            for cell in range(cells[at]):
                end = ends[at, cell]
                if end - start == 2 and whole:
                    one, other = rows[at, start], rows[at, start + 1]
                    w = weights[one] + weights[other]
                    if w < FEW:
                        if codes[u, one] == codes[u, other]:
                            loose[int(w)] += 1.0
                        else:
                            loose[int(weights[one])] += 1.0
                            loose[int(weights[other])] += 1.0
                        start = end
                        continue
                for p in range(start, end):
                    i = rows[at, p]
                    mass[codes[u, i]] += weights[i]
                for v in range(r):
                    w = mass[v]
                    mass[v] = 0.0
                    if whole and w < FEW:
                        loose[int(w)] += 1.0
                    elif w > 0.0:
                        bulky[bulk] = w
                        bulk += 1
                start = end
            # What is settled is one cell of the table below one of the parents.
            total = exact_sum(row / r, heavy, heavies[at], bulky, bulk)
            total += histogram_sum(settled[at], loose, terms[kind]) - of_parents[kind]
            total -= penalty * (r - 1) * configurations[at]
            out[k, subset[at]] = np.round(total / unit) * unit
        # The next set: one more column below the last, or else the next lower one in place of the last.
        column[at] = (free if at == bottom else column[at - 1]) - 1
        u = column[at]
        while u < 0 or at >= largest:
            at -= 1
            if at < bottom:
                return
            column[at] -= 1
            u = column[at]
        refine(codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy, heavies, at, many)
        configurations[at + 1] = configurations[at] * arity[u]
        subset[at + 1] = subset[at] | (1 << u)
        at += 1
