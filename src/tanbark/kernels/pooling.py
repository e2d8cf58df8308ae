"""Pools of class probabilities, and their conditional log likelihood with its derivatives in the pool's weights.

`logarithmic_pool` and `linear_pool` add to `slope` the gradient and, if `curved`, to the lower triangle of `bend` the
negative Hessian over the rows `low` to `high`, whose weights are `weights`; they return the sum of
``w log p(class | row)``.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLOOR = -700.0
"""What is impossible counts as this improbable (1e-304) in a pool, so that a member without weight has no veto."""


@njit(nogil=True, cache=True)
def to_log_posteriors(joints: Floats, log_prior: Floats, low: int, high: int) -> None:
    """Turn the log joints ``[row, k, m]`` of each member into log posteriors, none below `FLOOR`.

    A row that a member finds impossible in every class gets the prior.
    """
    classes, members = joints.shape[1:]
    for row in range(low, high):
        for m in range(members):
            largest = -np.inf
            for k in range(classes):
                largest = max(largest, joints[row, k, m])
            total = 0.0
            for k in range(classes):
                if largest == -np.inf:
                    joints[row, k, m] = log_prior[k]
                else:
                    total += np.exp(joints[row, k, m] - largest)
            if largest > -np.inf:
                largest += np.log(total)
                for k in range(classes):
                    joints[row, k, m] -= largest
            for k in range(classes):
                joints[row, k, m] = max(joints[row, k, m], FLOOR)


@njit(nogil=True, cache=True)
def pooled_scores(log_posteriors: Floats, pool: Floats, linear: bool, low: int, high: int, out: Floats) -> None:
    """Write ``sum_m pool[m] log p_m``, or if `linear` the log of ``sum_m pool[m] p_m``, of each row and class."""
    classes, members = log_posteriors.shape[1:]
    for row in range(low, high):
        for k in range(classes):
            total = 0.0
            for m in range(members):
                score = log_posteriors[row, k, m]
                total += pool[m] * (np.exp(score) if linear else score)
            out[row, k] = np.log(total) if linear else total


@njit(nogil=True, cache=True)
def logarithmic_pool(
    scores: Floats, weights: Floats, pool: Floats, curved: bool, low: int, high: int, slope: Floats, bend: Floats
) -> float:
    """``p ~ exp(pool . log p_m)``: `scores` are the members' log probabilities ``[row, other class, member]``.

    Those of the row's own class are subtracted from all others and left out, which keeps every digit where the row's
    class is all but certain.
    """
    others, members = scores.shape[1:]
    odds = np.empty(others)
    mean = np.empty(members)
    value = 0.0
    for row in range(low, high):
        largest = 0.0
        for k in range(others):
            odds[k] = 0.0
            for m in range(members):
                odds[k] += pool[m] * scores[row, k, m]
            largest = max(largest, odds[k])
        total = 0.0
        for k in range(others):
            odds[k] = np.exp(odds[k] - largest)
            total += odds[k]
        value -= weights[row] * (np.log1p(total) if largest == 0.0 else largest + np.log(np.exp(-largest) + total))
        total += np.exp(-largest)
        mean[:] = 0.0
        for k in range(others):
            odds[k] /= total
            for m in range(members):
                mean[m] += odds[k] * scores[row, k, m]
        for m in range(members):
            slope[m] -= weights[row] * mean[m]
        if curved:
            for m in range(members):
                for k in range(others):
                    factor = weights[row] * odds[k] * scores[row, k, m]
                    for other in range(m + 1):
                        bend[m, other] += factor * scores[row, k, other]
                factor = weights[row] * mean[m]
                for other in range(m + 1):
                    bend[m, other] -= factor * mean[other]
    return value


@njit(nogil=True, cache=True)
def linear_pool(
    scores: Floats, weights: Floats, pool: Floats, curved: bool, low: int, high: int, slope: Floats, bend: Floats
) -> float:
    """``p = pool . p_m``: `scores` are the members' probabilities of the row's own class, ``[row, member]``."""
    members = scores.shape[1]
    value = 0.0
    for row in range(low, high):
        total = 0.0
        for m in range(members):
            total += pool[m] * scores[row, m]
        value += weights[row] * np.log(total)
        for m in range(members):
            factor = weights[row] / total * scores[row, m]
            slope[m] += factor
            if curved:
                for other in range(m + 1):
                    bend[m, other] += factor / total * scores[row, other]
    return value
