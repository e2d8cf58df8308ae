"""Counts of further columns beside configurations that are numbered already."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit


@njit(nogil=True, cache=True)
def joint_counts(
    at: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    start: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the weight of the cases with each number and each code of one column, for every column.

    Column `u` has its table (numbers, arity) from ``start[u]`` on.
    """
    counts = np.zeros(start[-1])
    for u in range(len(codes)):
        column = codes[u]
        table = counts[start[u] :]
        radix = arity[u]
        for i in range(len(at)):
            table[at[i] * radix + column[i]] += weights[i]
    return counts
