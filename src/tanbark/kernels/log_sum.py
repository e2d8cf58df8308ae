"""Adding numbers that are given by their logarithms."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit


@njit(nogil=True, cache=True)
def log_sum(terms: NDArray[np.float64], low: int, high: int) -> float:
    """Return the logarithm of the sum of the exponentials of the terms from `low` to `high`; a single one is itself."""
    largest = -np.inf
    for i in range(low, high):
        largest = max(largest, terms[i])
    if high - low == 1 or largest == -np.inf:
        return float(largest)
    total = 0.0
    for i in range(low, high):
        total += np.exp(terms[i] - largest)
    return float(largest + np.log(total))
