"""Kernels that join adjacent cells of a number to the best intervals."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def segment_costs(counts: Floats) -> Floats:
    """Return the negative log marginal likelihood of the classes in every interval of adjacent cells.

    The class probabilities of an interval have a uniform prior, so that the cost of `n` rows, `n_c` of class `c` out of
    `C` classes, is ``log((n + C - 1)! / (C - 1)!) - sum_c log(n_c!)``.

    Parameters
    ----------
    counts : ndarray of shape (cells, classes)

    Returns
    -------
    costs : ndarray of shape (cells + 1, cells + 1)
        ``costs[j, i]`` is the cost of the cells from `i` to `j - 1`, for i < j.
    """
    cells, classes = counts.shape
    costs = np.zeros((cells + 1, cells + 1))
    within = np.empty(classes)
    for i in range(cells):
        within[:] = 0.0
        for j in range(i + 1, cells + 1):
            total, cost = 0.0, 0.0
            for c in range(classes):
                within[c] += counts[j - 1, c]
                if within[c] > 0:
                    total += within[c]
                    cost -= math.lgamma(within[c] + 1.0)
            costs[j, i] = cost + math.lgamma(total + classes) - math.lgamma(float(classes))
    return costs


@njit(nogil=True, cache=True)
def best_partition(costs: Floats, prior: Floats, least: float, tolerance: float) -> NDArray[np.int64]:
    """Return where the intervals of the partition with the lowest total cost end, by dynamic programming.

    Ties go to the partition with the fewest intervals, and then to the one whose last cut points are smallest.

    Parameters
    ----------
    costs : ndarray of shape (cells + 1, cells + 1)
        ``costs[j, i]`` is the cost of an interval of the cells from `i` to `j - 1`.
    prior : ndarray of shape (max_intervals,)
        The cost of having one interval, two intervals, and so on, in ascending order.
    least : float
        A lower bound on the sum of the costs of the intervals of any partition. The search ends as soon as the prior
        alone shows that more intervals cannot be better.
    tolerance : float
        Costs that differ by less are equal.

    Returns
    -------
    ends : ndarray of shape (intervals - 1,)
        The number of cells up to the end of each interval except the last.
    """
    cells = len(costs) - 1
    before = costs[:, 0].copy()
    best, intervals = before[cells] + prior[0], 1
    back = np.zeros((len(prior), cells + 1), np.int64)
    for k in range(1, min(len(prior), cells)):
        if least + prior[k] >= best:
            break
        after = np.full(cells + 1, np.inf)
        for j in range(k + 1, cells + 1):
            for i in range(k, j):
                cost = before[i] + costs[j, i]
                if cost < after[j] - tolerance:
                    after[j], back[k, j] = cost, i
        if after[cells] + prior[k] < best - tolerance:
            best, intervals = after[cells] + prior[k], k + 1
        before = after
    ends = np.empty(intervals - 1, np.int64)
    end = cells
    for k in range(intervals - 1, 0, -1):
        end = back[k, end]
        ends[k - 1] = end
    return ends
