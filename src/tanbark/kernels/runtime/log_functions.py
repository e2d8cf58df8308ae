"""Logarithms of gamma-function ratios and of sums."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

LARGE = 16.0


@njit(nogil=True, cache=True)
def _series(z: float) -> float:
    """Return what Stirling's formula leaves of ``log G(z)``, for `z` of at least `LARGE`."""
    s = 1.0 / (z * z)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / z


@njit(nogil=True, cache=True)
def log_rising(a: float, n: float) -> float:
    """Return ``log G(a + n) / G(a)`` for `a` and `n` above zero, to the last few digits however large `a` is."""
    if a >= LARGE:
        return float((a - 0.5) * np.log1p(n / a) + n * np.log(a + n) - n + _series(a + n) - _series(a))
    if a + n < LARGE:
        return math.lgamma(a + n) - math.lgamma(a)
    z = a + n
    return float((z - 0.5) * np.log(z) - z + 0.5 * np.log(2.0 * np.pi) + _series(z) - math.lgamma(a))


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
