"""Merge neighbouring intervals into few groups with the least change of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEGLIGIBLE_CHANGE = 1e-6
"""Root mean square changes up to this one are rounding errors."""


@dataclass(frozen=True)
class Merging:
    """Groups of neighbouring intervals: the position of the first interval of each, and the mean value of each."""

    starts: tuple[int, ...]
    means: tuple[float, ...]

    def group_of(self, n: int) -> NDArray[np.int64]:
        """Return the group of each of `n` intervals."""
        return np.searchsorted(self.starts, np.arange(n), side="right") - 1


def merge_intervals(values: Array, weights: Array, max_groups: int | None, tolerance: float) -> Merging:
    """Merge neighbouring intervals into as few groups as change the values little enough, but at most `max_groups`.

    The change is the root mean square difference between the value of an interval and the mean of its group. For each
    number of groups, it is the least possible one.

    Parameters
    ----------
    values, weights : arrays of shape (intervals,)
        The value of each interval, and the weight of the rows in it.
    max_groups : int or None
        The maximum number of groups; None merges nothing.
    tolerance : float
        The change that is small enough.

    >>> merge_intervals(np.array([0.0, 0.1, 5.0, 5.0]), np.ones(4), max_groups=3, tolerance=0.1)
    Merging(starts=(0, 2), means=(0.05, 5.0))
    """
    if max_groups is None:
        starts = list(range(len(values)))
    else:
        costs, previous = _least_costs(values, weights, min(max_groups, len(values)))
        allowed = max(tolerance, NEGLIGIBLE_CHANGE) ** 2 * max(float(weights.sum()), np.finfo(float).tiny)
        enough = np.flatnonzero(costs <= allowed)
        starts = _group_starts(previous, int(enough[0]) + 1 if len(enough) else len(costs))
    ends = [*starts[1:], len(values)]
    means = [_mean(values[a:b], weights[a:b]) for a, b in zip(starts, ends, strict=True)]
    return Merging(tuple(starts), tuple(means))


def _least_costs(values: Array, weights: Array, max_groups: int) -> tuple[Array, NDArray[np.int64]]:
    """Return the least sum of weighted squared changes for each number of groups, and the choices that lead to it.

    ``least[g, j]``, the least cost of the first ``j`` intervals in ``g`` groups, is the minimum over ``i`` of
    ``least[g - 1, i]`` plus the cost of a group of the intervals from ``i`` to ``j - 1``; ``previous[g, j]`` is that
    ``i``. The cost of a group is ``sum w v^2 - (sum w v)^2 / sum w``.
    """
    n = len(values)
    # Sums of squares lose fewer digits for values around zero.
    centred = values - _mean(values, weights)
    weight, total, square = (
        np.concatenate([[0.0], np.cumsum(part)]) for part in (weights, weights * centred, weights * centred**2)
    )
    least = np.full((max_groups + 1, n + 1), np.inf)
    least[0, 0] = 0.0
    previous = np.zeros((max_groups + 1, n + 1), np.int64)
    for j in range(1, n + 1):
        w, s, q = weight[j] - weight[:j], total[j] - total[:j], square[j] - square[:j]
        cost = np.maximum(q - np.divide(s * s, w, out=np.zeros(j), where=w > 0), 0.0)
        sums = least[:-1, :j] + cost
        previous[1:, j] = sums.argmin(axis=1)
        least[1:, j] = sums.min(axis=1)
    return least[1:, n], previous


def _group_starts(previous: NDArray[np.int64], groups: int) -> list[int]:
    """Return the first interval of each group of the best merging into this number of groups."""
    starts: list[int] = []
    j = previous.shape[1] - 1
    for g in range(groups, 0, -1):
        j = int(previous[g, j])
        starts.append(j)
    return starts[::-1]


def _mean(values: Array, weights: Array) -> float:
    """Return the weighted mean, or the plain mean if all weights are zero."""
    total = float(weights.sum())
    return float(weights @ values / total) if total > 0 else float(values.mean())
