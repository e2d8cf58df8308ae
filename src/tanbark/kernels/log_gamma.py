"""The logarithm of the gamma function, fast where its argument is not small."""

import math

import numpy as np
from numba import njit

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@njit(nogil=True, cache=True)
def log_gamma(z: float) -> float:
    """Return ``log G(z)`` for `z` above zero, by Stirling's series from 16 on, to the last digit or two."""
    if z < 16.0:
        return math.lgamma(z)
    s = 1.0 / (z * z)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / z
    return float((z - 0.5) * np.log(z) - z + HALF_LOG_TWO_PI + series)
