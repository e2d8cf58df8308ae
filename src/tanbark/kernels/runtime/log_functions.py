"""Logarithms of gamma-function ratios and of sums of exponentials."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

MIN_STIRLING_ARGUMENT = 16.0
"""From this argument on, six terms of Stirling's series are exact to double precision."""


@njit(nogil=True, cache=True)
def _stirling(z: float) -> float:
    """Return ``log G(z) - [(z - 1/2) log z - z + 1/2 log 2 pi]`` for `z` of at least `MIN_STIRLING_ARGUMENT`."""
    s = 1.0 / (z * z)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / z


@njit(nogil=True, cache=True)
def log_rising_factorial(a: float, n: float) -> float:
    """Return ``log G(a + n) / G(a)`` for positive `a` and `n`, accurate to the last few digits for any `a`."""
    if a >= MIN_STIRLING_ARGUMENT:
        return float((a - 0.5) * np.log1p(n / a) + n * np.log(a + n) - n + _stirling(a + n) - _stirling(a))
    if a + n < MIN_STIRLING_ARGUMENT:
        return math.lgamma(a + n) - math.lgamma(a)
    z = a + n
    return float((z - 0.5) * np.log(z) - z + 0.5 * np.log(2.0 * np.pi) + _stirling(z) - math.lgamma(a))


@njit(nogil=True, cache=True)
def log_sum_exp(terms: NDArray[np.float64], low: int, high: int) -> float:
    """Return ``log sum exp(terms[low:high])``; a single term is returned unchanged."""
    largest = -np.inf
    for i in range(low, high):
        largest = max(largest, terms[i])
    if high - low == 1 or largest == -np.inf:
        return float(largest)
    total = 0.0
    for i in range(low, high):
        total += np.exp(terms[i] - largest)
    return float(largest + np.log(total))
