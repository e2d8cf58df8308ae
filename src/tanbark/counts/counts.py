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
from tanbark.immutable import Immutable, read_only
from tanbark.kernels.count.pair_counts import add_rows
from tanbark.progress import Progress
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.encode.schema_growth import code_positions, positions
from tanbark.schema.read.class_column import MAX_TOTAL_WEIGHT
from tanbark.shared_docs import insert_shared_docs

MAX_INCREMENTAL_ROWS = 1000
"""Up to this many rows, adding rows to an existing table is faster than counting them into a new one."""
ROUNDING = 1e-9
"""Tolerance for rounding errors in sums of weights, relative to the weight of each class."""


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class Counts(Immutable):
    """Frequencies of classes, attribute values and pairs of attribute values.

    Counts form a vector space: ``a + b`` merges chunks, threads and machines; ``a - b`` removes a fold or an expired
    window; ``a * 0.99`` forgets old data. Counts with different schemas over the same columns are aligned by label
    before they are added or subtracted. Counts are immutable.

    Parameters
    ----------
    schema : Schema
        The columns, their levels and the classes.
    class_counts : ndarray of shape (n_classes,)
        Number, or total weight, of the rows of each class.
    table : ndarray of shape (n_classes, n_values, n_values) or (n_classes, n_values)
        The Burt table of each class: the values of all attributes, in column order, cross-tabulated with themselves.
        The diagonal holds the counts of single values. With ``order=1``, only these are stored. Missing values are
        not counted.

    Attributes
    ----------
    order : int
        2 if pairs of values were counted, 1 if only single values were.
    values : ndarray of shape (n_classes, n_values)
        Counts of single values in each class.

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
        super().__post_init__()
        if self.table.dtype.kind == "f":
            with np.errstate(over="ignore"):
                in_range = self.class_counts.sum() <= MAX_TOTAL_WEIGHT and np.isfinite(self.table).all()
            if not in_range:
                raise ValueError(f"the counts exceed {MAX_TOTAL_WEIGHT:g}; use smaller weights")
        else:
            # No cell exceeds the count of its class, and a sum that overflowed is negative.
            rows = self.class_counts.tolist()
            _check_int64(-1 if min(rows, default=0) < 0 else sum(rows))

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
        """Count encoded rows.

        Parameters
        ----------
        {encoded_rows}
        y : ndarray of shape (n_rows,)
            Class of each row, as an index into ``schema.classes``. Leave out rows without a class.
        weights : ndarray of shape (n_rows,), default=None
            Weight of each row; None gives each row weight 1.
        order : {1, 2}, default=2
            1 counts single values, 2 also counts pairs of values.
        n_jobs : int, default=None
            Number of threads, as in scikit-learn.

        Returns
        -------
        counts : Counts
            Exact integers without `weights`, floats with them.
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
        """Count streamed rows without holding all of them in memory.

        Parameters
        ----------
        source : Arrow data
            Any object with ``__arrow_c_stream__`` (a table, a record batch reader, a data frame, a DuckDB relation),
            an iterable of record batches, a function that returns a new one of these on each call, or a source from
            `tanbark.sources`, which reads files and databases.
        target : str
            Name of the class column. Rows without a class are dropped with a warning.
        schema : Schema, default=None
            With a schema, the rows are read once. Without, one or more earlier passes learn the same schema as from
            the whole table in memory.
        {counting_options}
        n_jobs : int, default=None
            Number of threads, as in scikit-learn.
        progress : callable, default=None
            Called as ``progress(task, rows, total)`` while rows are read: the current task, the number of rows read
            so far, and the total number of rows, or None if it is unknown.

        Returns
        -------
        counts : Counts

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
        """Return counts that are all zero.

        Parameters
        ----------
        schema : Schema
        order : {1, 2}, default=2
            1 for counts of single values, 2 for counts of pairs.

        Returns
        -------
        counts : Counts
        """
        check_memory(schema, order)
        classes, total = len(schema.classes), int(schema.offset[-1])
        shape = (classes, total, total) if order == 2 else (classes, total)
        return cls(schema, np.zeros(classes, np.int64), np.zeros(shape, np.int64))

    def __repr__(self) -> str:
        rows = self.class_counts.sum().item()
        shown = f"{rows:,} row{'s' * (rows != 1)}" if isinstance(rows, int) else f"rows of total weight {rows:,.6g}"
        sizes = ((len(self.schema.columns), "column", "s"), (len(self.class_counts), "class", "es"))
        of_schema = ", ".join(f"{size:,} {noun}{plural * (size != 1)}" for size, noun, plural in sizes)
        return f"Counts({shown}, {of_schema}, {'pairs' if self.order == 2 else 'single values'})"

    @cached_property
    def order(self) -> int:
        """2 if pairs of values were counted, 1 if only single values were."""
        return self.table.ndim - 1

    @cached_property
    def values(self) -> Array:
        """Counts of single values in each class, of shape (n_classes, n_values)."""
        return self.table if self.order == 1 else read_only(np.diagonal(self.table, axis1=1, axis2=2))

    def value(self, u: int) -> Array:
        """Return the counts of one attribute's values.

        Parameters
        ----------
        u : int
            Index of the attribute.

        Returns
        -------
        counts : ndarray of shape (n_classes, arity of u)
        """
        return self.values[:, self._at(u)]

    def pair(self, u: int, v: int) -> Array:
        """Return the counts of the pairs of values of two attributes.

        Parameters
        ----------
        u, v : int
            Indices of the attributes.

        Returns
        -------
        counts : ndarray of shape (n_classes, arity of u, arity of v)

        Raises
        ------
        ValueError
            If only single values were counted.
        """
        if self.order == 1:
            raise ValueError("pairs of values were not counted; count with order=2")
        return self.table[:, self._at(u), self._at(v)]

    def _at(self, u: int) -> slice:
        return slice(int(self.schema.offset[u]), int(self.schema.offset[u + 1]))

    def has_missing(self) -> NDArray[np.bool_]:
        """Return which attributes have missing values.

        Returns
        -------
        has_missing : ndarray of bool, of shape (n_attributes,)
        """
        return self._has_missing

    @cached_property
    def _has_missing(self) -> NDArray[np.bool_]:
        difference = np.add.reduceat(self.values, self.schema.offset[:-1], axis=1) - self.class_counts[:, None]
        tolerance = ROUNDING * self.class_counts[:, None] if difference.dtype.kind == "f" else 0
        return read_only((np.abs(difference) > tolerance).any(axis=0))

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
        tolerance = ROUNDING * a.class_counts if table.dtype.kind == "f" else 0
        smallest = table.min(axis=tuple(range(1, table.ndim)), initial=0)
        if (np.minimum(class_counts, smallest) < -tolerance).any():
            raise ValueError("more rows were subtracted than were counted")
        class_counts, table = np.maximum(class_counts, 0), np.maximum(table, 0)
        if table.dtype.kind == "f":
            _restore_bounds(a.schema, class_counts, table)
        return Counts(a.schema, class_counts, table)

    def __mul__(self, factor: float) -> Counts:
        if not isinstance(factor, Real) or not 0 <= factor <= MAX_TOTAL_WEIGHT:
            raise ValueError(
                f"counts can only be multiplied by a number from 0 to {MAX_TOTAL_WEIGHT:g}, got {factor!r}"
            )
        if self.table.dtype.kind == "i" and isinstance(factor, int | np.integer):
            _check_int64(sum(self.class_counts.tolist()) * int(factor))
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
        """Return the counts with further rows added.

        This equals ``self + Counts.of(self.schema, codes, y)`` but is faster for few rows.

        Parameters
        ----------
        codes : ndarray of shape (n_attributes, n_rows)
            Rows encoded with the schema of these counts.
        y : ndarray of shape (n_rows,)
            Class of each row, as an index into ``schema.classes``.
        n_jobs : int, default=None
            Number of threads, as in scikit-learn.

        Returns
        -------
        counts : Counts
        """
        rows = codes.shape[1]
        if self.order == 1 or rows > MAX_INCREMENTAL_ROWS or self.table.dtype not in (np.int64, np.float64):
            return self + Counts.of(self.schema, codes, y, order=self.order, n_jobs=n_jobs)
        self.schema.check_codes(codes)
        labels = checked_classes(y, rows, len(self.class_counts))
        table = np.empty_like(self.table)
        add_rows(codes, labels, self.schema.offset, self.table, table)
        return Counts(self.schema, self.class_counts + np.bincount(labels, minlength=len(self.class_counts)), table)

    def reweighted(self, class_factors: NDArray[np.float64]) -> Counts:
        """Return the counts of each class multiplied by a factor.

        Parameters
        ----------
        class_factors : ndarray of shape (n_classes,)

        Returns
        -------
        counts : Counts
        """
        with np.errstate(over="ignore"):
            table = self.table * class_factors.reshape(-1, *[1] * self.order)
            return Counts(self.schema, self.class_counts * class_factors, table)

    def under(self, schema: Schema) -> Counts:
        """Return the same counts under an extended schema.

        Parameters
        ----------
        schema : Schema
            A schema over the same columns that contains all levels and classes of the current schema.

        Returns
        -------
        counts : Counts
            New levels and classes have zero counts.
        """
        if schema == self.schema:
            return self
        rows = positions(self.schema.classes, schema.classes)
        places = np.concatenate(
            [
                code_positions(a, b) + start
                for a, b, start in zip(self.schema.columns, schema.columns, schema.offset[:-1], strict=True)
            ]
        )
        same_classes = np.array_equal(rows, np.arange(len(schema.classes)))
        if same_classes and np.array_equal(places, np.arange(schema.offset[-1])):
            return Counts(schema, self.class_counts, self.table)
        empty = Counts.zero(schema, self.order)
        class_counts = empty.class_counts.astype(self.class_counts.dtype)
        table = empty.table.astype(self.table.dtype)
        class_counts[rows] = self.class_counts
        table[np.ix_(rows, *[places] * self.order)] = self.table
        return Counts(schema, class_counts, table)


def _restore_bounds(schema: Schema, class_counts: Array, table: Array) -> None:
    """Correct rounding errors in place: no pair exceeds its values, and no column's values exceed their class."""
    single = table
    if table.ndim == 3:
        single = np.diagonal(table, axis1=1, axis2=2).copy()
        np.minimum(table, single[:, :, None], out=table)
        np.minimum(table, single[:, None, :], out=table)
    largest_sum = np.add.reduceat(single, schema.offset[:-1], axis=1).max(axis=1)
    np.maximum(class_counts, largest_sum, out=class_counts)


def _check_int64(rows: int) -> None:
    """Raise ValueError if a number of rows overflows 64-bit integers."""
    if not 0 <= rows < 2**63:
        raise ValueError("the counts exceed 2**63 rows; multiply them by 1.0 to convert them to floats")


def _aligned(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Return both counts under one schema."""
    if a.order != b.order:
        raise ValueError("counts of pairs (order=2) cannot be combined with counts of single values (order=1)")
    if a.schema == b.schema:
        return a, b
    schema = a.schema.merge(b.schema)
    return a.under(schema), b.under(schema)
