"""Sampled rows as an array, or as a data frame of pandas, polars or Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import Category, Label, Number, as_datetimes

if TYPE_CHECKING:
    from tanbark.schema.encode.schema import Schema

FRAME_TYPES = ("pandas", "polars", "pyarrow")


def check_sample_options(n: Any, as_frame: Any) -> None:
    """Raise an error if the number of rows or the type of the data frame is invalid, or its package is missing."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise ValueError(f"n must be a whole number of at least 0, got {n!r}")
    if as_frame is None:
        return
    if as_frame not in FRAME_TYPES:
        raise ValueError(f"as_frame must be None, 'pandas', 'polars' or 'pyarrow', got {as_frame!r}")
    if find_spec(as_frame) is None:
        raise ImportError(f"as_frame={as_frame!r} needs {as_frame}, which is not installed: pip install {as_frame}")


def generator_of(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers; raise ValueError if `random_state` is no seed."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be a whole number of at least 0, a Generator or None, got {random_state!r}"
        ) from None


def sampled_rows(
    schema: Schema, codes: NDArray[Any], classes: NDArray[np.int64], rng: np.random.Generator, as_frame: str | None
) -> tuple[Any, Any]:
    """Return encoded rows and their classes as values.

    Parameters
    ----------
    schema : Schema
    codes : array of shape (attributes, rows)
    classes : array of shape (rows,)
    rng : numpy.random.Generator
        Source of the numbers within intervals.
    as_frame : {None, "pandas", "polars", "pyarrow"}
        The type of the table; None returns arrays.

    Returns
    -------
    X : array, or table of the type `as_frame`
    y : array, or series of the type `as_frame`
    """
    labels = schema.class_labels[classes]
    if as_frame is None:
        return schema.decode(codes, rng), labels
    import pyarrow as pa

    values = [column.value_of(codes[u].astype(np.int64), rng) for u, column in enumerate(schema.columns)]
    arrays = [_arrow_column(column, of_column) for column, of_column in zip(schema.columns, values, strict=True)]
    # The parts of a date follow from the date.
    shown = [u for u, column in enumerate(schema.columns) if column.source not in schema.names]
    X = pa.table([arrays[u] for u in shown], names=[schema.names[u] for u in shown])
    y = _arrow_labels(labels.tolist(), schema.classes)
    if as_frame == "pandas":
        import pandas as pd

        return X.to_pandas(), pd.Series(labels, name=schema.class_name)
    if as_frame == "polars":
        import polars as pl

        return pl.from_arrow(X), pl.Series(schema.class_name, pl.from_arrow(y))
    return X, y


def _arrow_column(column: Category | Number, values: NDArray[Any]) -> Any:
    import pyarrow as pa

    if isinstance(column, Category):
        return _arrow_labels(values.tolist(), column.levels)
    if column.is_date:
        return pa.array(as_datetimes(values), pa.timestamp("us"))
    return pa.array(values, pa.float64(), from_pandas=True)


def _arrow_labels(labels: Sequence[Label | None], levels: Sequence[Label]) -> Any:
    """Return labels as an Arrow array of the type of the levels, which is text if they have several types."""
    import pyarrow as pa

    types = {type(level) for level in levels}
    if types == {bool}:
        return pa.array(labels, pa.bool_())
    if types == {int} and all(abs(int(level)) < 2**63 - 1 for level in levels):
        return pa.array(labels, pa.int64())
    if types <= {int, float} and float in types:
        return pa.array([None if label is None else float(label) for label in labels], pa.float64())
    return pa.array([None if label is None else str(label) for label in labels], pa.string())
