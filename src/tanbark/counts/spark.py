"""Counts of Spark data frames: each executor counts its partitions, and Spark adds the results."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.accumulator import check_memory, check_order
from tanbark.counts.batch_counting import check_columns, check_counted, check_schema_arguments, count_and_drop
from tanbark.counts.counts import Counts
from tanbark.schema import Encoder, Schema
from tanbark.schema.recipe.unreadable import UnreadableValues
from tanbark.schema.survey.schema_survey import Survey
from tanbark.shared_docs import insert_shared_docs
from tanbark.sources.arrow_streams import merge_small_batches

if TYPE_CHECKING:
    import pyarrow as pa

    Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

Integers = NDArray[np.int64]

DROPPED = -1
"""The key under which rows without a class are counted."""
UNREADABLE = -2
"""The key of the pickled values that could not be read."""
CELL_TYPES = "key bigint, count bigint, state binary"
"""Types of the rows that a task returns to Spark: cells with their counts, and values that could not be read."""
MERGE_PARTITIONS = 16
"""Number of tasks that merge the surveys of all partitions, and thus of surveys that the driver merges."""
CELLS_PER_BATCH = 2**18
"""Maximum number of cells in a record batch that a task returns to Spark."""


def to_cells(counts: Counts) -> tuple[Integers, Integers]:
    """Return the keys of the non-zero cells, in ascending order, and their counts.

    The classes come first, then the table. Of each two symmetric cells of the table only one is included.

    >>> from tanbark import Category
    >>> schema = Schema([Category("a", ("p", "q")), Category("b", ("r", "s"))], classes=("no", "yes"))
    >>> counts = Counts.of(schema, np.array([[0, 0], [1, 1]], np.uint8), np.array([1, 1]))
    >>> to_cells(counts)
    (array([ 1, 18, 30, 33]), array([2, 2, 2, 2]))
    """
    half = np.tril(counts.table) if counts.order == 2 else counts.table
    cells = np.concatenate([counts.class_counts, half.ravel()])
    keys = np.flatnonzero(cells).astype(np.int64)
    return keys, cells[keys]


def from_cells(schema: Schema, order: int, keys: Integers, counts: Integers) -> Counts:
    """Return the counts with these cells and zeros elsewhere; the inverse of `to_cells`."""
    empty = Counts.zero(schema, order)
    classes = len(schema.classes)
    cells = np.zeros(classes + empty.table.size, np.int64)
    cells[keys] = counts
    table = cells[classes:].reshape(empty.table.shape)
    if order == 2:
        table = table + np.tril(table, -1).transpose(0, 2, 1)
    return Counts(schema, cells[:classes], table)


@insert_shared_docs
def count(
    df: Any,
    target: str,
    *,
    schema: Schema | None = None,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    order: int = 2,
) -> Counts:
    """Count a Spark data frame.

    The counts are identical to those of the same rows on one machine. With a schema, the rows are read once. Without,
    earlier passes learn the levels and cut points.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data. Every pass reads them again, so they must be the same each time.
    {data_frame_counting}

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.counts import spark
    >>> TAN().fit_counts(spark.count(df, target="income"))  # doctest: +SKIP
    """
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df must be a Spark data frame (pip install 'tanbark[spark]'), got {type(df).__name__!r}")
    check_order(order)
    check_schema_arguments(target, schema, encoder, ignore)
    # Unused columns may have types that Arrow does not support.
    unused = [name for name in df.columns if (name in ignore if schema is None else name not in schema.input_names)]
    unused = [name for name in unused if name != target]
    columns = df.drop(*unused).limit(0).toArrow().schema
    survey = None
    with _unwrapped_input_errors():
        if schema is None:
            survey = Survey(encoder, target, columns, [name for name in ignore if name not in unused])
            schema = _survey(df, survey, columns)
        names = [*schema.input_names, target]
        check_columns(columns, schema.input_names, target)
        check_memory(schema, order)
        cells = _numbered(df, names).mapInArrow(_counting(schema, names, order), CELL_TYPES)
        # Rows other than unreadable values have no state, so that only theirs are collected.
        sums = cells.groupBy("key").agg({"count": "sum", "state": "collect_list"}).toArrow()
    unreadable = UnreadableValues()
    for states in sums.column("collect_list(state)").to_pylist():
        for state in states:
            unreadable.merge(pickle.loads(state))
    keys, counts = sums.column("key").to_numpy(), sums.column("sum(count)").to_numpy()
    counted = keys >= 0
    dropped, result = int(counts[keys == DROPPED].sum()), from_cells(schema, order, keys[counted], counts[counted])
    check_counted(result, dropped, unreadable, survey)
    return result


class TaskInputError(Exception):
    """An error about the user's data, raised in a task; only its text reaches the driver."""


def _counting(schema: Schema, names: list[str], order: int) -> Task:
    """Return a task that yields the cells of one partition, whose last column is the class."""

    def count_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with _wrapped_input_errors():
            named = (batch.rename_columns(names) for batch in batches)
            counts, dropped, unreadable = count_and_drop(schema, named, names[-1], order, n_jobs=1)
        keys, values = to_cells(counts)
        states = pa.array([*[None] * (len(keys) + 1), pickle.dumps(unreadable)], pa.binary())
        columns = np.append(keys, [DROPPED, UNREADABLE]), np.append(values, [dropped, 0]), states
        yield from pa.table(columns, names=["key", "count", "state"]).to_batches(CELLS_PER_BATCH)

    return count_partition


def _survey(df: Any, survey: Survey, columns: pa.Schema) -> Schema:
    """Learn the schema in one or more passes over the rows."""
    # Refuse columns of unsupported types before any row is read.
    survey.fresh().see(columns.empty_table())
    another = True
    while another:
        names, fresh = list(survey.names), survey.fresh()
        states = _numbered(df, names).mapInArrow(_seeing(fresh, names), "state binary")
        merged = states.repartition(MERGE_PARTITIONS).mapInArrow(_merging(fresh), "state binary")
        for state in merged.toArrow().column(0):
            survey.merge(pickle.loads(state.as_buffer()))
        another = survey.settle()
    return survey.schema()


def _numbered(df: Any, names: list[str]) -> Any:
    """Select columns and rename them to numbers, since `mapInArrow` fails on names with dots or quotes."""
    quoted = (f"`{name.replace('`', '``')}`" for name in names)
    return df.select(*quoted).toDF(*map(str, range(len(names))))


def _seeing(survey: Survey, names: list[str]) -> Task:
    """Return a task that yields the survey of one partition."""

    def see_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        partial_survey = survey.fresh()
        with _wrapped_input_errors():
            for rows in merge_small_batches(batch.rename_columns(names) for batch in batches):
                partial_survey.see(rows)
        yield _as_batch(partial_survey)

    return see_partition


def _merging(survey: Survey) -> Task:
    """Return a task that merges the surveys of several partitions."""

    def merge_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        merged = survey.fresh()
        with _wrapped_input_errors():
            for batch in batches:
                for state in batch.column(0):
                    merged.merge(pickle.loads(state.as_buffer()))
        yield _as_batch(merged)

    return merge_states


def _as_batch(survey: Survey) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.record_batch([pa.array([pickle.dumps(survey)], pa.binary())], names=["state"])


@contextmanager
def _wrapped_input_errors() -> Iterator[None]:
    """Raise errors about the user's data as `TaskInputError`."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise TaskInputError(f"{type(error).__name__}: {error}") from error


@contextmanager
def _unwrapped_input_errors() -> Iterator[None]:
    """Raise the original error of a `TaskInputError`, without Spark's stack trace."""
    try:
        yield
    except Exception as error:
        match = re.search(r"\bTaskInputError: (ValueError|TypeError): (.+)", str(error))
        if match is None:
            raise
        kind = {"ValueError": ValueError, "TypeError": TypeError}[match[1]]
        raise kind(match[2]) from None
