"""Sums over the cells of every subset of columns, by one walk over the subsets that refines partitions."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.configurations import FEW, refine
from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.log_functions import log_rising


@njit(nogil=True, cache=True)
def cell_term(concentration: float, weight: float) -> float:
    """Return ``log G(a + N) / G(a)``, or ``N log N`` where the concentration `a` is zero."""
    if concentration > 0.0:
        return float(log_rising(concentration, weight))
    return float(weight * np.log(weight))


@njit(nogil=True, cache=True)
def exact_sum(
    concentration: float, some: NDArray[np.float64], many: int, others: NDArray[np.float64], more: int
) -> float:
    """Return the sum of the terms of cells of some weights and of others, to the last digit whatever their order."""
    total, rest = 0.0, 0.0
    for i in range(many + more):
        term = cell_term(concentration, some[i] if i < many else others[i - many])
        new = total + term
        rest += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
        total = new
    return total + rest


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def histogram_sum(a: NDArray[np.float64], b: NDArray[np.float64], terms: NDArray[np.float64]) -> float:
    """Return the sum of the terms, each as often as two histograms say."""
    total = 0.0
    for w in range(FEW):
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
    largest: int,
    most: float,
    concentrations: NDArray[np.float64],
    shared: bool,
    penalty: float,
    step: NDArray[np.int64],
    tail_step: NDArray[np.int64],
    tables: NDArray[np.float64],
    unit: float,
    out: NDArray[np.float64],
) -> None:
    """Write sums over the cells of all subsets that are `prefix` and any of the columns below `free`.

    For each concentration `a` the sum is that of ``log G(a + N) / G(a)`` over the cells, whose weights are `N`; where
    `a` is zero it is that of ``N log N``. A `shared` concentration is divided among all configurations. From every sum
    the penalty for each configuration is subtracted.

    The lowest columns, the *tail*, are not walked through: the sums of all their subsets are had at once from the joint
    values of the tail in each cell.

    Parameters
    ----------
    codes, arity, weights, whole
        One column for each bit of a subset, lowest first; more may follow, which are in every subset. How many codes
        each has; how much each case weighs, and whether all weights are whole.
    first
        The columns that all these subsets have.
    prefix, free
        The bits of `first`; columns below `free` are walked through.
    tail, part, bits, tail_configurations
        The joint value of the tail's columns in each case; for each joint value and subset of the tail the number of
        its cell among the cells of all subsets; how many columns the tail has; the configurations of its subsets.
    largest, most
        Subsets of more columns (`first` included) and subsets with more configurations are left out.
    step, tail_step, tables
        The row of `tables` to use is the sum of the steps of a subset's columns; it has the terms of cells by whole
        weights below `FEW` for each concentration. Empty where terms are not tabulated.
    unit
        Sums are rounded to multiples of it.
    out : array of shape (concentrations, subsets)
    """
    size = codes.shape[1]
    levels = len(first) + max(free - bits, 0) + 1
    rows = np.empty((levels, size), np.int32)
    ends = np.empty((levels, size), np.int32)
    cells = np.zeros(levels, np.int64)
    settled = np.zeros((levels, FEW), np.float64)
    heavy = np.empty(size, np.float64)
    heavies = np.zeros(levels, np.int64)
    many = np.empty(arity.max(), np.int32)
    column = np.zeros(levels, np.int64)
    subset = np.zeros(levels, np.int64)
    configurations = np.ones(levels, np.float64)
    row = np.zeros(levels, np.int64)
    subsets = 1 << bits
    mass = np.zeros(len(part), np.float64)
    touched = np.empty(len(part), np.int64)
    merged = np.zeros(part.max() + 1, np.float64)
    loose = np.zeros((subsets, FEW), np.float64)
    bulky = np.empty((subsets, size), np.float64)
    bulk = np.zeros(subsets, np.int64)
    common = np.zeros(FEW, np.float64)
    terms = np.zeros(FEW, np.float64)
    # The columns of the tail in which two joint values agree: each of them is a subset by itself.
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
        refine(codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy, heavies, k, many)
        configurations[k + 1] = configurations[k] * arity[u]
        row[k + 1] = row[k] + step[u]
    at = len(first)
    bottom = at
    subset[at] = prefix
    if at > largest or configurations[at] > most:
        return
    while True:
        # The cells of this subset, joined by each subset of the tail.
        common[:] = settled[at]
        loose[:] = 0.0
        bulk[:] = 0
        start = 0
        for cell in range(cells[at]):
            end = ends[at, cell]
            found = 0
            for p in range(start, end):
                i = rows[at, p]
                v = tail[i]
                if mass[v] == 0.0:
                    touched[found] = v
                    found += 1
                mass[v] += weights[i]
            start = end
            total = 0.0
            for k in range(found):
                total += mass[touched[k]]
            if found <= 2 and whole and total < FEW:
                # One joint value is one cell in every subset; two are, where the subset does not tell them apart.
                for k in range(found):
                    common[int(mass[touched[k]])] += 1.0
                if found == 2:
                    one, other = touched[0], touched[1]
                    alike = agree[one, other]
                    s = alike
                    while True:
                        loose[s, int(total)] += 1.0
                        loose[s, int(mass[one])] -= 1.0
                        loose[s, int(mass[other])] -= 1.0
                        if s == 0:
                            break
                        s = (s - 1) & alike
                for k in range(found):
                    mass[touched[k]] = 0.0
                continue
            for k in range(found):
                v = touched[k]
                for s in range(subsets):
                    merged[part[v, s]] += mass[v]
            for k in range(found):
                v = touched[k]
                mass[v] = 0.0
                for s in range(subsets):
                    w = merged[part[v, s]]
                    if w > 0.0:
                        merged[part[v, s]] = 0.0
                        if whole and w < FEW:
                            loose[s, int(w)] += 1.0
                        else:
                            bulky[s, bulk[s]] = w
                            bulk[s] += 1
        for s in range(subsets):
            q = configurations[at] * tail_configurations[s]
            if at + sizes[s] > largest or q > most:
                continue
            for k in range(len(concentrations)):
                a = concentrations[k] / q if shared else concentrations[k]
                total = exact_sum(a, heavy, heavies[at], bulky[s], bulk[s])
                if len(tables) > 0:
                    total += histogram_sum(common, loose[s], tables[row[at] + tail_step[s], k])
                else:
                    for w in range(1, FEW):
                        terms[w] = cell_term(a, float(w)) if common[w] + loose[s, w] > 0.0 else 0.0
                    total += histogram_sum(common, loose[s], terms)
                total -= penalty * q
                out[k, subset[at] | s] = np.round(total / unit) * unit
        # The next subset: one more column below the last, or else the next lower one in place of the last.
        column[at] = (free if at == bottom else column[at - 1]) - 1
        u = column[at]
        while u < bits or at >= largest or configurations[at] * arity[u] > most:
            if u < bits or at >= largest:
                at -= 1
                if at < bottom:
                    return
            column[at] -= 1
            u = column[at]
        refine(codes[u], arity[u], weights, whole, rows, ends, cells, settled, heavy, heavies, at, many)
        configurations[at + 1] = configurations[at] * arity[u]
        row[at + 1] = row[at] + step[u]
        subset[at + 1] = subset[at] | (1 << u)
        at += 1
