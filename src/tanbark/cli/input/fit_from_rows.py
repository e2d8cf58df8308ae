"""Fit a model from rows, in memory or streamed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.input_columns import Columns
from tanbark.cli.output.command_text import likely_row_numbers, row_numbers
from tanbark.cli.terminal.console import CommandError, rows_read, rows_seen

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.progress import Progress, TaskID

    from tanbark.classifiers.base.counts_classifier import CountsClassifier
    from tanbark.schema import Encoder, Schema
    from tanbark.sources import Source

LARGE = 512 * 2**20
"""Rows of more bytes are not kept in memory where counts suffice."""


@dataclass(frozen=True)
class Assignment:
    """What is to be learned: which model with which settings, from which columns."""

    model: str
    settings: dict[str, Any]
    columns: Columns

    def new(self, encoder: Encoder) -> CountsClassifier:
        """Return the model, which has learned nothing yet."""
        from tanbark.classifiers.registry import REGISTRY

        return REGISTRY[self.model].classifier(encoder=encoder, n_jobs=-1, **self.settings)

    @property
    def needs_rows(self) -> bool:
        """Whether counts do not suffice to learn the model."""
        return not hasattr(self.new(self.columns.encoder), "fit_counts")


@dataclass(frozen=True)
class Learned:
    """What was learned from how many rows, what there was to note, and how long it took.

    Where the rows are in memory, `X` and `y` are the table and its classes.
    """

    model: CountsClassifier
    rows: int
    notes: list[str]
    seconds: float
    encoder: Encoder
    X: pa.Table | None = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)


def learn(assignment: Assignment, source: Source, in_memory: bool, bar: Progress) -> Learned:
    """Return what is learned from the rows of a source.

    Unless they are wanted in memory, or the model needs them there, rows that are large are counted as they go by.
    The model is the same either way.
    """
    must_fit = in_memory or assignment.needs_rows
    table = None if not must_fit and _is_large(source) else read_rows(source, None if must_fit else LARGE, bar)
    with columns_explained(source), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned = _from_stream(assignment, source, bar) if table is None else _from_table(assignment, table, bar)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    return Learned(**{**learned.__dict__, "notes": [*said, *learned.notes]})


def _is_large(source: Source) -> bool:
    """Return whether it is known beforehand that the rows are large."""
    values = (source.total or 0) * len(source.schema.names)
    return max(8 * values, source.nbytes or 0) > LARGE


def read_rows(source: Source, most: int | None, bar: Progress) -> pa.Table | None:
    """Return all rows, or None where they turn out to take more bytes than `most`."""
    import pyarrow as pa

    batches, size = [], 0
    for batch in rows_read(bar, "reading", source.batches(), source.total):
        batches.append(batch)
        size += batch.nbytes
        if most is not None and size > most:
            return None
    table = pa.Table.from_batches(batches, source.schema)
    if not table.num_rows:
        raise CommandError(f"{source.name} has no rows")
    return table


def _from_table(assignment: Assignment, table: pa.Table, bar: Progress) -> Learned:
    X, y = assignment.columns.split(table)
    encoder = assignment.columns.encoder_of(X)
    task = bar.add_task("learning", total=None, detail=f"{table.num_rows:,} rows")
    with _timed() as seconds, _told(bar, task):
        model = assignment.new(encoder).fit(X, y)
    bar.remove_task(task)
    return Learned(model, table.num_rows, row_numbers(X), sum(seconds), encoder, X, y)


def _from_stream(assignment: Assignment, source: Source, bar: Progress) -> Learned:
    from tanbark.counts import Counts
    from tanbark.schema import Category

    columns = assignment.columns

    show = rows_seen(bar)
    counted = [0]

    def counting(what: str, rows: float, total: float | None) -> None:
        counted[0] = int(rows)
        show(what, rows, total)

    with _timed() as seconds:
        schema, before = _schema(columns, source, show)
        order = assignment.new(columns.encoder).count_order
        counts = Counts.from_batches(source, columns.target, schema=schema, order=order, n_jobs=-1, progress=counting)
    rows = counted[0]
    for many in before:
        if many != rows:
            raise CommandError(
                f"{source.name} had {many:,} rows at one reading and {rows:,} at another; write them to a file first"
            )
    encoder = columns.encoder_under([column.name for column in schema.columns if isinstance(column, Category)])
    task = bar.add_task("learning", total=None, detail="")
    with _timed() as more, _told(bar, task):
        model = assignment.new(encoder).fit_counts(counts)
    bar.remove_task(task)
    return Learned(model, rows, likely_row_numbers(source, counts, rows), sum(seconds + more), encoder)


def _schema(columns: Columns, source: Source, progress: Any) -> tuple[Schema, list[int]]:
    """Return the schema of all rows, the columns named as categories learned apart, and how many rows each saw."""
    from dataclasses import replace

    from sklearn.base import clone

    from tanbark.sources.streamed_schema import survey_rows

    target, named = columns.target, columns.categorical
    names = [name for name in source.schema.names if name != target and name not in columns.ignore]
    surveys = []
    for chosen, categorical in (([name for name in names if name not in named], "auto"), (named, "all")):
        if chosen:
            encoder = clone(columns.encoder).set_params(categorical=categorical)
            rest = [name for name in source.schema.names if name != target and name not in chosen]
            surveys.append(survey_rows(source, target, encoder, rest, -1, progress))
    found = [survey.schema() for survey in surveys]
    by_name = {column.name: column for schema in found for column in schema.columns}
    schema = replace(found[0], columns=tuple(by_name[name] for name in names))
    return schema, [survey.rows for survey in surveys]


@contextmanager
def _timed() -> Iterator[list[float]]:
    """Yield where the seconds that something takes will stand, without those of compiling: that is done once."""
    from numba.core.event import install_timer

    seconds: list[float] = []
    compiling: list[float] = []
    began = time.monotonic()
    with install_timer("numba:compiler_lock", compiling.append):
        yield seconds
    seconds.append(time.monotonic() - began - sum(compiling))


def _told(bar: Progress, task: TaskID) -> AbstractContextManager[None]:
    """Show what a search reports as what is being done."""
    from tanbark.progress import listening

    def show(task_text: str, done: float, total: float | None) -> None:
        bar.update(task, description=task_text, total=total, completed=done, detail="")

    return listening(show)


@contextmanager
def columns_explained(source: Source) -> Iterator[None]:
    """Say of a column of dates, lists, structures or bytes what can be done about it here."""
    as_text = {"csv": ", --categorical takes it as text", "sql": ", a cast in the query makes it text"}
    try:
        yield
    except TypeError as error:
        said = str(error).split(";")[0]
        dates = "holds dates" in said
        if not dates and "must be a string or a number" not in said:
            raise
        raise CommandError(f"{said}; --ignore leaves it out{as_text.get(source.kind, '') if dates else ''}") from error
