"""Stratified folds, and the counts of each fold, which are subtracted from those of all rows.

Counts are a vector space, so the counts of a training part are the total minus the fold's. They describe the same
schema as the training part alone if `EncodedTable.is_schema_of` them.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
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
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting

Places = NDArray[np.int64]
"""Positions of rows, or classes or folds by number."""

MAX_COUNTS_BYTES = 2 * 2**30
"""Maximum bytes of counts to keep; the others are computed again when they are needed."""


def stratified_folds(classes: Places, folds: int, seed: int | tuple[int, ...] = 0) -> Places:
    """Return the fold of each row, with every class spread over the folds as evenly as possible.

    A class with fewer rows than folds is in as many folds as it has rows.

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
    """Return numbers as uint16 if they fit, which numpy sorts by radix and which take less cache."""
    return values.astype(np.uint16) if values.max(initial=0) < 2**16 else values


@dataclass(frozen=True)
class Split:
    """Rows grouped by their fold.

    Parameters
    ----------
    fold : array of shape (rows,)
        The fold of each row.
    order : array of shape (rows,)
        The rows sorted by fold.
    bounds : array of shape (folds + 1,)
        The position in `order` at which each fold begins.
    """

    fold: Places
    order: Places
    bounds: Places

    @classmethod
    def of(cls, fold: Places) -> Split:
        """Return the rows grouped by the fold of each row."""
        return cls(fold, np.argsort(_narrow(fold), kind="stable"), np.r_[0, np.cumsum(np.bincount(fold))])

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def at(self, k: int) -> slice:
        """Return the slice of `order` that has the rows of a fold."""
        return slice(int(self.bounds[k]), int(self.bounds[k + 1]))

    def inside(self, k: int) -> Places:
        """Return the rows of a fold, in ascending order."""
        return self.order[self.at(k)]

    def outside(self, k: int) -> Places:
        """Return the rows of all other folds, in ascending order."""
        return np.flatnonzero(self.fold != k)


def stratified_share(classes: Places, rows: Places, share: float, seed: int | tuple[int, ...]) -> Places:
    """Return a random share of the given rows, in ascending order: the same share of each class, rounded up.

    With the same seed a smaller share is a subset of a larger one.

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
    by_class = [shuffled[classes[shuffled] == k] for k in np.unique(classes[rows])]
    # In floating point 0.07 * 100 is slightly above 7.
    return np.sort(np.concatenate([found[: int(np.ceil(share * len(found) - 1e-9))] for found in by_class]))


class EncodedTable:
    """A table encoded under a given schema, or under the one learned from all its rows.

    A part of the table has the same schema if every column is a category, and if each level and each class is declared
    or occurs in the part. Cut points of numbers, and the set of rare levels, depend on the part.
    """

    def __init__(self, encoder: Encoder | Schema, table: Table, target: Target, n_jobs: int | None) -> None:
        began = time.perf_counter()
        self.n_jobs = n_jobs
        self._table, self._target = table, target
        self._given = isinstance(encoder, Schema)
        if isinstance(encoder, Schema):
            encoder.check_table(table)
            target.name_beside(encoder.input_names)
            self.schema = encoder
            self._read_alike = True
        else:
            self.schema = encoder.learn(table, target, None)
            self._read_alike = self.schema.recipe is None or encoder.has_fixed_recipe(self.schema.input_names)
        self.learning = (time.perf_counter() - began) / table.rows
        """Seconds per row to learn the schema."""
        self.encoding = 0.0
        """Seconds per row to encode the table."""

    @property
    def sharable(self) -> bool:
        """Whether parts of the table can have the same schema at all. A part of a table may be read in another way."""
        are_categories = all(isinstance(c, Category) and not c.other for c in self.schema.columns)
        return self._given or (self._read_alike and are_categories)

    @cached_property
    def rows(self) -> Rows:
        """The encoded rows."""
        began = time.perf_counter()
        # Learning the schema has already warned of values that cannot be read.
        with nullcontext() if self._given else collecting(UnreadableValues()):
            codes = self.schema.encode_table(self._table, self.n_jobs)
        self.encoding = (time.perf_counter() - began) / self._table.rows
        return Rows(self.schema, codes, self._target.codes_under(self.schema.classes))

    @cached_property
    def _declared(self) -> NDArray[np.bool_]:
        """Which values are levels even if they do not occur; the level for missing values never is one."""
        with collecting(UnreadableValues()):
            table = self.schema.prepared(self._table)
        columns = zip(self.schema.columns, self.schema.arity.tolist(), table.columns, strict=True)
        return np.concatenate(
            [
                np.arange(arity) < (arity - column.missing) * (isinstance(raw, Labels) and raw.declared)
                for column, arity, raw in columns
            ]
        )

    def is_schema_of(self, part: Counts) -> bool:
        """Return whether the schema learned from the rows of these counts alone would be the same."""
        if self._given:
            return True
        occurs = (part.values > 0).any(axis=0)
        return bool((part.class_counts > 0).all() and (occurs | self._declared).all())


def _take(codes: Codes, order: Places, attributes: tuple[int, int], out: Codes) -> None:
    """Write the codes of a range of attributes to `out`, with the rows reordered."""
    for u in range(*attributes):
        np.take(codes[u], order, out=out[u], mode="clip")


class FoldCounts:
    """The encoded rows of a table grouped by fold, the counts of each fold and their total."""

    def __init__(self, encoded: EncodedTable, split: Split, order: int) -> None:
        self.encoded, self.split, self.order = encoded, split, order
        rows = encoded.rows
        began = time.perf_counter()
        codes = np.empty_like(rows.codes)
        threads = thread_count(encoded.n_jobs, len(rows.classes))
        run([partial(_take, rows.codes, split.order, part, codes) for part in spans(len(codes), threads)], threads)
        self._rows = Rows(rows.schema, codes, rows.classes[split.order])
        self._total = Counts.zero(rows.schema, order)
        # If the counts of all folds take too much memory, each is computed again when it is needed.
        too_large = self._total.table.nbytes * (len(split) + 1) > MAX_COUNTS_BYTES
        self._folds: list[Counts] = []
        for k in range(len(split)):
            counts = self.count(self.fold(k))
            self._total = self._total + counts
            self._folds += [] if too_large else [counts]
        self.counting = (time.perf_counter() - began) / len(rows.classes)
        """Seconds per row to count the table."""

    @property
    def bytes(self) -> int:
        """Memory of the rows and the counts."""
        return self._rows.codes.nbytes + self._total.table.nbytes * (len(self._folds) + 1)

    def fold(self, k: int) -> Rows:
        """Return the rows of a fold."""
        return self._rows.take(self.split.at(k))

    def without(self, k: int) -> Counts:
        """Return the counts of all rows except those of a fold."""
        return self._total - (self._folds[k] if self._folds else self.count(self.fold(k)))

    def count(self, rows: Rows) -> Counts:
        """Return the counts of some rows."""
        return Counts.of(rows.schema, rows.codes, rows.classes, None, self.order, self.encoded.n_jobs)
