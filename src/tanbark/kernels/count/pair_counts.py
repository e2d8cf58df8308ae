"""Count all pairs of attribute values within each class.

Codes are stored one row of memory per attribute. Counts are added to ``values[class, value]`` and to ``pairs[class,
value, value]``. `count_pairs` and `count_weighted_pairs` fill only the lower blocks of the latter (an attribute
against an earlier one). The values of attribute `u` are numbered ``offset[u]`` to ``offset[u + 1] - 1``. A code beyond
the arity of its attribute is a missing value and is not counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.intrinsics import WORD_BITS, equal_mask, popcount

Codes = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

BLOCK_ROWS = 32768
"""Number of rows counted together."""
PADDING_CODE = 255
"""Code of the padding after the rows of a class; no attribute has a value with this code."""

# Costs in nanoseconds, measured on one core without AVX-512. They only choose between two ways to equal results.
NS_PER_WORD, NS_PER_CALL, NS_PER_ROW = 0.3, 3.0, 2.0


@njit(nogil=True, cache=True)
def _intersection_size(a: Words, b: Words) -> np.int64:
    """Return the number of bits that two planes have in common."""
    # LLVM vectorises this loop over two contiguous slices, but not if it is written inside the caller's loops.
    total = np.uint64(0)
    for w in range(a.shape[0]):
        total += popcount(a[w] & b[w])
    return np.int64(total)


@njit(nogil=True, cache=True)
def _count_bits(a: Words) -> np.int64:
    """Return the number of set bits in a plane."""
    total = np.uint64(0)
    for w in range(a.shape[0]):
        total += popcount(a[w])
    return np.int64(total)


@njit(nogil=True, cache=True)
def _add_intersections(
    planes: Words,
    word: Integers,
    u: int,
    v: int,
    offset: Integers,
    seen: Integers,
    complete: Flags,
    columns: Integers,
    pairs: Integers,
) -> None:
    """Add the table of attributes `u` and `v` within each class to `pairs`, by intersecting their planes.

    If an attribute is `complete` in this block (it has no missing value), its last row or column is the difference
    between `seen`, the block's counts of single values, and the other rows or columns, and needs no intersection.
    """
    last_a = offset[u + 1] - 1 if complete[u] else offset[u + 1]
    last_b = offset[v + 1] - 1 if complete[v] else offset[v + 1]
    for k in range(len(word) - 1):
        columns[:] = 0
        for a in range(offset[u], last_a):
            remainder = seen[k, a]
            for b in range(offset[v], last_b):
                common = _intersection_size(planes[a, word[k] : word[k + 1]], planes[b, word[k] : word[k + 1]])
                pairs[k, a, b] += common
                columns[b - offset[v]] += common
                remainder -= common
            if complete[v]:
                pairs[k, a, last_b] += remainder
                columns[last_b - offset[v]] += remainder
        if complete[u]:
            for b in range(offset[v], offset[v + 1]):
                pairs[k, last_a, b] += seen[k, b] - columns[b - offset[v]]


@njit(nogil=True, cache=True)
def count_pairs(
    codes: NDArray[np.uint8],
    y: NDArray[np.uint16],
    offset: Integers,
    start: int,
    stop: int,
    first: int,
    last: int,
    values: Integers,
    pairs: Integers,
) -> None:
    """Count the values and pairs of rows `start` to `stop`, for attributes `first` to `last` against all earlier ones.

    The rows of a block are grouped by class and each attribute value becomes a plane of bits. A cell of a contingency
    table is then the population count of an intersection of two planes, with 64 rows in a word. If the table of a pair
    has so many cells that scanning the rows is cheaper, the rows are scanned. With ``pairs.shape[1] == 0`` only values
    are counted.
    """
    classes = values.shape[0]
    block = max(min(BLOCK_ROWS, stop - start), 1)
    with_pairs = pairs.shape[1] > 0
    plane_cost = NS_PER_WORD * block / WORD_BITS + NS_PER_CALL * classes
    row_cost = NS_PER_ROW * block
    widest = np.int64(0)
    for u in range(last):
        widest = max(widest, offset[u + 1] - offset[u])
    # Store the grouped columns only if some pair may be counted row by row: otherwise they would just fill the cache.
    keep_columns = with_pairs and widest * widest * plane_cost >= row_cost
    slot = np.empty(block, np.int32)
    grouped = np.empty((last if keep_columns else 1, block + WORD_BITS * classes), np.uint8)
    planes = np.empty((offset[last], block // WORD_BITS + classes + 1), np.uint64)
    seen = np.zeros((classes, offset[last]), np.int64)
    complete = np.zeros(last, np.bool_)
    columns = np.zeros(widest, np.int64)
    size = np.zeros(classes, np.int64)
    word = np.zeros(classes + 1, np.int64)
    next_slot = np.zeros(classes, np.int64)
    for low in range(start, stop, block):
        high = min(stop, low + block)
        size[:] = 0
        for i in range(low, high):
            size[y[i]] += 1
        for k in range(classes):
            word[k + 1] = word[k] + (size[k] + WORD_BITS - 1) // WORD_BITS
            next_slot[k] = word[k] * WORD_BITS
        for i in range(low, high):
            slot[i - low] = next_slot[y[i]]
            next_slot[y[i]] += 1
        for u in range(0 if with_pairs else first, last):
            group = grouped[u if keep_columns else 0]
            column = codes[u, low:high]
            for k in range(classes):
                group[word[k] * WORD_BITS + size[k] : word[k + 1] * WORD_BITS] = PADDING_CODE
            for i in range(high - low):
                group[slot[i]] = column[i]
            for a in range(offset[u], offset[u + 1]):
                plane = planes[a]
                code = np.uint8(a - offset[u])
                for w in range(word[classes]):
                    plane[w] = equal_mask(group, w * WORD_BITS, code)
                for k in range(classes):
                    seen[k, a] = _count_bits(plane[word[k] : word[k + 1]])
                    if u >= first:
                        values[k, a] += seen[k, a]
            complete[u] = seen[:, offset[u] : offset[u + 1]].sum() == high - low
        if not with_pairs:
            continue
        for u in range(first, last):
            for v in range(u):
                if (offset[u + 1] - offset[u]) * (offset[v + 1] - offset[v]) * plane_cost < row_cost:
                    _add_intersections(planes, word, u, v, offset, seen, complete, columns, pairs)
                else:
                    codes_u, codes_v = grouped[u], grouped[v]
                    for k in range(classes):
                        table = pairs[k]
                        for i in range(word[k] * WORD_BITS, word[k] * WORD_BITS + size[k]):
                            a = offset[u] + codes_u[i]
                            b = offset[v] + codes_v[i]
                            if a < offset[u + 1] and b < offset[v + 1]:
                                table[a, b] += 1


@njit(nogil=True, cache=True)
def count_weighted_pairs(
    codes: Codes,
    y: NDArray[np.uint16],
    weights: Floats,
    offset: Integers,
    first: int,
    last: int,
    values: Floats,
    pairs: Floats,
) -> None:
    """Add the weight of each row to `values` and `pairs` of attributes `first` to `last`, in row order."""
    rows = codes.shape[1]
    with_pairs = pairs.shape[1] > 0
    for low in range(0, rows, BLOCK_ROWS):
        high = min(rows, low + BLOCK_ROWS)
        for u in range(first, last):
            codes_u = codes[u]
            for i in range(low, high):
                a = offset[u] + codes_u[i]
                if a < offset[u + 1]:
                    values[y[i], a] += weights[i]
            if not with_pairs:
                continue
            for v in range(u):
                codes_v = codes[v]
                for i in range(low, high):
                    a = offset[u] + codes_u[i]
                    b = offset[v] + codes_v[i]
                    if a < offset[u + 1] and b < offset[v + 1]:
                        pairs[y[i], a, b] += weights[i]


@njit(nogil=True, cache=True)
def add_rows(
    codes: Codes, y: NDArray[np.uint16], offset: Integers, table: NDArray[np.generic], out: NDArray[np.generic]
) -> None:
    """Write the Burt table with further rows to `out`; missing values are not counted.

    Each value becomes a mask of the rows of a class that have it, and a cell grows by the number of bits that two masks
    have in common. With few rows this takes little longer than copying the table.
    """
    classes, values, _ = table.shape
    size = np.zeros(classes, np.int64)
    position = np.empty(len(y), np.int64)
    for row in range(len(y)):
        position[row] = size[y[row]]
        size[y[row]] += 1
    words, max_words = (size + WORD_BITS - 1) // WORD_BITS, 1
    for k in range(classes):
        max_words = max(max_words, words[k])
    masks = np.zeros((classes, max_words, values), np.uint64)
    for u in range(len(codes)):
        for row in range(len(y)):
            value = offset[u] + codes[u, row]
            if value < offset[u + 1]:
                masks[y[row], position[row] // WORD_BITS, value] |= np.uint64(1) << np.uint64(position[row] % WORD_BITS)
    for k in range(classes):
        for i in range(values):
            old, new = table[k, i], out[k, i]
            for word in range(max(words[k], 1)):
                mask, other_masks = masks[k, word, i], masks[k, word]
                if mask != 0:
                    for j in range(values):
                        new[j] = old[j] + np.int64(popcount(mask & other_masks[j]))
                elif word == 0:
                    new[:] = old
                old = new
