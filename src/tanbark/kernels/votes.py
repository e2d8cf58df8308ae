"""From log joints to votes."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(nogil=True, cache=True)
def most_probable(
    joint: NDArray[np.float64], log_prior: NDArray[np.float64], slack: float, out: NDArray[np.int64]
) -> None:
    """Write each row's most probable class to `out`, the first of those within `slack` of the greatest.

    Where no class can have made a row it is that of the greatest prior.
    """
    for i in range(joint.shape[0]):
        scores = joint[i]
        if scores.max() == -np.inf:
            scores = log_prior
        least = scores.max() - slack
        best = 0
        while scores[best] < least:
            best += 1
        out[i] = best
