"""Orders in which each row is followed by one that is like it, or unlike it."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Codes = NDArray[np.unsignedinteger]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def chain(codes: Codes, like: bool, order: Integers) -> None:
    """Rearrange `order`: its first row stays, and each is followed by the nearest of the rest, or the farthest.

    The distance is the number of codes that differ; of rows equally far the first in the given order is taken.
    `codes` has one row of memory per column and is rearranged too.
    """
    columns, rows = codes.shape
    distance = np.empty(rows, np.int64)
    for step in range(rows - 1):
        rest = step + 1
        distance[rest:] = 0
        for u in range(columns):
            here = codes[u, step]
            line = codes[u]
            for row in range(rest, rows):
                distance[row] += line[row] != here
        best = rest
        for row in range(rest + 1, rows):
            if (distance[row] < distance[best]) if like else (distance[row] > distance[best]):
                best = row
        order[rest], order[best] = order[best], order[rest]
        for u in range(columns):
            codes[u, rest], codes[u, best] = codes[u, best], codes[u, rest]
