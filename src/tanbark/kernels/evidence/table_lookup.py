"""Scores of rows as sums of table entries, one for each attribute, found by its code and its parents' digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger]

BLOCK_ROWS = 512
"""Rows that are processed together, so that their scores stay in the cache."""


@njit(nogil=True, cache=True)
def add_entries(
    codes: Codes,
    arity: Integers,
    digit_start: Integers,
    digits: Integers,
    parents: Integers,
    strides: Integers,
    table_start: Integers,
    tables: Floats,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Add the entries of the rows `low` to `high` to ``out[row, class]``.

    The entry of attribute ``u`` is the row of `tables` at ``table_start[u] + code + sum_p strides[u, p] digit(p)``.
    ``parents[u]`` is padded with -1. The digit of a code of attribute ``p`` is ``digits[digit_start[p] + code]``. A
    missing code counts as the arity.
    """
    attributes, classes = len(arity), out.shape[1]
    place = np.empty(BLOCK_ROWS, np.int64)
    for begin in range(low, high, BLOCK_ROWS):
        end = min(begin + BLOCK_ROWS, high)
        for u in range(attributes):
            for row in range(begin, end):
                place[row - begin] = table_start[u] + min(np.int64(codes[u, row]), arity[u])
            for i in range(parents.shape[1]):
                p = parents[u, i]
                if p < 0:
                    break
                for row in range(begin, end):
                    digit = digits[digit_start[p] + min(np.int64(codes[p, row]), arity[p])]
                    place[row - begin] += strides[u, i] * digit
            for row in range(begin, end):
                for k in range(classes):
                    out[row, k] += tables[place[row - begin], k]


@njit(nogil=True, cache=True)
def copy_entries(
    codes: Codes,
    arity: Integers,
    digit_start: Integers,
    digits: Integers,
    parents: Integers,
    strides: Integers,
    table_start: Integers,
    tables: Floats,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Write the entries of the rows `low` to `high` to ``out[row, 1 + attribute, class]``; see `add_entries`."""
    for u in range(len(arity)):
        for row in range(low, high):
            place = table_start[u] + min(np.int64(codes[u, row]), arity[u])
            for i in range(parents.shape[1]):
                p = parents[u, i]
                if p < 0:
                    break
                place += strides[u, i] * digits[digit_start[p] + min(np.int64(codes[p, row]), arity[p])]
            for k in range(out.shape[2]):
                out[row, 1 + u, k] = tables[place, k]
