"""Count the distinct numbers of a column, and those within intervals, in the order of their bits.

A key is a number as 64 bits whose order as an unsigned integer is the order of the numbers: of a float the sign bit is
flipped where it is positive, all bits where it is negative.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Keys = NDArray[np.uint64]
Integers = NDArray[np.int64]

TOP = np.uint64(48)
SIGN = np.uint64(1 << 63)
INFINITY = np.uint64(0x7FF << 52)
HASH = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def float_keys(bits: Keys, out: Keys) -> tuple[int, bool]:
    """Write the keys of floats, given as their bits, NaN left out; return how many there are and if all are finite.

    The two zeros have one key.
    """
    many = 0
    finite = True
    for i in range(len(bits)):
        size = bits[i] & ~SIGN
        if size > INFINITY:
            continue
        if size == INFINITY:
            finite = False
        out[many] = ~bits[i] if bits[i] > SIGN else size | SIGN
        many += 1
    return many, finite


@njit(nogil=True, cache=True)
def tally_keys(
    keys: Keys, times: Integers, start: int, table: Keys, counts: Integers, used: int, most: int
) -> tuple[int, int]:
    """Count keys from `start` on in a hash table; stop before it would hold more than `most` distinct ones.

    Key `i` counts ``times[i]``, or one where `times` is empty. A place of the table is free while its count is zero;
    it has a power of two of them. Returns where it stopped and how many distinct keys the table holds.
    """
    shift = np.uint64(64)
    while 1 << (64 - shift) < len(table):
        shift -= np.uint64(1)
    last = len(table) - 1
    for i in range(start, len(keys)):
        key = keys[i]
        at = np.int64((key * HASH) >> shift)
        while counts[at] > 0 and table[at] != key:
            at = (at + 1) & last
        if counts[at] == 0:
            if used == most:
                return i, used
            used += 1
            table[at] = key
        counts[at] += times[i] if len(times) else 1
    return len(keys), used


@njit(nogil=True, cache=True)
def count_within(keys: Keys, prefixes: Keys, shift: int, bits: int, counts: Integers) -> None:
    """Add to ``counts[w]`` which `bits` bits follow in each key that begins with the `w`-th of the sorted `prefixes`.

    A prefix is all but the last `shift` bits of a key; with a shift of 64 it is nothing, and every key has it.
    """
    below = np.uint64(shift - bits)
    mask = np.uint64((1 << bits) - 1)
    if shift == 64:
        for i in range(len(keys)):
            counts[0, keys[i] >> below] += 1
        return
    above = np.uint64(shift)
    wanted = _beginnings(prefixes, shift)
    for i in range(len(keys)):
        if not wanted[keys[i] >> TOP]:
            continue
        w = _place(keys[i] >> above, prefixes)
        if w >= 0:
            counts[w, (keys[i] >> below) & mask] += 1


@njit(nogil=True, cache=True)
def gather_within(keys: Keys, prefixes: Keys, shift: int, out: Keys) -> int:
    """Write the keys that begin with one of the sorted `prefixes` to `out` and return how many there are."""
    above = np.uint64(shift)
    wanted = _beginnings(prefixes, shift)
    many = 0
    for i in range(len(keys)):
        if wanted[keys[i] >> TOP] and _place(keys[i] >> above, prefixes) >= 0:
            out[many] = keys[i]
            many += 1
    return many


@njit(nogil=True, cache=True)
def _beginnings(prefixes: Keys, shift: int) -> NDArray[np.bool_]:
    """Return which patterns of the first 16 bits begin one of the prefixes, which are at least as long."""
    wanted = np.zeros(1 << 16, np.bool_)
    for prefix in prefixes:
        wanted[(prefix << np.uint64(shift)) >> TOP] = True
    return wanted


@njit(nogil=True, cache=True)
def _place(prefix: np.uint64, prefixes: Keys) -> int:
    """Return where a prefix stands among those sorted, -1 where it does not."""
    low, high = 0, len(prefixes)
    while low < high:
        middle = (low + high) // 2
        if prefixes[middle] < prefix:
            low = middle + 1
        else:
            high = middle
    return low if low < len(prefixes) and prefixes[low] == prefix else -1
