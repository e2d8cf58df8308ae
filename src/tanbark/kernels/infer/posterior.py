"""Posterior probabilities from log joint probabilities."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit


@njit(nogil=True, cache=True)
def log_evidence(joint: NDArray[np.float64], low: int, high: int, out: NDArray[np.float64]) -> None:
    """Write ``log sum_k exp(joint[i, k])`` of rows `low` to `high` to `out`; -inf if no class can produce a row."""
    for i in range(low, high):
        largest = -np.inf
        for k in range(joint.shape[1]):
            largest = max(largest, joint[i, k])
        total = 0.0
        if largest > -np.inf:
            for k in range(joint.shape[1]):
                total += np.exp(joint[i, k] - largest)
            out[i] = largest + np.log(total)
        else:
            out[i] = -np.inf


@njit(nogil=True, cache=True)
def _row_maximum(joint: NDArray[np.float64], i: int, prior: NDArray[np.float64], out: NDArray[np.float64]) -> float:
    """Return the maximum of row `i`; if it is -inf, write the prior to `out`."""
    largest = -np.inf
    for k in range(joint.shape[1]):
        largest = max(largest, joint[i, k])
    if largest == -np.inf:
        for k in range(joint.shape[1]):
            out[i, k] = prior[k]
    return largest


@njit(nogil=True, cache=True)
def log_posterior(
    joint: NDArray[np.float64], log_prior: NDArray[np.float64], low: int, high: int, out: NDArray[np.float64]
) -> None:
    """Write the log class probabilities of rows `low` to `high` to `out`; see `posterior`."""
    classes = joint.shape[1]
    for i in range(low, high):
        largest = _row_maximum(joint, i, log_prior, out)
        if largest == -np.inf:
            continue
        total = 0.0
        for k in range(classes):
            out[i, k] = joint[i, k] - largest
            total += np.exp(out[i, k])
        evidence = np.log(total)
        for k in range(classes):
            out[i, k] -= evidence


@njit(nogil=True, cache=True)
def posterior(
    joint: NDArray[np.float64], prior: NDArray[np.float64], low: int, high: int, out: NDArray[np.float64]
) -> None:
    """Write the class probabilities of rows `low` to `high` to `out`; a row that no class can produce gets the prior.

    `out` may be `joint` itself.
    """
    classes = joint.shape[1]
    for i in range(low, high):
        largest = _row_maximum(joint, i, prior, out)
        if largest == -np.inf:
            continue
        total = 0.0
        for k in range(classes):
            out[i, k] = np.exp(joint[i, k] - largest)
            total += out[i, k]
        for k in range(classes):
            out[i, k] /= total
