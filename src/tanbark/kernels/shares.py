"""Conditional probabilities from counts and what is added to them."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def divide_by_sums(seen: Floats, out: Floats) -> None:
    """Write each row of `seen` divided by its sum to `out`, uniform where nothing was seen."""
    rows, values = seen.shape
    for i in range(rows):
        total = 0.0
        for j in range(values):
            total += seen[i, j]
        for j in range(values):
            out[i, j] = seen[i, j] / total if total > 0 else 1.0 / values


@njit(nogil=True, cache=True)
def log_conditional(seen: NDArray[np.generic], added: Floats, out: Floats) -> None:
    """Write ``log P(j | i, k)`` to `out[i, k, j]` from the counts `seen[k, i, j]` and what each value `j` gets more."""
    classes, configurations, values = seen.shape
    for i in range(configurations):
        for k in range(classes):
            total = 0.0
            for j in range(values):
                out[i, k, j] = seen[k, i, j] + added[j]
                total += out[i, k, j]
            for j in range(values):
                share = out[i, k, j] / total if total > 0 else 1.0 / values
                out[i, k, j] = math.log(share) if share > 0 else -np.inf
