"""Summing a group of missing attributes out of the factors that touch it, exactly or by drawing."""

from typing import NamedTuple

import numpy as np
from numba import njit

from tanbark.kernels.factors import Codes, Floats, Integers, Layout, table_row


class Plan(NamedTuple):
    """In which order to sum out the members of a group, and where every table on the way lies.

    The first tables are those of `factors`, restricted to a row's known values; each step then sums one member out of
    the product of its `inputs` (``inputs[first[s] : first[s + 1]]``), and its result is the next table. Table `t` lies
    from ``offset[t]`` on; a member's value times ``stride[t, member]`` says where. In the layout's tables it is
    ``by_configuration[t, member]`` and ``by_own[t, member]`` that a member's value counts.
    """

    members: Integers
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
def _eliminate(plan: Plan, step: int, digits: Integers, at: Integers, terms: Floats, work: Floats) -> None:
    """Sum one member out of the product of the tables that have it, in logarithms."""
    digits[:] = 0
    result = len(plan.factors) + step
    v = plan.eliminated[step]
    first, last = plan.first[step], plan.first[step + 1]
    for i in range(first, last):
        at[i] = plan.offset[plan.inputs[i]]
    for cell in range(plan.offset[result], plan.offset[result + 1]):
        largest = -np.inf
        for value in range(plan.arity[v]):
            term = 0.0
            for i in range(first, last):
                term += work[at[i] + value * plan.stride[plan.inputs[i], v]]
            terms[value] = term
            largest = max(largest, term)
        total = 0.0
        if largest > -np.inf:
            for value in range(plan.arity[v]):
                total += np.exp(terms[value] - largest)
            largest += np.log(total)
        work[cell] = largest
        for m in range(len(digits) - 1, -1, -1):
            if plan.stride[result, m] == 0:
                continue
            digits[m] += 1
            more = 1 if digits[m] < plan.arity[m] else 1 - plan.arity[m]
            for i in range(first, last):
                at[i] += more * plan.stride[plan.inputs[i], m]
            if digits[m] < plan.arity[m]:
                break
            digits[m] = 0


@njit(nogil=True, cache=True)
def sum_out_group(layout: Layout, plan: Plan, codes: Codes, rows: Integers, low: int, high: int, out: Floats) -> None:
    """Write to ``out[i, class]`` the log of the group's sum in row ``rows[i]``, for `i` from `low` to `high`."""
    loaded = plan.offset[len(plan.factors)]
    entry = np.empty(loaded, np.int64)
    work = np.empty(plan.offset[-1])
    digits = np.empty(len(plan.members), np.int64)
    at = np.empty(len(plan.inputs), np.int64)
    terms = np.empty(plan.arity.max())
    for i in range(low, high):
        _find_group_entries(layout, plan, codes, rows[i], digits, entry)
        for k in range(layout.classes):
            for t in range(len(plan.factors)):
                step = k if layout.width[plan.factors[t]] > 1 else 0
                for cell in range(plan.offset[t], plan.offset[t + 1]):
                    work[cell] = layout.tables[entry[cell] + step]
            for s in range(len(plan.members)):
                _eliminate(plan, s, digits, at, terms, work)
            out[i, k] = work[plan.offset[-1] - 1]


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
