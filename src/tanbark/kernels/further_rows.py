"""Adding a few rows to counts of pairs: cell by cell, where a chunk is smaller than the table."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.unsignedinteger]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def add_rows(codes: Codes, y: NDArray[np.uint16], offset: Integers, table: NDArray[np.generic]) -> None:
    """Add rows to the Burt table of their classes, both triangles and the diagonal; a missing value is in no count.

    One pair of attributes after the other, since a pair's cells fit the nearest cache and a row's do not.
    """
    n, rows = codes.shape
    values = table.shape[1]
    at = np.empty((n, rows), np.int64)
    whole = np.ones(n, np.bool_)
    for u in range(n):
        for row in range(rows):
            value = offset[u] + codes[u, row]
            at[u, row] = value if value < offset[u + 1] else -1
            whole[u] = whole[u] and value < offset[u + 1]
    flat = table.ravel()
    start = np.empty(rows, np.int64)
    for u in range(n):
        for row in range(rows):
            here = at[u, row]
            start[row] = (y[row] * values + here) * values if here >= 0 else -1
            if here >= 0:
                flat[start[row] + here] += 1
        for v in range(u):
            if whole[u] and whole[v]:
                for row in range(rows):
                    flat[start[row] + at[v, row]] += 1
            else:
                for row in range(rows):
                    if start[row] >= 0 and at[v, row] >= 0:
                        flat[start[row] + at[v, row]] += 1
            for k in range(len(table)):
                for i in range(offset[u], offset[u + 1]):
                    for j in range(offset[v], offset[v + 1]):
                        table[k, j, i] = table[k, i, j]
