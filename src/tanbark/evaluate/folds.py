"""Stratified folds, and counts of each fold that are subtracted from the total."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.kernels.runtime.threads import run, spans, thread_count
from tanbark.schema import Category, Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.read.class_column import Target
from tanbark.schema.read.raw_columns import Labels
from tanbark.schema.read.table_reader import Table

Places = NDArray[np.int64]


def stratified_folds(classes: Places, folds: int, seed: int | tuple[int, ...] = 0) -> Places:
    """Return the fold of each row, so that every class is spread over the folds as evenly as can be.

    A class of fewer rows than folds is in as many folds as it has rows.

    >>> import numpy as np
    >>> sorted(stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    turns = _narrow(np.arange(len(classes)) % folds)
    fold = np.empty_like(turns)
    fold[shuffled[np.argsort(_narrow(classes)[shuffled], kind="stable")]] = turns
    return fold.astype(np.int64)


def _narrow(values: Places) -> NDArray[np.integer]:
    """Return small numbers in two bytes, which numpy sorts by radix, and which leave the cache to others."""
    return values.astype(np.uint16) if values.max(initial=0) < 2**16 else values


@dataclass(frozen=True)
class Split:
    """Rows grouped by their fold.

    Parameters
    ----------
    fold : array of shape (rows,)
    order : array of shape (rows,)
        The rows, those of the first fold first.
    bounds : array of shape (folds + 1,)
        Where in `order` each fold begins.
    """

    fold: Places
    order: Places
    bounds: Places

    @classmethod
    def of(cls, fold: Places) -> Split:
        """Return the rows grouped by these folds."""
        return cls(fold, np.argsort(_narrow(fold), kind="stable"), np.r_[0, np.cumsum(np.bincount(fold))])

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def at(self, k: int) -> slice:
        """Return where in `order` a fold is."""
        return slice(int(self.bounds[k]), int(self.bounds[k + 1]))

    def inside(self, k: int) -> Places:
        """Return the rows of a fold, in ascending order."""
        return self.order[self.at(k)]

    def outside(self, k: int) -> Places:
        """Return the rows of all other folds, in ascending order."""
        return np.flatnonzero(self.fold != k)


def stratified_share(classes: Places, rows: Places, share: float, seed: int | tuple[int, ...]) -> Places:
    """Return a share of some rows, in ascending order: of each class alike, rounded up to whole rows.

    With the same seed a smaller share is part of a larger one.

    >>> import numpy as np
    >>> classes = np.repeat([0, 1], [90, 9])
    >>> tenth = stratified_share(classes, np.arange(99), 0.1, seed=0)
    >>> np.bincount(classes[tenth])
    array([9, 1])
    >>> set(tenth) <= set(stratified_share(classes, np.arange(99), 0.5, seed=0))
    True
    """
    if share == 1.0:
        return rows
    shuffled = rows[np.random.default_rng(seed).permutation(len(rows))]
    found = [shuffled[classes[shuffled] == k] for k in np.unique(classes[rows])]
    # A product such as 0.07 * 100 is a little above the whole number that it stands for.
    return np.sort(np.concatenate([of_one[: int(np.ceil(share * len(of_one) - 1e-9))] for of_one in found]))


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
