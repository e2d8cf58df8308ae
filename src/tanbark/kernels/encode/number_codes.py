"""Convert numbers to small integer codes in one pass over memory."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

TILE = 64
EXACT = 2.0**53
FEW_CUTS = 64


@njit(nogil=True, cache=True)
def narrow_integers(
    rows: NDArray[np.int64],
    base: NDArray[np.int64],
    start: int,
    out: NDArray[np.uint8],
    reach: NDArray[np.uint64],
) -> None:
    """Write each integer's distance from its column's `base` to `out`, one row of memory per column.

    ``out[u, start + i] = rows[i, u] - base[u]``; `reach` is the union of the bits of the distances, below 256 if and
    only if all of them fitted.
    """
    many, n = rows.shape
    tile = np.empty((TILE, n), np.uint8)
    for low in range(0, many, TILE):
        high = min(many, low + TILE)
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
def values_up_to(column: NDArray[np.uint8], most: int) -> NDArray[np.int64]:
    """Return which of the values 0 to `most` occur, in ascending order; quick where all of them occur early."""
    seen = np.zeros(256, np.bool_)
    wanted = most + 1
    for low in range(0, len(column), TILE):
        for i in range(low, min(len(column), low + TILE)):
            seen[column[i]] = True
        if seen[: most + 1].sum() == wanted:
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
    """Write to `out` how many of the ascending `cuts` lie below each number; return whether all were finite or NaN."""
    clean = True
    many = len(cuts)
    tile = np.empty(TILE, np.float64)
    below = np.empty(TILE, np.float64)
    for low in range(0, rows.shape[0], TILE):
        size = min(TILE, rows.shape[0] - low)
        for i in range(size):
            tile[i] = rows[low + i, column]
        if many <= FEW_CUTS:
            # Without a branch that depends on the number, this is done for several numbers at once.
            below[:] = 0.0
            for cut in cuts:
                for i in range(TILE):
                    below[i] += 1.0 if tile[i] > cut else 0.0
        else:
            for i in range(size):
                first, last = 0, many
                while first < last:
                    middle = (first + last) // 2
                    if cuts[middle] < tile[i]:
                        first = middle + 1
                    else:
                        last = middle
                below[i] = first
        for i in range(size):
            if np.isinf(tile[i]):
                clean = False
            out[low + i] = missing if np.isnan(tile[i]) else int(below[i])
    return clean


@njit(nogil=True, cache=True)
def few_whole_numbers(rows: NDArray[np.float64], column: int, most: int) -> bool:
    """Return whether the column holds whole numbers (and NaN) only, of at most `most` distinct values.

    Beyond 2 to the 53rd every float is whole, and none is known to be meant so.
    """
    seen = np.empty(most, np.float64)
    many = 0
    for i in range(rows.shape[0]):
        x = rows[i, column]
        if np.isnan(x):
            continue
        if x != np.floor(x) or abs(x) > EXACT:
            return False
        known = False
        for j in range(many):
            if seen[j] == x:
                known = True
                break
        if not known:
            if many == most:
                return False
            seen[many] = x
            many += 1
    return True
