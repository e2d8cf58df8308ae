"""Find columns that only identify rows: identifiers, row numbers and free text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.raw_columns import Dates, RawColumn

MIN_TEXTS = 100
"""Minimum number of values of a column of text that can be an identifier."""
MIN_NUMBERS = 21
"""Minimum number of values of a column of row numbers; in smaller tables 1, 2, 3... may be a coincidence."""
MAX_DISTINCT_SHARE = 0.9
"""Text with a larger share of distinct values is an identifier."""
MAX_FREE_TEXT_DISTINCT_SHARE = 0.5
MIN_FREE_TEXT_LENGTH = 40
"""Text of this mean length with a larger share of distinct values is free text."""


def identifies_rows(raw: RawColumn, weights: NDArray[np.float64] | None, left_out: int = 0) -> str | None:
    """Return what makes a column useless for prediction, or None if it may be useful.

    Parameters
    ----------
    raw : RawColumn
        Values of the column.
    weights : ndarray of float64 or None
        Number of rows of each value; None if every value stands for one row.
    left_out : int, default=0
        Number of rows of the table that are not among the values, because they have no class.

    Returns
    -------
    reason : str or None
        "looks like an identifier", "numbers the rows" or "holds free text".
    """
    if isinstance(raw, Dates) or getattr(raw, "declared", False):
        return None
    if raw.is_numeric:
        return "numbers the rows" if _is_consecutive(raw.floats(), weights, left_out) else None
    levels, index = raw.levels(), raw.index()
    counts = np.bincount(index[index != UNKNOWN], None if weights is None else weights[index != UNKNOWN], len(levels))
    values = counts.sum()
    if values < MIN_TEXTS or not all(isinstance(level, str) for level in levels):
        return None
    if len(levels) > MAX_DISTINCT_SHARE * values:
        return "looks like an identifier"
    mean_length = np.dot(counts, [len(level) for level in levels]) / values
    is_text = mean_length >= MIN_FREE_TEXT_LENGTH and len(levels) > MAX_FREE_TEXT_DISTINCT_SHARE * values
    return "holds free text" if is_text else None


def _is_consecutive(numbers: NDArray[np.float64], weights: NDArray[np.float64] | None, left_out: int) -> bool:
    """Return whether numbers are distinct and consecutive integers, except for at most `left_out` gaps.

    Numbers with weights are values with their counts, perhaps per class, or quantiles of a column. Quantiles begin with
    the smallest number, with a weight of 0, and the weights up to each number are the rows up to it.
    """
    known = ~np.isnan(numbers)
    values, rows = numbers[known], np.ones(len(numbers))[known] if weights is None else weights[known]
    total = rows.sum()
    if len(values) < 2 or total < MIN_NUMBERS:
        return False
    # Most columns are ruled out by their range, before their values are sorted.
    extent = values.max() - values.min() + 1
    if not total <= extent <= total + left_out or (values != np.floor(values)).any():
        return False
    values, at = np.unique(values, return_inverse=True)
    rows = np.bincount(at, rows).astype(np.float64)
    if rows[0] > 0 and (rows != 1).any():
        return False
    up_to = np.cumsum(rows)
    gaps = (values - values[0] + 1 - up_to)[1:]
    return bool((gaps >= 0).all() and (np.diff(gaps) >= 0).all() and gaps[-1] <= left_out)
