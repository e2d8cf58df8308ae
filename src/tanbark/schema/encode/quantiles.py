"""Unsupervised cut points of numbers: with equal frequency or with equal width."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantile_cuts(values: NDArray[np.float64], weights: NDArray[np.float64] | None, n_bins: int) -> list[float]:
    """Return the distinct inverted-CDF quantiles at 1/n, 2/n, ... that are below the largest value.

    The j-th quantile is the smallest value v such that the values up to v have at least j/n of the total weight. The
    code compares ``n * cumulative weight`` with ``j * total weight``, so a weight of three equals three rows exactly.

    >>> quantile_cuts(np.array([5.0, 1, 2, 3, 4]), None, 2)
    [3.0]
    >>> quantile_cuts(np.array([1.0, 2, 3]), np.array([4.0, 1, 1]), 2)
    [1.0]
    """
    if not len(values):
        return []
    if weights is None:
        # Sorting is vectorised, and so faster than a partition at several places.
        return cuts_of_sorted(np.sort(values), n_bins)
    order = np.argsort(values, kind="stable")
    ordered, cumulative = values[order], np.cumsum(weights[order])
    targets = np.arange(1, n_bins) * cumulative[-1]
    if (weights != np.floor(weights)).any():
        # Sums of fractions are rounded: tolerate an error in the last bits.
        targets = targets * (1 - 1e-9)
    quantiles = ordered[np.searchsorted(cumulative * n_bins, targets, side="left")]
    return [float(c) for c in np.unique(quantiles) if c < ordered[-1]]


def cuts_of_sorted(ordered: NDArray[np.float64], n_bins: int) -> list[float]:
    """Return the `quantile_cuts` of sorted values, of which there is at least one."""
    quantiles = ordered[[(j * len(ordered) + n_bins - 1) // n_bins - 1 for j in range(1, n_bins)]]
    return [float(c) for c in np.unique(quantiles) if c < ordered[-1]]


def width_cuts(values: NDArray[np.float64], n_bins: int) -> list[float]:
    """Return the cut points that divide the range of the values into `n_bins` intervals of equal width.

    >>> width_cuts(np.array([0.0, 8, 1]), 4)
    [2.0, 4.0, 6.0]
    """
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    share = np.arange(1, n_bins) / n_bins
    with np.errstate(over="ignore"):
        overflows = not np.isfinite(high - low)
    cuts = np.unique(low * (1 - share) + high * share if overflows else low + (high - low) * share)
    return [float(c) for c in cuts if low <= c < high]
