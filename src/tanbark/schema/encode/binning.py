"""Cut points for numbers: equal frequency, equal width, and the MDLP criterion.

Cut points for numbers chosen with the class in view: the MDLP criterion of Fayyad and Irani (1993).

Fayyad, U. and Irani, K. (1993). Multi-interval discretization of continuous-valued attributes for classification
learning. IJCAI, 1022-1027.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

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


def _entropy(counts: Numbers) -> Numbers:
    """Return the entropy in bits of each row of counts."""
    total = counts.sum(axis=-1)
    spread = xlogy(counts, counts).sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    return np.where(total > 0, (np.log(safe) - spread / safe) / np.log(2), 0.0)


def _best_cut(counts: Numbers) -> int | None:
    """Return how many of the ordered rows go left at the accepted best cut, or None.

    The cut of least class entropy `E` is accepted where its gain exceeds ``log2(N - 1)/N + delta/N`` with
    ``delta = log2(3^k - 2) - [k E(S) - k1 E(S1) - k2 E(S2)]``, `k` the number of classes present on each side.
    """
    left = np.cumsum(counts, axis=0)[:-1]
    whole = counts.sum(axis=0)
    right = whole - left
    total = whole.sum()
    if not len(left) or total <= 1:
        return None
    entropy_left, entropy_right = _entropy(left), _entropy(right)
    expected = (left.sum(axis=1) * entropy_left + right.sum(axis=1) * entropy_right) / total
    best = int(np.argmin(expected))
    entropy = float(_entropy(whole))
    present, at_left, at_right = (int((c > 0).sum()) for c in (whole, left[best], right[best]))
    # log2(3^k - 2), which overflows for hundreds of classes if written so.
    choices = present * np.log2(3.0) + np.log1p(-2.0 * 3.0**-present) / np.log(2.0)
    delta = choices - (present * entropy - at_left * entropy_left[best] - at_right * entropy_right[best])
    gain = entropy - expected[best]
    return best + 1 if gain > (np.log2(total - 1) + delta) / total else None


def _between(low: float, high: float) -> float:
    """Return the point half-way between two numbers, which lies below the upper one also where they are neighbours."""
    half = low / 2 + high / 2 if abs(low) > 1e300 or abs(high) > 1e300 else (low + high) / 2
    return half if half < high else low


def mdlp_cuts(values: Numbers, y: NDArray[np.integer], weights: Numbers | None, classes: int) -> list[float]:
    """Return the accepted cut points, each half-way between two neighbouring values.

    >>> mdlp_cuts(np.array([1.0, 2, 3, 11, 12, 13]), np.array([0, 0, 0, 1, 1, 1]), None, 2)
    [7.0]
    """
    distinct, at = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), classes))
    np.add.at(counts, (at, y), 1.0 if weights is None else weights)
    cuts: list[float] = []
    waiting = [(0, len(distinct))]
    while waiting:
        start, stop = waiting.pop()
        size = _best_cut(counts[start:stop])
        if size is not None:
            middle = start + size
            cuts.append(_between(float(distinct[middle - 1]), float(distinct[middle])))
            waiting += [(start, middle), (middle, stop)]
    return sorted(cuts)
