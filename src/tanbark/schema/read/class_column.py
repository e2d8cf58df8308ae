"""Read the class column, and select the rows that can be learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import column_or_1d

from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.object_columns import is_missing
from tanbark.schema.read.raw_columns import Labels, Numbers
from tanbark.schema.read.table_reader import Table, read_column, unmasked
from tanbark.user_warnings import warn


@dataclass(frozen=True)
class Target:
    """The distinct classes in order, and for each row the index of its class, -1 where it is missing."""

    labels: NDArray[Any]
    codes: NDArray[np.int64]
    name: str | None

    def name_beside(self, names: tuple[str, ...]) -> str:
        """Return what to call the class beside columns of these names."""
        if self.name is not None:
            if self.name in names:
                raise ValueError(f"the target {self.name!r} is among the columns of X; drop it from X")
            return self.name
        name = "class"
        while name in names:
            name += "_"
        return name

    def keep(self, rows: NDArray[np.bool_]) -> Target:
        """Return the classes of some of the rows, those no longer in use left out."""
        codes = self.codes[rows]
        used = np.bincount(codes + 1, minlength=len(self.labels) + 1)[1:] > 0
        place = np.append(np.cumsum(used) - 1, UNKNOWN)
        return Target(self.labels[used], place[codes], self.name)

    def among(self, classes: Any) -> Target:
        """Return the same rows with the given classes, which must hold all of them."""
        given = read_target(np.asarray(list(classes)))
        return Target(given.labels, self.codes_under(given.labels.tolist()), self.name)

    def codes_under(self, classes: Sequence[Any]) -> NDArray[np.int64]:
        """Return each row's class as an index into `classes`."""
        return codes_among(self.labels.tolist(), self.codes, classes)


def read_target(y: Any) -> Target:
    """Return the classes of a column of labels: those that occur, sorted, as scikit-learn's scorers expect them."""
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    values = _one_column(y)
    name = getattr(values, "name", None) or getattr(y, "name", None)
    name = name if isinstance(name, str) and name else None
    labels, codes = read_labels(values, name or "y")
    if not labels and len(codes):
        raise no_classes(name or "y")
    return Target(as_labels(labels, getattr(values, "dtype", None)), codes, name)


def no_classes(name: str) -> ValueError:
    """Return what to say of a class that is missing in every row."""
    return ValueError(f"every value of the class {name!r} is missing; there is nothing to learn")


def read_known_target(y: Any, labels: NDArray[Any]) -> Target:
    """Return the classes of a column of labels, quickly where each is one of those known."""
    if isinstance(y, list) or ((isinstance(y, np.ndarray) or hasattr(y, "iloc")) and y.ndim == 1):
        values = y if isinstance(y, list) else y.tolist()
        code = {label: i for i, label in enumerate(labels.tolist())}
        try:
            codes = list(map(code.get, values))
        except TypeError:
            return read_target(y)
        if None in codes and all(code is not None or is_missing(value) for code, value in zip(codes, values)):
            codes = [UNKNOWN if code is None else code for code in codes]
        if None not in codes:
            name = getattr(y, "name", None)
            return Target(labels, np.array(codes, np.int64), name if isinstance(name, str) and name else None)
    return read_target(y)


def read_labels(values: Any, name: str) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the classes that occur in a column, sorted, and for each row the index of its class, -1 where missing."""
    try:
        raw = read_column(values, name)
    except TypeError as error:
        raise TypeError(f"the class {name!r} must be labels: text, whole numbers or booleans") from error
    except ValueError as error:
        raise ValueError(str(error).replace("column", "the class", 1)) from error
    if isinstance(raw, Numbers):
        _refuse_measurements(raw.rows[:, raw.at])
    elif isinstance(raw, Labels):
        raw = Labels(raw.distinct, raw.position, raw.name)
    return raw.levels(), raw.index()


def codes_among(labels: Sequence[Any], codes: NDArray[np.int64], classes: Sequence[Any]) -> NDArray[np.int64]:
    """Return indices into `labels` as indices into `classes`, which must hold all of them."""
    at = {label: i for i, label in enumerate(classes)}
    strange = next((label for label in labels if label not in at), None)
    if strange is not None:
        some = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
        raise ValueError(f"the class {strange!r} is not among the classes {some}")
    places = np.array([at[label] for label in labels], np.int64)
    return codes if np.array_equal(places, np.arange(len(places))) else np.append(places, UNKNOWN)[codes]


def _one_column(y: Any) -> Any:
    """Return the target as one column: a table of one column is taken as that, with a warning."""
    from narwhals import dependencies, from_native

    if not isinstance(y, np.ndarray | list | tuple) and dependencies.is_into_dataframe(y):
        frame = from_native(y, eager_only=True)
        if len(frame.columns) != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {frame.shape} instead.")
        warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning)
        return frame.get_column(frame.columns[0]).to_native()
    if hasattr(y, "__arrow_c_stream__") or hasattr(y, "__arrow_c_array__") or hasattr(y, "iloc"):
        return y
    if isinstance(y, np.ma.MaskedArray):
        return unmasked(y)
    if issparse(y):
        raise TypeError("Sparse data was passed for y, but dense data is required; use y.toarray().ravel()")
    array = np.asarray(y)
    if array.dtype.kind == "U" and not isinstance(y, np.ndarray) and not all(isinstance(v, str) for v in y):
        array = np.asarray(y, object)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: the class y must be labels")
    return column_or_1d(array, warn=True)


def _refuse_measurements(values: NDArray[np.float64]) -> None:
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity; the class must be labels")
    known = values[~np.isnan(values)]
    if (known != np.floor(known)).any():
        raise ValueError("Unknown label type: continuous. The class must be labels, not measurements; cut y into bins")


def as_labels(labels: list[Any], dtype: Any = None) -> NDArray[Any]:
    """Return the labels as an array of the type in which the target came, where numpy has that."""
    out = np.empty(len(labels), object)
    out[:] = labels
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbU":
        return out.astype(dtype)
    if labels and all(type(v) is bool for v in labels):
        return out.astype(np.bool_)
    if labels and all(type(v) is int for v in labels):
        return out.astype(np.int64)
    return out


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
