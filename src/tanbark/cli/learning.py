"""Learning a model from rows: all in memory, or counted as they go by."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tanbark.cli.console import rows_read, rows_seen
from tanbark.cli.errors import CommandError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.progress import Progress, TaskID

    from tanbark.classifiers.base import CountsClassifier
    from tanbark.counts import Counts
    from tanbark.schema import Encoder, Schema
    from tanbark.sources import Source

LARGE = 512 * 2**20
"""Rows of more bytes are not kept in memory where counts suffice."""


@dataclass(frozen=True)
class Assignment:
    """What is to be learned: which model with which settings, of which class, from which columns.

    Columns of `categorical` are categories, beside those that the encoder takes for some by itself.
    """

    model: str
    settings: dict[str, Any]
    target: str
    ignore: Sequence[str]
    categorical: Sequence[str]
    encoder: Encoder

    def new(self, encoder: Encoder) -> CountsClassifier:
        """Return the model, which has learned nothing yet."""
        from tanbark.classifiers.registry import REGISTRY

        return REGISTRY[self.model].classifier(encoder=encoder, n_jobs=-1, **self.settings)

    @property
    def needs_rows(self) -> bool:
        """Whether counts do not suffice to learn the model."""
        return not hasattr(self.new(self.encoder), "fit_counts")


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
    table = None if not must_fit and _is_large(source) else _read(source, None if must_fit else LARGE, bar)
    with _columns_explained(source), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned = _from_stream(assignment, source, bar) if table is None else _from_table(assignment, table, bar)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    return Learned(**{**learned.__dict__, "notes": [*said, *learned.notes]})


def _is_large(source: Source) -> bool:
    """Return whether it is known beforehand that the rows are large."""
    values = (source.total or 0) * len(source.schema.names)
    return max(8 * values, source.nbytes or 0) > LARGE


def _read(source: Source, most: int | None, bar: Progress) -> pa.Table | None:
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
    import narwhals as nw

    X = table.drop_columns(list(dict.fromkeys([assignment.target, *assignment.ignore])))
    y = nw.from_native(table.column(assignment.target), series_only=True).alias(assignment.target)
    encoder = _beside_those_named(assignment, X)
    task = bar.add_task("learning", total=None, detail=f"{table.num_rows:,} rows")
    began = time.monotonic()
    with _told(bar, task):
        model = assignment.new(encoder).fit(X, y)
    bar.remove_task(task)
    return Learned(model, table.num_rows, _row_numbers(X), time.monotonic() - began, encoder, X, y)


def _from_stream(assignment: Assignment, source: Source, bar: Progress) -> Learned:
    from tanbark.counts import Counts

    show = rows_seen(bar)
    counted = [0]

    def counting(what: str, rows: int, total: int | None) -> None:
        counted[0] = rows
        show(what, rows, total)

    began = time.monotonic()
    schema, before = _schema(assignment, source, show)
    order = type(assignment.new(assignment.encoder))._order
    counts = Counts.from_batches(source, assignment.target, schema=schema, order=order, n_jobs=-1, progress=counting)
    rows = counted[0]
    for many in before:
        if many != rows:
            raise CommandError(
                f"{source.name} had {many:,} rows at one reading and {rows:,} at another; write them to a file first"
            )
    encoder = _with_categories(assignment, schema)
    task = bar.add_task("learning", total=None, detail="")
    with _told(bar, task):
        model = assignment.new(encoder).fit_counts(counts)
    bar.remove_task(task)
    return Learned(model, rows, _likely_row_numbers(source, counts, rows), time.monotonic() - began, encoder)


def _schema(assignment: Assignment, source: Source, progress: Any) -> tuple[Schema, list[int]]:
    """Return the schema of all rows, the columns named as categories learned apart, and how many rows each saw."""
    from dataclasses import replace

    from sklearn.base import clone

    from tanbark.sources.learning import survey_rows

    target, named = assignment.target, assignment.categorical
    names = [name for name in source.schema.names if name != target and name not in assignment.ignore]
    surveys = []
    for chosen, categorical in (([name for name in names if name not in named], "auto"), (named, "all")):
        if chosen:
            encoder = clone(assignment.encoder).set_params(categorical=categorical)
            rest = [name for name in source.schema.names if name != target and name not in chosen]
            surveys.append(survey_rows(source, target, encoder, rest, -1, progress))
    found = [survey.schema() for survey in surveys]
    columns = {column.name: column for schema in found for column in schema.columns}
    schema = replace(found[0], columns=tuple(columns[name] for name in names))
    return schema, [survey.rows for survey in surveys]


def _beside_those_named(assignment: Assignment, X: pa.Table) -> Encoder:
    """Return the encoder with the columns that are categories, by themselves and by name."""
    from tanbark.schema.table import read_table

    if not assignment.categorical:
        return assignment.encoder
    by_itself = [name for name, raw in zip(X.column_names, read_table(X).columns) if raw.few_whole]
    return _listing(assignment, by_itself)


def _with_categories(assignment: Assignment, schema: Schema) -> Encoder:
    from tanbark.schema import Category

    if not assignment.categorical:
        return assignment.encoder
    return _listing(assignment, [column.name for column in schema.columns if isinstance(column, Category)])


def _listing(assignment: Assignment, by_itself: Sequence[str]) -> Encoder:
    """Return an encoder that lists categories: a list replaces the library's own choice; here it adds to it."""
    from sklearn.base import clone

    listed = list(dict.fromkeys([*by_itself, *assignment.categorical]))
    encoder: Encoder = clone(assignment.encoder).set_params(categorical=listed)
    return encoder


def _told(bar: Progress, task: TaskID) -> AbstractContextManager[None]:
    """Show what a search reports as what is being done."""
    from tanbark.structure.progress import listening

    def report(words: str, share: float) -> None:
        known = share == share
        bar.update(task, description=words, total=1.0 if known else None, completed=share if known else 0.0, detail="")

    return listening(report)


@contextmanager
def _columns_explained(source: Source) -> Iterator[None]:
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


def _row_numbers(X: pa.Table) -> list[str]:
    """Return a note on each column that merely numbers the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for name, column in zip(X.column_names, X.columns):
        if X.num_rows > 20 and pa.types.is_integer(column.type) and not column.null_count:
            ends = pc.min_max(column).as_py()
            consecutive = ends["max"] - ends["min"] + 1 == X.num_rows
            if consecutive and pc.count_distinct(column).as_py() == X.num_rows:
                found.append(_numbering(name))
    return found


def _likely_row_numbers(source: Source, counts: Counts, rows: int) -> list[str]:
    """Return a note on each column of integers whose range is that of the rows' numbers.

    Rows without a class were not counted, and the first and the last may be among them.
    """
    import pyarrow as pa

    from tanbark.schema import Number

    return [
        _numbering(column.name)
        for column in counts.schema.columns
        if isinstance(column, Number)
        and pa.types.is_integer(source.schema.field(column.name).type)
        and counts.class_counts.sum() <= column.high - column.low + 1 <= rows
    ]


def _numbering(name: str) -> str:
    return f"column {name!r} numbers the rows; leave it out with --ignore"
