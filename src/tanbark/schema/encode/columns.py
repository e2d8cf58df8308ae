"""Columns of a schema: categories with levels and numbers with cut points."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import Immutable
from tanbark.messages import first_repeated

Label = str | int | float | bool
Codes = NDArray[np.unsignedinteger]
UNKNOWN = -1
"""Code of a missing value or of a label that is not a level, before it is encoded."""
OTHER_LABEL = "(other)"
MISSING_LABEL = "(missing)"
MAX_FLOAT_INTEGER = 2**1023
"""Integer levels must be smaller in magnitude, so that a float can represent them."""


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python scalar, and any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def label_sort_key(label: Any) -> tuple[bool, Any]:
    """Return the sort key of a label: numbers and booleans come before strings."""
    return isinstance(label, str), label


MAX_DAYS = 3_000_000
"""Dates are shown up to this number of days before and after 1970-01-01."""


def union(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the labels of `a` and `b`, sorted if both are sorted, otherwise with those of `a` first."""

    def order(labels: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(sorted(labels, key=label_sort_key))

    merged = a + tuple(x for x in b if x not in set(a))
    return order(merged) if order(a) == a and order(b) == b else merged


def value_kind(values: Sequence[Any]) -> str:
    """Return "text" if a value is a string, "numbers" if none is, or "nothing" if there are no values."""
    if not values:
        return "nothing"
    return "text" if any(isinstance(v, str) for v in values) else "numbers"


@dataclass(frozen=True)
class Category(Immutable):
    """A categorical column.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : sequence of str, int, float or bool
        Distinct labels, in the order of their codes.
    other : bool, default=False
        Whether all labels outside `levels` share one additional code. If False, they count as unseen.
    missing : bool, default=False
        Whether missing values form a level of their own, with the last code.
    source : str or None, default=None
        Name of the column of the table that this column is computed from. None means that it has the same name.

    Raises
    ------
    ValueError
        If a level is not a string, number or boolean, is NaN, or occurs twice.

    See Also
    --------
    Number : A numeric column.

    Examples
    --------
    >>> from tanbark import Category
    >>> column = Category("colour", ("red", "green"), other=True)
    >>> column.arity, column.labels
    (3, ('red', 'green', '(other)'))
    """

    name: str
    levels: tuple[Label, ...]
    other: bool = False
    missing: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(plain(level) for level in self.levels))
        _check_flags(self, "other", "missing")
        for level in self.levels:
            if not isinstance(level, str | int | float | bool) or level != level:
                raise ValueError(f"column {self.name!r}: levels must be strings, numbers or booleans, got {level!r}")
            if isinstance(level, int) and abs(level) >= MAX_FLOAT_INTEGER:
                raise ValueError(f"column {self.name!r}: a level is too large for a float; convert it to a string")
        if len(set(self.levels)) != len(self.levels):
            raise ValueError(
                f"column {self.name!r}: duplicate level {first_repeated(self.levels)!r}; list each level once"
            )

    @property
    def arity(self) -> int:
        """Number of codes of the column."""
        return max(len(self.levels) + self.other + self.missing, 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """Display name of each code."""
        names = [str(v) for v in self.levels]
        for label in [OTHER_LABEL] * self.other + [MISSING_LABEL] * self.missing:
            while label in names:
                label += "_"
            names.append(label)
        return tuple(names) or (MISSING_LABEL,)

    @cached_property
    def code(self) -> dict[Label, int]:
        """Mapping from each level to its code."""
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Numeric levels in ascending order, and the code of each."""
        numbers = np.array(self.levels, np.float64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order

    @cached_property
    def _kind(self) -> str:
        return value_kind(self.levels)

    def codes_of(self, values: Sequence[Any]) -> list[int]:
        """Return the code of each label in a short sequence, `UNKNOWN` if it is not a level.

        Parameters
        ----------
        values : sequence
            Labels, without missing values.

        Returns
        -------
        codes : list of int
            The codes. Labels that are not levels get the code of other labels if there is one, otherwise -1.

        Raises
        ------
        ValueError
            If the labels are text and the levels are numbers, or the reverse.
        """
        kind = value_kind(values)
        if kind != self._kind and "nothing" not in (kind, self._kind):
            raise ValueError(
                f"column {self.name!r} holds {kind}, but the schema expects {self._kind}; convert the column"
            )
        fallback = len(self.levels) if self.other else UNKNOWN
        return [self.code.get(value, fallback) for value in values]

    def codes_of_numbers(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the code of each number in an array, `UNKNOWN` if it is NaN or not a level.

        Parameters
        ----------
        numbers : ndarray of float64
            Numbers. NaN is missing.

        Returns
        -------
        codes : ndarray of int64
            The codes. Numbers that are not levels get the code of other labels if there is one, otherwise -1.
        """
        if self._kind == "text" and not np.isnan(numbers).all():
            self.codes_of([0.0])
        if self._kind != "numbers":
            return np.where(np.isnan(numbers) | (not self.other), UNKNOWN, len(self.levels))
        levels, order = self._sorted
        at = np.minimum(np.searchsorted(levels, numbers), len(levels) - 1)
        known = levels[at] == numbers
        unseen = np.where(np.isnan(numbers), UNKNOWN, len(self.levels) if self.other else UNKNOWN)
        codes: NDArray[np.int64] = np.where(known, order[at], unseen)
        return codes

    def value_of(self, codes: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return the label of each code as an object array, with None for missing values.

        The code shared by all other labels becomes a label that is not a level: "(other)", or for numeric levels the
        next integer above the largest level.

        Parameters
        ----------
        codes : ndarray of int
            Codes of the column.
        rng : numpy.random.Generator
            Not used. Present for compatibility with `Number`.

        Returns
        -------
        labels : ndarray of object
            The labels.
        """
        del rng
        lookup = np.empty(self.arity + 1, object)
        values: list[Any] = list(self.levels)
        if self.other and self._kind == "numbers":
            values.append(floor(max(float(level) for level in self.levels)) + 1)
        elif self.other:
            values.append(self.labels[len(self.levels)])
        lookup[: len(values)] = values
        labels: NDArray[Any] = lookup[np.minimum(codes, self.arity)]
        return labels

    def to_dict(self) -> dict[str, Any]:
        """Return the column as a dict of JSON-serializable values.

        Returns
        -------
        values : dict
            The parameters of the column.
        """
        values = {"name": self.name, "levels": list(self.levels), "other": self.other, "missing": self.missing}
        return values if self.source is None else {**values, "source": self.source}


@dataclass(frozen=True)
class Number(Immutable):
    """A numeric column, divided into intervals that are closed on the right.

    Parameters
    ----------
    name : str
        Name of the column.
    cuts : sequence of float
        Cut points in ascending order. A number equal to a cut point belongs to the interval below it.
    low : float, default=0.0
        Smallest number seen in training. Sampled values of the first interval are not below it.
    high : float, default=1.0
        Largest number seen in training. Sampled values of the last interval are not above it.
    missing : bool, default=False
        Whether missing values form a level of their own, with the last code.
    source : str or None, default=None
        Name of the column of the table that this column is computed from. None means that it has the same name.
    is_date : bool, default=False
        Whether the numbers are days since 1970-01-01 UTC, which are shown as dates.

    Raises
    ------
    ValueError
        If the cut points are not finite and ascending, or `low` or `high` is NaN.

    See Also
    --------
    Category : A categorical column.

    Examples
    --------
    >>> from tanbark import Number
    >>> Number("age", (30, 50)).labels
    ('<= 30', '(30, 50]', '> 50')
    """

    name: str
    cuts: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0
    missing: bool = False
    source: str | None = None
    is_date: bool = False

    def __post_init__(self) -> None:
        _check_flags(self, "missing", "is_date")
        cuts = tuple(float(c) for c in self.cuts)
        if not all(np.isfinite(cuts)) or any(a >= b for a, b in itertools.pairwise(cuts)):
            raise ValueError(f"column {self.name!r}: cut points must be finite and ascending, got {list(cuts)}")
        object.__setattr__(self, "cuts", cuts)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if self.low != self.low or self.high != self.high:
            raise ValueError(f"column {self.name!r}: low and high must not be NaN, got {self.low} and {self.high}")

    @property
    def arity(self) -> int:
        """Number of codes of the column."""
        return len(self.cuts) + 1 + self.missing

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Cut points as an array."""
        return np.array(self.cuts, np.float64)

    @property
    def labels(self) -> tuple[str, ...]:
        """Display name of each code."""
        cuts = self.texts_of(self.cuts)
        if not cuts:
            intervals = ["any date" if self.is_date else "any number"]
        else:
            between = [f"({a}, {b}]" for a, b in itertools.pairwise(cuts)]
            intervals = [f"<= {cuts[0]}", *between, f"> {cuts[-1]}"]
        return tuple(intervals + [MISSING_LABEL] * self.missing)

    def texts_of(self, numbers: Sequence[float]) -> list[str]:
        """Return numbers of the column as text, with as few digits as make them distinct.

        Parameters
        ----------
        numbers : sequence of float
            Numbers, such as cut points.

        Returns
        -------
        texts : list of str
            The numbers with at least six significant digits, or the dates.

        Examples
        --------
        >>> Number("seen", (), is_date=True).texts_of([0.0, 365.5])
        ['1970-01-01 00:00', '1971-01-01 12:00']
        """
        return _as_dates(numbers) if self.is_date else _shortest_distinct(numbers)

    def codes_of(self, values: Sequence[Any]) -> list[int]:
        """Return the code of each number in a short sequence.

        Parameters
        ----------
        values : sequence of float
            Numbers, without missing values.

        Returns
        -------
        codes : list of int
            The codes.

        Raises
        ------
        ValueError
            If a value is text.
        """
        if value_kind(values) == "text":
            raise ValueError(f"column {self.name!r} holds text, but the schema expects numbers; convert the column")
        return [bisect_left(self.cuts, value) for value in values]

    def value_of(self, codes: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return a number sampled uniformly from the interval of each code, with NaN for missing values.

        Parameters
        ----------
        codes : ndarray of int
            Codes of the column.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        numbers : ndarray of float64
            The sampled numbers.
        """
        low, high = min(self.low, *self.cuts, self.high), max(self.high, *self.cuts, self.low)
        edges = np.array([low, *self.cuts, high])
        inside = np.minimum(codes, len(self.cuts))
        sampled = edges[inside + 1] - (edges[inside + 1] - edges[inside]) * rng.random(len(codes))
        return np.where(codes <= len(self.cuts), sampled, np.nan)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as a dict of JSON-serializable values.

        Returns
        -------
        values : dict
            The parameters of the column.
        """
        range_ = {"low": self.low, "high": self.high}
        values = {"name": self.name, "cuts": list(self.cuts), **range_, "missing": self.missing}
        if self.source is not None:
            values["source"] = self.source
        return {**values, "is_date": True} if self.is_date else values


def _shortest_distinct(numbers: Sequence[float]) -> list[str]:
    """Return the numbers as text with six significant digits, or with as many as make them distinct.

    >>> _shortest_distinct([1.0, 2.5]), _shortest_distinct([1000000.25, 1000000.5])
    (['1', '2.5'], ['1000000.2', '1000000.5'])
    """
    for digits in range(6, 18):
        text = [f"{c:.{digits}g}" for c in numbers]
        if len(set(text)) == len(text):
            break
    return text


def as_datetimes(days: NDArray[np.float64]) -> NDArray[Any]:
    """Return days since 1970-01-01 as `datetime.datetime` objects, None for NaN.

    >>> as_datetimes(np.array([0.5, np.nan])).tolist()
    [datetime.datetime(1970, 1, 1, 12, 0), None]
    """
    missing = np.isnan(days)
    microseconds = np.round(np.where(missing, 0.0, days) * 86_400e6).astype(np.int64)
    stamps: NDArray[Any] = microseconds.astype("datetime64[us]").astype(object)
    stamps[missing] = None
    return stamps


def _as_dates(days: Sequence[float]) -> list[str]:
    """Return days since 1970-01-01 as dates, with the time of day if one is not midnight.

    >>> _as_dates([0.0, 19783.0])
    ['1970-01-01', '2024-03-01']
    """
    seconds = np.round(np.clip(np.array(days, np.float64), -MAX_DAYS, MAX_DAYS) * 86_400)
    length = 10 if not (seconds % 86_400).any() else 16 if not (seconds % 60).any() else 19
    return [str(stamp).replace("T", " ")[:length] for stamp in seconds.astype("datetime64[s]")]


Column = Category | Number


def _check_flags(column: Column, *names: str) -> None:
    """Convert flags to bool, and raise ValueError if one is not True, False, 1 or 0."""
    for name in names:
        value = plain(getattr(column, name))
        if value not in (0, 1):
            raise ValueError(f"column {column.name!r}: {name} must be True or False, got {value!r}")
        object.__setattr__(column, name, bool(value))


def column_from_dict(plain_values: dict[str, Any]) -> Column:
    """Return the column described by the output of `to_dict`."""
    if "levels" in plain_values:
        return Category(**(plain_values | {"levels": tuple(plain_values["levels"])}))
    return Number(**(plain_values | {"cuts": tuple(plain_values["cuts"])}))
