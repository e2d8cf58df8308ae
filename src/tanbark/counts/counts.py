"""Counts of classes, of attribute values within a class, and of pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.accumulator import Array, Tally, check_memory, checked_classes
from tanbark.immutable import CopiedByFields
from tanbark.kernels.count.pair_counts import add_rows
from tanbark.kernels.runtime.compiling import frozen
from tanbark.progress import Progress
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.encode.growth import places_in, positions
from tanbark.schema.read.class_column import MOST_WEIGHT

FEW = 1000
"""Up to so many rows are quicker added to counts than counted first."""
ROUNDING = 1e-9
"""By what share of a class sums of its weights may differ: each class has its own, since one may be far heavier."""


@dataclass(frozen=True, eq=False)
class Counts(CopiedByFields):
    """How often each class, each value and each pair of values was seen: a vector space.

    ``a + b`` merges chunks, threads and machines; ``a - b`` takes a fold or an expired window out; ``a * 0.99``
    forgets. Counts of different schemas over the same columns are aligned by label before they are added.

    Parameters
    ----------
    schema : Schema
    class_counts : array of shape (classes,)
    table : array of shape (classes, values, values), or (classes, values) without pairs
        The Burt table: the values of all attributes in one row, against themselves. On its diagonal stand the counts
        of single values. A missing value is in no count.

    Examples
    --------
    >>> from tanbark import Category, Counts, Schema
    >>> schema = Schema([Category("a", (0, 1)), Category("b", (0, 1))], classes=("no", "yes"))
    >>> codes = schema.encode(np.array([[0, 1], [1, 1], [1, 0]]))
    >>> counts = Counts.of(schema, codes, np.array([0, 1, 1]))
    >>> counts.class_counts
    array([1, 2])
    >>> counts.pair(0, 1)[1]
    array([[0, 0],
           [1, 1]])
    >>> counts + counts == counts * 2
    True
    """

    schema: Schema
    class_counts: Array
    table: Array

    def __post_init__(self) -> None:
        for name in ("class_counts", "table"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.table.dtype.kind == "f":
            with np.errstate(over="ignore"):
                sensible = self.class_counts.sum() <= MOST_WEIGHT and np.isfinite(self.table).all()
            if not sensible:
                raise ValueError(f"the counts have grown beyond {MOST_WEIGHT:g}; use smaller weights")
        else:
            # No cell exceeds its class, and a sum that has run over is negative.
            seen = self.class_counts.tolist()
            _check_whole(-1 if min(seen, default=0) < 0 else sum(seen))

    @classmethod
    def of(
        cls,
        schema: Schema,
        codes: Codes,
        y: NDArray[np.integer],
        weights: NDArray[np.float64] | None = None,
        order: int = 2,
        n_jobs: int | None = None,
    ) -> Counts:
        """Return the counts of encoded rows: exact integers without weights, floats with.

        `codes` come from ``schema.encode``, `y` are positions in ``schema.classes``; rows without a class must be left
        out.
        """
        tally = Tally(schema, order)
        tally.add(codes, y, weights, n_jobs)
        return tally.counts()

    @classmethod
    def from_batches(
        cls,
        source: Any,
        target: str,
        *,
        schema: Schema | None = None,
        encoder: Encoder | None = None,
        ignore: Sequence[str] = (),
        order: int = 2,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Counts:
        """Return the counts of rows that stream by, which are never all in memory.

        Parameters
        ----------
        source : Arrow data
            Anything with ``__arrow_c_stream__`` (a table, a record batch reader, a data frame, a DuckDB relation), an
            iterable of record batches, a function that returns one of these anew, or what `tanbark.sources` finds in
            files and databases.
        target : str
            The column of classes. Rows without one are left out.
        schema : Schema, optional
            With it the rows are read once; without, once or more before to learn it exactly as of the whole table.
        encoder : Encoder, optional
            How to learn the schema.
        ignore : sequence of str
            Columns to leave out of it.
        order : {1, 2}
            1 counts single values, 2 pairs of them too.
        n_jobs : int, optional
        progress : callable, optional
            Called as rows go by with what is being done, how many rows were seen, and of how many if that is known.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from tanbark import Counts
        >>> rows = pa.table({"sky": ["sun", "rain", "sun"], "walk": ["yes", "no", "yes"]})
        >>> Counts.from_batches(rows, target="walk").class_counts
        array([1, 2])
        """
        from tanbark.counts.batch_counting import count_source

        return count_source(source, target, schema, encoder, ignore, order, n_jobs, progress)

    @classmethod
    def zero(cls, schema: Schema, order: int = 2) -> Counts:
        """Return the counts of no rows."""
        check_memory(schema, order)
        classes, total = len(schema.classes), int(schema.offset[-1])
        shape = (classes, total, total) if order == 2 else (classes, total)
        return cls(schema, np.zeros(classes, np.int64), np.zeros(shape, np.int64))

    @property
    def order(self) -> int:
        """2 where pairs of values were counted, 1 where single values were."""
        return self.table.ndim - 1

    @property
    def values(self) -> Array:
        """How often each value was seen in each class, of shape (classes, values)."""
        return self.table if self.order == 1 else np.diagonal(self.table, axis1=1, axis2=2)

    def value(self, u: int) -> Array:
        """Return how often each value of attribute `u` was seen in each class, of shape (classes, arity)."""
        return self.values[:, self._at(u)]

    def pair(self, u: int, v: int) -> Array:
        """Return how often each pair of values of two attributes was seen, of shape (classes, arity u, arity v)."""
        if self.order == 1:
            raise ValueError("these counts are of single values; count with order=2 for pairs")
        return self.table[:, self._at(u), self._at(v)]

    def _at(self, u: int) -> slice:
        return slice(int(self.schema.offset[u]), int(self.schema.offset[u + 1]))

    def has_missing(self) -> NDArray[np.bool_]:
        """Return which attributes lack a value in some row."""
        return self._holes

    @cached_property
    def _holes(self) -> NDArray[np.bool_]:
        short = np.add.reduceat(self.values, self.schema.offset[:-1], axis=1) - self.class_counts[:, None]
        slack = ROUNDING * self.class_counts[:, None] if short.dtype.kind == "f" else 0
        holes: NDArray[np.bool_] = (np.abs(short) > slack).any(axis=0)
        return holes

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = _aligned(self, other)
        with np.errstate(over="ignore"):
            return Counts(a.schema, a.class_counts + b.class_counts, a.table + b.table)

    def __sub__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = _aligned(self, other)
        class_counts, table = a.class_counts - b.class_counts, a.table - b.table
        slack = ROUNDING * a.class_counts if table.dtype.kind == "f" else 0
        least = table.min(axis=tuple(range(1, table.ndim)), initial=0)
        if (np.minimum(class_counts, least) < -slack).any():
            raise ValueError("more rows were subtracted than had been counted")
        class_counts, table = np.maximum(class_counts, 0), np.maximum(table, 0)
        if table.dtype.kind == "f":
            _round_off(a.schema, class_counts, table)
        return Counts(a.schema, class_counts, table)

    def __mul__(self, factor: float) -> Counts:
        if not isinstance(factor, Real) or not 0 <= factor <= MOST_WEIGHT:
            raise ValueError(f"counts can be multiplied by a number from 0 to {MOST_WEIGHT:g}, got {factor!r}")
        if self.table.dtype.kind == "i" and isinstance(factor, int | np.integer):
            _check_whole(sum(self.class_counts.tolist()) * int(factor))
        else:
            factor = float(factor)
        with np.errstate(over="ignore"):
            return Counts(self.schema, self.class_counts * factor, self.table * factor)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.schema == other.schema
            and np.array_equal(self.class_counts, other.class_counts)
            and np.array_equal(self.table, other.table)
        )

    __hash__ = None  # type: ignore[assignment]

    def plus(self, codes: Codes, y: NDArray[np.integer], n_jobs: int | None = None) -> Counts:
        """Return the counts with further rows of the same schema: as adding `Counts.of` them, quicker for a few."""
        rows = codes.shape[1]
        if self.order == 1 or rows > FEW or self.table.dtype not in (np.int64, np.float64):
            return self + Counts.of(self.schema, codes, y, order=self.order, n_jobs=n_jobs)
        self.schema.check_codes(codes)
        labels = checked_classes(y, rows, len(self.class_counts))
        table = np.empty_like(self.table)
        add_rows(codes, labels, self.schema.offset, self.table, table)
        return Counts(self.schema, self.class_counts + np.bincount(labels, minlength=len(self.class_counts)), table)

    def under(self, schema: Schema) -> Counts:
        """Return the same counts under a schema that has all levels and classes of this one."""
        if schema == self.schema:
            return self
        rows = positions(self.schema.classes, schema.classes)
        places = np.concatenate(
            [places_in(a, b) + start for a, b, start in zip(self.schema.columns, schema.columns, schema.offset)]
        )
        same = np.array_equal(rows, np.arange(len(schema.classes)))
        if same and np.array_equal(places, np.arange(schema.offset[-1])):
            return Counts(schema, self.class_counts, self.table)
        empty = Counts.zero(schema, self.order)
        class_counts = empty.class_counts.astype(self.class_counts.dtype)
        table = empty.table.astype(self.table.dtype)
        class_counts[rows] = self.class_counts
        table[np.ix_(rows, *[places] * self.order)] = self.table
        return Counts(schema, class_counts, table)


def _round_off(schema: Schema, class_counts: Array, table: Array) -> None:
    """Let no pair of values be seen more often than either, and no column's values than their class, by rounding."""
    single = table
    if table.ndim == 3:
        single = np.diagonal(table, axis1=1, axis2=2).copy()
        np.minimum(table, single[:, :, None], out=table)
        np.minimum(table, single[:, None, :], out=table)
    seen = np.add.reduceat(single, schema.offset[:-1], axis=1).max(axis=1)
    np.maximum(class_counts, seen, out=class_counts)


def _check_whole(rows: int) -> None:
    """Raise where so many rows are beyond the integers that count them."""
    if not 0 <= rows < 2**63:
        raise ValueError("the counts have grown beyond 2**63 rows; multiply them by 1.0 first: floats hold more")


def _aligned(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Return both counts under one schema."""
    if a.order != b.order:
        raise ValueError("counts of pairs and counts of single values cannot be added")
    if a.schema == b.schema:
        return a, b
    schema = a.schema.merge(b.schema)
    return a.under(schema), b.under(schema)
