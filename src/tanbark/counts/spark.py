"""Count a Spark data frame: each partition where it lies, merged by Spark."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.accumulator import check_memory, check_order
from tanbark.counts.batch_counting import check_given, count_and_drop, refuse_lacking
from tanbark.counts.counts import Counts
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.class_column import warn_of_dropped
from tanbark.schema.survey.schema_survey import Survey
from tanbark.sources.arrow_streams import gathered

if TYPE_CHECKING:
    import pyarrow as pa

    Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


Whole = NDArray[np.int64]


def to_cells(counts: Counts) -> tuple[Whole, Whole]:
    """Return the keys of the cells that are not zero, ascending, and their counts.

    The classes come first, then the table with only one of each two cells that mirror each other.

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


def from_cells(schema: Schema, order: int, keys: Whole, counts: Whole) -> Counts:
    """Return the counts that have these cells, zero elsewhere."""
    empty = Counts.zero(schema, order)
    classes = len(schema.classes)
    cells = np.zeros(classes + empty.table.size, np.int64)
    cells[keys] = counts
    table = cells[classes:].reshape(empty.table.shape)
    if order == 2:
        table = table + np.tril(table, -1).transpose(0, 2, 1)
    return Counts(schema, cells[:classes], table)


DROPPED = -1
"""The key under which rows without a class are counted."""

MERGERS = 16
"""How many tasks merge what the partitions found out about the columns, so that the driver merges no more than that."""

CELLS = 2**18
"""At most so many cells go to Spark at once."""


def count(
    df: Any,
    target: str,
    *,
    schema: Schema | None = None,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    order: int = 2,
) -> Counts:
    """Return the counts of a Spark data frame: those that one machine would count, bit for bit.

    With a schema the rows are read once. Without, earlier passes find the levels and cut points.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Every pass reads it anew, so it must give the same rows each time.
    target : str
        The column of classes. Rows without one are left out.
    schema : Schema, optional
    encoder : Encoder, optional
        How a schema is learned where none is given.
    ignore : sequence of str
        Columns to leave out.
    order : {1, 2}

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.counts import spark
    >>> TAN().fit_counts(spark.count(df, target="income"))  # doctest: +SKIP
    """
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df must be a Spark data frame (pip install 'tanbark[spark]'), got {type(df).__name__!r}")
    check_order(order)
    check_given(target, schema, encoder, ignore)
    # Columns that do not count may be of types that Arrow does not have.
    spare = [name for name in df.columns if (name in ignore if schema is None else name not in schema.names)]
    spare = [name for name in spare if name != target]
    columns = df.drop(*spare).limit(0).toArrow().schema
    survey = None
    with _sentences():
        if schema is None:
            survey = Survey(encoder, target, columns, [name for name in ignore if name not in spare])
            schema = _survey(df, survey, columns)
        names = [*schema.names, target]
        refuse_lacking(columns, schema.names, target)
        check_memory(schema, order)
        cells = _numbered(df, names).mapInArrow(_counting(schema, names, order), "key bigint, count bigint")
        sums = cells.groupBy("key").sum("count").toArrow()
    keys, counts = (sums.column(at).to_numpy() for at in range(2))
    kept = keys != DROPPED
    dropped, result = int(counts[~kept].sum()), from_cells(schema, order, keys[kept], counts[kept])
    if survey is None:
        warn_of_dropped(dropped)
    else:
        survey.refuse_other(int(result.class_counts.sum()) + dropped)
    return result


class Refused(Exception):
    """A sentence for the user on its way from a task to the driver, where only text arrives."""


def _counting(schema: Schema, names: list[str], order: int) -> Task:
    """Return a task that yields the cells of one partition's rows, whose class is in the last column."""

    def count_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with _refusals():
            named = (batch.rename_columns(names) for batch in batches)
            counts, dropped = count_and_drop(schema, named, names[-1], order, n_jobs=1)
        keys, values = to_cells(counts)
        columns = np.append(keys, DROPPED), np.append(values, dropped)
        yield from pa.table(columns, names=["key", "count"]).to_batches(CELLS)

    return count_partition


def _survey(df: Any, survey: Survey, columns: pa.Schema) -> Schema:
    """Return the schema of the rows, found by passes over them."""
    # A column of a type that cannot be is refused before any row is read.
    survey.fresh().see(columns.empty_table())
    another = True
    while another:
        names, fresh = list(survey.names), survey.fresh()
        states = _numbered(df, names).mapInArrow(_seeing(fresh, names), "state binary")
        merged = states.repartition(MERGERS).mapInArrow(_merging(fresh), "state binary")
        for state in merged.toArrow().column(0):
            survey.merge(pickle.loads(state.as_buffer()))
        another = survey.settle()
    return survey.schema()


def _numbered(df: Any, names: list[str]) -> Any:
    """Return some columns, named by numbers: tasks over batches cannot do with dots and quotes in names."""
    quoted = (f"`{name.replace('`', '``')}`" for name in names)
    return df.select(*quoted).toDF(*map(str, range(len(names))))


def _seeing(survey: Survey, names: list[str]) -> Task:
    """Return a task that yields what one partition's rows tell."""

    def see_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        mine = survey.fresh()
        with _refusals():
            for rows in gathered(batch.rename_columns(names) for batch in batches):
                mine.see(rows)
        yield _as_batch(mine)

    return see_partition


def _merging(survey: Survey) -> Task:
    """Return a task that merges what several partitions told."""

    def merge_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        mine = survey.fresh()
        with _refusals():
            for batch in batches:
                for state in batch.column(0):
                    mine.merge(pickle.loads(state.as_buffer()))
        yield _as_batch(mine)

    return merge_states


def _as_batch(survey: Survey) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.record_batch([pa.array([pickle.dumps(survey)], pa.binary())], names=["state"])


@contextmanager
def _refusals() -> Iterator[None]:
    """Mark the errors that are for the user."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise Refused(f"{type(error).__name__}: {error}") from error


@contextmanager
def _sentences() -> Iterator[None]:
    """Raise a task's sentence as its own error, without the stack of the engine around it."""
    try:
        yield
    except Exception as error:
        refused = re.search(r"\bRefused: (ValueError|TypeError): (.+)", str(error))
        if refused is None:
            raise
        kind = {"ValueError": ValueError, "TypeError": TypeError}[refused[1]]
        raise kind(refused[2]) from None
