"""Columns of a schema: categories with levels, numbers with cut points."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import CopiedByFields

Label = str | int | float | bool
Codes = NDArray[np.unsignedinteger]

UNKNOWN = -1
OTHER = "(other)"
MISSING = "(missing)"
BEYOND_FLOATS = 2**1023


def plain(value: Any) -> Any:
    """Return a value as the plain Python scalar that a file can hold."""
    return value.item() if isinstance(value, np.generic) else value


def in_order(label: Any) -> tuple[bool, Any]:
    """Return a key by which labels sort: numbers and booleans first, then text."""
    return isinstance(label, str), label


def union(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the labels of both, sorted if both are."""

    def order(labels: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(sorted(labels, key=in_order))

    together = a + tuple(x for x in b if x not in set(a))
    return order(together) if order(a) == a and order(b) == b else together


def holds(values: Sequence[Any]) -> str:
    """Return in a word what kind of labels these are: text, numbers, or nothing."""
    if not values:
        return "nothing"
    return "text" if any(isinstance(v, str) for v in values) else "numbers"


@dataclass(frozen=True)
class Category(CopiedByFields):
    """A column of labels.

    Parameters
    ----------
    name : str
    levels : tuple
        The labels, in the order of their codes.
    other : bool
        Whether a label that is not among `levels` shares one further code with its like.
    missing : bool
        Whether a missing value is a level of its own, the last one.
    """

    name: str
    levels: tuple[Label, ...]
    other: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(plain(level) for level in self.levels))
        _check_flags(self, "other", "missing")
        for level in self.levels:
            if not isinstance(level, str | int | float | bool) or level != level:
                raise ValueError(f"column {self.name!r}: a level must be text, a number or a boolean, got {level!r}")
            if isinstance(level, int) and abs(level) >= BEYOND_FLOATS:
                raise ValueError(f"column {self.name!r}: a level is beyond what a float holds; make it text")
        if len(set(self.levels)) != len(self.levels):
            raise ValueError(f"column {self.name!r}: a level is listed twice; list each once")

    @property
    def arity(self) -> int:
        """How many codes the column has."""
        return max(len(self.levels) + self.other + self.missing, 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code is called when shown to a person."""
        named = [str(v) for v in self.levels]
        for word in [OTHER] * self.other + [MISSING] * self.missing:
            while word in named:
                word += "_"
            named.append(word)
        return tuple(named) or (MISSING,)

    @cached_property
    def code(self) -> dict[Label, int]:
        """The code of each level."""
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        numbers = np.array(self.levels, np.float64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order

    @cached_property
    def _holds(self) -> str:
        return holds(self.levels)

    def codes_of(self, values: Sequence[Any]) -> list[int]:
        """Return the code of each of a few labels, `UNKNOWN` for a label never seen."""
        kind = holds(values)
        if kind != self._holds and "nothing" not in (kind, self._holds):
            raise ValueError(
                f"column {self.name!r} holds {kind} but the model learned {self._holds} there; convert the column"
            )
        fallback = len(self.levels) if self.other else UNKNOWN
        return [self.code.get(value, fallback) for value in values]

    def codes_of_numbers(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the code of each of many numbers; NaN is `UNKNOWN` too."""
        if self._holds == "text" and not np.isnan(numbers).all():
            self.codes_of([0.0])
        if self._holds != "numbers":
            return np.where(np.isnan(numbers) | (not self.other), UNKNOWN, len(self.levels))
        levels, order = self._sorted
        at = np.minimum(np.searchsorted(levels, numbers), len(levels) - 1)
        known = levels[at] == numbers
        unseen = np.where(np.isnan(numbers), UNKNOWN, len(self.levels) if self.other else UNKNOWN)
        codes: NDArray[np.int64] = np.where(known, order[at], unseen)
        return codes

    def value_of(self, codes: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return the label behind each code, as objects; a missing value is None.

        What shares the code of the rarest is drawn as a label that is no level: "(other)", among numbers a whole
        one above the largest.
        """
        lookup = np.empty(self.arity + 1, object)
        named: list[Any] = list(self.levels)
        if self.other and self._holds == "numbers":
            named.append(floor(max(float(level) for level in self.levels)) + 1)
        elif self.other:
            named.append(self.labels[len(self.levels)])
        lookup[: len(named)] = named
        labels: NDArray[Any] = lookup[np.minimum(codes, self.arity)]
        return labels

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values."""
        return {"name": self.name, "levels": list(self.levels), "other": self.other, "missing": self.missing}


@dataclass(frozen=True)
class Number(CopiedByFields):
    """A column of numbers, cut into intervals that are closed on the right.

    Parameters
    ----------
    name : str
    cuts : tuple of float
        Ascending cut points; a number equal to a cut point lies below it.
    low, high : float
        The range seen in training, where the outer intervals end when values are drawn.
    missing : bool
        Whether a missing value is a level of its own, the last one.
    """

    name: str
    cuts: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0
    missing: bool = False

    def __post_init__(self) -> None:
        _check_flags(self, "missing")
        cuts = tuple(float(c) for c in self.cuts)
        if not all(np.isfinite(cuts)) or any(a >= b for a, b in itertools.pairwise(cuts)):
            raise ValueError(f"column {self.name!r}: cut points must be finite and ascending, got {list(cuts)}")
        object.__setattr__(self, "cuts", cuts)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if self.low != self.low or self.high != self.high:
            raise ValueError(f"column {self.name!r}: its range must be numbers, got {self.low} to {self.high}")

    @property
    def arity(self) -> int:
        """How many codes the column has."""
        return len(self.cuts) + 1 + self.missing

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """The cut points as an array."""
        return np.array(self.cuts, np.float64)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code is called when shown to a person."""
        cuts = _shortest(self.cuts)
        if not cuts:
            named = ["any number"]
        else:
            between = [f"({a}, {b}]" for a, b in itertools.pairwise(cuts)]
            named = [f"<= {cuts[0]}", *between, f"> {cuts[-1]}"]
        return tuple(named + [MISSING] * self.missing)

    def codes_of(self, values: Sequence[Any]) -> list[int]:
        """Return the code of each of a few numbers."""
        if holds(values) == "text":
            raise ValueError(f"column {self.name!r} holds text but the model learned numbers there; convert the column")
        return [bisect_left(self.cuts, value) for value in values]

    def value_of(self, codes: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Return for each code a number drawn uniformly from its interval; a missing value is NaN."""
        low, high = min(self.low, *self.cuts, self.high), max(self.high, *self.cuts, self.low)
        edges = np.array([low, *self.cuts, high])
        inside = np.minimum(codes, len(self.cuts))
        drawn = edges[inside + 1] - (edges[inside + 1] - edges[inside]) * rng.random(len(codes))
        return np.where(codes <= len(self.cuts), drawn, np.nan)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values."""
        range_ = {"low": self.low, "high": self.high}
        return {"name": self.name, "cuts": list(self.cuts), **range_, "missing": self.missing}


def _shortest(numbers: Sequence[float]) -> list[str]:
    """Return the numbers as text of six digits, or of as many as tell them apart.

    >>> _shortest([1.0, 2.5]), _shortest([1000000.25, 1000000.5])
    (['1', '2.5'], ['1000000.2', '1000000.5'])
    """
    for digits in range(6, 18):
        text = [f"{c:.{digits}g}" for c in numbers]
        if len(set(text)) == len(text):
            break
    return text


Column = Category | Number


def _check_flags(column: Column, *names: str) -> None:
    """Raise where a setting is neither true nor false: a column would have more or fewer codes than levels."""
    for name in names:
        value = plain(getattr(column, name))
        if value not in (0, 1):
            raise ValueError(f"column {column.name!r}: {name} must be True or False, got {value!r}")
        object.__setattr__(column, name, bool(value))


def column_from_dict(plain_values: dict[str, Any]) -> Column:
    """Return the column that `to_dict` described."""
    if "levels" in plain_values:
        return Category(**(plain_values | {"levels": tuple(plain_values["levels"])}))
    return Number(**(plain_values | {"cuts": tuple(plain_values["cuts"])}))


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has come before, None where none has.

    >>> first_repeated(["a", "b", "a", "b"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
