"""Kernels for columns of numbers: conversion to small integer codes, distinct numbers, and counts within intervals.

A *key* represents a number as 64 bits such that the order of keys as unsigned integers is the order of the numbers. The
key of a positive float is its bits with the sign bit flipped, that of a negative float its bits all flipped.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Keys = NDArray[np.uint64]
Integers = NDArray[np.int64]

TILE_ROWS = 64
"""Number of rows processed together."""
MAX_EXACT_INTEGER = 2.0**53
"""Every integer up to this size is exact as a float; larger floats are all whole."""
MAX_LINEAR_CUTS = 64
"""Up to this number of cut points, comparing with all of them is faster than a binary search."""
INDEX_SHIFT = np.uint64(48)
"""Shift in bits that leaves the first 16 bits of a key."""
SIGN_BIT = np.uint64(1 << 63)
"""The sign bit of a float."""
INFINITY_BITS = np.uint64(0x7FF << 52)
"""The bits of positive infinity; NaN has a larger magnitude."""
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio, for multiplicative hashing."""


@njit(nogil=True, cache=True)
def narrow_integers(
    rows: NDArray[np.int64],
    base: NDArray[np.int64],
    start: int,
    out: NDArray[np.uint8],
    reach: NDArray[np.uint64],
) -> None:
    """Write the difference between each integer and its column's `base` to `out`, column by column.

    ``out[u, start + i] = rows[i, u] - base[u]``. `reach` collects the bitwise union of the differences in each column;
    it is below 256 if and only if all of them fit eight bits.
    """
    n_rows, n = rows.shape
    tile = np.empty((TILE_ROWS, n), np.uint8)
    for low in range(0, n_rows, TILE_ROWS):
        high = min(n_rows, low + TILE_ROWS)
        for i in range(low, high):
            for u in range(n):
                tile[i - low, u] = np.uint8(np.uint64(rows[i, u] - base[u]) & np.uint64(255))
        for i in range(low, high):
            for u in range(n):
                reach[u] |= np.uint64(rows[i, u] - base[u]) | (np.uint64(rows[i, u] < base[u]) << np.uint64(63))
        for u in range(n):
            column = out[u, start + low : start + high]
            for i in range(high - low):
                column[i] = tile[i, u]


@njit(nogil=True, cache=True)
def occurring_values(column: NDArray[np.uint8], largest: int) -> NDArray[np.int64]:
    """Return the values from 0 to `largest` that occur, in ascending order.

    The scan stops as soon as all of them have occurred.
    """
    seen = np.zeros(256, np.bool_)
    max_distinct = largest + 1
    for low in range(0, len(column), TILE_ROWS):
        for i in range(low, min(len(column), low + TILE_ROWS)):
            seen[column[i]] = True
        if seen[: largest + 1].sum() == max_distinct:
            break
    return np.flatnonzero(seen)


@njit(nogil=True, cache=True)
def bin_numbers(
    rows: NDArray[np.float64],
    column: int,
    cuts: NDArray[np.float64],
    missing: int,
    out: NDArray[np.unsignedinteger],
) -> bool:
    """Write the number of ascending `cuts` below each number to `out`, and `missing` for NaN.

    Return whether no number is infinite.
    """
    all_finite = True
    n_cuts = len(cuts)
    tile = np.empty(TILE_ROWS, np.float64)
    below = np.empty(TILE_ROWS, np.float64)
    for low in range(0, rows.shape[0], TILE_ROWS):
        size = min(TILE_ROWS, rows.shape[0] - low)
        for i in range(size):
            tile[i] = rows[low + i, column]
        if n_cuts <= MAX_LINEAR_CUTS:
            # This loop has no data-dependent branch, so the compiler can vectorise it.
            below[:] = 0.0
            for cut in cuts:
                for i in range(TILE_ROWS):
                    below[i] += 1.0 if tile[i] > cut else 0.0
        else:
            for i in range(size):
                first, last = 0, n_cuts
                while first < last:
                    middle = (first + last) // 2
                    if cuts[middle] < tile[i]:
                        first = middle + 1
                    else:
                        last = middle
                below[i] = first
        for i in range(size):
            if np.isinf(tile[i]):
                all_finite = False
            out[low + i] = missing if np.isnan(tile[i]) else int(below[i])
    return all_finite


@njit(nogil=True, cache=True)
def has_few_whole_numbers(rows: NDArray[np.float64], column: int, max_distinct: int) -> bool:
    """Return whether the column has at most `max_distinct` distinct values and all of them, except NaN, are whole.

    Floats beyond 2**53 are always whole, so they do not qualify.
    """
    seen = np.empty(max_distinct, np.float64)
    n_seen = 0
    for i in range(rows.shape[0]):
        x = rows[i, column]
        if np.isnan(x):
            continue
        if x != np.floor(x) or abs(x) > MAX_EXACT_INTEGER:
            return False
        known = False
        for j in range(n_seen):
            if seen[j] == x:
                known = True
                break
        if not known:
            if n_seen == max_distinct:
                return False
            seen[n_seen] = x
            n_seen += 1
    return True


@njit(nogil=True, cache=True)
def float_keys(bits: Keys, out: Keys) -> tuple[int, bool]:
    """Write the keys of floats, given as their bits; return the number of keys and whether all floats are finite.

    NaN has no key and is skipped. Positive and negative zero have the same key.
    """
    count = 0
    finite = True
    for i in range(len(bits)):
        magnitude = bits[i] & ~SIGN_BIT
        if magnitude > INFINITY_BITS:
            continue
        if magnitude == INFINITY_BITS:
            finite = False
        out[count] = ~bits[i] if bits[i] > SIGN_BIT else magnitude | SIGN_BIT
        count += 1
    return count, finite


@njit(nogil=True, cache=True)
def tally_keys(
    keys: Keys, times: Integers, start: int, table: Keys, counts: Integers, used: int, max_used: int
) -> tuple[int, int]:
    """Count the keys from `start` on in a hash table; stop before it would hold more than `max_used` distinct keys.

    Key `i` counts ``times[i]`` times, or once if `times` is empty. The number of slots is a power of two, and a slot is
    free while its count is zero. Return the index of the next key and the number of distinct keys in the table.
    """
    shift = np.uint64(64)
    while 1 << (64 - shift) < len(table):
        shift -= np.uint64(1)
    last = len(table) - 1
    for i in range(start, len(keys)):
        key = keys[i]
        slot = np.int64((key * HASH_MULTIPLIER) >> shift)
        while counts[slot] > 0 and table[slot] != key:
            slot = (slot + 1) & last
        if counts[slot] == 0:
            if used == max_used:
                return i, used
            used += 1
            table[slot] = key
        counts[slot] += times[i] if len(times) else 1
    return len(keys), used


@njit(nogil=True, cache=True)
def count_within(keys: Keys, prefixes: Keys, shift: int, bits: int, counts: Integers) -> None:
    """Count the keys that begin with one of the sorted `prefixes`, by the `bits` bits that follow the prefix.

    ``counts[w, b]`` grows by the number of keys with the `w`-th prefix and next bits `b`. A prefix is a key without its
    last `shift` bits; with a shift of 64 it is empty and matches every key.
    """
    next_shift = np.uint64(shift - bits)
    mask = np.uint64((1 << bits) - 1)
    if shift == 64:
        for i in range(len(keys)):
            counts[0, keys[i] >> next_shift] += 1
        return
    prefix_shift = np.uint64(shift)
    wanted = _index_prefixes(prefixes, shift)
    for i in range(len(keys)):
        if not wanted[keys[i] >> INDEX_SHIFT]:
            continue
        w = _find_prefix(keys[i] >> prefix_shift, prefixes)
        if w >= 0:
            counts[w, (keys[i] >> next_shift) & mask] += 1


@njit(nogil=True, cache=True)
def gather_within(keys: Keys, prefixes: Keys, shift: int, out: Keys) -> int:
    """Write the keys that begin with one of the sorted `prefixes` to `out` and return their number."""
    prefix_shift = np.uint64(shift)
    wanted = _index_prefixes(prefixes, shift)
    count = 0
    for i in range(len(keys)):
        if wanted[keys[i] >> INDEX_SHIFT] and _find_prefix(keys[i] >> prefix_shift, prefixes) >= 0:
            out[count] = keys[i]
            count += 1
    return count


@njit(nogil=True, cache=True)
def _index_prefixes(prefixes: Keys, shift: int) -> NDArray[np.bool_]:
    """Return, for each pattern of 16 bits, whether a prefix begins with it. Prefixes have at least 16 bits."""
    wanted = np.zeros(1 << 16, np.bool_)
    for prefix in prefixes:
        wanted[(prefix << np.uint64(shift)) >> INDEX_SHIFT] = True
    return wanted


@njit(nogil=True, cache=True)
def _find_prefix(prefix: np.uint64, prefixes: Keys) -> int:
    """Return the index of a prefix among the sorted `prefixes`, or -1 if it is absent."""
    low, high = 0, len(prefixes)
    while low < high:
        middle = (low + high) // 2
        if prefixes[middle] < prefix:
            low = middle + 1
        else:
            high = middle
    return low if low < len(prefixes) and prefixes[low] == prefix else -1
