"""Accumulate counts of rows in place."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.pair_counts import BLOCK, count_pairs, weigh_pairs
from tanbark.kernels.runtime.threads import run, spans, thread_count
from tanbark.memory import check_free
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes

if TYPE_CHECKING:
    from tanbark.counts.counts import Counts

Array = NDArray[Any]

MOST_BYTES = 8 * 2**30
COPIES = 3
"""The table is copied when all rows are counted, and what is learned from it may be as large again."""
PRIVATE_BYTES = 64 * 2**20


class Tally:
    """The tables to which rows are counted, however many times some are added, before they become `Counts`.

    Without weights the counts are exact integers; with weights each sum is made in the order of the rows, so that it
    makes no difference in how many parts they come.

    Parameters
    ----------
    schema : Schema
    order : {1, 2}
        1 counts single values, 2 pairs of them too.

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
        # Codes of two bytes are counted by the kernel that weighs rows; floats hold whole counts exactly.
        kind = np.int64 if schema.dtype == np.uint8 else np.float64
        self.schema = schema
        self.order = order
        self._weighted = False
        self._classes = np.zeros(classes, kind)
        self._values = np.zeros((classes, total), kind)
        self._pairs = np.zeros((classes, total, total) if order == 2 else (classes, 0, 0), kind)

    @property
    def nbytes(self) -> int:
        """How much memory the tables take."""
        return self._pairs.nbytes + self._values.nbytes

    def add(self, codes: Codes, classes: Any, weights: Any = None, n_jobs: int | None = None) -> None:
        """Count rows.

        Parameters
        ----------
        codes : array of shape (attributes, rows)
            What ``schema.encode`` returned.
        classes : array of shape (rows,)
            Positions in ``schema.classes``; rows without a class must be left out.
        weights : array of shape (rows,), optional
        n_jobs : int, optional
        """
        self.schema.check_codes(codes)
        codes = np.ascontiguousarray(codes)
        rows = codes.shape[1]
        labels = checked_classes(classes, rows, len(self.schema.classes))
        given = None if weights is None else _checked_weights(weights, rows)
        threads = thread_count(n_jobs, rows)
        if given is not None:
            self._weigh()
        if self._values.dtype == np.int64:
            self._classes += np.bincount(labels, minlength=len(self._classes))
            _count(codes, labels, self.schema.offset, self._values, self._pairs, threads)
            return
        each = np.ones(rows) if given is None else given
        np.add.at(self._classes, labels, each)
        weigh = partial(weigh_pairs, codes, labels, each, self.schema.offset)
        parts = _attribute_spans(len(codes), threads)
        run([partial(weigh, *part, self._values, self._pairs) for part in parts], threads)

    def merge(self, other: Tally) -> None:
        """Add what another tally of the same schema has counted."""
        if other._weighted:
            self._weigh()
        kind = self._values.dtype
        for mine, others in zip(self._tables(), other._tables()):
            mine += others.astype(kind, copy=False)

    def counts(self) -> Counts:
        """Return the counts so far."""
        from tanbark.counts.counts import Counts

        kind = np.float64 if self._weighted else np.int64
        class_counts, values, pairs = (table.astype(kind) for table in self._tables())
        if self.order == 1:
            return Counts(self.schema, class_counts, values)
        _mirror(pairs, self.schema.offset)
        at = np.arange(values.shape[1])
        pairs[:, at, at] = values
        return Counts(self.schema, class_counts, pairs)

    def _tables(self) -> tuple[Array, Array, Array]:
        return self._classes, self._values, self._pairs

    def _weigh(self) -> None:
        """Go over to floats."""
        self._weighted = True
        self._classes, self._values, self._pairs = (t.astype(np.float64, copy=False) for t in self._tables())


def check_order(order: int) -> None:
    """Raise where counts can be of no such order."""
    if not isinstance(order, int | np.integer) or order not in (1, 2):
        raise ValueError(f"order must be 1 (single values) or 2 (pairs), got {order!r}")


def check_memory(schema: Schema, order: int = 2) -> None:
    """Raise before any work where the counts would need an absurd amount of memory, or are of no known order."""
    check_order(order)
    total = int(schema.offset[-1])
    needed = 8 * len(schema.classes) * (total**2 if order == 2 else total)
    largest = schema.columns[int(np.argmax(schema.arity))]
    what = f"counting {total:,} values{' in pairs' if order == 2 else ''} for {len(schema.classes)} classes"
    instead = f"lower max_levels, drop columns such as {largest.name!r} with its {largest.arity:,} levels"
    instead += ", or use NaiveBayes, which counts no pairs" if order == 2 else ""
    if needed > MOST_BYTES:
        raise ValueError(f"{what} needs {needed / 2**30:,.0f} GiB; {instead}")
    check_free(COPIES * needed, what, instead)


def checked_classes(y: Any, rows: int, classes: int) -> NDArray[np.uint16]:
    """Return each row's class as the kernels want it."""
    given = np.asarray(y)
    if given.shape != (rows,) or given.dtype.kind not in "iu":
        raise ValueError(f"y must hold the class of each of the {rows} rows as a position among the classes")
    if rows and not 0 <= given.min() <= given.max() < classes:
        raise ValueError(f"y must hold positions among the {classes} classes; leave out rows without a class")
    return np.ascontiguousarray(given, np.uint16)


def _checked_weights(weights: Any, rows: int) -> NDArray[np.float64]:
    """Return the weights as the kernels want them."""
    given = np.asarray(weights)
    if given.shape != (rows,) or given.dtype.kind not in "biuf" or not given.min(initial=0) >= 0:
        raise ValueError("weights must be numbers of at least 0, one for each row")
    return np.ascontiguousarray(given, np.float64)


def _count(
    codes: Codes, y: NDArray[np.uint16], offset: NDArray[np.int64], values: Array, pairs: Array, threads: int
) -> None:
    """Count by threads over blocks of rows with tables of their own, or over attributes where tables are large."""
    n, rows = codes.shape
    if threads == 1 or pairs.nbytes > PRIVATE_BYTES:
        count = partial(count_pairs, codes, y, offset, 0, rows)
        run([partial(count, *part, values, pairs) for part in _attribute_spans(n, threads)], threads)
        return
    parts = spans(rows, threads, BLOCK)
    own = [(values, pairs)] + [(np.zeros_like(values), np.zeros_like(pairs)) for _ in parts[1:]]
    run([partial(count_pairs, codes, y, offset, *part, 0, n, *mine) for part, mine in zip(parts, own)], threads)
    for other_values, other_pairs in own[1:]:
        values += other_values
        pairs += other_pairs


def _attribute_spans(n: int, threads: int) -> list[tuple[int, int]]:
    """Return ranges of attributes that have about equally many pairs with earlier ones."""
    ends = np.unique(np.rint(n * np.sqrt(np.arange(threads + 1) / threads)).astype(int)).tolist()
    return list(itertools.pairwise(ends))


def _mirror(pairs: Array, offset: NDArray[np.int64]) -> None:
    """Copy the blocks below the diagonal above it."""
    for start, stop in itertools.pairwise(offset):
        pairs[:, :start, start:stop] = pairs[:, start:stop, :start].transpose(0, 2, 1)
