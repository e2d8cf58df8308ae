"""Convert numbers to small integer codes in one pass over memory."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

TILE_ROWS = 64
"""Number of rows processed together."""
MAX_EXACT_INTEGER = 2.0**53
"""Every integer up to this size is exact as a float; larger floats are all whole."""
MAX_LINEAR_CUTS = 64
"""Up to this number of cut points, comparing with all of them is faster than a binary search."""


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
