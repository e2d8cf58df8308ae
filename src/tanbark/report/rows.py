"""Rows that a report is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series
from numpy.typing import NDArray

from tanbark.datasets.dataset import Dataset
from tanbark.schema import Schema
from tanbark.schema.columns import Codes
from tanbark.schema.objects import is_missing


@dataclass(frozen=True)
class GivenRows:
    """Encoded rows and the numbers of their classes, -1 where a class is missing or unknown to the classifier."""

    codes: Codes
    truth: NDArray[np.int64]


def given_rows(model: Any, data: Any) -> GivenRows:
    """Return rows as a classifier sees them.

    Parameters
    ----------
    model : classifier
    data : table, or a tuple of a table and its classes
        A data frame or an Arrow table may hold the class too, and columns that the classifier does not know.
    """
    if isinstance(data, Dataset):
        X, y = data
    elif isinstance(data, tuple):
        if len(data) != 2:
            raise ValueError(f"data must be a table, or a tuple of a table and its classes, got {len(data)} things")
        X, y = data
    else:
        X, y = _split(model.schema_, data)
    codes = model._encode(X)
    labels = [None] * codes.shape[1] if y is None else _labels(y)
    if len(labels) != codes.shape[1]:
        raise ValueError(f"data has {codes.shape[1]:,} rows, but {len(labels):,} classes")
    place = {label: k for k, label in enumerate(model.schema_.classes)}
    truth = np.array([place.get(label, -1) for label in labels], np.int64)
    known = [label for label in labels if not is_missing(label)]
    if known and not (truth >= 0).any():
        raise ValueError(
            f"the classifier knows none of the classes of data: {known[0]!r} is not among {list(model.schema_.classes)}"
        )
    return GivenRows(codes, truth)


def _split(schema: Schema, data: Any) -> tuple[Any, Any]:
    """Return the columns that a classifier knows, and the class, None where it is no column."""
    if isinstance(data, np.ndarray | list) or not is_into_dataframe(data):
        return data, None
    frame = nw.from_native(data, eager_only=True)
    y = frame.get_column(schema.class_name) if schema.class_name in frame.columns else None
    if set(schema.names) <= set(frame.columns):
        return frame.select(list(schema.names)).to_native(), y
    return (frame if y is None else frame.drop(schema.class_name)).to_native(), y


def _labels(y: Any) -> list[Any]:
    """Return a column of classes as plain values."""
    if isinstance(y, nw.Series):
        return y.to_list()
    if not isinstance(y, np.ndarray | list) and is_into_series(y):
        return list(nw.from_native(y, series_only=True).to_list())
    return list(np.asarray(y, object).ravel().tolist())
