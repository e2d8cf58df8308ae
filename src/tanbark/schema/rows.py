"""Which rows of a table can be learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.table import Table
from tanbark.schema.target import Target
from tanbark.schema.warn import warn

Weights = NDArray[np.float64]

MOST_WEIGHT = 1e100
"""So much may all rows weigh: squares of sums are then still numbers."""


def usable_rows(
    table: Table, target: Target, sample_weight: Any, some: bool = True
) -> tuple[Table, Target, Weights | None]:
    """Return the rows that have a class and a weight above zero, and their weights; `some` refuses weights all zero."""
    if len(target.codes) != table.rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {table.rows}, y has {len(target.codes)}"
        )
    weights = None if sample_weight is None else _checked(sample_weight, table.rows)
    keep = target.codes >= 0
    if not keep.all():
        warn_of_dropped(int((~keep).sum()))
    if weights is not None:
        keep = keep & (weights > 0)
        if some and not keep.any():
            raise ValueError("sample_weight is zero for every row; there is nothing to learn")
        weights = weights[keep]
    if not keep.all():
        table = table.keep(keep)
        target = target.keep(keep)
    return table, target, weights


def warn_of_dropped(rows: int) -> None:
    """Warn of rows that have no class, if there are any."""
    if rows:
        some = "1 row without a class is" if rows == 1 else f"{rows} rows without a class are"
        warn(f"{some} dropped")


def _checked(sample_weight: Any, rows: int) -> Weights:
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked values; give every row a weight")
    given = np.asarray(sample_weight)
    try:
        weights = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        weights = None
    if weights is None:
        raise ValueError("sample_weight must be numbers, one for each row")
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({rows},): one weight a row")
    with np.errstate(over="ignore"):
        sensible = (weights >= 0).all() and weights.sum() <= MOST_WEIGHT
    if not sensible:
        raise ValueError(f"sample_weight must not be negative, nor NaN, nor exceed {MOST_WEIGHT:g} in sum")
    return weights
