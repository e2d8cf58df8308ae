"""Raw columns before any schema: small integers, numbers or labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.encode.number_codes import bin_numbers, few_whole_numbers, values_up_to
from tanbark.kernels.runtime.compiling import frozen
from tanbark.schema.encode.columns import UNKNOWN, Category, Codes, Column, holds, in_order

AUTO_LEVELS = 10
NARROW = 256
CHUNK = 4096
HANDFUL = 64


class RawColumn(Protocol):
    """A column as it was read, before any schema."""

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""

    @property
    def few_whole(self) -> bool:
        """Whether a person would take its values for categories, if they are numbers."""

    @property
    def measurable(self) -> bool:
        """Whether its values are numbers, which may be cut into bins."""

    def levels(self) -> list[Any]:
        """Return its distinct labels in order."""

    def index(self) -> NDArray[np.int64]:
        """Return for each row the position of its label among the levels, -1 where missing."""

    def floats(self) -> NDArray[np.float64]:
        """Return its numbers, NaN where missing."""

    def extent(self) -> tuple[float, float] | None:
        """Return its least and its greatest number, None where it has none."""

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""

    def keep(self, rows: NDArray[np.bool_]) -> RawColumn:
        """Return the column with some of its rows."""


def _spread(code: list[int], at: NDArray[Any], column: Column, missing: int, out: Codes) -> None:
    """Write ``code[at]`` to `out`, with what is unknown and what is missing (position -1) in their places."""
    lookup = [*(missing if c == UNKNOWN else c for c in code), absent_code(column, missing)]
    if len(out) <= HANDFUL:
        out[:] = [lookup[p] for p in at.tolist()]
    else:
        np.take(np.array(lookup, out.dtype), at, out=out, mode="wrap")


def _extent(numbers: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the least and the greatest of some numbers, None where all are NaN."""
    known = numbers[~np.isnan(numbers)]
    return (float(known.min()), float(known.max())) if len(known) else None


def absent_code(column: Column, missing: int) -> int:
    """Return the code of a missing value: a level of its own where the column has one."""
    return column.arity - 1 if column.missing else missing


@dataclass(frozen=True)
class SmallIntegers:
    """Integers within a range of 256, as distances from `base`, none above `most`."""

    distance: NDArray[np.uint8]
    base: int
    most: int
    name: str

    has_missing = False
    measurable = True

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """The distances that occur."""
        found: NDArray[np.int64] = values_up_to(self.distance, self.most)
        return found

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
        return (self.distance.astype(np.int64) + self.base).astype(np.float64)

    def extent(self) -> tuple[float, float] | None:
        """Return the least and the greatest integer."""
        if not len(self.distance):
            return None
        return float(self.base + int(self.distance.min())), float(self.base + int(self.distance.max()))

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""
        codes = column.codes_of(self.levels())
        lookup = np.full(NARROW, missing, out.dtype)
        lookup[self.distinct] = [missing if c == UNKNOWN else c for c in codes]
        np.take(lookup, self.distance, out=out)
        return UNKNOWN in codes

    def keep(self, rows: NDArray[np.bool_]) -> SmallIntegers:
        """Return the column with some of its rows."""
        return SmallIntegers(self.distance[rows], self.base, self.most, self.name)


@dataclass(frozen=True)
class Numbers:
    """Floating-point numbers, NaN where missing: one column of a row-major array."""

    rows: NDArray[np.float64]
    at: int
    name: str

    measurable = True

    @cached_property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return bool(np.isnan(self.rows[:, self.at]).any())

    @property
    def few_whole(self) -> bool:
        """Whether they are whole numbers of at most ten values: integers with holes, as a data frame has them."""
        return bool(few_whole_numbers(frozen(self.rows), self.at, AUTO_LEVELS))

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

    def extent(self) -> tuple[float, float] | None:
        """Return the least and the greatest number."""
        return _extent(self.floats())

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""
        absent = absent_code(column, missing)
        if len(out) <= HANDFUL:
            return self._encode_few(column, missing, out)
        if isinstance(column, Category):
            values = self.floats()
            code = column.codes_of_numbers(values)
            holes = np.isnan(values)
            out[:] = np.where(holes, absent, np.where(code == UNKNOWN, missing, code))
            return bool(((code == UNKNOWN) & ~holes).any())
        cuts = np.array(column.cuts, np.float64)
        for low in range(0, len(out), CHUNK):
            if not bin_numbers(frozen(self.rows[low : low + CHUNK]), self.at, cuts, absent, out[low : low + CHUNK]):
                raise self._infinite()
        return False

    def _encode_few(self, column: Column, missing: int, out: Codes) -> bool:
        """Do as `encode` in plain Python, which is faster for a row or two."""
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

    @property
    def few_whole(self) -> bool:
        """Whether these are at most ten integers, which no float could hold, or no numbers at all."""
        return not self.measurable or len(self._order) <= AUTO_LEVELS

    @cached_property
    def measurable(self) -> bool:
        """Whether the labels are integers that nobody declared to be categories."""
        return not self.declared and bool(self.distinct) and all(type(v) is int for v in self.distinct)

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

    def extent(self) -> tuple[float, float] | None:
        """Return the least and the greatest of labels that are numbers."""
        return _extent(self.floats())

    def encode(self, column: Column, missing: int, out: Codes) -> bool:
        """Write the code of each row to `out`; return whether a value never seen was met."""
        if isinstance(column, Category) and holds(self.distinct) == holds(column.levels):
            codes = column.codes_of(self.distinct)
            if UNKNOWN not in codes:
                _spread(codes, self.position, column, missing, out)
                return False
        # Of labels that are no levels, only those that occur matter.
        used = (np.bincount(self.position + 1, minlength=len(self.distinct) + 1)[1:] > 0).tolist()
        known = column.codes_of([label for label, occurs in zip(self.distinct, used) if occurs])
        rest = iter(known)
        _spread([next(rest) if occurs else UNKNOWN for occurs in used], self.position, column, missing, out)
        return UNKNOWN in known

    def keep(self, rows: NDArray[np.bool_]) -> Labels:
        """Return the column with some of its rows."""
        return Labels(self.distinct, self.position[rows], self.name, self.declared)
