"""Raw columns, before a schema is applied: small integers, numbers, labels or Python objects."""

from __future__ import annotations

import datetime
import numbers
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import compress
from math import inf, nan
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import read_only
from tanbark.kernels.encode.number_columns import bin_numbers, has_few_whole_numbers, occurring_values
from tanbark.schema.encode.columns import UNKNOWN, Category, Codes, Column, label_sort_key, plain, value_kind

MAX_AUTO_LEVELS = 10
"""Maximum number of distinct integers of a column that is a category by default."""
NARROW_RANGE = 256
"""Number of integers that fit in one byte."""
CHUNK_ROWS = 4096
"""Number of rows that are processed at a time, so that they stay in the cache."""
MAX_PYTHON_ROWS = 64
"""Maximum number of rows for which plain Python is faster than NumPy."""
MICROSECONDS_PER_DAY = 86_400_000_000
EXACT = 2**53
"""A float represents every integer below this magnitude exactly."""
_NUMBER_TYPES = {float, int, np.float64}
TEMPORAL_TYPES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


class RawColumn(Protocol):
    """A column as it was read, before a schema is applied."""

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""

    @property
    def few_whole(self) -> bool:
        """Whether the column, if numeric, is a category by default: integers with few distinct values."""

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, which can be binned."""

    def levels(self) -> list[Any]:
        """Return the distinct labels in order."""

    def index(self) -> NDArray[np.int64]:
        """Return the position of each row's label among the levels, -1 if it is missing."""

    def floats(self) -> NDArray[np.float64]:
        """Return the values as floats, NaN if missing."""

    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and the largest number, or None if there are no numbers."""

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""

    def keep(self, rows: NDArray[np.bool_]) -> RawColumn:
        """Return the column with the selected rows."""


def _spread(code: list[int], at: NDArray[Any], column: Column, missing: int, out: Codes) -> None:
    """Write ``code[at]`` to `out`, with the codes of unknown labels and of missing values (position -1)."""
    lookup = [*(missing if c == UNKNOWN else c for c in code), absent_code(column, missing)]
    if len(out) <= MAX_PYTHON_ROWS:
        out[:] = [lookup[p] for p in at.tolist()]
    else:
        np.take(np.array(lookup, out.dtype), at, out=out, mode="wrap")


def _extent(numbers: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the smallest and the largest number, or None if all are NaN."""
    known = numbers[~np.isnan(numbers)]
    return (float(known.min()), float(known.max())) if len(known) else None


def absent_code(column: Column, missing: int) -> int:
    """Return the code of missing values: the last level if the column has one for them, otherwise `missing`."""
    return column.arity - 1 if column.missing else missing


@dataclass(frozen=True)
class SmallIntegers:
    """Integers within a range of 256, stored as distances from `base` of at most `largest`."""

    distance: NDArray[np.uint8]
    base: int
    largest: int
    name: str

    has_missing = False
    is_numeric = True

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """Distinct distances, in ascending order."""
        distances: NDArray[np.int64] = occurring_values(self.distance, self.largest)
        return distances

    @property
    def few_whole(self) -> bool:
        """Whether there are at most ten distinct integers."""
        return len(self.distinct) <= MAX_AUTO_LEVELS

    def levels(self) -> list[Any]:
        """Return the distinct integers."""
        return [int(self.base + d) for d in self.distinct]

    def index(self) -> NDArray[np.int64]:
        """Return the position of each row's integer among the levels."""
        position = np.zeros(NARROW_RANGE, np.int64)
        position[self.distinct] = np.arange(len(self.distinct))
        return position[self.distance]

    def floats(self) -> NDArray[np.float64]:
        """Return the integers as floats."""
        return (self.distance.astype(np.int64) + self.base).astype(np.float64)

    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and the largest integer."""
        if not len(self.distance):
            return None
        return float(self.base + int(self.distance.min())), float(self.base + int(self.distance.max()))

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""
        codes = column.codes_of(self.levels())
        lookup = np.full(NARROW_RANGE, missing, out.dtype)
        lookup[self.distinct] = [missing if c == UNKNOWN else c for c in codes]
        np.take(lookup, self.distance, out=out)
        return UNKNOWN in codes

    def keep(self, rows: NDArray[np.bool_]) -> SmallIntegers:
        """Return the column with the selected rows."""
        return SmallIntegers(self.distance[rows], self.base, self.largest, self.name)


@dataclass(frozen=True)
class Numbers:
    """Floating-point numbers, NaN if missing: one column of a row-major array."""

    rows: NDArray[np.float64]
    at: int
    name: str

    is_numeric = True

    @cached_property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool(np.isnan(self.rows[:, self.at]).any())

    @property
    def few_whole(self) -> bool:
        """Whether there are at most ten distinct numbers, all integers (stored as floats if values are missing)."""
        return bool(has_few_whole_numbers(self._read_only_rows, self.at, MAX_AUTO_LEVELS))

    @cached_property
    def _read_only_rows(self) -> NDArray[np.float64]:
        return read_only(self.rows)

    def levels(self) -> list[Any]:
        """Return the distinct numbers, as int if all are integers."""
        distinct = np.unique(self.floats())
        distinct = distinct[~np.isnan(distinct)]
        whole = bool((distinct == np.floor(distinct)).all())
        return [int(v) if whole else float(v) for v in distinct]

    def index(self) -> NDArray[np.int64]:
        """Return the position of each row's number among the levels, -1 if it is missing."""
        values = self.floats()
        return np.where(np.isnan(values), UNKNOWN, np.searchsorted(np.array(self.levels(), np.float64), values))

    def floats(self) -> NDArray[np.float64]:
        """Return the numbers, and raise ValueError if one is infinite."""
        values = np.ascontiguousarray(self.rows[:, self.at])
        if np.isinf(values).any():
            raise self._infinite()
        return values

    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and the largest number, or None if all are missing."""
        return _extent(self.floats())

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""
        absent = absent_code(column, missing)
        if len(out) <= MAX_PYTHON_ROWS:
            return self._encode_few(column, missing, out)
        if isinstance(column, Category):
            values = self.floats()
            code = column.codes_of_numbers(values)
            is_nan = np.isnan(values)
            out[:] = np.where(is_nan, absent, np.where(code == UNKNOWN, missing, code))
            return bool(((code == UNKNOWN) & ~is_nan).any())
        cuts = np.array(column.cuts, np.float64)
        for low in range(0, len(out), CHUNK_ROWS):
            chunk = slice(low, low + CHUNK_ROWS)
            if not bin_numbers(self._read_only_rows[chunk], self.at, cuts, absent, out[chunk]):
                raise self._infinite()
        return False

    def _encode_few(self, column: Column, missing: int, out: Codes) -> bool:
        """Encode in plain Python, which is faster for a few rows."""
        values = self.rows[:, self.at].tolist()
        known = [v for v in values if v == v]
        if any(v in (inf, -inf) for v in known):
            raise self._infinite()
        codes = column.codes_of(known)
        rest = iter(missing if c == UNKNOWN else c for c in codes)
        absent = absent_code(column, missing)
        out[:] = [next(rest) if v == v else absent for v in values]
        return UNKNOWN in codes

    def keep(self, rows: NDArray[np.bool_]) -> Numbers:
        """Return the column with the selected rows."""
        return type(self)(self.rows[rows, self.at].reshape(-1, 1), 0, self.name)

    def _infinite(self) -> InfiniteValueError:
        """Return the error for infinite values."""
        return InfiniteValueError(self.name)


class InfiniteValueError(ValueError):
    """A column of numbers has an infinite value."""

    def __init__(self, name: str) -> None:
        # scikit-learn's checks look for the words "Input X contains infinity".
        super().__init__(
            f"column {name!r}: Input X contains infinity or a value too large; replace it or make it missing"
        )
        self.name = name

    def __reduce__(self) -> tuple[type[InfiniteValueError], tuple[str]]:
        return type(self), (self.name,)


class Dates(Numbers):
    """Dates and times as days since 1970-01-01 UTC, NaN if missing."""

    few_whole = False

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; raise TypeError if there are dates, but the column does not hold any."""
        if not getattr(column, "is_date", False) and not np.isnan(self.floats()).all():
            raise dates_error(self.name)
        return super().encode(column, missing, out)


@dataclass(frozen=True)
class Labels:
    """Distinct labels and the position of each row's label, -1 if missing; `declared` labels keep their order."""

    distinct: list[Any]
    position: NDArray[np.integer]
    name: str
    declared: bool = False

    @property
    def few_whole(self) -> bool:
        """Whether the labels are not numeric, or at most ten integers (too large for a float)."""
        return not self.is_numeric or len(self._order) <= MAX_AUTO_LEVELS

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the labels are integers and not declared as categories."""
        return not self.declared and bool(self.distinct) and all(type(v) is int for v in self.distinct)

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool((self.position < 0).any())

    @cached_property
    def _order(self) -> list[int]:
        """Positions of the labels in the order of the levels: all if declared, otherwise those that occur, sorted."""
        if self.declared:
            return list(range(len(self.distinct)))
        used = np.bincount(self.position + 1, minlength=len(self.distinct) + 1)[1:]
        return sorted(np.flatnonzero(used).tolist(), key=lambda i: label_sort_key(self.distinct[i]))

    def levels(self) -> list[Any]:
        """Return the levels in order."""
        return [self.distinct[i] for i in self._order]

    def index(self) -> NDArray[np.int64]:
        """Return the position of each row's label among the levels, -1 if it is missing."""
        place = np.full(len(self.distinct) + 1, UNKNOWN)
        place[self._order] = np.arange(len(self._order))
        index: NDArray[np.int64] = place[self.position]
        return index

    def floats(self) -> NDArray[np.float64]:
        """Return numeric labels as floats, NaN if missing."""
        numbers: NDArray[np.float64] = np.array([*self.distinct, np.nan], np.float64)[self.position]
        return numbers

    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and the largest of numeric labels."""
        return _extent(self.floats())

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""
        if isinstance(column, Category) and value_kind(self.distinct) == value_kind(column.levels):
            codes = column.codes_of(self.distinct)
            if UNKNOWN not in codes:
                _spread(codes, self.position, column, missing, out)
                return False
        # Labels that are not levels matter only if they occur.
        used = (np.bincount(self.position + 1, minlength=len(self.distinct) + 1)[1:] > 0).tolist()
        known = column.codes_of([label for label, occurs in zip(self.distinct, used, strict=True) if occurs])
        rest = iter(known)
        _spread([next(rest) if occurs else UNKNOWN for occurs in used], self.position, column, missing, out)
        return UNKNOWN in known

    def keep(self, rows: NDArray[np.bool_]) -> Labels:
        """Return the column with the selected rows."""
        return Labels(self.distinct, self.position[rows], self.name, self.declared)


class ParsedColumn:
    """A column that becomes numbers or labels when it is first needed."""

    @property
    @abstractmethod
    def parsed(self) -> Numbers | Labels:
        """The column as numbers or labels."""

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return self.parsed.has_missing

    @property
    def few_whole(self) -> bool:
        """Whether the column, if numeric, is a category by default: integers with few distinct values."""
        return self.parsed.few_whole

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, which can be binned."""
        return self.parsed.is_numeric

    def levels(self) -> list[Any]:
        """Return the distinct labels in order."""
        return self.parsed.levels()

    def index(self) -> NDArray[np.int64]:
        """Return the position of each row's label among the levels, -1 if it is missing."""
        return self.parsed.index()

    def floats(self) -> NDArray[np.float64]:
        """Return the values as floats, NaN if missing."""
        return self.parsed.floats()

    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and the largest number, or None if there are no numbers."""
        return self.parsed.extent()

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""
        return self.parsed.encode(column, missing, out)


@dataclass(frozen=True)
class Texts(ParsedColumn):
    """A column of text in an Arrow array."""

    values: Any
    name: str

    @cached_property
    def parsed(self) -> Labels:
        """The column as labels."""
        stored = self.values.dictionary_encode()
        position = stored.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
        return Labels(stored.dictionary.to_pylist(), position, self.name)

    def keep(self, rows: NDArray[np.bool_]) -> Texts:
        """Return the column with the selected rows."""
        return Texts(self.values.filter(rows), self.name)


@dataclass(frozen=True)
class Objects(ParsedColumn):
    """A column of Python objects. They are inspected one by one only if the fast paths do not apply."""

    values: list[Any]
    name: str

    @cached_property
    def parsed(self) -> Numbers | Labels:
        """The column as numbers or labels."""
        return read_objects(self.values, self.name)

    @cached_property
    def _numbers(self) -> NDArray[Any] | None:
        """The values as an array if they are finite numbers of common types, otherwise None."""
        if not set(map(type, self.values)) <= _NUMBER_TYPES:
            return None
        numbers = np.array(self.values)
        whole = numbers.dtype.kind == "i"
        finite = whole or (numbers.dtype.kind == "f" and np.isfinite(numbers).all())
        return numbers if finite and len(numbers) else None

    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and the largest number, or None if there are no numbers."""
        numbers = self._numbers
        return self.parsed.extent() if numbers is None else (float(numbers.min()), float(numbers.max()))

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""
        if isinstance(column, Category):
            codes = _known_codes(self.values, column.code, absent_code(column, missing), out.dtype)
            if codes is not None:
                out[:] = codes
                return False
        elif self._numbers is not None and not column.is_date:
            out[:] = column.points.searchsorted(self._numbers)
            return False
        return self.parsed.encode(column, missing, out)

    def keep(self, rows: NDArray[np.bool_]) -> Objects:
        """Return the column with the selected rows."""
        return Objects(list(compress(self.values, rows.tolist())), self.name)


def _known_codes(
    values: list[Any], code: dict[Any, int], absent: int, dtype: np.dtype[Any]
) -> NDArray[np.integer] | None:
    """Return the codes of known labels and missing values, or None if there is any other value."""
    try:
        if dtype == np.uint8:
            # Fastest if all labels are known. For other values `get` returns None, and `bytes` raises TypeError.
            known_codes: Iterable[Any] = map({**code, None: absent}.get, values)
            return np.frombuffer(bytes(known_codes), np.uint8)
    except TypeError:
        pass
    codes = list(values)
    for at, value in enumerate(values):
        known = code.get(value) if isinstance(value, str | Real) else None
        if known is None and not is_missing(value):
            return None
        codes[at] = absent if known is None else known
    return np.array(codes, dtype)


def is_missing(value: Any) -> bool:
    """Return whether a Python object represents a missing value: None, NaN, NaT or pandas' NA.

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating | Decimal | np.datetime64 | np.timedelta64) and bool(value != value)


def read_objects(values: Iterable[Any], name: str) -> Numbers | Labels:
    """Return a column of Python objects as numbers or labels."""
    position: dict[tuple[type, Any], int] = {}
    index = []
    text = number = False
    for value in values:
        if is_missing(value):
            index.append(UNKNOWN)
            continue
        if isinstance(value, TEMPORAL_TYPES) or type(value).__name__ == "Period":
            return read_temporal_objects(values, name)
        value = plain(value)
        if isinstance(value, str | bool):
            text = True
        elif isinstance(value, numbers.Real | Decimal):
            number = True
        else:
            raise unsupported_value_error(value, name)
        if text and number:
            raise mixed_types_error(name)
        try:
            index.append(position.setdefault((type(value), value), len(position)))
        except TypeError:
            raise unsupported_value_error(value, name) from None
    distinct = [value for _, value in position]
    at = np.array(index, np.int64)
    if not number:
        return Labels([str(v) if isinstance(v, str) else v for v in distinct], at, name)
    if any(isinstance(v, int) and abs(v) >= 2**64 for v in distinct):
        raise ValueError(f"column {name!r} holds an integer of more than 64 bits; convert the column to text")
    if all(isinstance(v, int) for v in distinct) and any(abs(v) >= EXACT for v in distinct):
        return Labels(distinct, at, name)
    as_float = np.array([float(v) for v in distinct] + [np.nan])
    return Numbers(as_float[at].reshape(-1, 1), 0, name)


def read_temporal_objects(values: Iterable[Any], name: str) -> Numbers:
    """Return dates as `Dates`, durations as numbers of days, and times of day as numbers of hours."""
    kinds = set()
    numbers = []
    for value in values:
        if is_missing(value):
            numbers.append(nan)
            continue
        if type(value).__name__ == "Period":
            value = value.start_time.to_pydatetime()
        elif isinstance(value, np.datetime64 | np.timedelta64):
            value = value.astype(f"{value.dtype.kind}8[us]").item()
        if isinstance(value, datetime.timedelta):
            kinds.add("durations")
            numbers.append(days_of_microseconds(value // datetime.timedelta(microseconds=1)))
        elif isinstance(value, datetime.time):
            kinds.add("times of day")
            numbers.append(value.hour + value.minute / 60 + (value.second + value.microsecond / 1e6) / 3600)
        elif isinstance(value, datetime.date):
            kinds.add("dates")
            numbers.append(_days(value))
        else:
            kinds.add("other values")
        if len(kinds) > 1:
            raise ValueError(f"column {name!r} mixes {' with '.join(sorted(kinds))}; convert it to one type")
    column = np.array(numbers, np.float64).reshape(-1, 1)
    return Dates(column, 0, name) if kinds == {"dates"} else Numbers(column, 0, name)


def _days(value: datetime.date) -> float:
    """Return the days since 1970-01-01 UTC; a time without time zone is UTC."""
    if not isinstance(value, datetime.datetime):
        return float((value - datetime.date(1970, 1, 1)).days)
    zone = datetime.UTC if value.tzinfo is None else value.tzinfo
    since = value.replace(tzinfo=zone) - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return float(days_of_microseconds(since // datetime.timedelta(microseconds=1)))


def days_of_microseconds(microseconds: Any) -> Any:
    """Return a whole number of microseconds, or an array of them, as days.

    Whole days and the rest are converted one by one, so that whole days are exact and equal dates are equal numbers,
    whether they are read from text, from Python objects or from arrays.

    >>> days_of_microseconds(36 * 3_600_000_000)
    1.5
    """
    whole, rest = divmod(microseconds, MICROSECONDS_PER_DAY)
    return whole + rest / MICROSECONDS_PER_DAY


def read_temporal_array(values: NDArray[Any], name: str) -> Numbers:
    """Return NumPy dates as `Dates`, and durations as numbers of days."""
    # Microseconds, so that the same date is the same number whatever its unit.
    values = values.astype(f"{values.dtype.kind}8[us]")
    days = np.where(np.isnat(values), np.nan, days_of_microseconds(values.view(np.int64))).reshape(-1, 1)
    return Numbers(days, 0, name) if values.dtype.kind == "m" else Dates(days, 0, name)


def mixed_types_error(name: str) -> ValueError:
    """Return the error for a column that mixes numbers with text."""
    return ValueError(f"column {name!r} mixes numbers with strings or booleans; convert it to one type")


def complex_values_error(name: str) -> ValueError:
    """Return the error for a column of complex numbers."""
    return ValueError(f"column {name!r}: Complex data not supported; split it into real and imaginary columns")


def dates_error(name: str) -> TypeError:
    """Return the error for a column of dates or times."""
    return TypeError(
        f"column {name!r} holds dates or times; convert it to numbers (year, month, days since an event) or drop it"
    )


def dates_as_categories_error(name: str) -> TypeError:
    """Return the error for a column of dates that was declared categorical."""
    return TypeError(f"column {name!r} holds dates, which cannot be categories; convert them to text")


def unsupported_value_error(value: Any, name: str) -> Exception:
    """Return the error for a value that is neither text nor a number."""
    if isinstance(value, complex):
        return complex_values_error(name)
    return TypeError(f"column {name!r}: argument must be a string or a number, not {type(value).__name__!r}")
