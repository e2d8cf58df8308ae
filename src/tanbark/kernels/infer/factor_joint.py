"""Log joints in networks of any shape.

The entry of value `j` of node `f` under class `k` stands at ``start[f] + (row * own_arity[f] + j) * width[f] + k``,
where `row` follows from the values of the attributes above `f`. The class is the last node; in its own factor `j` is
always 0. Where the class is no part of a factor its width is one and `k` is left out. A code that is no value of its
attribute is missing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Codes = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCK = 1024


class Layout(NamedTuple):
    """Factors as the kernels read them, one for each attribute and, last, one for the class.

    `order` has all nodes, those above before those below. The attributes above node `f` are ``above[first[f] :
    first[f + 1]]``; their values times their `stride` add up to a *configuration*, which is the row of a table that is
    not `sparse`. A sparse table has rows for the ascending configurations ``keys[first_key[f] : first_key[f + 1]]`` and
    one more for all others. Behind the tables stand as many zeros as there are classes.
    """

    order: Integers
    arity: Integers
    classes: int
    first: Integers
    above: Integers
    stride: Integers
    own_arity: Integers
    width: Integers
    start: Integers
    sparse: Flags
    first_key: Integers
    keys: Integers
    tables: Floats


@njit(nogil=True, cache=True)
def table_row(layout: Layout, f: int, configuration: int) -> int:
    """Return which row of a factor's table holds a configuration."""
    if not layout.sparse[f]:
        return configuration
    begin, end = layout.first_key[f], layout.first_key[f + 1]
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if layout.keys[middle] < configuration:
            low = middle + 1
        else:
            high = middle
    return int(low - begin if low < end and layout.keys[low] == configuration else end - begin)


@njit(nogil=True, cache=True)
def _find_entries(layout: Layout, f: int, codes: Codes, begin: int, end: int, known: Flags, entry: Integers) -> None:
    """Write where a factor's terms for rows `begin` to `end` stand: at the zeros, if something of it is missing."""
    many = end - begin
    entry[:many] = 0
    known[:many] = True
    for at in range(layout.first[f], layout.first[f + 1]):
        column = codes[layout.above[at], begin:end]
        top = layout.arity[layout.above[at]] - 1
        stride = layout.stride[at]
        for i in range(many):
            known[i] &= column[i] <= top
            entry[i] += min(np.int64(column[i]), top) * stride
    if layout.sparse[f]:
        for i in range(many):
            entry[i] = table_row(layout, f, entry[i])
    if f < len(layout.arity):
        column = codes[f, begin:end]
        top = layout.arity[f] - 1
        for i in range(many):
            known[i] &= column[i] <= top
            entry[i] = entry[i] * layout.arity[f] + min(np.int64(column[i]), top)
    zeros = len(layout.tables) - layout.classes
    start, width = layout.start[f], layout.width[f]
    for i in range(many):
        entry[i] = start + entry[i] * width if known[i] else zeros


@njit(nogil=True, cache=True)
def known_log_joint(layout: Layout, codes: Codes, low: int, high: int, out: Floats) -> None:
    """Write the sum of the factors of which nothing is missing, for rows `low` to `high`, the class's first."""
    n, classes = len(layout.arity), layout.classes
    known = np.empty(BLOCK, np.bool_)
    entry = np.empty(BLOCK, np.int64)
    total = np.empty((classes, BLOCK))
    for begin in range(low, high, BLOCK):
        end = min(high, begin + BLOCK)
        total[:] = 0.0
        for f in range(-1, n):
            node = f if f >= 0 else n
            _find_entries(layout, node, codes, begin, end, known, entry)
            step = 1 if layout.width[node] > 1 else 0
            for k in range(classes):
                of_class = layout.tables[k * step :]
                sums = total[k]
                for i in range(end - begin):
                    sums[i] += of_class[np.uint64(entry[i])]
        for i in range(end - begin):
            for k in range(classes):
                out[begin + i, k] = total[k, i]


@njit(nogil=True, cache=True)
def factor_terms(layout: Layout, f: int, codes: Codes, known: Flags, out: Floats) -> None:
    """Write one factor's terms to `out`, of shape (rows, classes), and whether all of the factor is known."""
    rows = codes.shape[1]
    entry = np.empty(rows, np.int64)
    _find_entries(layout, f, codes, 0, rows, known, entry)
    step = 1 if layout.width[f] > 1 else 0
    for i in range(rows):
        for k in range(layout.classes):
            out[i, k] = layout.tables[entry[i] + k * step]
