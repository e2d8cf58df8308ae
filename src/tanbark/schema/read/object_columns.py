"""Read columns of Python objects."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN, Category, Codes, Column, plain
from tanbark.schema.read.raw_columns import Labels, Numbers, absent_code

EXACT = 2**53
"""A float represents every integer below this magnitude exactly."""

_NUMBER_TYPES = {float, int, np.float64}


@dataclass(frozen=True)
class Objects:
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
        numbers = self._numbers
        return self.parsed.extent() if numbers is None else (float(numbers.min()), float(numbers.max()))

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`, and return whether there is an unseen value."""
        if isinstance(column, Category):
            codes = _known_codes(self.values, column.code, absent_code(column, missing), out.dtype)
            if codes is not None:
                out[:] = codes
                return False
        elif self._numbers is not None:
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


def unsupported_value_error(value: Any, name: str) -> Exception:
    """Return the error for a value that is neither text nor a number."""
    if isinstance(value, complex):
        return complex_values_error(name)
    temporal = datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64
    if isinstance(value, temporal) or type(value).__name__ == "Period":
        return dates_error(name)
    return TypeError(f"column {name!r}: argument must be a string or a number, not {type(value).__name__!r}")
