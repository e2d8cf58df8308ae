"""Counting a table once for all folds: the counts of a training part are those of all rows less those of its fold."""

from __future__ import annotations

import time
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.evaluate.folds import Places, Split
from tanbark.kernels.threads import run, spans, thread_count
from tanbark.schema import Category, Encoder, Schema
from tanbark.schema.columns import Codes
from tanbark.schema.raw import Labels
from tanbark.schema.table import Table
from tanbark.schema.target import Target

ROOM = 2 * 2**30
"""So many bytes of counts are kept at most; more are counted again."""


class EncodedTable:
    """A table under the schema that all its rows teach, or a given one, and whether parts of it would teach the same.

    A part of a table teaches the same schema where every column is a category and each of its levels, and each class,
    is declared or occurs in the part. Cut points of numbers, and which labels are rare, belong to the part.
    """

    def __init__(self, encoder: Encoder | Schema, table: Table, target: Target, n_jobs: int | None) -> None:
        began = time.perf_counter()
        self.n_jobs = n_jobs
        self._table, self._target = table, target
        self._given = isinstance(encoder, Schema)
        if isinstance(encoder, Schema):
            encoder.check_table(table)
            target.name_beside(encoder.names)
            self.schema = encoder
        else:
            self.schema = encoder.learn(table, target, None)
        self.learning = (time.perf_counter() - began) / table.rows
        """How long it took to learn the schema, for each row."""
        self.encoding = 0.0
        """How long it took to encode the rows, for each."""

    @property
    def sharable(self) -> bool:
        """Whether parts of the table can teach the same schema at all."""
        return self._given or all(isinstance(c, Category) and not c.other for c in self.schema.columns)

    @cached_property
    def rows(self) -> Rows:
        """All rows, encoded."""
        began = time.perf_counter()
        codes = self.schema.encode_table(self._table, self.n_jobs)
        self.encoding = (time.perf_counter() - began) / self._table.rows
        return Rows(self.schema, codes, self._target.codes_under(self.schema.classes))

    @cached_property
    def _declared(self) -> NDArray[np.bool_]:
        """Which values are levels whether they occur or not; that a value is missing never is."""
        return np.concatenate(
            [
                np.arange(column.arity) < (column.arity - column.missing) * (isinstance(raw, Labels) and raw.declared)
                for column, raw in zip(self.schema.columns, self._table.columns)
            ]
        )

    def is_schema_of(self, part: Counts) -> bool:
        """Return whether the rows of these counts alone would have taught the same schema."""
        if self._given:
            return True
        occurs = (part.values > 0).any(axis=0)
        return bool((part.class_counts > 0).all() and (occurs | self._declared).all())


def _take(codes: Codes, order: Places, attributes: tuple[int, int], out: Codes) -> None:
    """Write the rows of some attributes in another order to `out`."""
    for u in range(*attributes):
        np.take(codes[u], order, out=out[u], mode="clip")


class FoldCounts:
    """The rows of a table grouped by their fold, and the counts of all of them and of each fold."""

    def __init__(self, encoded: EncodedTable, split: Split, order: int) -> None:
        self.encoded, self.split, self.order = encoded, split, order
        rows = encoded.rows
        began = time.perf_counter()
        codes = np.empty_like(rows.codes)
        threads = thread_count(encoded.n_jobs, len(rows.classes))
        run([partial(_take, rows.codes, split.order, part, codes) for part in spans(len(codes), threads)], threads)
        self._rows = Rows(rows.schema, codes, rows.classes[split.order])
        self._total = Counts.zero(rows.schema, order)
        # Where the counts of all folds would take too much room, each is counted again when it is asked for.
        many = self._total.table.nbytes * (len(split) + 1) > ROOM
        self._folds: list[Counts] = []
        for k in range(len(split)):
            counts = self.count(self.fold(k))
            self._total = self._total + counts
            self._folds += [] if many else [counts]
        self.counting = (time.perf_counter() - began) / len(rows.classes)
        """How long it took to count the rows, for each."""

    @property
    def bytes(self) -> int:
        """How much memory the rows and the counts take."""
        return self._rows.codes.nbytes + self._total.table.nbytes * (len(self._folds) + 1)

    def fold(self, k: int) -> Rows:
        """Return the rows of a fold."""
        return self._rows.take(self.split.at(k))

    def without(self, k: int) -> Counts:
        """Return the counts of all rows but one fold's."""
        return self._total - (self._folds[k] if self._folds else self.count(self.fold(k)))

    def count(self, rows: Rows) -> Counts:
        """Return the counts of some rows."""
        return Counts.of(rows.schema, rows.codes, rows.classes, None, self.order, self.encoded.n_jobs)
