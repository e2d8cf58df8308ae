"""Marginalise groups of missing attributes, exactly or by sampling.

Which missing attributes of a row have to be summed out together.

A missing attribute that nothing known lies below sums to one by itself. The others are connected where they are in one
factor, and fall into groups.

Summing a group of missing attributes out of the factors that touch it, exactly or by drawing.

Sums are of probabilities, each table divided by its greatest cell; where another cell is too small beside it to be held
that way, they are of logarithms, which takes several times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.factor_joint import Codes, Flags, Floats, Integers, Layout, table_row
from tanbark.kernels.runtime.compiling import njit

MEMBER, CHILD = 1, 2
NODES_OF_WORD = 32


@njit(nogil=True, cache=True)
def _top(group: Integers, u: int) -> int:
    while group[u] != u:
        u = group[u]
    return u


@njit(nogil=True, cache=True)
def _find_groups(layout: Layout, codes: Codes, row: int, live: Flags, group: Integers) -> int:
    """Write for every node the first member of the group that its factor touches (-1: none); return how many groups.

    `live` says which nodes are known, or missing with something known below.
    """
    n = len(layout.arity)
    live[:] = False
    group[:] = -1
    for place in range(n, -1, -1):
        f = layout.order[place]
        missing = f < n and codes[f, row] >= layout.arity[f]
        if not missing:
            live[f] = True
        if not live[f]:
            continue
        if missing:
            group[f] = f
        for at in range(layout.first[f], layout.first[f + 1]):
            live[layout.above[at]] = True
    # A missing attribute is now a group of its own; factors join groups, which keep the name of their first member.
    for f in range(n + 1):
        if not live[f]:
            continue
        joined = _top(group, f) if group[f] >= 0 else -1
        for at in range(layout.first[f], layout.first[f + 1]):
            p = layout.above[at]
            if codes[p, row] < layout.arity[p]:
                continue
            other = _top(group, p)
            if joined >= 0 and joined != other:
                group[max(joined, other)] = min(joined, other)
                other = min(joined, other)
            joined = other
    many = 0
    for f in range(n + 1):
        if group[f] >= 0:
            many += group[f] == f
            group[f] = _top(group, f)
        elif live[f]:
            for at in range(layout.first[f], layout.first[f + 1]):
                p = layout.above[at]
                if codes[p, row] >= layout.arity[p]:
                    group[f] = _top(group, p)
    return many


@njit(nogil=True, cache=True)
def count_groups(layout: Layout, codes: Codes, low: int, high: int, many: Integers) -> None:
    """Write how many groups rows `low` to `high` have."""
    n = len(layout.arity)
    live = np.empty(n + 1, np.bool_)
    group = np.empty(n + 1, np.int64)
    for row in range(low, high):
        whole = True
        for u in range(n):
            whole &= codes[u, row] < layout.arity[u]
        many[row] = 0 if whole else _find_groups(layout, codes, row, live, group)


@njit(nogil=True, cache=True)
def write_groups(
    layout: Layout, codes: Codes, start: Integers, low: int, high: int, rows: Integers, words: NDArray[np.uint64]
) -> None:
    """Write the groups of rows `low` to `high`: to `rows` the row, to `words` two bits for each node.

    They say whether the node is a member (`MEMBER`), known or the class with members above it (`CHILD`), or neither.
    The groups of a row stand from ``start[row]`` on, in the order of their first members.
    """
    n = len(layout.arity)
    live = np.empty(n + 1, np.bool_)
    group = np.empty(n + 1, np.int64)
    place = np.empty(n + 1, np.int64)
    for row in range(low, high):
        if start[row] == start[row + 1]:
            continue
        _find_groups(layout, codes, row, live, group)
        at = start[row]
        for f in range(n + 1):
            if group[f] == f:
                place[f] = at
                rows[at] = row
                at += 1
        for f in range(n + 1):
            if group[f] >= 0:
                missing = f < n and codes[f, row] >= layout.arity[f]
                role = np.uint64(MEMBER if missing else CHILD)
                shift = np.uint64(2 * (f % NODES_OF_WORD))
                words[f // NODES_OF_WORD, place[group[f]]] |= role << shift


class Plan(NamedTuple):
    """In which order to sum out the members of a group, and where every table on the way lies.

    The first tables are those of `factors`, restricted to a row's known values; each step then sums one member out of
    the product of its `inputs` (``inputs[first[s] : first[s + 1]]``), and its result is the next table. The last one is
    the sum: one cell, or one for each value of an attribute that is kept. Table `t` lies from ``offset[t]`` on; a
    member's value times ``stride[t, member]`` says where. In the layout's tables it is ``by_configuration[t, member]``
    and ``by_own[t, member]`` that a member's value counts.
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
    """Write where the cells of the factors' tables stand in the layout's tables, for class 0."""
    n = len(layout.arity)
    digits[:] = 0
    for t in range(len(plan.factors)):
        f = plan.factors[t]
        configuration, own = np.int64(0), np.int64(0)
        for at in range(layout.first[f], layout.first[f + 1]):
            p = layout.above[at]
            if codes[p, row] < layout.arity[p]:
                configuration += np.int64(codes[p, row]) * layout.stride[at]
        if f < n and codes[f, row] < layout.arity[f]:
            own = np.int64(codes[f, row])
        for cell in range(plan.offset[t], plan.offset[t + 1]):
            at_row = table_row(layout, f, configuration)
            entry[cell] = layout.start[f] + (at_row * layout.own_arity[f] + own) * layout.width[f]
            # On to the next values of the members, the last one fastest; after the last ones all are 0 again.
            for m in range(len(digits) - 1, -1, -1):
                if plan.stride[t, m] == 0:
                    continue
                digits[m] += 1
                more = 1 if digits[m] < plan.arity[m] else 1 - plan.arity[m]
                configuration += more * plan.by_configuration[t, m]
                own += more * plan.by_own[t, m]
                if digits[m] < plan.arity[m]:
                    break
                digits[m] = 0


@njit(nogil=True, cache=True)
def _eliminate(plan: Plan, step: int, plain: bool, digits: Integers, at: Integers, terms: Floats, work: Floats) -> None:
    """Sum one member out of the product of the tables that have it; of their logarithms unless they are `plain`."""
    result = len(plan.factors) + step
    inputs = plan.inputs[plan.first[step] : plan.first[step + 1]]
    v = plan.eliminated[step]
    values, axes = plan.arity[v], np.flatnonzero(plan.stride[result])[::-1]
    by_value = np.array([plan.stride[t, v] for t in inputs])
    digits[:] = 0
    for i in range(len(inputs)):
        at[i] = plan.offset[inputs[i]]
    for cell in range(plan.offset[result], plan.offset[result + 1]):
        total = 0.0
        if plain:
            for value in range(values):
                term = 1.0
                for i in range(len(inputs)):
                    term *= work[at[i] + value * by_value[i]]
                total += term
        else:
            terms[:values] = 0.0
            for i in range(len(inputs)):
                for value in range(values):
                    terms[value] += work[at[i] + value * by_value[i]]
            largest = terms[:values].max()
            for value in range(values):
                total += np.exp(terms[value] - largest) if largest > -np.inf else 0.0
            total = largest + np.log(total) if total > 0.0 else -np.inf
        work[cell] = total
        for m in axes:
            digits[m] += 1
            more = 1 if digits[m] < plan.arity[m] else 1 - plan.arity[m]
            for i in range(len(inputs)):
                at[i] += more * plan.stride[inputs[i], m]
            if digits[m] < plan.arity[m]:
                break
            digits[m] = 0


@njit(nogil=True, cache=True)
def _rescale(table: Floats) -> float:
    """Divide a table by its greatest cell; return the logarithm of that, NaN where a cell is too small beside it."""
    greatest, least = 0.0, np.inf
    for cell in range(len(table)):
        greatest, least = max(greatest, table[cell]), min(least, table[cell])
    # Numbers begin to lose digits at 1e-308.
    if not (greatest > 1e-150 and least > 1e-150 * greatest):
        return np.nan
    for cell in range(len(table)):
        table[cell] /= greatest
    return float(np.log(greatest))


@njit(nogil=True, cache=True)
def _sum_out(plan: Plan, plain: bool, digits: Integers, at: Integers, terms: Floats, work: Floats) -> float:
    """Find the last table from those of the factors; return the logarithm of what it was divided by, NaN: undone."""
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
    """Write to ``out[i, class]`` the log of the group's sum in row ``rows[i]``, for `i` from `low` to `high`.

    There is one for each value of the attribute that is kept, if any.
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
                    step = k if layout.width[plan.factors[t]] > 1 else 0
                    for cell in range(plan.offset[t], plan.offset[t + 1]):
                        log = layout.tables[entry[cell] + step]
                        work[cell] = np.exp(log) if plain else log
                scale = _sum_out(plan, plain, digits, at, terms, work)
                if not np.isnan(scale):
                    break
            for cell in range(last, plan.offset[-1]):
                out[i, k, cell - last] = np.log(work[cell]) + scale if plain else work[cell]


@njit(nogil=True, cache=True)
def _first_entry(layout: Layout, f: int, values: Integers) -> int:
    """Return where the entries of a node's first value stand for class 0, its parents' values being given."""
    configuration = np.int64(0)
    for at in range(layout.first[f], layout.first[f + 1]):
        configuration += values[layout.above[at]] * layout.stride[at]
    return int(layout.start[f] + table_row(layout, f, configuration) * layout.own_arity[f] * layout.width[f])


@njit(nogil=True, cache=True)
def draw_group(
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

    The members (parents before children) are drawn from their own tables, by ``uniforms[class, draw, attribute]``; a
    draw weighs as much as it makes the group's known children probable.
    """
    n = len(layout.arity)
    draws = uniforms.shape[1]
    values = np.zeros(n + 1, np.int64)
    weights = np.empty(draws)
    for i in range(low, high):
        for u in range(n):
            values[u] = np.int64(codes[u, rows[i]])
        for k in range(layout.classes):
            for d in range(draws):
                for u in members:
                    step = k if layout.width[u] > 1 else 0
                    entry = _first_entry(layout, u, values) + step
                    point = uniforms[k, d, u]
                    j, last = 0, layout.arity[u] - 1
                    while j < last:
                        point -= np.exp(layout.tables[entry + j * layout.width[u]])
                        if point < 0.0:
                            break
                        j += 1
                    values[u] = j
                weights[d] = 0.0
                for f in children:
                    step = k if layout.width[f] > 1 else 0
                    weights[d] += layout.tables[_first_entry(layout, f, values) + values[f] * layout.width[f] + step]
            largest = weights.max()
            log_mean[i, k] = largest
            variance[i, k] = 0.0
            if largest == -np.inf:
                continue
            mean = 0.0
            for d in range(draws):
                weights[d] = np.exp(weights[d] - largest)
                mean += weights[d]
            mean /= draws
            log_mean[i, k] += np.log(mean)
            for d in range(draws):
                variance[i, k] += (weights[d] / mean - 1.0) ** 2
            variance[i, k] /= draws * (draws - 1.0)
