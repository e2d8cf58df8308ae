"""Boosted class tables: learning by fold, with the held-out scores that stacking needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.evidence.questions import RANK_SLACK, Array, Integers, code_weights
from tanbark.immutable import Immutable, read_only
from tanbark.kernels.evidence.fold_weights import class_folds
from tanbark.kernels.evidence.table_boosting import (
    ATTRIBUTE_SHARE,
    EXTRA_SALTS,
    MAX_QUESTION_CLASSES,
    MAX_QUESTION_ROWS,
    BoostedRows,
    Tables,
    add_tables,
    boost_tables,
    derivatives,
)
from tanbark.kernels.runtime.threads import MAX_STEPS_PER_TASK, run, run_over_rows, thread_count
from tanbark.progress import Progress
from tanbark.schema import Number, Schema
from tanbark.schema.encode.columns import Codes

FOLDS = 5
SMALL_TABLE_ROWS = 1000
"""With a total weight below this, the shrinkage is stronger, and fewer tables are allowed."""
SMALL_TABLE_ESS_FACTOR = 3.0
SMALL_TABLE_ESTIMATORS = 500
MAX_ESTIMATORS = 2000
TABLES_PER_CALL = 64
"""Tables that a kernel learns at once, at most."""
STEPS_PER_ENTRY = 20
"""Steps that a row and a column of scores take for each table, apart from those of choosing questions."""


@dataclass(frozen=True, eq=False)
class ClassTables(Immutable):
    """Tables of class scores over yes/no questions. The scores of a row are the sum of one entry of each table.

    Parameters
    ----------
    attributes : array of shape (tables, questions)
        The attribute of each question; -1 for a question that was not asked, and for those that follow.
    first, last : arrays of shape (tables, questions)
        The answer is yes if the code of the attribute is at least `first` and at most `last`.
    scores : array of shape (tables, 2**questions, columns)
        Bit ``i`` of the second index is the answer to question ``i``. There is one column for each class, or one for
        the logit of the second class of two.
    """

    attributes: Integers
    first: Integers
    last: Integers
    scores: Array

    def add_to(self, scores: Array, codes: Codes, n_jobs: int | None = None) -> None:
        """Add the entries of encoded rows to ``scores[row, column]``."""
        tables = Tables(read_only(self.attributes), read_only(self.first), read_only(self.last), read_only(self.scores))
        steps = self.attributes.size + self.scores[:, 0].size
        task = partial(add_tables, read_only(codes), tables)
        run_over_rows(
            lambda low, high: task(low, high, scores), codes.shape[1], n_jobs, steps, codes.shape[1] * steps // 8
        )


@dataclass(frozen=True)
class BoostingSettings:
    """How tables are boosted.

    Parameters
    ----------
    n_estimators : int
        The maximum number of tables of each fold.
    max_depth : int
        The maximum number of questions of a table.
    learning_rate : float
    ess : float
        Added to the information of each cell.
    subsample : float
        The share of the rows from which a table is learned.
    patience : int
        Boosting stops when the held-out loss has not decreased for this many tables.
    """

    n_estimators: int
    max_depth: int
    learning_rate: float
    ess: float
    subsample: float
    patience: int


@dataclass(frozen=True, eq=False)
class BoostedFolds:
    """What boosting has learned.

    Parameters
    ----------
    tables : tuple of ClassTables
        The tables that were learned without each fold, or without any.
    held_out_scores : array of shape (rows, classes) or None
        The scores of each row by tables that were learned without it; None if no rows were held out.
    """

    tables: tuple[ClassTables, ...]
    held_out_scores: Array | None


def boosting_folds(rows: Rows, keys: NDArray[np.uint64]) -> Array:
    """Return the weight that each row has in each fold: five folds, or fewer if there are fewer units of weight."""
    return class_folds(rows.each, rows.classes, keys, FOLDS)


def boost_folds(
    rows: Rows,
    start: Array,
    folds: Array | None,
    settings: BoostingSettings,
    seed: int,
    n_jobs: int | None,
    progress: Progress,
) -> BoostedFolds:
    """Boost tables without each fold of the rows, and stop where the loss of the fold is least.

    Parameters
    ----------
    rows : Rows
        Distinct rows.
    start : array of shape (rows, classes)
        The scores to start from, such as the log class prior. If they were learned, each row's must have been learned
        without it.
    folds : array of shape (folds, rows) or None
        The weight that each row has in each fold. None learns all tables from all rows.
    settings : BoostingSettings
    seed : int
    n_jobs : int or None
    progress : Progress

    Returns
    -------
    BoostedFolds
    """
    boosting = _Boosting(rows, start, settings, seed)
    classes = start.shape[1]
    if folds is None:
        learned = _Fold(boosting, np.zeros(len(rows.classes)), 0)
        while learned.learn_some():
            progress("boosting", learned.done, settings.n_estimators)
        return BoostedFolds((learned.tables(),), None)
    parts = [_Fold(boosting, fold, f) for f, fold in enumerate(folds)]
    finished: list[int] = []

    def learn(f: int) -> None:
        while parts[f].learn_some():
            pass
        finished.append(f)
        progress("boosting", len(finished), len(parts))

    threads = thread_count(n_jobs, boosting.steps * settings.patience)
    run([partial(learn, f) for f in range(len(parts))], threads)
    shares = folds / np.maximum(folds.sum(axis=0), np.finfo(np.float64).tiny)
    increments = np.zeros((len(rows.classes), boosting.columns))
    for part, share in zip(parts, shares, strict=True):
        place, gained = part.held_out_increments()
        increments[place] += share[place, None] * gained
    held_out = start + in_classes(increments, classes)
    return BoostedFolds(tuple(part.tables() for part in parts), held_out)


def codes_of_answers(codes: Codes, schema: Schema, weights: Sequence[Array]) -> Codes:
    """Return the codes by which rows answer questions: a missing number has the code of the median.

    Missing and unseen levels of categories keep the code beyond all levels, which answers every question with no.

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    schema : Schema
    weights : sequence of arrays of shape (arity,)
        The weight of the training rows with each code.
    """
    out = np.minimum(codes, schema.arity[:, None].astype(codes.dtype))
    for u, (column, each) in enumerate(zip(schema.columns, weights, strict=True)):
        if isinstance(column, Number):
            cumulative = np.cumsum(each[: len(column.cuts) + 1])
            median = np.searchsorted(cumulative, cumulative[-1] / 2 * (1 - RANK_SLACK))
            out[u, out[u] == column.arity] = median
    return out


def in_columns(scores: Array) -> Array:
    """Return class scores as the columns that are boosted: with two classes, their difference."""
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores.copy()


def in_classes(columns: Array, classes: int) -> Array:
    """Return class scores, up to a constant for each row, from the columns that are boosted."""
    return np.concatenate([np.zeros_like(columns), columns], axis=1) if classes == 2 else columns


class _Boosting:
    """What all folds share. Rows are in the order of their keys, which does not depend on that of rows and columns."""

    def __init__(self, rows: Rows, start: Array, settings: BoostingSettings, seed: int) -> None:
        schema = rows.schema
        keys = rows.keys(seed)
        self.order = np.lexsort([rows.classes, keys])
        self.codes = codes_of_answers(rows.codes, schema, code_weights(rows))[:, self.order]
        self.classes = rows.classes[self.order].astype(np.int64)
        self.weights = rows.each[self.order]
        self.scores = in_columns(start)[self.order]
        # Rows that differ in their class only have the same key.
        labels = named_keys(seed, "class", [str(k) for k in range(len(schema.classes))])
        self.row_keys = keys[self.order] + labels[self.classes]
        self.columns = self.scores.shape[1]
        self.column_keys = read_only(labels[: self.columns])
        self.attribute_keys = read_only(named_keys(seed, "attribute", schema.names))
        self.arity = read_only(schema.arity.astype(np.int64))
        self.ordered = read_only(np.array([isinstance(column, Number) for column in schema.columns]))
        self.settings = settings
        self.seed = seed

    @property
    def steps(self) -> int:
        """The steps of the kernel for one table."""
        n, looked_at = len(self.classes), int(min(self.columns, MAX_QUESTION_CLASSES))
        choosing = ATTRIBUTE_SHARE * len(self.arity) * self.settings.max_depth * min(n, MAX_QUESTION_ROWS) * looked_at
        return int(choosing + n * self.columns * STEPS_PER_ENTRY)


class _Fold:
    """Boosting without the rows of a fold, some tables at a time."""

    def __init__(self, boosting: _Boosting, held_out: Array, number: int) -> None:
        self._boosting = boosting
        held_out = held_out[boosting.order]
        weights = np.maximum(boosting.weights - held_out, 0.0)
        kept, self._tested = np.flatnonzero(weights > 0), np.flatnonzero(held_out > 0)
        self._rows = self._boosted_rows(kept, weights)
        self._keys = read_only(boosting.row_keys[kept])
        self._held_out = self._boosted_rows(self._tested, held_out)
        self._best_scores = self._held_out.scores.copy()
        spare = np.empty_like(self._best_scores)
        self._best = np.zeros(1, np.int64)
        self._best_loss = np.array([derivatives(self._held_out, spare, np.empty_like(spare))])
        self._generator = np.random.default_rng([boosting.seed, number])
        self._parts: list[Tables] = []
        self.done = 0

    def _boosted_rows(self, chosen: Integers, weights: Array) -> BoostedRows:
        boosting = self._boosting
        return BoostedRows(
            read_only(boosting.codes[:, chosen]),
            read_only(boosting.classes[chosen]),
            read_only(weights[chosen]),
            boosting.scores[chosen],
        )

    def learn_some(self) -> bool:
        """Learn some tables in one call of the kernel; return whether boosting goes on."""
        boosting, settings = self._boosting, self._boosting.settings
        left = settings.n_estimators - self.done
        if not left or not len(self._rows.weights):
            return False
        count = min(left, TABLES_PER_CALL, max(MAX_STEPS_PER_TASK // boosting.steps, 1))
        depth = settings.max_depth
        salts = self._generator.integers(0, 2**64, (count, depth + EXTRA_SALTS), np.uint64)
        shape = (count, depth)
        out = Tables(
            np.full(shape, -1, np.int64),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
            np.zeros((count, 1 << depth, boosting.columns)),
        )
        stopped = boost_tables(
            self._rows,
            self._keys,
            self._held_out,
            boosting.arity,
            boosting.ordered,
            boosting.attribute_keys,
            boosting.column_keys,
            read_only(salts),
            settings.subsample,
            settings.ess,
            settings.learning_rate,
            settings.patience,
            self.done,
            self._best,
            self._best_loss,
            self._best_scores,
            out,
        )
        self._parts.append(out)
        self.done += count
        return not stopped

    def tables(self) -> ClassTables:
        """Return the tables up to the least held-out loss."""
        best, settings = int(self._best[0]), self._boosting.settings
        if not best:
            nothing = np.zeros((0, settings.max_depth), np.int64)
            return ClassTables(
                nothing, nothing, nothing, np.zeros((0, 1 << settings.max_depth, self._boosting.columns))
            )
        return ClassTables(*(np.concatenate(arrays)[:best] for arrays in zip(*self._parts, strict=True)))

    def held_out_increments(self) -> tuple[Integers, Array]:
        """Return the held-out rows, and what the tables add to their scores."""
        return self._boosting.order[self._tested], self._best_scores - self._boosting.scores[self._tested]


def named_keys(seed: int, kind: str, names: list[str] | tuple[str, ...]) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each name."""
    generators = (np.random.default_rng([seed, *f"{kind} {name}".encode()]) for name in names)
    return np.array([generator.integers(0, 2**64, dtype=np.uint64) for generator in generators])


def default_settings(
    total_weight: float,
    n_estimators: int | None = None,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    ess: float = 1.0,
    subsample: float = 0.8,
    patience: int = 30,
) -> BoostingSettings:
    """Return settings for a table with this total weight of rows: small tables shrink more and stop earlier."""
    small = total_weight < SMALL_TABLE_ROWS
    if n_estimators is None:
        n_estimators = SMALL_TABLE_ESTIMATORS if small else MAX_ESTIMATORS
    ess *= SMALL_TABLE_ESS_FACTOR if small else 1.0
    return BoostingSettings(n_estimators, max_depth, learning_rate, ess, subsample, patience)


def table_columns(schema: Schema) -> int:
    """Return the number of columns of scores for the classes of a schema."""
    classes = len(schema.classes)
    return 1 if classes == 2 else classes
