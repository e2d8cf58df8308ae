"""Counts of all pairs of attribute values within each class.

Counts of all pairs of attribute values within each class.

Codes are one row of memory per attribute. The counts go to ``values[class, value]`` and to ``pairs[class, value,
value]``, of which only the lower blocks (an attribute against an earlier one) are filled here; values of attribute `u`
stand at ``offset[u]`` to ``offset[u + 1]``. A code beyond an attribute's arity is a missing value and is in no count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.intrinsics import WORD, equal_mask, popcount

Codes = NDArray[np.unsignedinteger]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

BLOCK = 32768
NO_PLANE = 255

# Measured costs in nanoseconds, on one core without AVX-512: they only choose between two ways to the same integers.
PER_WORD, PER_CALL, PER_ROW = 0.3, 3.0, 2.0


@njit(nogil=True, cache=True)
def _intersection(a: Words, b: Words) -> np.int64:
    # Over two contiguous slices LLVM vectorises this loop; written inside the loops of its caller it does not.
    total = np.uint64(0)
    for w in range(a.shape[0]):
        total += popcount(a[w] & b[w])
    return np.int64(total)


@njit(nogil=True, cache=True)
def _population(a: Words) -> np.int64:
    total = np.uint64(0)
    for w in range(a.shape[0]):
        total += popcount(a[w])
    return np.int64(total)


@njit(nogil=True, cache=True)
def _intersect(
    planes: Words,
    word: Integers,
    u: int,
    v: int,
    offset: Integers,
    seen: Integers,
    whole: Flags,
    columns: Integers,
    pairs: Integers,
) -> None:
    """Add to `pairs` the table of attributes `u` and `v` within each class, by intersecting their planes.

    Where an attribute is `whole` in this block (no value missing) its last row or column is what the others leave over
    of `seen`, the block's counts of single values, and needs no intersecting.
    """
    last_a = offset[u + 1] - 1 if whole[u] else offset[u + 1]
    last_b = offset[v + 1] - 1 if whole[v] else offset[v + 1]
    for k in range(len(word) - 1):
        columns[:] = 0
        for a in range(offset[u], last_a):
            rest = seen[k, a]
            for b in range(offset[v], last_b):
                both = _intersection(planes[a, word[k] : word[k + 1]], planes[b, word[k] : word[k + 1]])
                pairs[k, a, b] += both
                columns[b - offset[v]] += both
                rest -= both
            if whole[v]:
                pairs[k, a, last_b] += rest
                columns[last_b - offset[v]] += rest
        if whole[u]:
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
    """Add to `values` and `pairs` what rows `start` to `stop` say of attributes `first` to `last`.

    Rows of a block are grouped by class and each attribute value becomes a plane of bits, so that one cell of a
    contingency table is the population count of an intersection: 64 rows a word. Where the table of a pair has so many
    cells that this costs more than walking the rows, the rows are walked. ``pairs.shape[1] == 0`` counts values only.
    """
    classes = values.shape[0]
    block = max(min(BLOCK, stop - start), 1)
    with_pairs = pairs.shape[1] > 0
    by_planes = PER_WORD * block / WORD + PER_CALL * classes
    by_rows = PER_ROW * block
    widest = np.int64(0)
    for u in range(last):
        widest = max(widest, offset[u + 1] - offset[u])
    # Columns in the order of the planes are kept only where a pair may want its rows walked: they would fill the cache.
    keep = with_pairs and widest * widest * by_planes >= by_rows
    slot = np.empty(block, np.int32)
    grouped = np.empty((last if keep else 1, block + WORD * classes), np.uint8)
    planes = np.empty((offset[last], block // WORD + classes + 1), np.uint64)
    seen = np.zeros((classes, offset[last]), np.int64)
    whole = np.zeros(last, np.bool_)
    columns = np.zeros(widest, np.int64)
    size = np.zeros(classes, np.int64)
    word = np.zeros(classes + 1, np.int64)
    at = np.zeros(classes, np.int64)
    for low in range(start, stop, block):
        high = min(stop, low + block)
        size[:] = 0
        for i in range(low, high):
            size[y[i]] += 1
        for k in range(classes):
            word[k + 1] = word[k] + (size[k] + WORD - 1) // WORD
            at[k] = word[k] * WORD
        for i in range(low, high):
            slot[i - low] = at[y[i]]
            at[y[i]] += 1
        for u in range(0 if with_pairs else first, last):
            group = grouped[u if keep else 0]
            column = codes[u, low:high]
            for k in range(classes):
                group[word[k] * WORD + size[k] : word[k + 1] * WORD] = NO_PLANE
            for i in range(high - low):
                group[slot[i]] = column[i]
            for a in range(offset[u], offset[u + 1]):
                plane = planes[a]
                code = np.uint8(a - offset[u])
                for w in range(word[classes]):
                    plane[w] = equal_mask(group, w * WORD, code)
                for k in range(classes):
                    seen[k, a] = _population(plane[word[k] : word[k + 1]])
                    if u >= first:
                        values[k, a] += seen[k, a]
            whole[u] = seen[:, offset[u] : offset[u + 1]].sum() == high - low
        if not with_pairs:
            continue
        for u in range(first, last):
            for v in range(u):
                if (offset[u + 1] - offset[u]) * (offset[v + 1] - offset[v]) * by_planes < by_rows:
                    _intersect(planes, word, u, v, offset, seen, whole, columns, pairs)
                else:
                    of_u, of_v = grouped[u], grouped[v]
                    for k in range(classes):
                        table = pairs[k]
                        for i in range(word[k] * WORD, word[k] * WORD + size[k]):
                            a = offset[u] + of_u[i]
                            b = offset[v] + of_v[i]
                            if a < offset[u + 1] and b < offset[v + 1]:
                                table[a, b] += 1


@njit(nogil=True, cache=True)
def weigh_pairs(
    codes: Codes,
    y: NDArray[np.uint16],
    weights: Floats,
    offset: Integers,
    first: int,
    last: int,
    values: Floats,
    pairs: Floats,
) -> None:
    """Add every row's weight to `values` and `pairs` of attributes `first` to `last`, in the order of the rows."""
    rows = codes.shape[1]
    with_pairs = pairs.shape[1] > 0
    for low in range(0, rows, BLOCK):
        high = min(rows, low + BLOCK)
        for u in range(first, last):
            of_u = codes[u]
            for i in range(low, high):
                a = offset[u] + of_u[i]
                if a < offset[u + 1]:
                    values[y[i], a] += weights[i]
            if not with_pairs:
                continue
            for v in range(u):
                of_v = codes[v]
                for i in range(low, high):
                    a = offset[u] + of_u[i]
                    b = offset[v] + of_v[i]
                    if a < offset[u + 1] and b < offset[v + 1]:
                        pairs[y[i], a, b] += weights[i]


@njit(nogil=True, cache=True)
def add_rows(
    codes: Codes, y: NDArray[np.uint16], offset: Integers, table: NDArray[np.generic], out: NDArray[np.generic]
) -> None:
    """Write the Burt table with further rows to `out`; a missing value is in no count.

    Each value becomes a mask of the rows of a class that have it, and a cell grows by the bits that two masks share:
    with few rows that takes little longer than to copy the table.
    """
    classes, values, _ = table.shape
    size = np.zeros(classes, np.int64)
    place = np.empty(len(y), np.int64)
    for row in range(len(y)):
        place[row] = size[y[row]]
        size[y[row]] += 1
    words, most = (size + WORD - 1) // WORD, 1
    for k in range(classes):
        most = max(most, words[k])
    masks = np.zeros((classes, most, values), np.uint64)
    for u in range(len(codes)):
        for row in range(len(y)):
            value = offset[u] + codes[u, row]
            if value < offset[u + 1]:
                masks[y[row], place[row] // WORD, value] |= np.uint64(1) << np.uint64(place[row] % WORD)
    for k in range(classes):
        for i in range(values):
            before, line = table[k, i], out[k, i]
            for word in range(max(words[k], 1)):
                mine, others = masks[k, word, i], masks[k, word]
                if mine != 0:
                    for j in range(values):
                        line[j] = before[j] + np.int64(popcount(mine & others[j]))
                elif word == 0:
                    line[:] = before
                before = line
