"""Which missing attributes of a row have to be summed out together.

A missing attribute that nothing known lies below sums to one by itself. The others are connected where they are in one
factor, and fall into groups.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.factors import Codes, Flags, Integers, Layout

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
