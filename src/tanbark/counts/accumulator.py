"""In-place accumulation of counts."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.pair_counts import BLOCK_ROWS, count_pairs, count_weighted_pairs
from tanbark.kernels.runtime.threads import run, spans, thread_count
from tanbark.memory import UNCHECKED_BYTES, check_free_memory
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes

if TYPE_CHECKING:
    from tanbark.counts.counts import Counts

Array = NDArray[Any]

MAX_TABLE_BYTES = 8 * 2**30
"""A larger table of counts is refused."""
N_COPIES = 3
"""Peak memory in multiples of the table: the table, its copy after counting, and a model of about the same size."""
MAX_PRIVATE_BYTES = 64 * 2**20
"""Up to this size of the table, each thread counts rows into its own copy."""


class Tally:
    """Mutable tables into which rows are counted before they become `Counts`.

    Without weights, the counts are exact integers. With weights, each sum is computed in row order, so that the result
    does not depend on how the rows are split into calls of `add`.

    Parameters
    ----------
    schema : Schema
        The schema that encodes the rows.
    order : {1, 2}, default=2
        1 counts single values, 2 also counts pairs of values.

    Attributes
    ----------
    nbytes : int
        Memory used by the tables, in bytes.

    Examples
    --------
    >>> from tanbark import Category, Schema
    >>> from tanbark.counts import Tally
    >>> tally = Tally(Schema([Category("a", (0, 1))], classes=("no", "yes")))
    >>> tally.add(np.array([[0, 1]], np.uint8), np.array([1, 1]))
    >>> tally.add(np.array([[1]], np.uint8), np.array([0]))
    >>> tally.counts().values
    array([[0, 1],
           [1, 1]])
    """

    def __init__(self, schema: Schema, order: int = 2) -> None:
        check_memory(schema, order)
        classes, total = len(schema.classes), int(schema.offset[-1])
        # The kernel for weighted rows also counts two-byte codes; floats hold whole counts exactly.
        dtype = np.int64 if schema.dtype == np.uint8 else np.float64
        self.schema = schema
        self.order = order
        self._weighted = False
        self._classes = np.zeros(classes, dtype)
        self._values = np.zeros((classes, total), dtype)
        self._pairs = np.zeros((classes, total, total) if order == 2 else (classes, 0, 0), dtype)

    @property
    def nbytes(self) -> int:
        """Memory used by the tables, in bytes."""
        return self._pairs.nbytes + self._values.nbytes

    def add(self, codes: Codes, classes: Any, weights: Any = None, n_jobs: int | None = None) -> None:
        """Count rows.

        Parameters
        ----------
        codes : ndarray of shape (n_attributes, n_rows)
            Output of ``schema.encode``.
        classes : array-like of shape (n_rows,)
            Class of each row, as an index into ``schema.classes``. Leave out rows without a class.
        weights : array-like of shape (n_rows,), default=None
            Weight of each row; None gives each row weight 1.
        n_jobs : int, default=None
            Number of threads, as in scikit-learn.
        """
        self.schema.check_codes(codes)
        codes = np.ascontiguousarray(codes)
        rows = codes.shape[1]
        labels = checked_classes(classes, rows, len(self.schema.classes))
        row_weights = None if weights is None else _checked_weights(weights, rows)
        threads = thread_count(n_jobs, rows)
        if row_weights is not None:
            self._convert_to_floats()
        if self._values.dtype == np.int64:
            self._classes += np.bincount(labels, minlength=len(self._classes))
            _count(codes, labels, self.schema.offset, self._values, self._pairs, threads)
            return
        if row_weights is None:
            row_weights = np.ones(rows)
        np.add.at(self._classes, labels, row_weights)
        weigh = partial(count_weighted_pairs, codes, labels, row_weights, self.schema.offset)
        parts = _attribute_spans(len(codes), threads)
        run([partial(weigh, *part, self._values, self._pairs) for part in parts], threads)

    def merge(self, other: Tally) -> None:
        """Add the counts of another tally.

        Parameters
        ----------
        other : Tally
            A tally with the same schema and order.
        """
        if other._weighted:
            self._convert_to_floats()
        dtype = self._values.dtype
        for own, added in zip(self._tables(), other._tables(), strict=True):
            own += added.astype(dtype, copy=False)

    def counts(self) -> Counts:
        """Return the rows counted so far as immutable counts.

        Returns
        -------
        counts : Counts
        """
        from tanbark.counts.counts import Counts

        dtype = np.float64 if self._weighted else np.int64
        class_counts, values, pairs = (table.astype(dtype) for table in self._tables())
        if self.order == 1:
            return Counts(self.schema, class_counts, values)
        _mirror(pairs, self.schema.offset)
        at = np.arange(values.shape[1])
        pairs[:, at, at] = values
        return Counts(self.schema, class_counts, pairs)

    def _tables(self) -> tuple[Array, Array, Array]:
        return self._classes, self._values, self._pairs

    def _convert_to_floats(self) -> None:
        """Convert the tables to floats, which hold weighted counts."""
        self._weighted = True
        self._classes, self._values, self._pairs = (t.astype(np.float64, copy=False) for t in self._tables())


def check_order(order: int) -> None:
    """Raise ValueError if `order` is neither 1 nor 2."""
    if not isinstance(order, int | np.integer) or order not in (1, 2):
        raise ValueError(f"order must be 1 (single values) or 2 (pairs), got {order!r}")


def check_memory(schema: Schema, order: int = 2) -> None:
    """Raise ValueError if the counts would need too much memory or `order` is invalid."""
    check_order(order)
    total = int(schema.offset[-1])
    needed = 8 * len(schema.classes) * (total**2 if order == 2 else total)
    if N_COPIES * needed <= UNCHECKED_BYTES:
        return
    largest = schema.columns[int(np.argmax(schema.arity))]
    task = f"counting {total:,} values{' in pairs' if order == 2 else ''} for {len(schema.classes):,} classes"
    advice = f"lower max_levels, drop columns such as {largest.name!r} with its {largest.arity:,} levels"
    advice += ", or use NaiveBayes, which counts no pairs" if order == 2 else ""
    if needed > MAX_TABLE_BYTES:
        raise ValueError(f"{task} needs {needed / 2**30:,.0f} GiB; {advice}")
    check_free_memory(N_COPIES * needed, task, advice)


def checked_classes(y: Any, rows: int, classes: int) -> NDArray[np.uint16]:
    """Validate the class indices and return them as the array that the kernels expect."""
    indices = np.asarray(y)
    if indices.shape != (rows,) or indices.dtype.kind not in "iu":
        raise ValueError(f"y must hold an integer class index for each of the {rows:,} rows")
    if rows and not 0 <= indices.min() <= indices.max() < classes:
        raise ValueError(f"y must hold indices of the {classes:,} classes; leave out rows without a class")
    return np.ascontiguousarray(indices, np.uint16)


def _checked_weights(weights: Any, rows: int) -> NDArray[np.float64]:
    """Validate the weights and return them as the array that the kernels expect."""
    array = np.asarray(weights)
    if array.shape != (rows,) or array.dtype.kind not in "biuf" or not array.min(initial=0) >= 0:
        raise ValueError("weights must be non-negative numbers, one per row")
    return np.ascontiguousarray(array, np.float64)


def _count(
    codes: Codes, y: NDArray[np.uint16], offset: NDArray[np.int64], values: Array, pairs: Array, threads: int
) -> None:
    """Count with several threads: over blocks of rows into private tables, or over attributes if tables are large."""
    n, rows = codes.shape
    if threads == 1 or pairs.nbytes > MAX_PRIVATE_BYTES:
        count = partial(count_pairs, codes, y, offset, 0, rows)
        run([partial(count, *part, values, pairs) for part in _attribute_spans(n, threads)], threads)
        return
    parts = spans(rows, threads, BLOCK_ROWS)
    tables = [(values, pairs)] + [(np.zeros_like(values), np.zeros_like(pairs)) for _ in parts[1:]]
    # Without rows there are no parts, but always the first table.
    tasks = [partial(count_pairs, codes, y, offset, *p, 0, n, *own) for p, own in zip(parts, tables, strict=False)]
    run(tasks, threads)
    for other_values, other_pairs in tables[1:]:
        values += other_values
        pairs += other_pairs


def _attribute_spans(n: int, threads: int) -> list[tuple[int, int]]:
    """Return ranges of attributes with about equal numbers of pairs with earlier attributes."""
    ends = np.unique(np.rint(n * np.sqrt(np.arange(threads + 1) / threads)).astype(int)).tolist()
    return list(itertools.pairwise(ends))


def _mirror(pairs: Array, offset: NDArray[np.int64]) -> None:
    """Copy the blocks below the diagonal to the blocks above it."""
    for start, stop in itertools.pairwise(offset):
        pairs[:, :start, start:stop] = pairs[:, start:stop, :start].transpose(0, 2, 1)
