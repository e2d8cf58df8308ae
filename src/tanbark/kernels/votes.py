"""From log joints to votes."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.trees import Codes, Floats, Integers, tree_log_joint

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
