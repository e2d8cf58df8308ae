"""Cut points for numbers without looking at the class: equal frequency and equal width."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def quantile_cuts(values: Numbers, weights: Numbers | None, n_bins: int) -> list[float]:
    """Return the inverted-CDF quantiles at 1/n, 2/n, ..., each once, none at or above the largest value.

    The j-th is the smallest value at or below which lies j/n of the weight; comparisons are made between
    ``n * weight below`` and ``j * weight``, so that a weight of three is three rows exactly.

    >>> quantile_cuts(np.array([5.0, 1, 2, 3, 4]), None, 2)
    [3.0]
    >>> quantile_cuts(np.array([1.0, 2, 3]), np.array([4.0, 1, 1]), 2)
    [1.0]
    """
    if not len(values):
        return []
    if weights is None:
        at = [(j * len(values) + n_bins - 1) // n_bins - 1 for j in range(1, n_bins)]
        ordered = np.partition(values, sorted({*at, len(values) - 1}))
        found = ordered[at]
        largest = ordered[-1]
    else:
        order = np.argsort(values, kind="stable")
        ordered, below = values[order], np.cumsum(weights[order])
        wanted = np.arange(1, n_bins) * below[-1]
        if (weights != np.floor(weights)).any():
            # Sums of fractions are rounded; a quantile must not move for the last bit of one.
            wanted = wanted * (1 - 1e-9)
        found = ordered[np.searchsorted(below * n_bins, wanted, side="left")]
        largest = ordered[-1]
    return [float(c) for c in np.unique(found) if c < largest]


def width_cuts(values: Numbers, n_bins: int) -> list[float]:
    """Return the points that cut the range of the values into `n_bins` intervals of equal width.

    >>> width_cuts(np.array([0.0, 8, 1]), 4)
    [2.0, 4.0, 6.0]
    """
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    share = np.arange(1, n_bins) / n_bins
    with np.errstate(over="ignore"):
        wide = not np.isfinite(high - low)
    cuts = np.unique(low * (1 - share) + high * share if wide else low + (high - low) * share)
    return [float(c) for c in cuts if low <= c < high]
