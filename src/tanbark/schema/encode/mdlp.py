"""MDLP: cut points of numeric columns by the supervised criterion of Fayyad and Irani (1993).

References
----------
Fayyad, U. and Irani, K. (1993). Multi-interval discretization of continuous-valued attributes for classification
learning. IJCAI, 1022-1027.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Numbers = NDArray[np.float64]


def _entropy(counts: Numbers) -> Numbers:
    """Return the entropy of each row of counts, in bits."""
    total = counts.sum(axis=-1)
    spread = xlogy(counts, counts).sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    return np.where(total > 0, (np.log(safe) - spread / safe) / np.log(2), 0.0)


def _best_cut(counts: Numbers) -> int | None:
    """Return the number of distinct values to the left of the best cut, or None if the cut is rejected.

    The cut with the lowest class entropy `E` is accepted if its gain exceeds ``log2(N - 1)/N + delta/N`` with
    ``delta = log2(3^k - 2) - [k E(S) - k1 E(S1) - k2 E(S2)]``, where `k`, `k1` and `k2` are the numbers of classes
    present in the whole set and on each side.
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
    # log2(3^k - 2) in a form that does not overflow for hundreds of classes.
    choices = present * np.log2(3.0) + np.log1p(-2.0 * 3.0**-present) / np.log(2.0)
    delta = choices - (present * entropy - at_left * entropy_left[best] - at_right * entropy_right[best])
    gain = entropy - expected[best]
    return best + 1 if gain > (np.log2(total - 1) + delta) / total else None


def _midpoint(low: float, high: float) -> float:
    """Return the midpoint of two numbers, or `low` if rounding would move the midpoint up to `high`."""
    half = low / 2 + high / 2 if abs(low) > 1e300 or abs(high) > 1e300 else (low + high) / 2
    return half if half < high else low


def mdlp_cuts(values: Numbers, y: NDArray[np.integer], weights: Numbers | None, classes: int) -> list[float]:
    """Return the cut points accepted by MDLP, each halfway between two neighbouring values.

    >>> mdlp_cuts(np.array([1.0, 2, 3, 11, 12, 13]), np.array([0, 0, 0, 1, 1, 1]), None, 2)
    [7.0]
    """
    distinct, at = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), classes))
    np.add.at(counts, (at, y), 1.0 if weights is None else weights)
    cuts: list[float] = []
    pending = [(0, len(distinct))]
    while pending:
        start, stop = pending.pop()
        size = _best_cut(counts[start:stop])
        if size is not None:
            middle = start + size
            cuts.append(_midpoint(float(distinct[middle - 1]), float(distinct[middle])))
            pending += [(start, middle), (middle, stop)]
    return sorted(cuts)
