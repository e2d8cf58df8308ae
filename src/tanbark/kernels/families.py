"""Mixed-radix keys of families of columns, the step before counting them."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit


@njit(nogil=True, cache=True)
def family_keys(
    codes: NDArray[np.unsignedinteger],
    arity: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> None:
    """Append the columns to each row's key as further digits, last column fastest.

    A row that lacks a value (a code that is no level of its column) gets the key -1 and keeps it.
    """
    for u in range(len(codes)):
        column = codes[u]
        radix = arity[u]
        for i in range(keys.shape[0]):
            code = np.int64(column[i])
            if keys[i] < 0 or code >= radix:
                keys[i] = -1
            else:
                keys[i] = keys[i] * radix + code
