"""Log joint probabilities in networks of any shape.

The entry of value `j` of node `f` under class `k` is at ``start[f] + (row * own_arity[f] + j) * width[f] + k``, where
`row` depends on the values of the parents of `f`. The class is the last node; in its own factor `j` is always 0. If the
class is not part of a factor, the factor's width is one and `k` is omitted. A code that is not a value of its attribute
is missing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Codes = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCK_ROWS = 1024
"""Number of rows processed together."""


class Layout(NamedTuple):
    """Factors in the layout that the kernels read: one for each attribute and, last, one for the class.

    `order` lists all nodes, parents before children. The attributes among the parents of node `f` are
    ``parents[first[f] : first[f + 1]]``. The sum of their values multiplied by their `stride` is the *configuration*,
    which is the row of a table that is not `sparse`. A sparse table has one row for each of the ascending
    configurations ``keys[first_key[f] : first_key[f + 1]]`` and a last row for all others. The tables are followed by
    one zero per class.
    """

    order: Integers
    arity: Integers
    classes: int
    first: Integers
    parents: Integers
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
    """Return the row of a configuration in a factor's table."""
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
    """Write the positions of a factor's terms for rows `begin` to `end`.

    If a node of the factor is missing, the position is that of the zeros after the tables.
    """
    n_rows = end - begin
    entry[:n_rows] = 0
    known[:n_rows] = True
    for at in range(layout.first[f], layout.first[f + 1]):
        column = codes[layout.parents[at], begin:end]
        top = layout.arity[layout.parents[at]] - 1
        stride = layout.stride[at]
        for i in range(n_rows):
            known[i] &= column[i] <= top
            entry[i] += min(np.int64(column[i]), top) * stride
    if layout.sparse[f]:
        for i in range(n_rows):
            entry[i] = table_row(layout, f, entry[i])
    if f < len(layout.arity):
        column = codes[f, begin:end]
        top = layout.arity[f] - 1
        for i in range(n_rows):
            known[i] &= column[i] <= top
            entry[i] = entry[i] * layout.arity[f] + min(np.int64(column[i]), top)
    zeros = len(layout.tables) - layout.classes
    start, width = layout.start[f], layout.width[f]
    for i in range(n_rows):
        entry[i] = start + entry[i] * width if known[i] else zeros


@njit(nogil=True, cache=True)
def known_log_joint(layout: Layout, codes: Codes, low: int, high: int, out: Floats) -> None:
    """Write the sum of the factors without missing nodes for rows `low` to `high`.

    The class factor is added first.
    """
    n, classes = len(layout.arity), layout.classes
    known = np.empty(BLOCK_ROWS, np.bool_)
    entry = np.empty(BLOCK_ROWS, np.int64)
    total = np.empty((classes, BLOCK_ROWS))
    for begin in range(low, high, BLOCK_ROWS):
        end = min(high, begin + BLOCK_ROWS)
        total[:] = 0.0
        for f in range(-1, n):
            node = f if f >= 0 else n
            _find_entries(layout, node, codes, begin, end, known, entry)
            class_step = 1 if layout.width[node] > 1 else 0
            for k in range(classes):
                class_tables = layout.tables[k * class_step :]
                sums = total[k]
                for i in range(end - begin):
                    sums[i] += class_tables[np.uint64(entry[i])]
        for i in range(end - begin):
            for k in range(classes):
                out[begin + i, k] = total[k, i]


@njit(nogil=True, cache=True)
def factor_terms(layout: Layout, f: int, codes: Codes, known: Flags, out: Floats) -> None:
    """Write one factor's terms to `out`, of shape (rows, classes), and whether all its nodes are known."""
    rows = codes.shape[1]
    entry = np.empty(rows, np.int64)
    _find_entries(layout, f, codes, 0, rows, known, entry)
    class_step = 1 if layout.width[f] > 1 else 0
    for i in range(rows):
        for k in range(layout.classes):
            out[i, k] = layout.tables[entry[i] + k * class_step]
