"""Commands as a person would type them, and notes with advice for the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tanbark.cli.input.input_columns import files_read
from tanbark.cli.terminal.console import as_option, listed
from tanbark.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.counts import Counts


def quoted(word: Path | str) -> str:
    """Return a word as a shell reads it."""
    return shlex.quote(str(word))


def data_words(data: str, database: str | None) -> str:
    """Return what names the rows, a query or files, without the password of a database."""
    return f"{quoted(data)} --database {quoted(without_password(database))}" if database else quoted(data)


def without_password(database: str) -> str:
    """Return the address of a database as it may stand on a screen.

    >>> without_password("postgresql://ann:secret@here:5432/clinic?password=secret&sslmode=require")
    'postgresql://ann@here:5432/clinic?sslmode=require'
    """
    shown = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", database)
    return re.sub(r"(?<=[?&])(ssl)?password=[^&]*&?", "", shown).rstrip("?&") if "://" in shown else shown


def first_file(source: Source) -> Path | None:
    """Return the first of the files."""
    return next(iter(files_read(source)), None)


def default_output(source: Source, ending: str) -> Path:
    """Return where to write what comes of a source, unless that is said: beside where the command runs."""
    first = first_file(source)
    stem = "query" if first is None else Path(first.name.removesuffix(".gz")).stem
    return Path(stem + ending)


def typed_options(ctx: typer.Context, names: Sequence[str] | None = None) -> str:
    """Return the options that were given to a command, or those of some names, each after a space.

    What the rows are called is no such option, nor is the database they come from; see `data_words`. Nor is to whom a
    command tells what it found.
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


def advice(message: str) -> str:
    """Return a warning of the library's with what to do about it on the command line.

    >>> advice("column 'id' looks like an identifier; drop it")
    "column 'id' looks like an identifier; leave it out with --ignore"
    """
    message = message.replace("; drop it", "; leave it out with --ignore")
    return as_option(message.replace("(max_levels)", "(--max-levels)"))


def folders_unread(source: Source) -> list[str]:
    """Return a note on columns that only the names of folders hold, as in ``year=2020/part.parquet``."""
    paths = files_read(source)
    named = {part.partition("=")[0] for path in paths for part in path.parts[:-1] if "=" in part}
    lost = sorted(named - set(source.schema.names))
    return [f"what the folders' names say of {listed(lost)} is not read; write it into the files"] if lost else []


def row_numbers(X: pa.Table) -> list[str]:
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


def likely_row_numbers(source: Source, counts: Counts, rows: int) -> list[str]:
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
