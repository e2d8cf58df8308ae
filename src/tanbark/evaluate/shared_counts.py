"""Counting a table once for all folds: the counts of a training part are those of all rows less those of its fold."""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.evaluate.folds import Split
from tanbark.schema import Category, Encoder, Schema
from tanbark.schema.raw import Labels
from tanbark.schema.table import Table
from tanbark.schema.target import Target


class EncodedTable:
    """A table under the schema that all its rows teach, or a given one, and whether parts of it would teach the same.

    A part of a table teaches the same schema where every column is a category and each of its levels, and each class,
    is declared or occurs in the part. Cut points of numbers, and which labels are rare, belong to the part.
    """

    def __init__(self, encoder: Encoder | Schema, table: Table, target: Target, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self._table, self._target = table, target
        self._given = isinstance(encoder, Schema)
        if isinstance(encoder, Schema):
            encoder.check_table(table)
            target.name_beside(encoder.names)
            self.schema = encoder
        else:
            self.schema = encoder.learn(table, target, None)

    @property
    def sharable(self) -> bool:
        """Whether parts of the table can teach the same schema at all."""
        return self._given or all(isinstance(c, Category) and not c.other for c in self.schema.columns)

    @cached_property
    def rows(self) -> Rows:
        """All rows, encoded."""
        codes = self.schema.encode_table(self._table, self.n_jobs)
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


class FoldCounts:
    """The rows of a table grouped by their fold, and the counts of all of them and of each fold."""

    def __init__(self, encoded: EncodedTable, split: Split, order: int) -> None:
        began = time.perf_counter()
        self.encoded, self.split, self.order = encoded, split, order
        rows = encoded.rows
        self._rows = Rows(rows.schema, np.take(rows.codes, split.order, axis=1), rows.classes[split.order])
        self._folds = [self.count(self._rows.take(split.at(k))) for k in range(len(split))]
        total = Counts.zero(rows.schema, order)
        for counts in self._folds:
            total = total + counts
        self._total = total
        self.seconds = time.perf_counter() - began
        """How long it took to encode the rows and to count them."""

    def fold(self, k: int) -> Rows:
        """Return the rows of a fold."""
        return self._rows.take(self.split.at(k))

    def without(self, k: int) -> Counts:
        """Return the counts of all rows but one fold's."""
        return self._total - self._folds[k]

    def count(self, rows: Rows) -> Counts:
        """Return the counts of some rows."""
        return Counts.of(rows.schema, rows.codes, rows.classes, None, self.order, self.encoded.n_jobs)
