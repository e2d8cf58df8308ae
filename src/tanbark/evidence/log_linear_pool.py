"""A log-linear pool of class probabilities, with weights of maximum held-out likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from tanbark.evidence.questions import Array, Integers

MIN_PROBABILITY = 1e-6
"""Smaller probabilities of a member are raised to this, so that no member has a veto."""
RIDGE = 10.0
"""How strongly the weights are pulled towards equal ones."""


def centred_logs(scores: Array) -> Array:
    """Return the logarithms of the probabilities that scores define, bounded below and centred over the classes."""
    logs = scores - scores.max(axis=1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    logs = np.maximum(logs, np.log(MIN_PROBABILITY))
    centred: Array = logs - logs.mean(axis=1, keepdims=True)
    return centred


def pool_members(members: Sequence[Array], weights: Array) -> Array:
    """Return the weighted sum of the members' log probabilities, each of shape (rows, classes)."""
    total = np.zeros_like(members[0])
    for member, weight in zip(members, weights.tolist(), strict=True):
        total += weight * centred_logs(member)
    return total


def pool_weights(members: Sequence[Array], classes: Integers, row_weights: Array) -> Array:
    """Return the non-negative weights of least log loss of the pool, with a ridge penalty towards equal weights.

    Parameters
    ----------
    members : sequence of arrays of shape (rows, classes)
        The held-out scores of each member.
    classes : array of shape (rows,)
    row_weights : array of shape (rows,)
    """
    logs = np.stack([centred_logs(member) for member in members])
    equal = 1.0 / len(members)
    rows = np.arange(len(classes))

    def loss_and_gradient(weights: Array) -> tuple[float, Array]:
        scores = np.tensordot(weights, logs, 1)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        totals = odds.sum(axis=1)
        loss = float(row_weights @ (np.log(totals) - scores[rows, classes]))
        slopes = odds / totals[:, None]
        slopes[rows, classes] -= 1.0
        slopes *= row_weights[:, None]
        away = weights - equal
        return loss + 0.5 * RIDGE * float(away @ away), np.tensordot(logs, slopes, 2) + RIDGE * away

    start = np.full(len(members), equal)
    bounds = [(0.0, None)] * len(members)
    # The weights hardly depend on rounding errors if they are this close to the optimum.
    close = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000}
    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", bounds=bounds, options=close)
    weights: Array = np.asarray(found.x, np.float64)
    return weights
