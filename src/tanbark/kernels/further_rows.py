"""Adding a few rows to counts of pairs."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.intrinsics import WORD, popcount

Codes = NDArray[np.unsignedinteger]
Integers = NDArray[np.int64]


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
