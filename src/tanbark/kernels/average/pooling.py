"""Logarithmic and linear pools of class probabilities, their likelihood with derivatives in the weights, and votes.

`logarithmic_pool` and `linear_pool` return the conditional log likelihood of the rows `low` to `high`, the sum of ``w
log p(class | row)`` with row weights `w`. They add its gradient in the pool's weights to `gradient` and its negative
Hessian to the lower triangle of `hessian`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.tree_joint import Codes, Floats, Integers, tree_log_joint
from tanbark.kernels.runtime.compiling import njit

IMPOSSIBLE_LOG_GAP = -700.0
"""Log probability of a class that a member excludes, relative to its least probable class, so that none has a veto."""
MIN_LOG_SHARE = -30.0
"""In a linear pool, log probabilities of members are clipped to this value relative to the greatest."""
LOG_TIE_TOLERANCE = 1e-9
"""Smaller differences between log joints are treated as rounding errors."""


@njit(nogil=True, cache=True)
def to_log_posteriors(joints: Floats, log_prior: Floats, low: int, high: int) -> None:
    """Convert the log joints ``[row, k, m]`` of each member to log posteriors, all of them finite.

    A row that is impossible under a member in every class gets the prior. `log_prior` has one row for all rows or one
    for each.
    """
    classes, members = joints.shape[1:]
    for row in range(low, high):
        prior = log_prior[min(row, len(log_prior) - 1)]
        for m in range(members):
            largest, smallest = -np.inf, np.inf
            for k in range(classes):
                score = joints[row, k, m]
                if score == -np.inf:
                    continue
                largest, smallest = max(largest, score), min(smallest, score)
            if largest == -np.inf:
                largest, smallest = 0.0, 0.0
                for k in range(classes):
                    joints[row, k, m] = prior[k]
                    smallest = min(smallest, prior[k] if prior[k] > -np.inf else 0.0)
            total = 0.0
            for k in range(classes):
                total += np.exp(joints[row, k, m] - largest)
            for k in range(classes):
                if joints[row, k, m] == -np.inf:
                    joints[row, k, m] = smallest + IMPOSSIBLE_LOG_GAP
                joints[row, k, m] -= largest + np.log(total)


@njit(nogil=True, cache=True)
def pooled_scores(log_posteriors: Floats, pool: Floats, linear: bool, low: int, high: int, out: Floats) -> None:
    """Write ``sum_m pool[m] log p_m``, or if `linear` the log of ``sum_m pool[m] p_m``, of each row and class."""
    classes, members = log_posteriors.shape[1:]
    for row in range(low, high):
        for k in range(classes):
            scores = log_posteriors[row, k]
            largest = scores.max()
            total = 0.0
            for m in range(members):
                total += pool[m] * (np.exp(scores[m] - largest) if linear else scores[m])
            out[row, k] = largest + np.log(total) if linear else total


@njit(nogil=True, cache=True)
def logarithmic_pool(
    scores: Floats, weights: Floats, pool: Floats, low: int, high: int, gradient: Floats, hessian: Floats
) -> float:
    """Add the derivatives of a logarithmic pool, ``p ~ exp(pool . log p_m)``, and return its log likelihood.

    `scores` holds the members' log probabilities ``[row, other class, member]`` minus those of the row's own class,
    which is omitted. This preserves accuracy when the row's class is almost certain.
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
            gradient[m] -= weights[row] * mean[m]
        for m in range(members):
            for k in range(others):
                factor = weights[row] * odds[k] * scores[row, k, m]
                for other in range(m + 1):
                    hessian[m, other] += factor * scores[row, k, other]
            factor = weights[row] * mean[m]
            for other in range(m + 1):
                hessian[m, other] -= factor * mean[other]
    return value


@njit(nogil=True, cache=True)
def linear_pool(
    scores: Floats, weights: Floats, pool: Floats, low: int, high: int, gradient: Floats, hessian: Floats
) -> float:
    """Add the derivatives of a linear pool, ``p = pool . p_m``, and return its log likelihood.

    ``scores[row, 0]`` holds the members' probabilities of the row's own class, relative to the greatest, and
    ``scores[row, 1]`` the differences from one. The weights of a pool sum to one, so a constant added to all members
    changes neither gradient nor curvature along the simplex, and both representations are equivalent. The differences
    are used when the pool is close to one, where they are more accurate, and the relative probabilities otherwise.
    """
    members = scores.shape[2]
    value = 0.0
    for row in range(low, high):
        total, deficit = 0.0, 0.0
        for m in range(members):
            total += pool[m] * scores[row, 0, m]
            deficit += pool[m] * scores[row, 1, m]
        use_deficit = deficit < 0.5
        if use_deficit:
            total = 1.0 - deficit
        value += weights[row] * (np.log1p(-deficit) if use_deficit else np.log(total))
        row_scores = scores[row, 1] if use_deficit else scores[row, 0]
        sign = -1.0 if use_deficit else 1.0
        for m in range(members):
            share = row_scores[m] / total
            gradient[m] += sign * weights[row] * share
            for other in range(m + 1):
                hessian[m, other] += weights[row] * share * (row_scores[other] / total)
    return value


@njit(nogil=True, cache=True)
def most_probable(joint: Floats, log_prior: Floats, low: int, high: int, out: NDArray[np.int64]) -> None:
    """Write the most probable class of rows `low` to `high` to `out`; up to rounding, ties go to the first class.

    A row that no class can produce gets the class with the greatest prior.
    """
    for i in range(low, high):
        scores = joint[i]
        if scores.max() == -np.inf:
            scores = log_prior
        threshold = scores.max() - LOG_TIE_TOLERANCE
        best = 0
        while scores[best] < threshold:
            best += 1
        out[i] = best


@njit(nogil=True, cache=True)
def tally_votes(
    codes: Codes,
    order: Integers,
    parent: Integers,
    arity: Integers,
    start: Integers,
    tables: Floats,
    log_prior: Floats,
    weights: Floats,
    low: int,
    high: int,
    joint: Floats,
    vote: Integers,
    tally: Floats,
) -> None:
    """Add the weights of the trees that vote for each class to ``tally[row, class]``.

    `joint` and `vote` are work space.
    """
    for m in range(len(weights)):
        tree_log_joint(codes, order[m], parent[m], arity, start[m], tables, log_prior[m], low, high, joint)
        most_probable(joint, log_prior[m], low, high, vote)
        for i in range(low, high):
            tally[i, vote[i]] += weights[m]
