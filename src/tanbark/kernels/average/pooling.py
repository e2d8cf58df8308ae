"""Logarithmic and linear pools of class probabilities, with derivatives in the weights, and votes.

Pools of class probabilities, and their conditional log likelihood with its derivatives in the pool's weights.

`logarithmic_pool` and `linear_pool` add to `slope` the gradient and to the lower triangle of `bend` the negative
Hessian over the rows `low` to `high`, whose weights are `weights`; they return the sum of ``w log p(class | row)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.tree_joint import Codes, Floats, Integers, tree_log_joint
from tanbark.kernels.runtime.compiling import njit

IMPOSSIBLE = -700.0
"""What a member finds impossible is by so much less probable than what it finds possible: none has a veto."""
FAINTEST = -30.0
"""In a linear pool a member whose probability is smaller by this logarithm than another's counts as so small."""


@njit(nogil=True, cache=True)
def to_log_posteriors(joints: Floats, log_prior: Floats, low: int, high: int) -> None:
    """Turn the log joints ``[row, k, m]`` of each member into log posteriors, all of them finite.

    A row that a member finds impossible in every class gets the prior, one for each row or the same for all.
    """
    classes, members = joints.shape[1:]
    for row in range(low, high):
        prior = log_prior[min(row, len(log_prior) - 1)]
        for m in range(members):
            largest, least = -np.inf, np.inf
            for k in range(classes):
                score = joints[row, k, m]
                if score == -np.inf:
                    continue
                largest, least = max(largest, score), min(least, score)
            if largest == -np.inf:
                largest, least = 0.0, 0.0
                for k in range(classes):
                    joints[row, k, m] = prior[k]
                    least = min(least, prior[k] if prior[k] > -np.inf else 0.0)
            total = 0.0
            for k in range(classes):
                total += np.exp(joints[row, k, m] - largest)
            for k in range(classes):
                if joints[row, k, m] == -np.inf:
                    joints[row, k, m] = least + IMPOSSIBLE
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
    scores: Floats, weights: Floats, pool: Floats, low: int, high: int, slope: Floats, bend: Floats
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
    scores: Floats, weights: Floats, pool: Floats, low: int, high: int, slope: Floats, bend: Floats
) -> float:
    """``p = pool . p_m``: `scores` are the members' probabilities of the row's own class, as shares of the greatest.

    ``scores[row, 0]`` are these shares and ``scores[row, 1]`` what they lack to one. As a pool's weights sum to one,
    either does, and of slope and curve what is the same for all members moves nothing: where the pool lacks little,
    what is lacking keeps the digits, else the shares do.
    """
    members = scores.shape[2]
    value = 0.0
    for row in range(low, high):
        total, lacking = 0.0, 0.0
        for m in range(members):
            total += pool[m] * scores[row, 0, m]
            lacking += pool[m] * scores[row, 1, m]
        near = lacking < 0.5
        if near:
            total = 1.0 - lacking
        value += weights[row] * (np.log1p(-lacking) if near else np.log(total))
        of_row = scores[row, 1] if near else scores[row, 0]
        sign = -1.0 if near else 1.0
        for m in range(members):
            share = of_row[m] / total
            slope[m] += sign * weights[row] * share
            for other in range(m + 1):
                bend[m, other] += weights[row] * share * (of_row[other] / total)
    return value


SLACK = 1e-9
"""Log joints that differ by less differ by rounding."""


@njit(nogil=True, cache=True)
def most_probable(joint: Floats, log_prior: Floats, low: int, high: int, out: NDArray[np.int64]) -> None:
    """Write the most probable class of rows `low` to `high` to `out`, the first of several but for rounding.

    Where no class can have made a row it is that of the greatest prior.
    """
    for i in range(low, high):
        scores = joint[i]
        if scores.max() == -np.inf:
            scores = log_prior
        least = scores.max() - SLACK
        best = 0
        while scores[best] < least:
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
    """Add to ``tally[row, class]`` the weights of the trees that vote for the class; `joint` and `vote` are room."""
    for m in range(len(weights)):
        tree_log_joint(codes, order[m], parent[m], arity, start[m], tables, log_prior[m], low, high, joint)
        most_probable(joint, log_prior[m], low, high, vote)
        for i in range(low, high):
            tally[i, vote[i]] += weights[m]
