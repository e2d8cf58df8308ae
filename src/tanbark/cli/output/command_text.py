"""Text about the command line: commands to run next, default file names, and notes with advice."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tanbark.cli.input.input_columns import files_read
from tanbark.cli.terminal.console import listed, with_option_names
from tanbark.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.counts import Counts

MIN_ROWS_TO_NOTE_NUMBERS = 21
"""In smaller tables a column with the values 1, 2, 3... may be a coincidence."""


# Commands


def quoted(word: Path | str) -> str:
    """Return a word quoted for a shell."""
    return shlex.quote(str(word))


def data_arguments(data: str, database: str | None) -> str:
    """Return the DATA argument and the --database option of a command, without the database password."""
    return f"{quoted(data)} --database {quoted(without_password(database))}" if database else quoted(data)


def without_password(database: str) -> str:
    """Return the address of a database without its password.

    >>> without_password("postgresql://ann:secret@here:5432/clinic?password=secret&sslmode=require")
    'postgresql://ann@here:5432/clinic?sslmode=require'
    """
    shown = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", database)
    return re.sub(r"(?<=[?&])(ssl)?password=[^&]*&?", "", shown).rstrip("?&") if "://" in shown else shown


def first_file(source: Source) -> Path | None:
    """Return the first file of a source, or None if it is a query."""
    return next(iter(files_read(source)), None)


def default_output(source: Source, ending: str) -> Path:
    """Return the default output file of a command: the stem of the input in the current folder."""
    first = first_file(source)
    stem = "query" if first is None else Path(first.name.removesuffix(".gz")).stem
    return Path(stem + ending)


def typed_options(ctx: typer.Context, names: Sequence[str] | None = None) -> str:
    """Return the options that the user typed, or those in `names`, each preceded by a space.

    Without `names`, DATA and --database (see `data_arguments`) and --json are left out.
    """
    words: list[str] = []
    for option in ctx.command.params:
        name = str(option.name)
        given = ctx.get_parameter_source(name)
        wanted = name not in ("data", "database", "as_json") if names is None else name in names
        if wanted and name in ctx.params and given is not None and given.name == "COMMANDLINE":
            value = ctx.params[name]
            each = value if isinstance(value, list | tuple) else [value]
            words.extend(f" {option.opts[0]} {quoted(str(one))}" for one in each)
    return "".join(words)


# Notes


def advice(message: str) -> str:
    """Return a warning of the library with advice for the command line.

    >>> advice("column 'id' looks like an identifier; drop it")
    "column 'id' looks like an identifier; leave it out with --ignore"
    """
    message = message.replace("; drop it", "; leave it out with --ignore")
    return with_option_names(message.replace("(max_levels)", "(--max-levels)"))


def folder_column_notes(source: Source) -> list[str]:
    """Return a note on columns that exist only in folder names, as in ``year=2020/part.parquet``."""
    paths = files_read(source)
    named = {part.partition("=")[0] for path in paths for part in path.parts[:-1] if "=" in part}
    unread = sorted(named - set(source.schema.names))
    return [f"folder names are not read as columns: {listed(unread)}; add them to the files"] if unread else []


def row_number_notes(X: pa.Table) -> list[str]:
    """Return a note on each column that only numbers the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    notes = []
    for name, column in zip(X.column_names, X.columns, strict=True):
        if X.num_rows >= MIN_ROWS_TO_NOTE_NUMBERS and pa.types.is_integer(column.type) and not column.null_count:
            ends = pc.min_max(column).as_py()
            consecutive = ends["max"] - ends["min"] + 1 == X.num_rows
            if consecutive and pc.count_distinct(column).as_py() == X.num_rows:
                notes.append(_row_number_note(name))
    return notes


def likely_row_number_notes(source: Source, counts: Counts, rows: int) -> list[str]:
    """Return a note on each integer column whose range is that of the row numbers.

    Rows without a class are not counted, so the range may be smaller than the number of rows.
    """
    import pyarrow as pa

    from tanbark.schema import Number

    return [
        _row_number_note(column.name)
        for column in counts.schema.columns
        if isinstance(column, Number)
        and pa.types.is_integer(source.schema.field(column.name).type)
        and counts.class_counts.sum() <= column.high - column.low + 1 <= rows
    ]


def _row_number_note(name: str) -> str:
    return f"column {name!r} numbers the rows; leave it out with --ignore"
