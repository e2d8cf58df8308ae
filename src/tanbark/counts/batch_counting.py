"""Count rows that arrive as Arrow record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.counts.accumulator import PRIVATE_BYTES, Tally
from tanbark.counts.counts import Counts
from tanbark.kernels.runtime.threads import feed, jobs
from tanbark.progress import Progress
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.class_column import codes_among, read_labels, warn_of_dropped
from tanbark.schema.read.table_reader import read_table
from tanbark.sources import Source, as_source
from tanbark.sources.arrow_streams import gathered
from tanbark.sources.file_source import FileSource
from tanbark.sources.source import ColumnError
from tanbark.sources.streamed_schema import survey_rows

if TYPE_CHECKING:
    import pyarrow as pa


def count_batches(
    schema: Schema,
    batches: Iterable[pa.RecordBatch],
    target: str,
    order: int = 2,
    n_jobs: int | None = None,
    seen: Callable[[int], None] | None = None,
) -> Counts:
    """Return the counts of rows that go by once, under a schema that is known.

    Parameters
    ----------
    schema : Schema
    batches : iterable of pyarrow.RecordBatch
        Their columns are found by name; columns that the schema does not have are ignored.
    target : str
        The column of classes. Rows without one are left out.
    order : {1, 2}
    n_jobs : int, optional
    seen : callable, optional
        Called with the number of rows so far, as they go by.
    """
    counts, dropped = count_and_drop(schema, batches, target, order, n_jobs, seen)
    warn_of_dropped(dropped)
    return counts


def count_source(
    source: Any,
    target: str,
    schema: Schema | None,
    encoder: Encoder | None,
    ignore: Sequence[str],
    order: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> Counts:
    """Return the counts of rows from anywhere, as `Counts.from_batches` describes it."""
    check_given(target, schema, encoder, ignore)
    rows = as_source(source)
    try:
        return _count_source(rows, target, schema, encoder, ignore, order, n_jobs, progress)
    except TypeError as error:
        if not isinstance(rows, FileSource):
            raise
        # Whoever gives a file gives no values of a wrong type: it is the file that is refused.
        raise ColumnError(str(error)) from error


def _count_source(
    rows: Source,
    target: str,
    schema: Schema | None,
    encoder: Encoder | None,
    ignore: Sequence[str],
    order: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> Counts:
    survey = None
    if schema is None:
        survey = survey_rows(rows, target, encoder, ignore, n_jobs, progress)
        schema = survey.schema()
    elif rows.schema.names:
        refuse_lacking(rows.schema, schema.names, target)

    def seen(many: int) -> None:
        if progress is not None:
            progress("counting", many, rows.total)

    counts, dropped = count_and_drop(schema, rows.batches((*schema.names, target)), target, order, n_jobs, seen)
    if survey is None:
        warn_of_dropped(dropped)
    else:
        # It has warned of them already.
        survey.refuse_other(int(counts.class_counts.sum()) + dropped)
    return counts


def count_and_drop(
    schema: Schema,
    batches: Iterable[pa.RecordBatch],
    target: str,
    order: int = 2,
    n_jobs: int | None = None,
    seen: Callable[[int], None] | None = None,
) -> tuple[Counts, int]:
    """Return the counts as `count_batches` does, and how many rows had no class, which the caller must tell."""
    threads = jobs(n_jobs)
    tally = Tally(schema, order)
    # Each worker counts to tables of its own while these are small; else all of them work on the same rows.
    together = tally.nbytes > PRIVATE_BYTES
    tallies = [tally] if together else [tally, *(Tally(schema, order) for _ in range(threads - 1))]
    dropped = [0]
    inner = threads if together else 1

    def count(mine: Tally, rows: pa.Table) -> None:
        refuse_lacking(rows.schema, schema.names, target)
        labels, codes = read_labels(rows.column(target), target)
        classes = codes_among(labels, codes, schema.classes)
        values = schema.encode_table(read_table(rows.select(schema.names), inner), inner)
        known = classes >= 0
        if not known.all():
            dropped.append(int((~known).sum()))
            classes, values = classes[known], np.ascontiguousarray(values[:, known])
        mine.add(values, classes, n_jobs=inner)

    rows = 0
    for part in feed(count, gathered(batches), tallies):
        rows += part.num_rows
        if seen is not None:
            seen(rows)
    for each in tallies[1:]:
        tally.merge(each)
    return tally.counts(), sum(dropped)


def check_given(target: str, schema: Schema | None, encoder: Encoder | None, ignore: Sequence[str]) -> None:
    """Raise where a schema is given beside what would find one, or one of them is something else."""
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be a list of column names, got {ignore!r}; write [{ignore!r}]")
    for name, given, kind in (("schema", schema, Schema), ("encoder", encoder, Encoder)):
        if given is not None and not isinstance(given, kind):
            got = type(given)
            raise TypeError(f"{name} must be a tanbark.{kind.__name__}, got a {got.__module__}.{got.__name__}")
    if schema is None:
        return
    if encoder is not None or len(ignore):
        raise ValueError("a schema says what the columns are and which of them count; leave out encoder= and ignore=")
    if target in schema.names:
        raise ValueError(f"the class {target!r} is among the columns of the schema; its class is {schema.class_name!r}")


def refuse_lacking(columns: pa.Schema, names: Iterable[str], target: str) -> None:
    """Raise where a column that is needed is not there, or is there twice."""
    for name in (*names, target):
        found = len(columns.get_all_field_indices(name))
        if found == 0 and name == target:
            raise ValueError(f"the rows lack the class {name!r}")
        if found == 0:
            raise ValueError(f"the rows lack the column {name!r}, which the schema has")
        if found > 1:
            raise ValueError(f"the table has two columns named {name!r}; rename one")
