"""How precise probabilities are that come from drawn values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.network.factors import DRAWS

Array = NDArray[np.float64]


class DrawnValuesWarning(UserWarning):
    """Rows lack so many values that their sum is estimated from draws instead of taken over all."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __str__(self) -> str:
        return (
            f"{self.rows:,} {'row lacks' if self.rows == 1 else 'rows lack'} so many values that what is missing is "
            f"drawn {DRAWS:,} times instead of summed out; standard_error says how precise that is"
        )


class DrawnAnswerWarning(UserWarning):
    """So little is known that the answer to a query is estimated from draws."""

    def __init__(self, standard_error: float) -> None:
        self.standard_error = standard_error

    def __str__(self) -> str:
        return (
            f"so little is known that the answer is estimated from {DRAWS:,} draws, with a standard error of up to "
            f"{self.standard_error:.2g}; a larger max_table may make it exact"
        )


def standard_errors(joint: Array, variance: Array) -> Array:
    """Return the standard errors of the probabilities that some estimated joints make, of shape (rows, values).

    Parameters
    ----------
    joint, variance : arrays of shape (rows, values, cells)
        The logarithms of estimates, and their squared relative standard errors; a value is as probable as its cells
        together are among all.
    """
    largest = joint.max(axis=(1, 2), keepdims=True)
    impossible = np.isneginf(largest)[:, 0]
    share = np.exp(joint - np.where(np.isneginf(largest), 0.0, largest))
    share /= np.maximum(share.sum(axis=(1, 2), keepdims=True), np.finfo(np.float64).tiny)
    probability = share.sum(axis=2)
    # A ratio of sums whose terms err independently, linearised about them.
    own = (share**2 * variance).sum(axis=2)
    others = own.sum(axis=1, keepdims=True) - own
    squared = (1.0 - probability) ** 2 * own + probability**2 * others
    # Values as probable as one draw may have been missed that say the opposite.
    missed = np.maximum(probability, 1.0 - probability) / DRAWS * (probability.shape[1] > 1)
    errors: Array = np.where(impossible, 1.0, np.sqrt(squared + missed**2))
    return errors
