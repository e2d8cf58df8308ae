"""Marginalise groups of missing attributes, exactly or by sampling.

A missing attribute without known descendants sums to one and can be ignored. The other missing attributes of a row are
connected if they occur in the same factor, and the connected groups are marginalised separately.

Exact sums are sums of probabilities, with each table divided by its greatest cell. If a cell is too small for this, the
sums use logarithms, which takes several times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.factor_joint import Codes, Flags, Floats, Integers, Layout, table_row
from tanbark.kernels.runtime.compiling import njit

MEMBER, CHILD = 1, 2
"""Roles of a node in a group: missing member, or known node (or class) with a member among its parents."""
NODES_PER_WORD = 32
"""Number of nodes whose roles, two bits each, fit one 64-bit word."""
MIN_SCALED_CELL = 1e-150
"""Tables with smaller cells, relative to the greatest, are summed as logarithms: doubles lose digits below 1e-308."""


@njit(nogil=True, cache=True)
def _find_root(group: Integers, u: int) -> int:
    """Return the representative of the group of `u`."""
    while group[u] != u:
        u = group[u]
    return u


@njit(nogil=True, cache=True)
def _find_groups(layout: Layout, codes: Codes, row: int, active: Flags, group: Integers) -> int:
    """Write the first member of the group that each node's factor touches, or -1; return the number of groups.

    `active` marks the nodes that are known, or missing with a known descendant.
    """
    n = len(layout.arity)
    active[:] = False
    group[:] = -1
    for position in range(n, -1, -1):
        f = layout.order[position]
        missing = f < n and codes[f, row] >= layout.arity[f]
        if not missing:
            active[f] = True
        if not active[f]:
            continue
        if missing:
            group[f] = f
        for at in range(layout.first[f], layout.first[f + 1]):
            active[layout.parents[at]] = True
    # Each active missing attribute is now a group. Factors join groups, which are named by their first member.
    for f in range(n + 1):
        if not active[f]:
            continue
        root = _find_root(group, f) if group[f] >= 0 else -1
        for at in range(layout.first[f], layout.first[f + 1]):
            p = layout.parents[at]
            if codes[p, row] < layout.arity[p]:
                continue
            other = _find_root(group, p)
            if root >= 0 and root != other:
                group[max(root, other)] = min(root, other)
                other = min(root, other)
            root = other
    n_groups = 0
    for f in range(n + 1):
        if group[f] >= 0:
            n_groups += group[f] == f
            group[f] = _find_root(group, f)
        elif active[f]:
            for at in range(layout.first[f], layout.first[f + 1]):
                p = layout.parents[at]
                if codes[p, row] >= layout.arity[p]:
                    group[f] = _find_root(group, p)
    return n_groups


@njit(nogil=True, cache=True)
def count_groups(layout: Layout, codes: Codes, low: int, high: int, n_groups: Integers) -> None:
    """Write the number of groups of each of the rows `low` to `high`."""
    n = len(layout.arity)
    active = np.empty(n + 1, np.bool_)
    group = np.empty(n + 1, np.int64)
    for row in range(low, high):
        complete = True
        for u in range(n):
            complete &= codes[u, row] < layout.arity[u]
        n_groups[row] = 0 if complete else _find_groups(layout, codes, row, active, group)


@njit(nogil=True, cache=True)
def write_groups(
    layout: Layout, codes: Codes, start: Integers, low: int, high: int, rows: Integers, words: NDArray[np.uint64]
) -> None:
    """Write the groups of rows `low` to `high`: the row of each group to `rows`, and two bits per node to `words`.

    The bits give the role of the node in the group: `MEMBER`, `CHILD` or neither. The groups of a row begin at
    ``start[row]``, in the order of their first members.
    """
    n = len(layout.arity)
    active = np.empty(n + 1, np.bool_)
    group = np.empty(n + 1, np.int64)
    position = np.empty(n + 1, np.int64)
    for row in range(low, high):
        if start[row] == start[row + 1]:
            continue
        _find_groups(layout, codes, row, active, group)
        at = start[row]
        for f in range(n + 1):
            if group[f] == f:
                position[f] = at
                rows[at] = row
                at += 1
        for f in range(n + 1):
            if group[f] >= 0:
                missing = f < n and codes[f, row] >= layout.arity[f]
                role = np.uint64(MEMBER if missing else CHILD)
                shift = np.uint64(2 * (f % NODES_PER_WORD))
                words[f // NODES_PER_WORD, position[group[f]]] |= role << shift


class Plan(NamedTuple):
    """The order in which the members of a group are eliminated, and the positions of all intermediate tables.

    The first tables are those of `factors`, restricted to a row's known values. Each step then sums one member out of
    the product of its `inputs` (``inputs[first[s] : first[s + 1]]``), and the result is the next table. The last table
    is the sum. It has one cell, or one cell per value of an attribute that is not eliminated. Table `t` begins at
    ``offset[t]``; a value of a member is multiplied by ``stride[t, member]`` to find a cell. In the tables of the
    layout, the value is multiplied by ``by_configuration[t, member]`` for the configuration and by ``by_own[t,
    member]`` for the node's own value.
    """

    factors: Integers
    arity: Integers
    offset: Integers
    stride: Integers
    by_configuration: Integers
    by_own: Integers
    eliminated: Integers
    first: Integers
    inputs: Integers


@njit(nogil=True, cache=True)
def _find_group_entries(layout: Layout, plan: Plan, codes: Codes, row: int, digits: Integers, entry: Integers) -> None:
    """Write the positions of the cells of the factors' tables in the tables of the layout, for class 0."""
    n = len(layout.arity)
    digits[:] = 0
    for t in range(len(plan.factors)):
        f = plan.factors[t]
        configuration, own = np.int64(0), np.int64(0)
        for at in range(layout.first[f], layout.first[f + 1]):
            p = layout.parents[at]
            if codes[p, row] < layout.arity[p]:
                configuration += np.int64(codes[p, row]) * layout.stride[at]
        if f < n and codes[f, row] < layout.arity[f]:
            own = np.int64(codes[f, row])
        for cell in range(plan.offset[t], plan.offset[t + 1]):
            row_index = table_row(layout, f, configuration)
            entry[cell] = layout.start[f] + (row_index * layout.own_arity[f] + own) * layout.width[f]
            # Advance to the next values of the members, the last one fastest. All return to 0 at the end.
            for m in range(len(digits) - 1, -1, -1):
                if plan.stride[t, m] == 0:
                    continue
                digits[m] += 1
                change = 1 if digits[m] < plan.arity[m] else 1 - plan.arity[m]
                configuration += change * plan.by_configuration[t, m]
                own += change * plan.by_own[t, m]
                if digits[m] < plan.arity[m]:
                    break
                digits[m] = 0


@njit(nogil=True, cache=True)
def _eliminate(plan: Plan, step: int, plain: bool, digits: Integers, at: Integers, terms: Floats, work: Floats) -> None:
    """Sum one member out of the product of the tables that include it.

    The tables hold probabilities if `plain`, else logarithms.
    """
    result = len(plan.factors) + step
    inputs = plan.inputs[plan.first[step] : plan.first[step + 1]]
    v = plan.eliminated[step]
    values, axes = plan.arity[v], np.flatnonzero(plan.stride[result])[::-1]
    strides = np.array([plan.stride[t, v] for t in inputs])
    digits[:] = 0
    for i in range(len(inputs)):
        at[i] = plan.offset[inputs[i]]
    for cell in range(plan.offset[result], plan.offset[result + 1]):
        total = 0.0
        if plain:
            for value in range(values):
                term = 1.0
                for i in range(len(inputs)):
                    term *= work[at[i] + value * strides[i]]
                total += term
        else:
            terms[:values] = 0.0
            for i in range(len(inputs)):
                for value in range(values):
                    terms[value] += work[at[i] + value * strides[i]]
            largest = terms[:values].max()
            for value in range(values):
                total += np.exp(terms[value] - largest) if largest > -np.inf else 0.0
            total = largest + np.log(total) if total > 0.0 else -np.inf
        work[cell] = total
        for m in axes:
            digits[m] += 1
            change = 1 if digits[m] < plan.arity[m] else 1 - plan.arity[m]
            for i in range(len(inputs)):
                at[i] += change * plan.stride[inputs[i], m]
            if digits[m] < plan.arity[m]:
                break
            digits[m] = 0


@njit(nogil=True, cache=True)
def _rescale(table: Floats) -> float:
    """Divide a table by its greatest cell and return the log of that cell, or NaN if a cell is too small."""
    greatest, smallest = 0.0, np.inf
    for cell in range(len(table)):
        greatest, smallest = max(greatest, table[cell]), min(smallest, table[cell])
    if not (greatest > MIN_SCALED_CELL and smallest > MIN_SCALED_CELL * greatest):
        return np.nan
    for cell in range(len(table)):
        table[cell] /= greatest
    return float(np.log(greatest))


@njit(nogil=True, cache=True)
def _eliminate_all(plan: Plan, plain: bool, digits: Integers, at: Integers, terms: Floats, work: Floats) -> float:
    """Compute the last table from those of the factors; return the log of its scale.

    The scale is NaN, and the result incomplete, if a cell is too small for `plain` sums.
    """
    scale = 0.0
    for t in range(len(plan.offset) - 1):
        if t >= len(plan.factors):
            _eliminate(plan, t - len(plan.factors), plain, digits, at, terms, work)
        if plain:
            scale += _rescale(work[plan.offset[t] : plan.offset[t + 1]])
            if np.isnan(scale):
                break
    return scale


@njit(nogil=True, cache=True)
def sum_out_group(layout: Layout, plan: Plan, codes: Codes, rows: Integers, low: int, high: int, out: Floats) -> None:
    """Write the log of the group's sum in row ``rows[i]`` to ``out[i, class]``, for `i` from `low` to `high`.

    If an attribute is not eliminated, there is one sum for each of its values.
    """
    loaded, last = plan.offset[len(plan.factors)], plan.offset[-2]
    entry = np.empty(loaded, np.int64)
    work = np.empty(plan.offset[-1])
    digits = np.empty(len(plan.arity), np.int64)
    at = np.empty(len(plan.inputs), np.int64)
    terms = np.empty(plan.arity.max())
    for i in range(low, high):
        _find_group_entries(layout, plan, codes, rows[i], digits, entry)
        for k in range(layout.classes):
            for plain in (True, False):
                for t in range(len(plan.factors)):
                    class_step = k if layout.width[plan.factors[t]] > 1 else 0
                    for cell in range(plan.offset[t], plan.offset[t + 1]):
                        log = layout.tables[entry[cell] + class_step]
                        work[cell] = np.exp(log) if plain else log
                scale = _eliminate_all(plan, plain, digits, at, terms, work)
                if not np.isnan(scale):
                    break
            for cell in range(last, plan.offset[-1]):
                out[i, k, cell - last] = np.log(work[cell]) + scale if plain else work[cell]


@njit(nogil=True, cache=True)
def _first_entry(layout: Layout, f: int, values: Integers) -> int:
    """Return the position of a node's first value for class 0, given the values of its parents."""
    configuration = np.int64(0)
    for at in range(layout.first[f], layout.first[f + 1]):
        configuration += values[layout.parents[at]] * layout.stride[at]
    return int(layout.start[f] + table_row(layout, f, configuration) * layout.own_arity[f] * layout.width[f])


@njit(nogil=True, cache=True)
def sample_group(
    layout: Layout,
    members: Integers,
    children: Integers,
    uniforms: Floats,
    codes: Codes,
    rows: Integers,
    low: int,
    high: int,
    log_mean: Floats,
    variance: Floats,
) -> None:
    """Write an estimate of the log of the group's sum, and the squared relative standard error of the sum.

    The members (parents before children) are sampled from their own tables, by ``uniforms[class, sample, attribute]``.
    The weight of a sample is the probability of the group's known children.
    """
    n = len(layout.arity)
    n_samples = uniforms.shape[1]
    values = np.zeros(n + 1, np.int64)
    weights = np.empty(n_samples)
    for i in range(low, high):
        for u in range(n):
            values[u] = np.int64(codes[u, rows[i]])
        for k in range(layout.classes):
            for sample in range(n_samples):
                for u in members:
                    class_step = k if layout.width[u] > 1 else 0
                    entry = _first_entry(layout, u, values) + class_step
                    point = uniforms[k, sample, u]
                    j, last = 0, layout.arity[u] - 1
                    while j < last:
                        point -= np.exp(layout.tables[entry + j * layout.width[u]])
                        if point < 0.0:
                            break
                        j += 1
                    values[u] = j
                weights[sample] = 0.0
                for f in children:
                    class_step = k if layout.width[f] > 1 else 0
                    weights[sample] += layout.tables[
                        _first_entry(layout, f, values) + values[f] * layout.width[f] + class_step
                    ]
            largest = weights.max()
            log_mean[i, k] = largest
            variance[i, k] = 0.0
            if largest == -np.inf:
                continue
            mean = 0.0
            for sample in range(n_samples):
                weights[sample] = np.exp(weights[sample] - largest)
                mean += weights[sample]
            mean /= n_samples
            log_mean[i, k] += np.log(mean)
            for sample in range(n_samples):
                variance[i, k] += (weights[sample] / mean - 1.0) ** 2
            variance[i, k] /= n_samples * (n_samples - 1.0)
