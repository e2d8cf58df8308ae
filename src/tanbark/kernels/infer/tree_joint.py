"""Log joints and weights of evidence in trees whose attributes have the class and at most one attribute as parents.

A tree is `order` (parents before children), `parent` (-1 for a root) and, for all attributes in one row of memory,
their tables: the entry of value `j` under the parent's value `i` and class `k` stands at
``start[u] + (i * arity[u] + j) * classes + k``. A code that is no value of its attribute is missing.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.log_functions import log_sum

Codes = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCK = 1024


@njit(nogil=True, cache=True)
def _marginal_row(
    codes: Codes,
    at: int,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    offset: Integers,
    below: Floats,
    touched: Flags,
    terms: Floats,
    out: Floats,
) -> None:
    """Add to `out` the log joint of one row, summed over what is missing, by passing messages from leaves to roots.

    ``below[offset[u] + j, k]`` is the log probability of all that is known beneath `u` if `u` takes value `j`. Nothing
    known beneath a missing attribute means that it sums to one: no message. `below` and `touched` are left as they were
    found, all zero.
    """
    classes = out.shape[0]
    for place in range(len(order) - 1, -1, -1):
        u = order[place]
        above = parent[u]
        j = np.int64(codes[u, at])
        known = j < arity[u]
        if not known and not touched[u]:
            continue
        first, last = np.int64(0), np.int64(1)
        if above >= 0:
            value = np.int64(codes[above, at])
            last = arity[above]
            if value < last:
                first, last = value, value + np.int64(1)
            touched[above] = True
        for i in range(first, last):
            for k in range(classes):
                row = start[u] + i * arity[u] * classes + k
                if known:
                    message = tables[row + j * classes] + below[offset[u] + j, k]
                else:
                    for b in range(arity[u]):
                        terms[b] = tables[row + b * classes] + below[offset[u] + b, k]
                    message = log_sum(terms, 0, arity[u])
                if above < 0:
                    out[k] += message
                else:
                    below[offset[above] + i, k] += message
        if touched[u]:
            touched[u] = False
            below[offset[u] : offset[u + 1]] = 0.0


@njit(nogil=True, cache=True)
def tree_log_joint(
    codes: Codes,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    log_prior: Floats,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Write ``log P(row, class)`` of rows `low` to `high` to `out`, what is missing being summed out exactly."""
    n = len(order)
    classes = len(log_prior)
    offset = np.zeros(n + 1, np.int64)
    widest = np.int64(1)
    for u in range(n):
        offset[u + 1] = offset[u] + arity[u]
        widest = max(widest, arity[u])
    below = np.zeros((offset[n], classes))
    touched = np.zeros(n, np.bool_)
    terms = np.empty(widest)
    holes = np.zeros(BLOCK, np.bool_)
    entry = np.empty(BLOCK, np.int64)
    total = np.empty((classes, BLOCK))
    for begin in range(low, high, BLOCK):
        end = min(high, begin + BLOCK)
        many = end - begin
        holes[:] = False
        for k in range(classes):
            total[k, :] = log_prior[k]
        for u in range(n):
            above = parent[u]
            size = arity[u]
            column = codes[u, begin:end]
            over = codes[above, begin:end] if above >= 0 else column
            top = size - 1
            top_over = arity[above] - 1 if above >= 0 else np.int64(0)
            for i in range(many):
                holes[i] |= column[i] > top
            for i in range(many):
                i_over, j = min(np.int64(over[i]), top_over), min(np.int64(column[i]), top)
                entry[i] = start[u] + (i_over * size + j) * classes
            for k in range(classes):
                of_class = tables[k:]
                sums = total[k]
                for i in range(many):
                    sums[i] += of_class[np.uint64(entry[i])]
        for i in range(many):
            for k in range(classes):
                out[begin + i, k] = total[k, i]
        for i in range(begin, end):
            if holes[i - begin]:
                for k in range(classes):
                    out[i, k] = log_prior[k]
                _marginal_row(codes, i, order, parent, arity, start, tables, offset, below, touched, terms, out[i])


@njit(nogil=True, cache=True)
def _known_evidence(
    codes: Codes,
    at: int,
    parent: Integers,
    arity: Integers,
    start: Integers,
    offset: Integers,
    alone: Floats,
    ratios: Floats,
    out: Floats,
) -> bool:
    """Add to `out` what known attributes say alone and along edges between them; return whether any is missing."""
    classes = alone.shape[1]
    holes = False
    for u in range(len(parent)):
        j = np.int64(codes[u, at])
        if j >= arity[u]:
            holes = True
            continue
        above = parent[u]
        for k in range(classes):
            out[1 + u, k] += alone[offset[u] + j, k]
        if above >= 0 and codes[above, at] < arity[above]:
            row = start[u] + (codes[above, at] * arity[u] + j) * classes
            for k in range(classes):
                out[1 + u, k] += ratios[row + k] / 2
                out[1 + above, k] += ratios[row + k] / 2
    return holes


@njit(nogil=True, cache=True)
def _find_groups(
    codes: Codes, at: int, order: Integers, parent: Integers, arity: Integers, group: Integers, around: Integers
) -> None:
    """Write the group of each missing attribute, named by its topmost member, and how many known ones are around it."""
    group[:] = -1
    around[:] = 0
    for place in range(len(order)):
        u = order[place]
        above = parent[u]
        missing_above = above >= 0 and codes[above, at] >= arity[above]
        if codes[u, at] >= arity[u]:
            group[u] = group[above] if missing_above else u
            if above >= 0 and not missing_above:
                around[group[u]] += 1
        elif missing_above:
            around[group[above]] += 1


@njit(nogil=True, cache=True)
def _sum_out_groups(
    codes: Codes,
    at: int,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    ratios: Floats,
    offset: Integers,
    below: Floats,
    terms: Floats,
    said: Floats,
) -> None:
    """Write to ``said[u]`` what the group of missing attributes under its topmost member `u` says of each class.

    As in `_marginal_row`, but a message ends at the group's edge: a known attribute beneath sends only its ratio.
    `below` is left as it was found, all zero.
    """
    classes = said.shape[1]
    for place in range(len(order) - 1, -1, -1):
        u = order[place]
        above = parent[u]
        j = np.int64(codes[u, at])
        missing_above = above >= 0 and codes[above, at] >= arity[above]
        if j < arity[u]:
            if missing_above:
                for i in range(arity[above]):
                    for k in range(classes):
                        below[offset[above] + i, k] += ratios[start[u] + (i * arity[u] + j) * classes + k]
            continue
        first, last = np.int64(0), np.int64(1)
        if missing_above:
            last = arity[above]
        elif above >= 0:
            first = np.int64(codes[above, at])
            last = first + np.int64(1)
        for i in range(first, last):
            for k in range(classes):
                row = start[u] + i * arity[u] * classes + k
                for b in range(arity[u]):
                    terms[b] = tables[row + b * classes] + below[offset[u] + b, k]
                message = log_sum(terms, 0, arity[u])
                if missing_above:
                    below[offset[above] + i, k] += message
                else:
                    said[u, k] = message
        below[offset[u] : offset[u + 1]] = 0.0


@njit(nogil=True, cache=True)
def tree_evidence(
    codes: Codes,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    alone: Floats,
    ratios: Floats,
    out: Floats,
) -> None:
    """Add to ``out[row, 1 + u, class]`` each attribute's share of the row's log joint.

    `alone` holds ``log P(j | k)``, one row per value and one column per class; `ratios`, laid out as `tables`, holds
    ``log P(j | i, k) - log P(j | k)``, which is symmetric in the two ends of an edge. An edge between known attributes
    is shared by its ends. A connected group of missing attributes says something through the known attributes around
    it, by whom it is shared.
    """
    n, rows = codes.shape
    classes = alone.shape[1]
    offset = np.zeros(n + 1, np.int64)
    widest = np.int64(1)
    for u in range(n):
        offset[u + 1] = offset[u] + arity[u]
        widest = max(widest, arity[u])
    below = np.zeros((offset[n], classes))
    terms = np.empty(widest)
    group = np.empty(n, np.int64)
    around = np.empty(n, np.int64)
    said = np.zeros((n, classes))
    for at in range(rows):
        if not _known_evidence(codes, at, parent, arity, start, offset, alone, ratios, out[at]):
            continue
        _find_groups(codes, at, order, parent, arity, group, around)
        _sum_out_groups(codes, at, order, parent, arity, start, tables, ratios, offset, below, terms, said)
        for u in range(n):
            above = parent[u]
            if group[u] == u and above >= 0:
                for k in range(classes):
                    out[at, 1 + above, k] += said[u, k] / around[u]
            if group[u] < 0 and above >= 0 and group[above] >= 0:
                top = group[above]
                for k in range(classes):
                    out[at, 1 + u, k] += said[top, k] / around[top]
