"""From log joints to posterior probabilities."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit


@njit(nogil=True, cache=True)
def log_evidence(joint: NDArray[np.float64], low: int, high: int, out: NDArray[np.float64]) -> None:
    """Write ``log sum_k exp(joint[i, k])`` of rows `low` to `high` to `out`, -inf for a row impossible everywhere."""
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
def _largest(joint: NDArray[np.float64], i: int, prior: NDArray[np.float64], out: NDArray[np.float64]) -> float:
    """Return the largest of a row, having written the prior to `out` where no class can have made the row."""
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
    """Write the log probabilities of the classes of rows `low` to `high` to `out`: as `posterior`."""
    classes = joint.shape[1]
    for i in range(low, high):
        largest = _largest(joint, i, log_prior, out)
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
    """Write the class probabilities of rows `low` to `high` to `out`: the prior where no class can have made the row.

    `out` may be `joint` itself.
    """
    classes = joint.shape[1]
    for i in range(low, high):
        largest = _largest(joint, i, prior, out)
        if largest == -np.inf:
            continue
        total = 0.0
        for k in range(classes):
            out[i, k] = np.exp(joint[i, k] - largest)
            total += out[i, k]
        for k in range(classes):
            out[i, k] /= total
