"""Learn the schema of a source of rows, and count its rows, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from tanbark.counts.accumulator import MAX_PRIVATE_BYTES, Tally
from tanbark.counts.counts import Counts
from tanbark.kernels.runtime.threads import feed, resolve_n_jobs
from tanbark.progress import Progress
from tanbark.schema import Encoder, Schema, Survey
from tanbark.schema.read.class_column import codes_among, read_labels, warn_of_dropped
from tanbark.schema.read.raw_columns import InfiniteValueError
from tanbark.schema.read.table_reader import read_table
from tanbark.schema.recipe.recipe import Recipe
from tanbark.schema.recipe.rows_of_files import typed_rows
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting
from tanbark.sources import Source, as_source
from tanbark.sources.arrow_streams import merge_small_batches
from tanbark.sources.file_source import FileSource
from tanbark.sources.source import ColumnError, SourceError

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
    """Count record batches in one pass under a known schema.

    Parameters
    ----------
    schema : Schema
        The columns to count and the classes.
    batches : iterable of pyarrow.RecordBatch
        The rows. Columns are found by name; columns that are not in the schema are ignored.
    target : str
        Name of the class column. Rows without a class are dropped with a warning.
    order : {1, 2}, default=2
        1 counts single values, 2 also counts pairs of values.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn.
    seen : callable, default=None
        Called repeatedly with the number of rows counted so far.

    Returns
    -------
    counts : Counts
    """
    counts, dropped, unreadable = count_and_drop(schema, batches, target, order, n_jobs, seen)
    check_counted(counts, dropped, unreadable, None)
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
    """Count the rows of a source; implements `Counts.from_batches`."""
    check_schema_arguments(target, schema, encoder, ignore)
    rows = as_source(source)
    rules = getattr(encoder, "coerce", None) if schema is None else schema.recipe
    with_comma = () if not isinstance(rules, Recipe) else rules.names_with_decimal_comma(rows.schema.names)
    if with_comma:
        # The caller's source stays as it is.
        rows = copy(rows)
        rows.read_as_text({*with_comma} - {target})
    while True:
        try:
            return _count_rows(rows, target, schema, encoder, ignore, order, n_jobs, progress)
        except InfiniteValueError as error:
            # In text, an infinite number counts as missing.
            rows = copy(rows)
            if not rows.read_as_text([error.name]):
                raise


def _count_rows(
    rows: Source,
    target: str,
    schema: Schema | None,
    encoder: Encoder | None,
    ignore: Sequence[str],
    order: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> Counts:
    """Learn the schema of a source unless it is given, and count the rows."""
    survey = None

    def seen(n_rows: int) -> None:
        if progress is not None:
            progress("counting", n_rows, rows.total)

    with _column_errors(rows):
        if schema is None:
            survey = survey_rows(rows, target, encoder, ignore, n_jobs, progress)
            schema = survey.schema()
        elif rows.schema.names:
            check_columns(rows.schema, schema.input_names, target)
        batches = rows.batches((*schema.input_names, target))
        counts, dropped, unreadable = count_and_drop(schema, batches, target, order, n_jobs, seen, rows.coerce)
        check_counted(counts, dropped, unreadable, survey)
    return counts


@contextmanager
def _column_errors(rows: Source) -> Iterator[None]:
    """Raise a TypeError about the columns of a file as `ColumnError`."""
    try:
        yield
    except TypeError as error:
        if not isinstance(rows, FileSource):
            raise
        # The user passed a file, not values of a wrong type, so the error is about the file.
        raise ColumnError(str(error)) from error


def check_counted(counts: Counts, dropped: int, unreadable: UnreadableValues, survey: Survey | None) -> None:
    """Check the result of counting all rows.

    A survey has already warned about dropped rows and unreadable values; it must have seen as many rows. Without one,
    warn about them, or raise ValueError if most values of a column are unreadable.
    """
    if survey is None:
        unreadable.report()
        warn_of_dropped(dropped)
    else:
        survey.check_row_count(int(counts.class_counts.sum()) + dropped)


def count_and_drop(
    schema: Schema,
    batches: Iterable[pa.RecordBatch],
    target: str,
    order: int,
    n_jobs: int | None,
    seen: Callable[[int], None] | None = None,
    coerce: bool = False,
) -> tuple[Counts, int, UnreadableValues]:
    """Count as `count_batches` does; return the number of dropped rows and the unreadable values without a warning.

    With `coerce`, text is read as the numbers that the schema expects, even if its recipe does not say so.
    """
    threads = resolve_n_jobs(n_jobs)
    tally = Tally(schema, order)
    # If the tables are small, each thread counts into its own; otherwise all threads work on the same rows.
    shared = tally.nbytes > MAX_PRIVATE_BYTES
    tallies = [tally] if shared else [tally, *(Tally(schema, order) for _ in range(threads - 1))]
    dropped = [0]
    unreadable = UnreadableValues()
    inner_threads = threads if shared else 1

    def count(own: Tally, rows: pa.Table) -> None:
        check_columns(rows.schema, schema.input_names, target)
        labels, codes = read_labels(rows.column(target), target)
        classes = codes_among(labels, codes, schema.classes)
        columns = rows.select(schema.input_names)
        with collecting(unreadable):
            columns = typed_rows(schema, columns) if coerce else columns
            values = schema.encode_table(read_table(columns, inner_threads), inner_threads)
        known = classes >= 0
        if not known.all():
            dropped.append(int((~known).sum()))
            classes, values = classes[known], np.ascontiguousarray(values[:, known])
        own.add(values, classes, n_jobs=inner_threads)

    rows = 0
    for part in feed(count, merge_small_batches(batches), tallies):
        rows += part.num_rows
        if seen is not None:
            seen(rows)
    for other in tallies[1:]:
        tally.merge(other)
    return tally.counts(), sum(dropped), unreadable


def check_schema_arguments(target: str, schema: Schema | None, encoder: Encoder | None, ignore: Sequence[str]) -> None:
    """Raise TypeError or ValueError if `schema`, `encoder` and `ignore` are invalid or contradict each other."""
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be a list of column names, got {ignore!r}; write [{ignore!r}]")
    for name, value, kind in (("schema", schema, Schema), ("encoder", encoder, Encoder)):
        if value is not None and not isinstance(value, kind):
            got = type(value)
            raise TypeError(f"{name} must be a tanbark.{kind.__name__}, got a {got.__module__}.{got.__name__}")
    if schema is None:
        return
    if encoder is not None or len(ignore):
        raise ValueError("the schema already defines the columns; leave out encoder= and ignore=")
    if target in schema.input_names:
        raise ValueError(f"target {target!r} is an attribute of the schema, whose class is {schema.class_name!r}")


def check_columns(columns: pa.Schema, names: Iterable[str], target: str) -> None:
    """Raise ValueError if a required column is absent or occurs more than once."""
    for name in (*names, target):
        occurrences = len(columns.get_all_field_indices(name))
        if occurrences == 0 and name == target:
            raise ValueError(f"the rows lack the class column {name!r}")
        if occurrences == 0:
            raise ValueError(f"the rows lack the column {name!r}, which the schema requires")
        if occurrences > 1:
            raise ValueError(f"the table has two columns named {name!r}; rename one")


def survey_rows(
    source: Source,
    target: str,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Return a survey of all rows, from which an encoder learns the schema.

    Levels and ranges need one pass. Exact quantiles of a column with more than 2**16 distinct numbers need two or three
    more, which read only such columns.
    """
    if source.once:
        raise SourceError(
            "these rows can be read only once, but learning their schema takes a separate pass; provide schema=, or a "
            "source that can be read again, such as a function that returns the rows"
        )
    if not source.schema.names:
        raise SourceError("there are no rows to learn a schema from; provide schema=")
    if source.coerce and (encoder is None or not encoder.coerce):
        encoder = clone(encoder or Encoder()).set_params(coerce=True)
    survey = Survey(encoder, target, source.schema, ignore)
    threads = resolve_n_jobs(n_jobs)
    number = 0
    again = True
    while again:
        number += 1
        stage = "finding levels" if number == 1 else f"finding cut points, pass {number}"
        workers = [survey.fresh() for _ in range(threads)]
        seen = 0
        for part in feed(Survey.see, merge_small_batches(source.batches(survey.names)), workers):
            seen += part.num_rows
            if progress is not None:
                progress(stage, seen, source.total)
        for worker in workers:
            survey.merge(worker)
        again = survey.settle()
    return survey
