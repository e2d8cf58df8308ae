"""Reading a table of any make into columns of three sorts: small integers, numbers, labels."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from tanbark.kernels.narrow import bin_numbers, few_whole_numbers, narrow_integers
from tanbark.kernels.threads import run, spans, thread_count
from tanbark.schema.columns import UNKNOWN, Category, Codes, Column, in_order, plain

AUTO_LEVELS = 10
NARROW = 256
CHUNK = 4096


class RawColumn(Protocol):
    """A column as it was read, before any schema."""

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""

    @property
    def few_whole(self) -> bool:
        """Whether a person would take its values for categories."""

    def levels(self) -> list[Any]:
        """Return its distinct labels in order."""

    def index(self) -> NDArray[np.int64]:
        """Return for each row the position of its label among the levels, -1 where missing."""

    def floats(self) -> NDArray[np.float64]:
        """Return its numbers, NaN where missing."""

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""

    def keep(self, rows: NDArray[np.bool_]) -> RawColumn:
        """Return the column with some of its rows."""


def _spread(code: NDArray[np.int64], at: NDArray[Any], column: Column, missing: int, out: Codes) -> bool:
    """Write ``code[at]`` to `out`, with what is unknown and what is missing (the last entry) in their places."""
    absent = column.arity - 1 if column.missing else missing
    lookup = np.append(np.where(code == UNKNOWN, missing, code), absent).astype(out.dtype)
    np.take(lookup, at, out=out, mode="wrap")
    if not (code == UNKNOWN).any():
        return False
    used = np.zeros(len(code) + 1, np.bool_)
    used[at] = True
    return bool((used[:-1] & (code == UNKNOWN)).any())


@dataclass(frozen=True)
class SmallIntegers:
    """Integers within a range of 256, as distances from the smallest."""

    distance: NDArray[np.uint8]
    base: int
    name: str

    has_missing = False

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """The distances that occur."""
        return np.flatnonzero(np.bincount(self.distance, minlength=NARROW))

    @property
    def few_whole(self) -> bool:
        """Whether there are at most ten of them."""
        return len(self.distinct) <= AUTO_LEVELS

    def levels(self) -> list[Any]:
        """Return the distinct integers."""
        return [int(self.base + d) for d in self.distinct]

    def index(self) -> NDArray[np.int64]:
        """Return for each row the position of its integer among the levels."""
        position = np.zeros(NARROW, np.int64)
        position[self.distinct] = np.arange(len(self.distinct))
        return position[self.distance]

    def floats(self) -> NDArray[np.float64]:
        """Return the integers as floats."""
        return self.distance.astype(np.float64) + self.base

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""
        code = np.full(NARROW, UNKNOWN)
        code[self.distinct] = column.codes_of(self.levels())
        unseen = bool((code[self.distinct] == UNKNOWN).any())
        np.take(np.where(code == UNKNOWN, missing, code).astype(out.dtype), self.distance, out=out)
        return unseen

    def keep(self, rows: NDArray[np.bool_]) -> SmallIntegers:
        """Return the column with some of its rows."""
        return SmallIntegers(self.distance[rows], self.base, self.name)


@dataclass(frozen=True)
class Numbers:
    """Floating-point numbers, NaN where missing: one column of a row-major array."""

    rows: NDArray[np.float64]
    at: int
    name: str

    @cached_property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return bool(np.isnan(self.rows[:, self.at]).any())

    @property
    def few_whole(self) -> bool:
        """Whether they are whole numbers of at most ten values: integers with holes, as a data frame has them."""
        return bool(few_whole_numbers(self.rows, self.at, AUTO_LEVELS))

    def levels(self) -> list[Any]:
        """Return the distinct numbers, as integers where all are whole."""
        distinct = np.unique(self.floats())
        distinct = distinct[~np.isnan(distinct)]
        whole = bool((distinct == np.floor(distinct)).all())
        return [int(v) if whole else float(v) for v in distinct]

    def index(self) -> NDArray[np.int64]:
        """Return for each row the position of its number among the levels, -1 where missing."""
        values = self.floats()
        return np.where(np.isnan(values), UNKNOWN, np.searchsorted(np.array(self.levels(), np.float64), values))

    def floats(self) -> NDArray[np.float64]:
        """Return the numbers, checked to be finite."""
        values = np.ascontiguousarray(self.rows[:, self.at])
        if np.isinf(values).any():
            raise self._infinite()
        return values

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""
        absent = column.arity - 1 if column.missing else missing
        if isinstance(column, Category):
            values = self.floats()
            code = column.codes_of_numbers(values)
            holes = np.isnan(values)
            out[:] = np.where(holes, absent, np.where(code == UNKNOWN, missing, code))
            return bool(((code == UNKNOWN) & ~holes).any())
        cuts = np.array(column.cuts, np.float64)
        for low in range(0, len(out), CHUNK):
            if not bin_numbers(self.rows[low : low + CHUNK], self.at, cuts, absent, out[low : low + CHUNK]):
                raise self._infinite()
        return False

    def keep(self, rows: NDArray[np.bool_]) -> Numbers:
        """Return the column with some of its rows."""
        return Numbers(self.rows[rows, self.at].reshape(-1, 1), 0, self.name)

    def _infinite(self) -> ValueError:
        return ValueError(
            f"column {self.name!r}: Input X contains infinity or a value too large; replace it or make it missing"
        )


@dataclass(frozen=True)
class Labels:
    """Distinct labels and each row's position among them, -1 where missing; `declared` labels keep their order."""

    distinct: list[Any]
    position: NDArray[np.integer]
    name: str
    declared: bool = False

    few_whole = True

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return bool((self.position < 0).any())

    @cached_property
    def _order(self) -> list[int]:
        """The labels' positions in the order of the levels: as declared, else those that occur, sorted."""
        if self.declared:
            return list(range(len(self.distinct)))
        used = np.bincount(self.position + 1, minlength=len(self.distinct) + 1)[1:]
        return sorted(np.flatnonzero(used).tolist(), key=lambda i: in_order(self.distinct[i]))

    def levels(self) -> list[Any]:
        """Return the labels in order."""
        return [self.distinct[i] for i in self._order]

    def index(self) -> NDArray[np.int64]:
        """Return for each row the position of its label among the levels, -1 where missing."""
        place = np.full(len(self.distinct) + 1, UNKNOWN)
        place[self._order] = np.arange(len(self._order))
        index: NDArray[np.int64] = place[self.position]
        return index

    def floats(self) -> NDArray[np.float64]:
        """Return labels that are numbers, NaN where missing."""
        numbers: NDArray[np.float64] = np.array([*self.distinct, np.nan], np.float64)[self.position]
        return numbers

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""
        return _spread(column.codes_of(self.distinct), self.position, column, missing, out)

    def keep(self, rows: NDArray[np.bool_]) -> Labels:
        """Return the column with some of its rows."""
        return Labels(self.distinct, self.position[rows], self.name, self.declared)


@dataclass(frozen=True)
class Table:
    """Columns as they were read, their names (None where the table has none) and how many rows there are."""

    columns: tuple[RawColumn, ...]
    names: tuple[str, ...] | None
    rows: int
    small: NDArray[np.uint8] | None = None
    """All columns' distances in one array, where every column is of small integers counted from zero."""

    def keep(self, rows: NDArray[np.bool_]) -> Table:
        """Return the table with some of its rows."""
        return Table(tuple(c.keep(rows) for c in self.columns), self.names, int(rows.sum()))


def as_known_table(X: Any) -> Any:
    """Return a table as it is, or as an Arrow table where it only streams Arrow data (a DuckDB relation, say)."""
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "shape"):
        import pyarrow

        return pyarrow.table(X)
    return X


def read_table(X: Any, n_jobs: int | None = None) -> Table:
    """Return the columns of a numpy array, a data frame, an Arrow table or a list of rows."""
    if issparse(X):
        raise TypeError("Sparse data was passed, but dense data is required; use X.toarray() to convert")
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__") or hasattr(X, "iloc"):
        return _read_frame(X, n_jobs)
    array = np.asarray(X)
    if array.ndim == 0:
        raise ValueError(f"Expected 2D array, got scalar array instead: {array!r}. Pass a table of rows and columns")
    if array.ndim == 1:
        raise ValueError("Expected 2D array, got 1D array instead. Reshape your data: one row is X.reshape(1, -1)")
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, but a table has two: rows and columns")
    return _read_array(array, n_jobs)


def read_column(values: Any, name: str) -> RawColumn:
    """Return one column of anything: an array, a list, a series of a data frame or an Arrow array."""
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "iloc") or hasattr(values, "__arrow_c_array__"):
        import narwhals as nw

        return _read_series(nw.from_native(values, series_only=True), name)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name!r}: expected one column of values, got an array of shape {array.shape}")
    return _read_vector(array, name)


def _read_array(array: NDArray[Any], n_jobs: int | None) -> Table:
    rows, n = array.shape
    names = [f"x{u}" for u in range(n)]
    if array.dtype.kind in "iu":
        columns, small = _read_integers(array, names, n_jobs)
        return Table(columns, None, rows, small)
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return Table(tuple(Numbers(array, u, names[u]) for u in range(n)), None, rows)
    return Table(tuple(_read_vector(array[:, u], names[u]) for u in range(n)), None, rows)


def _read_integers(
    array: NDArray[np.integer], names: Sequence[str], n_jobs: int | None
) -> tuple[tuple[RawColumn, ...], NDArray[np.uint8] | None]:
    """Return integer columns in one pass over memory; those with a range beyond 256 are read again one by one."""
    rows, n = array.shape
    head = array[: min(rows, 1000)].astype(np.int64)
    lowest = head.min(axis=0, initial=np.iinfo(np.int64).max)
    highest = head.max(axis=0, initial=np.iinfo(np.int64).min)
    from_zero = (lowest >= 0) & (highest < NARROW)
    room = np.clip(NARROW - 1 - (highest - lowest), 0, NARROW - 1) // 2
    base = np.where(from_zero | (rows == 0), 0, lowest - np.minimum(room, lowest - np.iinfo(np.int64).min))
    distance = np.empty((n, rows), np.uint8)
    parts = spans(rows, thread_count(n_jobs, rows), CHUNK)
    mask = np.zeros((len(parts), n), np.uint64)
    reach = np.zeros((len(parts), n), np.uint64)

    def narrow(part: int) -> None:
        start, stop = parts[part]
        for low in range(start, stop, CHUNK):
            chunk = np.ascontiguousarray(array[low : min(low + CHUNK, stop)], np.int64)
            narrow_integers(chunk, base, low, distance, mask[part], reach[part])

    run([lambda part=part: narrow(part) for part in range(len(parts))], len(parts) or 1)  # type: ignore[misc]
    all_mask = np.bitwise_or.reduce(mask, axis=0, initial=np.uint64(0))
    all_reach = np.bitwise_or.reduce(reach, axis=0, initial=np.uint64(0))
    columns: list[RawColumn] = []
    for u in range(n):
        if array.dtype == np.uint64 and rows and array[:, u].max() > np.iinfo(np.int64).max:
            columns.append(_read_vector(array[:, u].astype(np.float64), names[u]))
        elif all_reach[u] >= NARROW:
            columns.append(_read_wide_integers(array[:, u], names[u]))
        else:
            column = SmallIntegers(distance[u], int(base[u]), names[u])
            if all_reach[u] < 64:
                bits = np.unpackbits(all_mask[u : u + 1].view(np.uint8), bitorder="little")
                column.__dict__["distinct"] = np.flatnonzero(bits)
            columns.append(column)
    counted_from_zero = all(isinstance(c, SmallIntegers) and c.base == 0 for c in columns)
    return tuple(columns), distance if counted_from_zero else None


def _read_wide_integers(values: NDArray[np.integer], name: str) -> RawColumn:
    """Return integers of a wide range: labels where they are few, since a float may not hold them, else numbers."""
    distinct = np.unique(values[:CHUNK])
    if len(distinct) <= AUTO_LEVELS and len(distinct := np.unique(values)) <= AUTO_LEVELS:
        return Labels([int(v) for v in distinct], np.searchsorted(distinct, values), name)
    return Numbers(values.astype(np.float64).reshape(-1, 1), 0, name)


def _read_vector(values: NDArray[Any], name: str) -> RawColumn:
    """Return one column of a numpy array of any type."""
    kind = values.dtype.kind
    if kind == "b":
        return Labels([False, True], values.astype(np.int64), name)
    if kind in "iu":
        return _read_integers(values.reshape(-1, 1), [name], None)[0][0]
    if kind == "f":
        return Numbers(np.ascontiguousarray(values, np.float64).reshape(-1, 1), 0, name)
    if kind == "U":
        distinct, index = np.unique(values, return_inverse=True)
        return Labels([str(v) for v in distinct], index, name)
    if kind == "T":
        return _read_objects(values.astype(object), name)
    if kind == "O":
        return _read_objects(values, name)
    if kind == "c":
        raise ValueError(f"column {name!r}: Complex data not supported; split it into real and imaginary columns")
    if kind in "mM":
        raise _date(name)
    raise TypeError(f"column {name!r}: argument must be a string or a number, not {values.dtype.name!r}")


def _date(name: str) -> TypeError:
    return TypeError(
        f"column {name!r} holds dates or times; turn it into numbers (year, month, days since an event) or drop it"
    )


def is_missing(value: Any) -> bool:
    """Return whether a Python object stands for no value: None, NaN, NaT, pandas' NA.

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating | Decimal | np.datetime64 | np.timedelta64) and bool(value != value)


def _read_objects(values: NDArray[Any], name: str) -> RawColumn:
    """Return a column of Python objects: all numbers, or labels."""
    position: dict[tuple[type, Any], int] = {}
    index = np.empty(len(values), np.int64)
    text = number = False
    for i, value in enumerate(values.tolist()):
        if is_missing(value):
            index[i] = UNKNOWN
            continue
        value = plain(value)
        if isinstance(value, str | bool):
            text = True
        elif isinstance(value, numbers.Real | Decimal):
            number = True
        else:
            raise _not_a_value(value, name)
        if text and number:
            raise ValueError(f"column {name!r} mixes numbers with strings or booleans; make it one or the other")
        index[i] = position.setdefault((type(value), value), len(position))
    distinct = [value for _, value in position]
    if number:
        as_float = np.array([float(v) for v in distinct] + [np.nan])
        return Numbers(as_float[index].reshape(-1, 1), 0, name)
    return Labels([str(v) if isinstance(v, str) else v for v in distinct], index, name)


def _not_a_value(value: Any, name: str) -> Exception:
    if isinstance(value, complex):
        return ValueError(f"column {name!r}: Complex data not supported; split it into real and imaginary columns")
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64):
        return _date(name)
    return TypeError(f"column {name!r}: argument must be a string or a number, not {type(value).__name__!r}")


def _read_frame(X: Any, n_jobs: int | None) -> Table:
    """Return the columns of a data frame or of anything that streams Arrow data."""
    import narwhals as nw

    duplicated = _duplicated(getattr(X, "columns", ()) if hasattr(X, "iloc") else getattr(X, "column_names", ()))
    if duplicated is not None:
        raise ValueError(f"the table has two columns named {duplicated!r}; rename one")
    frame = nw.from_native(as_known_table(X), eager_only=True)
    names = list(frame.columns)
    text = [n for n in names if isinstance(n, str)]
    columns = [_read_series(frame.get_column(n), str(n)) for n in names]
    return Table(tuple(columns), tuple(text) if len(text) == len(names) else None, frame.shape[0])


def _duplicated(names: Any) -> Any:
    seen = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _read_series(series: Any, name: str) -> RawColumn:
    """Return one column of a data frame, seen through narwhals."""
    import narwhals as nw

    dtype = series.dtype
    native = series.to_native()
    if getattr(native, "dtype", None) is np.dtype(object):
        return _read_objects(np.asarray(native, dtype=object), name)
    if hasattr(native, "sparse") and "Sparse" in str(getattr(native, "dtype", "")):
        raise TypeError(f"column {name!r}: Sparse data was passed, but dense data is required; convert the column")
    if dtype.is_numeric():
        if series.null_count():
            return _read_vector(series.cast(nw.Float64).to_numpy().astype(np.float64), name)
        return _read_vector(np.asarray(series.to_numpy()), name)
    if dtype == nw.Boolean or dtype == nw.String or dtype == nw.Categorical or dtype == nw.Enum:
        return _read_arrow_labels(series, name)
    if dtype.is_temporal():
        raise _date(name)
    if dtype == nw.Unknown and series.null_count() == len(series):
        return Labels([], np.full(len(series), UNKNOWN), name)
    return _read_objects(np.array([*series.to_list(), None], object)[:-1], name)


def _read_arrow_labels(series: Any, name: str) -> RawColumn:
    """Return a column of strings, booleans or declared categories, through an Arrow dictionary."""
    import narwhals as nw
    import pyarrow

    declared: list[Any] | None = None
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "categories"):
        declared = [plain(v) for v in native.cat.categories]
        return _declared(declared, np.asarray(native.cat.codes, np.int64), name)
    if series.dtype == nw.Enum:
        declared = list(series.dtype.categories)
    arrow = series.to_arrow()
    if isinstance(arrow, pyarrow.ChunkedArray):
        arrow = arrow.combine_chunks()
    if isinstance(arrow, pyarrow.ChunkedArray):
        arrow = pyarrow.concat_arrays(arrow.chunks) if arrow.num_chunks else pyarrow.array([], arrow.type)
    if not pyarrow.types.is_dictionary(arrow.type):
        arrow = arrow.dictionary_encode()
    distinct = arrow.dictionary.to_pylist()
    index = arrow.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    if declared is not None:
        order = np.array([declared.index(v) for v in distinct] + [UNKNOWN], np.int64)
        return _declared(declared, order[index], name)
    return Labels(distinct, index, name)


def _declared(levels: list[Any], index: NDArray[np.int64], name: str) -> RawColumn:
    for level in levels:
        if not isinstance(level, str | int | float | bool):
            raise _not_a_value(level, name)
    return Labels(levels, index, name, declared=True)
