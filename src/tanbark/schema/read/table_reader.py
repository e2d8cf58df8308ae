"""Read tables of any type into raw columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tanbark.immutable import read_only
from tanbark.kernels.encode.number_columns import narrow_integers
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.schema.encode.columns import UNKNOWN, plain
from tanbark.schema.read.raw_columns import (
    CHUNK_ROWS,
    EXACT,
    MAX_PYTHON_ROWS,
    NARROW_RANGE,
    TEMPORAL_TYPES,
    Labels,
    Numbers,
    Objects,
    ParsedColumn,
    RawColumn,
    SmallIntegers,
    Texts,
    complex_values_error,
    is_missing,
    mixed_types_error,
    read_temporal_array,
    read_temporal_objects,
    unsupported_value_error,
)

MAX_OBJECT_ROWS = 1000
"""Maximum number of rows for which text is read as Python objects; Arrow is faster for more rows."""

MAX_SEPARATE_COLUMNS = 16
"""Maximum number of NumPy columns of one kind that are read one by one from a pandas frame with mixed types."""


@dataclass(frozen=True)
class Table:
    """Columns as they were read, their names (None if the table has no names) and the number of rows."""

    columns: tuple[RawColumn, ...]
    names: tuple[str, ...] | None
    rows: int
    small: NDArray[np.uint8] | None = None
    """All columns in one array, if every column holds integers from 0 to 255."""
    left_out: int = 0
    """Number of rows that were left out, for example because they have no class."""

    def keep(self, rows: NDArray[np.bool_]) -> Table:
        """Return the table with the selected rows."""
        kept = int(rows.sum())
        return Table(tuple(c.keep(rows) for c in self.columns), self.names, kept, left_out=self.rows - kept)


def as_known_table(X: Any) -> Any:
    """Convert an object that only streams Arrow data, such as a DuckDB relation, to an Arrow table."""
    if not hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__arrow_c_array__"):
        return X
    from narwhals import dependencies

    if dependencies.is_into_dataframe(X) or dependencies.is_into_series(X):
        return X
    import pyarrow

    return X if isinstance(X, pyarrow.Array) else pyarrow.table(X)


def read_table(X: Any, n_jobs: int | None = None) -> Table:
    """Return the columns of a NumPy array, a data frame, an Arrow table or a list of rows."""
    if issparse(X):
        raise TypeError("Sparse data was passed, but dense data is required; use X.toarray() to convert")
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError("X is a lazy frame; call X.collect() first")
    if not _is_frame(X):
        X = as_known_table(X)
    if _is_frame(X):
        return _read_frame(X, n_jobs)
    array = as_array(X)
    if array.ndim == 0 and not isinstance(X, int | float | complex | np.generic | np.ndarray):
        raise TypeError(f"X must be a data frame, an array or a list of rows, got {type(X).__name__!r}")
    if array.ndim == 0:
        raise ValueError(f"Expected 2D array, got scalar array instead: {array!r}. Pass a table of rows and columns")
    if array.ndim == 1 and (array.dtype.names or (len(array) and isinstance(array[0], dict))):
        raise TypeError("the rows of X are records with named values; convert X to a data frame: pandas.DataFrame(X)")
    if array.ndim == 1:
        raise ValueError("Expected 2D array, got 1D array instead. Reshape your data: one row is X.reshape(1, -1)")
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, expected 2: rows and columns")
    return _read_array(array, [f"x{u}" for u in range(array.shape[1])], n_jobs)


def read_new_table(X: Any, n_jobs: int | None = None) -> tuple[Table, dict[str, Any]]:
    """Return the columns of a table to fit, and the attributes `n_features_in_` and, if named, `feature_names_in_`."""
    X = as_known_table(X)
    table = read_table(X, n_jobs)
    check_has_columns(table)
    if not table.rows:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is required."
        )
    # It receives the number and the names of columns as scikit-learn determines them.
    seen = BaseEstimator()
    validate_data(seen, X, reset=True, skip_check_array=True)
    return table, dict(vars(seen))


def check_has_columns(table: Table) -> None:
    """Raise ValueError if a table has no columns."""
    if not table.columns:
        raise ValueError(f"Found array with 0 feature(s) (shape=({table.rows}, 0)) while a minimum of 1 is required.")


def read_column(values: Any, name: str) -> RawColumn:
    """Return one column from an array, a list, a series of a data frame or an Arrow array."""
    column: RawColumn
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__") or hasattr(values, "iloc"):
        import narwhals as nw
        import pyarrow

        if isinstance(values, pyarrow.Array):
            values = pyarrow.chunked_array([values])
        column = _read_series(nw.from_native(values, series_only=True), name)
    else:
        column = _read_vector(as_array(values), name)
    return column.parsed if isinstance(column, ParsedColumn) else column


def _is_frame(X: Any) -> bool:
    """Return whether `X` is a data frame or an Arrow table."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    from narwhals import dependencies

    return bool(dependencies.is_into_dataframe(X))


def as_array(X: Any) -> NDArray[Any]:
    """Convert an array-like to a NumPy array; numbers next to text in lists stay numbers."""
    if isinstance(X, np.ma.MaskedArray):
        return unmasked(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError("the rows have different lengths; give every row a value for every column") from error
    if not isinstance(X, np.ndarray) and (array.dtype.kind == "U" or _mixes_booleans(X, array)):
        array = np.asarray(X, object)
    return array


def unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return the values of a masked array as objects, with None for masked values."""
    values: NDArray[Any] = np.asarray(array.data).astype(object)
    values[np.ma.getmaskarray(array)] = None
    return values


def _mixes_booleans(rows: Any, array: NDArray[Any]) -> bool:
    """Return whether the first row of a list has booleans that became numbers in the array."""
    first = rows[0] if isinstance(rows, list | tuple) and len(rows) else ()
    return array.dtype.kind in "iuf" and isinstance(first, list | tuple) and any(isinstance(v, bool) for v in first)


def _read_array(array: NDArray[Any], names: Sequence[str], n_jobs: int | None) -> Table:
    """Return the columns of a two-dimensional array."""
    rows, n = array.shape
    if array.dtype.kind in "iu":
        columns, small = _read_integers(array, names, n_jobs)
        return Table(columns, None, rows, small)
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return Table(tuple(Numbers(array, u, names[u]) for u in range(n)), None, rows)
    if array.dtype == object:
        return Table(tuple(map(Objects, array.T.tolist(), names)), None, rows)
    return Table(tuple(_read_vector(array[:, u], names[u]) for u in range(n)), None, rows)


def _read_integers(
    array: NDArray[np.integer], names: Sequence[str], n_jobs: int | None
) -> tuple[tuple[RawColumn, ...], NDArray[np.uint8] | None]:
    """Read integer columns in one pass over memory; columns with a range above 256 are read again one by one."""
    rows, n = array.shape
    if 0 < rows <= MAX_PYTHON_ROWS and array.min(initial=0) > -EXACT and array.max(initial=0) < EXACT:
        exact = np.ascontiguousarray(array, np.float64)
        return tuple(Numbers(exact, u, names[u]) for u in range(n)), None
    if array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
        return tuple(read_wide_integers(array[:, u], names[u]) for u in range(n)), None
    head = array[: min(rows, 1000)].astype(np.int64)
    lowest = head.min(axis=0, initial=np.iinfo(np.int64).max)
    highest = head.max(axis=0, initial=np.iinfo(np.int64).min)
    from_zero = (lowest >= 0) & (highest < NARROW_RANGE)
    room = np.clip(NARROW_RANGE - 1 - (highest - lowest), 0, NARROW_RANGE - 1) // 2
    base = np.where(from_zero | (rows == 0), 0, np.maximum(lowest, -(2**62)) - room)
    distance = np.empty((n, rows), np.uint8)
    reaches = [np.zeros(n, np.uint64)]

    def narrow(start: int, stop: int) -> None:
        reach = np.zeros(n, np.uint64)
        for low in range(start, stop, CHUNK_ROWS):
            chunk = read_only(np.asarray(array[low : min(low + CHUNK_ROWS, stop)], np.int64))
            narrow_integers(chunk, base, low, distance, reach)
        reaches.append(reach)

    run_over_rows(narrow, rows, n_jobs)
    reach = np.bitwise_or.reduce(reaches, axis=0)
    columns: list[RawColumn] = []
    for u in range(n):
        if reach[u] >= NARROW_RANGE:
            columns.append(read_wide_integers(array[:, u], names[u]))
        else:
            columns.append(SmallIntegers(distance[u], int(base[u]), int(reach[u]), names[u]))
    counted_from_zero = all(isinstance(c, SmallIntegers) and c.base == 0 for c in columns)
    return tuple(columns), distance if counted_from_zero else None


def read_wide_integers(values: NDArray[np.integer], name: str) -> Numbers | Labels:
    """Return integers with a wide range as numbers if floats represent them exactly, otherwise as labels."""
    if len(values) == 0 or (int(values.min()) > -EXACT and int(values.max()) < EXACT):
        return Numbers(values.astype(np.float64).reshape(-1, 1), 0, name)
    distinct, position = np.unique(values, return_inverse=True)
    return Labels([int(v) for v in distinct], position, name)


def _read_vector(values: NDArray[Any], name: str) -> RawColumn:
    """Return a one-dimensional NumPy array of any dtype as a column."""
    if values.ndim != 1:
        raise ValueError(f"column {name!r}: expected a one-dimensional array, got an array of shape {values.shape}")
    kind = values.dtype.kind
    if kind == "b":
        return Labels([False, True], values.astype(np.int64), name)
    if kind in "iu":
        return _read_integers(values.reshape(-1, 1), [name], None)[0][0]
    if kind == "f":
        return Numbers(np.ascontiguousarray(values, np.float64).reshape(-1, 1), 0, name)
    if kind in "OT" or (kind == "U" and len(values) <= MAX_OBJECT_ROWS):
        return Objects(values.tolist(), name)
    if kind == "U":
        distinct, index = np.unique(values, return_inverse=True)
        return Labels([str(v) for v in distinct], index, name)
    if kind == "c":
        raise complex_values_error(name)
    if kind in "mM":
        return read_temporal_array(values, name)
    raise TypeError(f"column {name!r}: argument must be a string or a number, not {values.dtype.type.__name__!r}")


def _read_frame(X: Any, n_jobs: int | None) -> Table:
    """Return the columns of a data frame or an Arrow table."""
    pandas, arrow = hasattr(X, "iloc"), hasattr(X, "column_names")
    given = X.columns.tolist() if pandas else list(X.column_names if arrow else X.columns)
    repeated = [name for name, count in Counter(given).items() if count > 1]
    if pandas and not X.columns.is_unique:
        # NaN is a valid name, but not equal to itself.
        repeated = X.columns[X.columns.duplicated()].tolist()
    if repeated:
        raise ValueError(f"the table has two columns named {repeated[0]!r}; rename one")
    named = all(isinstance(name, str) for name in given)
    names = given if named else [f"x{u}" for u in range(len(given))]
    columns = _read_pandas(X, names, n_jobs) if pandas else _read_arrow(X, names) if arrow else {}
    if len(columns) < len(names):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        for u, name in enumerate(names):
            if u not in columns:
                columns[u] = _read_series(frame.get_column(given[u]), name)
    return Table(tuple(columns[u] for u in range(len(names))), tuple(names) if named else None, X.shape[0])


def _read_pandas(X: Any, names: Sequence[str], n_jobs: int | None) -> dict[int, RawColumn]:
    """Return the columns of a small pandas frame that have NumPy, text or categorical dtypes, by position."""
    columns: dict[int, RawColumn] = {}
    dtypes = X.dtypes.tolist()
    if len(X) > CHUNK_ROWS or not dtypes:
        return columns
    for kind in "iufO":
        at = [u for u, dtype in enumerate(dtypes) if isinstance(dtype, np.dtype) and dtype.kind == kind]
        if len(at) > MAX_SEPARATE_COLUMNS or len(at) == len(dtypes):
            block = (X if len(at) == len(dtypes) else X.iloc[:, at]).to_numpy()
            columns |= zip(at, _read_array(block, [names[u] for u in at], n_jobs).columns, strict=True)
    rest = [u for u in range(len(dtypes)) if u not in columns]
    # Iterating over all columns is faster than taking a third of them by position.
    each = [series for _, series in X.items()] if 3 * len(rest) > len(dtypes) else {u: X.iloc[:, u] for u in rest}
    for u in rest:
        dtype, series = dtypes[u], each[u]
        if isinstance(dtype, np.dtype):
            columns[u] = _read_vector(series.to_numpy(), names[u])
        elif dtype.name == "category":
            columns[u] = _read_categories(series.array, names[u])
        elif dtype.name in ("str", "string") and len(X) <= MAX_OBJECT_ROWS:
            by_arrow = dtype.storage == "pyarrow"
            values = series.array.__arrow_array__().to_pylist() if by_arrow else series.to_numpy(object).tolist()
            columns[u] = Objects(values, names[u])
    return columns


def _read_arrow(X: Any, names: Sequence[str]) -> dict[int, RawColumn]:
    """Return the columns of a small Arrow table that hold numbers without nulls or undeclared text, by position."""
    import pyarrow
    from pyarrow.types import is_dictionary, is_floating, is_integer

    columns: dict[int, RawColumn] = {}
    if X.shape[0] > MAX_OBJECT_ROWS or not isinstance(X, pyarrow.Table):
        return columns
    text = (pyarrow.string(), pyarrow.large_string())
    for u, column in enumerate(X.columns):
        stored = column.type
        if stored in text:
            columns[u] = Objects(column.to_pylist(), names[u])
        elif is_dictionary(stored) and stored.value_type in text and not stored.ordered:
            columns[u] = Objects(column.cast(stored.value_type).to_pylist(), names[u])
        elif (is_integer(stored) or is_floating(stored)) and not column.null_count:
            columns[u] = _read_vector(column.to_numpy(), names[u])
    return columns


def _read_series(series: Any, name: str) -> RawColumn:
    """Return one column of a narwhals series."""
    import narwhals as nw

    native_dtype = getattr(series.to_native(), "dtype", None)
    if isinstance(native_dtype, np.dtype):
        return _read_vector(np.asarray(series.to_native()), name)
    if type(native_dtype).__name__ == "SparseDtype":
        raise TypeError(f"column {name!r}: Sparse data was passed, but dense data is required; convert the column")
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128, nw.Decimal):
        return Objects(series.to_list(), name)
    if dtype.is_integer() and series.null_count():
        return _read_nullable_integers(series, name)
    if dtype.is_numeric():
        values = series.cast(nw.Float64) if dtype.is_float() else series
        return _read_vector(np.asarray(values.to_numpy()), name)
    if dtype == nw.String and len(series) <= MAX_OBJECT_ROWS:
        return Objects(series.to_list(), name)
    if dtype in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
        return _read_arrow_labels(series, name)
    if dtype in (nw.Date, nw.Datetime):
        return read_temporal_array(_microseconds(series.dt.timestamp("us")).view("datetime64[us]"), name)
    if dtype == nw.Duration:
        return read_temporal_array(_microseconds(series.dt.total_microseconds()).view("timedelta64[us]"), name)
    if dtype == nw.Time:
        return read_temporal_objects(series.to_list(), name)
    return Objects(series.to_list(), name)


def _microseconds(series: Any) -> NDArray[np.int64]:
    """Return a series of integers as an array in which NaT represents nulls."""
    is_null = series.is_null().to_numpy().astype(np.bool_)
    values = np.array(series.fill_null(0).to_numpy(), np.int64)
    values[is_null] = np.iinfo(np.int64).min
    return values


def _read_nullable_integers(series: Any, name: str) -> RawColumn:
    """Return integers with nulls as numbers if floats represent them exactly, otherwise as labels."""
    is_null = series.is_null().to_numpy().astype(np.bool_)
    column = read_wide_integers(np.asarray(series.fill_null(0).to_numpy()), name)
    if isinstance(column, Labels):
        return Labels(column.distinct, np.where(is_null, UNKNOWN, column.position), name)
    column.rows[is_null] = np.nan
    return column


def _read_arrow_labels(series: Any, name: str) -> RawColumn:
    """Return a column of strings, booleans or categories, read through an Arrow dictionary.

    A pandas categorical, a polars Enum and an ordered Arrow dictionary declare levels. Any other dictionary is only a
    storage format.
    """
    import narwhals as nw
    import pyarrow

    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "categories"):
        return _read_categories(native.array, name)
    arrow = one_array(native if isinstance(native, pyarrow.ChunkedArray) else series.to_arrow())
    if pyarrow.types.is_string(arrow.type) or pyarrow.types.is_large_string(arrow.type):
        return Texts(arrow, name)
    if not pyarrow.types.is_dictionary(arrow.type):
        arrow = arrow.dictionary_encode()
    stored = arrow.dictionary.to_pylist()
    small = arrow.indices.type in (pyarrow.int8(), pyarrow.int16(), pyarrow.int32())
    signed = arrow.indices.cast(pyarrow.int32() if small else pyarrow.int64())
    index = signed.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    declared = series.dtype == nw.Enum or (arrow.type.ordered and isinstance(native, pyarrow.ChunkedArray))
    levels = list(series.dtype.categories) if series.dtype == nw.Enum else stored
    levels = list(dict.fromkeys(v for v in levels if not is_missing(v)))
    if levels == stored:
        return _labels(levels, index, name, declared)
    place = {v: i for i, v in enumerate(levels)}
    position = np.array([*(UNKNOWN if is_missing(v) else place[v] for v in stored), UNKNOWN], np.int64)
    return _labels(levels, position[index], name, declared)


def _read_categories(values: Any, name: str) -> RawColumn:
    """Return a pandas categorical as a column with declared levels."""
    levels = [str(v) if type(v).__name__ == "Interval" else plain(v) for v in values.categories.tolist()]
    return _labels(levels, values.codes.astype(np.int64), name, True)


def one_array(values: Any) -> Any:
    """Combine a chunked Arrow array into one array with one dictionary."""
    import pyarrow

    if isinstance(values, pyarrow.Array):
        return values
    try:
        values = values.unify_dictionaries()
    except pyarrow.ArrowInvalid:
        # The dictionaries contain nulls or have too many levels for their index type.
        return _unified(values.chunks)
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def _unified(chunks: list[Any]) -> Any:
    """Combine dictionary arrays into one, with levels in order of appearance."""
    import pyarrow
    from pyarrow.compute import index_in

    levels = pyarrow.concat_arrays([chunk.dictionary for chunk in chunks]).drop_null().unique()
    decoded = pyarrow.concat_arrays([chunk.dictionary_decode() for chunk in chunks])
    index = index_in(decoded, levels, skip_nulls=True)
    return pyarrow.DictionaryArray.from_arrays(index, levels, ordered=chunks[0].type.ordered)


def _labels(levels: list[Any], position: NDArray[np.integer], name: str, declared: bool) -> RawColumn:
    """Return a column of labels, and raise an error if a level is not a valid label."""
    if any(isinstance(level, TEMPORAL_TYPES) or type(level).__name__ == "Period" for level in levels):
        values = read_temporal_objects([*levels, None], name)
        return type(values)(values.rows[position], 0, name)
    for level in levels:
        if not isinstance(level, str | int | float | bool):
            raise unsupported_value_error(level, name)
        if isinstance(level, float) and not np.isfinite(level):
            raise ValueError(f"column {name!r} has infinity as a level; replace it or make it missing")
    if len({isinstance(level, str) for level in levels}) > 1:
        raise mixed_types_error(name)
    return Labels(levels, position, name, declared)
