"""Log joints and weights of evidence in trees, whose attributes have the class and at most one attribute as parents.

A tree consists of `order` (parents before children), `parent` (-1 for a root) and the tables of all attributes in one
array. The entry of value `j` under the parent's value `i` and class `k` is at ``start[u] + (i * arity[u] + j) * classes
+ k``. A code that is not a value of its attribute is missing.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.log_functions import log_sum_exp

Codes = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCK_ROWS = 1024
"""Number of rows processed together."""


@njit(nogil=True, cache=True)
def _marginal_row(
    codes: Codes,
    row: int,
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
    """Add the log joint of one row to `out`, marginalising missing values by messages from the leaves to the roots.

    ``below[offset[u] + j, k]`` is the log probability of all known values below `u` if `u` has value `j`. A missing
    attribute without known values below it sums to one and sends no message. `below` and `touched` are zero on entry
    and on exit.
    """
    classes = out.shape[0]
    for position in range(len(order) - 1, -1, -1):
        u = order[position]
        p = parent[u]
        j = np.int64(codes[u, row])
        known = j < arity[u]
        if not known and not touched[u]:
            continue
        first, last = np.int64(0), np.int64(1)
        if p >= 0:
            value = np.int64(codes[p, row])
            last = arity[p]
            if value < last:
                first, last = value, value + np.int64(1)
            touched[p] = True
        for i in range(first, last):
            for k in range(classes):
                entry = start[u] + i * arity[u] * classes + k
                if known:
                    message = tables[entry + j * classes] + below[offset[u] + j, k]
                else:
                    for b in range(arity[u]):
                        terms[b] = tables[entry + b * classes] + below[offset[u] + b, k]
                    message = log_sum_exp(terms, 0, arity[u])
                if p < 0:
                    out[k] += message
                else:
                    below[offset[p] + i, k] += message
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
    """Write ``log P(row, class)`` of rows `low` to `high` to `out`; missing values are marginalised exactly."""
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
    has_missing = np.zeros(BLOCK_ROWS, np.bool_)
    entry = np.empty(BLOCK_ROWS, np.int64)
    total = np.empty((classes, BLOCK_ROWS))
    for begin in range(low, high, BLOCK_ROWS):
        end = min(high, begin + BLOCK_ROWS)
        n_rows = end - begin
        has_missing[:] = False
        for k in range(classes):
            total[k, :] = log_prior[k]
        for u in range(n):
            p = parent[u]
            size = arity[u]
            column = codes[u, begin:end]
            parent_column = codes[p, begin:end] if p >= 0 else column
            top = size - 1
            parent_top = arity[p] - 1 if p >= 0 else np.int64(0)
            for i in range(n_rows):
                has_missing[i] |= column[i] > top
            for i in range(n_rows):
                parent_value, j = min(np.int64(parent_column[i]), parent_top), min(np.int64(column[i]), top)
                entry[i] = start[u] + (parent_value * size + j) * classes
            for k in range(classes):
                class_tables = tables[k:]
                sums = total[k]
                for i in range(n_rows):
                    sums[i] += class_tables[np.uint64(entry[i])]
        for i in range(n_rows):
            for k in range(classes):
                out[begin + i, k] = total[k, i]
        for i in range(begin, end):
            if has_missing[i - begin]:
                for k in range(classes):
                    out[i, k] = log_prior[k]
                _marginal_row(codes, i, order, parent, arity, start, tables, offset, below, touched, terms, out[i])


@njit(nogil=True, cache=True)
def _known_evidence(
    codes: Codes,
    row: int,
    parent: Integers,
    arity: Integers,
    start: Integers,
    offset: Integers,
    marginal: Floats,
    ratios: Floats,
    out: Floats,
) -> bool:
    """Add the evidence of known attributes and of edges between them to `out`; return whether a value is missing."""
    classes = marginal.shape[1]
    has_missing = False
    for u in range(len(parent)):
        j = np.int64(codes[u, row])
        if j >= arity[u]:
            has_missing = True
            continue
        p = parent[u]
        for k in range(classes):
            out[1 + u, k] += marginal[offset[u] + j, k]
        if p >= 0 and codes[p, row] < arity[p]:
            entry = start[u] + (codes[p, row] * arity[u] + j) * classes
            for k in range(classes):
                out[1 + u, k] += ratios[entry + k] / 2
                out[1 + p, k] += ratios[entry + k] / 2
    return has_missing


@njit(nogil=True, cache=True)
def _find_groups(
    codes: Codes, row: int, order: Integers, parent: Integers, arity: Integers, group: Integers, n_neighbours: Integers
) -> None:
    """Write the group of each missing attribute and the number of its known neighbours.

    A group is named by its topmost member.
    """
    group[:] = -1
    n_neighbours[:] = 0
    for position in range(len(order)):
        u = order[position]
        p = parent[u]
        parent_missing = p >= 0 and codes[p, row] >= arity[p]
        if codes[u, row] >= arity[u]:
            group[u] = group[p] if parent_missing else u
            if p >= 0 and not parent_missing:
                n_neighbours[group[u]] += 1
        elif parent_missing:
            n_neighbours[group[p]] += 1


@njit(nogil=True, cache=True)
def _marginalise_groups(
    codes: Codes,
    row: int,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    ratios: Floats,
    offset: Integers,
    below: Floats,
    terms: Floats,
    evidence: Floats,
) -> None:
    """Write the evidence of each group of missing attributes to ``evidence[u]``, where `u` is its topmost member.

    The messages are those of `_marginal_row`, but they end at the border of the group: a known attribute below sends
    only its ratio. `below` is zero on entry and on exit.
    """
    classes = evidence.shape[1]
    for position in range(len(order) - 1, -1, -1):
        u = order[position]
        p = parent[u]
        j = np.int64(codes[u, row])
        parent_missing = p >= 0 and codes[p, row] >= arity[p]
        if j < arity[u]:
            if parent_missing:
                for i in range(arity[p]):
                    for k in range(classes):
                        below[offset[p] + i, k] += ratios[start[u] + (i * arity[u] + j) * classes + k]
            continue
        first, last = np.int64(0), np.int64(1)
        if parent_missing:
            last = arity[p]
        elif p >= 0:
            first = np.int64(codes[p, row])
            last = first + np.int64(1)
        for i in range(first, last):
            for k in range(classes):
                entry = start[u] + i * arity[u] * classes + k
                for b in range(arity[u]):
                    terms[b] = tables[entry + b * classes] + below[offset[u] + b, k]
                message = log_sum_exp(terms, 0, arity[u])
                if parent_missing:
                    below[offset[p] + i, k] += message
                else:
                    evidence[u, k] = message
        below[offset[u] : offset[u + 1]] = 0.0


@njit(nogil=True, cache=True)
def tree_evidence(
    codes: Codes,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    marginal: Floats,
    ratios: Floats,
    out: Floats,
) -> None:
    """Add the share of each attribute in the row's log joint to ``out[row, 1 + u, class]``.

    `marginal` holds ``log P(j | k)``, one row per value and one column per class. `ratios`, in the layout of `tables`,
    holds ``log P(j | i, k) - log P(j | k)``, which is symmetric in the two ends of an edge. The evidence of an edge
    between known attributes is split between its ends. The evidence of a connected group of missing attributes is split
    between the known attributes around it.
    """
    n, rows = codes.shape
    classes = marginal.shape[1]
    offset = np.zeros(n + 1, np.int64)
    widest = np.int64(1)
    for u in range(n):
        offset[u + 1] = offset[u] + arity[u]
        widest = max(widest, arity[u])
    below = np.zeros((offset[n], classes))
    terms = np.empty(widest)
    group = np.empty(n, np.int64)
    n_neighbours = np.empty(n, np.int64)
    evidence = np.zeros((n, classes))
    for row in range(rows):
        if not _known_evidence(codes, row, parent, arity, start, offset, marginal, ratios, out[row]):
            continue
        _find_groups(codes, row, order, parent, arity, group, n_neighbours)
        _marginalise_groups(codes, row, order, parent, arity, start, tables, ratios, offset, below, terms, evidence)
        for u in range(n):
            p = parent[u]
            if group[u] == u and p >= 0:
                for k in range(classes):
                    out[row, 1 + p, k] += evidence[u, k] / n_neighbours[u]
            if group[u] < 0 and p >= 0 and group[p] >= 0:
                top = group[p]
                for k in range(classes):
                    out[row, 1 + u, k] += evidence[top, k] / n_neighbours[top]
