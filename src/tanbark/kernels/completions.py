"""The rows that a row with missing values may be."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Integers = NDArray[np.int64]
CodeArray = NDArray[np.unsignedinteger]


@njit(nogil=True, cache=True)
def complete_rows(codes: CodeArray, missing: int, arity: Integers, start: Integers, out: CodeArray) -> None:
    """Write every completion of every row; those of row `i` are the columns ``start[i]`` to ``start[i + 1]``."""
    for row in range(codes.shape[1]):
        each = 1
        for u in range(len(codes)):
            code = codes[u, row]
            if code != missing:
                out[u, start[row] : start[row + 1]] = code
                continue
            for at in range(start[row], start[row + 1]):
                out[u, at] = (at - start[row]) // each % arity[u]
            each *= arity[u]
