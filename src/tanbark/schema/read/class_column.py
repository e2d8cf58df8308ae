"""Read the class column and select the rows to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import column_or_1d

from tanbark.messages import first_values, warn
from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.raw_columns import Dates, Labels, Numbers, is_missing
from tanbark.schema.read.table_reader import Table, read_column, unmasked


class ContinuousClassError(ValueError):
    """The class holds numbers with fractions, which are measurements rather than labels."""


@dataclass(frozen=True)
class Target:
    """The distinct classes in order, and the index of the class of each row, -1 if it is missing."""

    labels: NDArray[Any]
    codes: NDArray[np.int64]
    name: str | None

    def name_beside(self, names: tuple[str, ...]) -> str:
        """Return the name of the class, distinct from the names of the columns."""
        if self.name is not None:
            if self.name in names:
                raise ValueError(f"the target {self.name!r} is among the columns of X; drop it from X")
            return self.name
        name = "class"
        while name in names:
            name += "_"
        return name

    def keep(self, rows: NDArray[np.bool_]) -> Target:
        """Return the target of the selected rows, without the classes that no longer occur."""
        codes = self.codes[rows]
        used = np.bincount(codes + 1, minlength=len(self.labels) + 1)[1:] > 0
        place = np.append(np.cumsum(used) - 1, UNKNOWN)
        return Target(self.labels[used], place[codes], self.name)

    def among(self, classes: Any) -> Target:
        """Return the same rows with the given list of classes, which must include all that occur."""
        given = read_target(np.asarray(list(classes)))
        return Target(given.labels, self.codes_under(given.labels.tolist()), self.name)

    def codes_under(self, classes: Sequence[Any]) -> NDArray[np.int64]:
        """Return each row's class as an index into `classes`."""
        return codes_among(self.labels.tolist(), self.codes, classes)


def read_target(y: Any) -> Target:
    """Return the target of a column of labels, with its classes sorted as scikit-learn's scorers expect."""
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    target = read_labelled_rows(y)
    if not len(target.labels) and len(target.codes):
        raise no_classes_error(target.name or "y")
    return target


def read_labelled_rows(y: Any) -> Target:
    """Return the target of a column of labels, all of which may be missing."""
    values = _one_column(y)
    name = getattr(values, "name", None) or getattr(y, "name", None)
    name = name if isinstance(name, str) and name else None
    labels, codes = read_labels(values, name or "y")
    return Target(as_labels(labels, getattr(values, "dtype", None)), codes, name)


def no_classes_error(name: str) -> ValueError:
    """Return the error for a class that is missing in every row."""
    return ValueError(f"every value of the class {name!r} is missing; there is nothing to learn")


def read_known_target(y: Any, labels: NDArray[Any]) -> Target:
    """Return the target of a column of labels, with a fast path for labels that are all known."""
    if isinstance(y, list) or ((isinstance(y, np.ndarray) or hasattr(y, "iloc")) and y.ndim == 1):
        values = y if isinstance(y, list) else y.tolist()
        code = {label: i for i, label in enumerate(labels.tolist())}
        try:
            codes = list(map(code.get, values))
        except TypeError:
            return read_target(y)
        if None in codes and all(
            code is not None or is_missing(value) for code, value in zip(codes, values, strict=True)
        ):
            codes = [UNKNOWN if code is None else code for code in codes]
        if None not in codes:
            name = getattr(y, "name", None)
            return Target(labels, np.array(codes, np.int64), name if isinstance(name, str) and name else None)
    return read_target(y)


def read_labels(values: Any, name: str) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the sorted classes of a column, and the index of the class of each row, -1 if it is missing."""
    try:
        raw = read_column(values, name)
    except TypeError as error:
        raise TypeError(f"the class {name!r} must hold labels: strings, integers or booleans") from error
    except ValueError as error:
        raise ValueError(str(error).replace("column", "the class", 1)) from error
    if isinstance(raw, Dates):
        raise TypeError(f"the class {name!r} must hold labels: strings, integers or booleans; it holds dates")
    if isinstance(raw, Numbers):
        _check_labels(raw.rows[:, raw.at])
    elif isinstance(raw, Labels):
        raw = Labels(raw.distinct, raw.position, raw.name)
    return raw.levels(), raw.index()


def codes_among(labels: Sequence[Any], codes: NDArray[np.int64], classes: Sequence[Any]) -> NDArray[np.int64]:
    """Convert indices into `labels` to indices into `classes`; raise ValueError if a label is not a class."""
    at = {label: i for i, label in enumerate(classes)}
    unknown = next((label for label in labels if label not in at), None)
    if unknown is not None:
        raise ValueError(f"unknown class {unknown!r}; the known classes are {first_values(classes)}")
    places = np.array([at[label] for label in labels], np.int64)
    return codes if np.array_equal(places, np.arange(len(places))) else np.append(places, UNKNOWN)[codes]


def _one_column(y: Any) -> Any:
    """Return the target as one column; a table with a single column is accepted with a warning."""
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
        raise ValueError("Complex data not supported: the class y must hold labels")
    return column_or_1d(array, warn=True)


def _check_labels(values: NDArray[np.float64]) -> None:
    """Raise ValueError if a class is infinite or not an integer."""
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity; the class must hold labels")
    known = values[~np.isnan(values)]
    if (known != np.floor(known)).any():
        raise ContinuousClassError(
            "Unknown label type: continuous. The class must hold labels, not measurements; cut y into bins"
        )


def as_labels(labels: list[Any], dtype: Any = None) -> NDArray[Any]:
    """Return the labels as an array of the dtype of the target if it is a NumPy dtype."""
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

MAX_TOTAL_WEIGHT = 1e100
"""Maximum total weight of all rows, so that squares of sums stay finite."""


def usable_rows(
    table: Table, target: Target, sample_weight: Any, some: bool = True
) -> tuple[Table, Target, Weights | None]:
    """Return the rows that have a class and a positive weight, and their weights.

    If `some`, raise ValueError if no row has a positive weight.
    """
    if len(target.codes) != table.rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {table.rows:,}, y has "
            f"{len(target.codes):,}"
        )
    weights = None if sample_weight is None else checked_weights(sample_weight, table.rows)
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
    """Warn about rows that are dropped because they have no class."""
    if rows:
        subject = "1 row without a class is" if rows == 1 else f"{rows:,} rows without a class are"
        warn(f"{subject} dropped")


def checked_weights(sample_weight: Any, rows: int) -> Weights:
    """Return the weights as floats, and raise ValueError if they are invalid."""
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked values; give every row a weight")
    given = np.asarray(sample_weight)
    try:
        weights = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        weights = None
    if weights is None:
        raise ValueError("sample_weight must be an array of numbers, one per row")
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({rows},): one weight per row")
    with np.errstate(over="ignore"):
        valid = (weights >= 0).all() and weights.sum() <= MAX_TOTAL_WEIGHT
    if not valid:
        raise ValueError(f"sample_weight must be non-negative, not NaN, with a sum of at most {MAX_TOTAL_WEIGHT:g}")
    return weights
