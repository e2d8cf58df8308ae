"""Warnings of weights of rows that do not look like numbers of rows."""

from __future__ import annotations

from math import fsum

import numpy as np

from tanbark.counts import Rows
from tanbark.messages import warn

MIN_NOTICED_ROWS = 20
"""With fewer distinct rows, unusual weights are not noticed."""
MIN_CROSS_VALIDATED_WEIGHT = 2
"""With less weight in total there is no cross-validation."""
MIN_SEARCHED_WEIGHT = 10
"""With less weight in total, the gain of an edge is smaller than what scores deduct for its parameters."""
MAX_EXACT_WEIGHT = 2**53
"""Beyond, not all whole numbers are floats."""


def warn_of_tiny_weights(rows: Rows, min_total: float, consequence: str) -> None:
    """Warn if the weights of the rows sum to less than `min_total`, as if there were hardly any rows.

    Parameters
    ----------
    rows : Rows
        The rows; without weights each row counts once.
    min_total : float
    consequence : str
        What the small sum does to the classifier.
    """
    if rows.weights is None:
        return
    total = fsum(rows.each)
    if total >= min_total:
        return
    n_distinct = len(rows.distinct.classes)
    if n_distinct >= MIN_NOTICED_ROWS:
        warn(
            f"the weights of {n_distinct:,} distinct rows sum to {total:.3g}, as if there were hardly any rows: "
            f"{consequence}; divide the weights by their mean"
        )


def warn_of_tiny_weights_for_search(rows: Rows) -> None:
    """Warn if the weights of the rows sum to so little that a search for a structure finds few edges."""
    warn_of_tiny_weights(rows, MIN_SEARCHED_WEIGHT, "the search for a structure finds few edges or none")


def warn_of_few_rows(rows: Rows) -> None:
    """Warn if the weights of distinct rows sum to less than two rows, so that there is no cross-validation."""
    warn_of_tiny_weights(rows, MIN_CROSS_VALIDATED_WEIGHT, "probabilities stay close to the class frequencies")


def warn_of_copies(rows: Rows) -> None:
    """Warn if the weight of each distinct row is 2 or more: the table was perhaps appended to itself.

    Rows of a few categories may occur often, but then their numbers have no common divisor.
    """
    weights = rows.each
    if len(weights) < MIN_NOTICED_ROWS or weights.min() < 2:
        return
    whole = weights.max() < MAX_EXACT_WEIGHT and (weights == np.floor(weights)).all()
    if not whole or np.gcd.reduce(weights.astype(np.int64)) > 1:
        warn(
            "every row occurs at least twice or has a weight of at least 2: copies are treated as independent rows, "
            "which makes probabilities too extreme; remove the copies, or divide the weights by their mean"
        )
