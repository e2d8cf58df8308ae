"""Commands as a person would type them, to repeat one or to go on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from tanbark.cli.inputs import files_read
from tanbark.sources import Source


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
