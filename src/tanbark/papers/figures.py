"""Figures over folds and data sets, and whether they agree with printed ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.papers.cells import Done

AGREES, DIFFERS = "✓", "✗"
CLOSE = 2.0
"""A printed figure agrees with ours if it is within so many of our standard errors."""

Array = NDArray[np.float64]


def over_folds(done: Sequence[Done], quantity: str, **which: Any) -> Array | None:
    """Return a quantity in each fold, of the records that have these values; None where one has it not."""
    found = [
        record.get(quantity)
        for one in done
        for record in one.records
        if all(record.get(name) == value for name, value in which.items())
    ]
    return None if not found or any(value is None for value in found) else np.array(found, np.float64)


def why_failed(done: Sequence[Done], **which: Any) -> str:
    """Return why the records that have these values have no figures."""
    reasons = (
        record["failed"]
        for one in done
        for record in one.records
        if "failed" in record and all(record.get(name) == value for name, value in which.items())
    )
    return next(reasons, "not run")


def error_of_mean(values: Array) -> float:
    """Return the standard error of the mean over folds, taken for independent as papers do."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def agrees(values: Array, printed: float, step: float) -> bool:
    """Return whether a printed figure, rounded to `step`, is within two standard errors of the mean of ours."""
    return bool(abs(values.mean() - printed) <= CLOSE * np.nan_to_num(error_of_mean(values)) + step / 2)


def mean_and_error(values: Array, scale: float = 1.0, digits: int = 2) -> str:
    """Return a mean and its standard error as text.

    >>> mean_and_error(np.array([0.25, 0.35]), scale=100.0)
    '30.00 ±5.00'
    """
    return f"{scale * values.mean():.{digits}f} ±{scale * error_of_mean(values):.{digits}f}"


def mark(agreements: Iterable[bool]) -> str:
    """Return how many of some figures agree.

    >>> mark([True, True, False])
    '2 of 3'
    """
    each = list(agreements)
    return f"{sum(each)} of {len(each)}" if each else "none to compare"
