"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Annotated

import typer

from tanbark.cli.input.stdin import KINDS
from tanbark.cli.terminal.console import QUIET

DEBUG: ContextVar[bool] = ContextVar("debug", default=False)
"""Whether a person wants to see where an error came from."""


def _sets(variable: ContextVar[bool]) -> Callable[[bool], None]:
    """Return what an option does that switches something on, wherever it stands."""

    def switch(on: bool) -> None:
        if on:
            variable.set(True)

    return switch


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what a shell asks for names that begin with some letters."""

    def begin(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return begin


def model_names() -> list[str]:
    """Return the names of all classifiers."""
    from tanbark.classifiers.registry import REGISTRY

    return list(REGISTRY)


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", expose_value=False, callback=_sets(QUIET), help="No notes, summaries and progress."),
]
Debug = Annotated[
    bool, typer.Option("--debug", expose_value=False, callback=_sets(DEBUG), help="Show where an error came from.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead, for scripts.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Parquet, ARFF or JSON-lines file, a pattern, - for standard input, or an SQL query.",
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="KIND",
        help=f"What standard input holds: {', '.join(KINDS)}.",
        show_default="csv",
        autocompletion=completing(lambda: KINDS),
    ),
]
Target = Annotated[str | None, typer.Option("--target", "-t", metavar="COL", help="The class to predict.")]
Database = Annotated[
    str | None,
    typer.Option(metavar="DB", help="What the query DATA is put to: a DuckDB or SQLite file, or postgresql://..."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="TOKEN", help="What is missing instead of NA, NaN, null and ?. Repeatable."),
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COL", help="Leave a column out. Repeatable.")]
Categorical = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Take a column of numbers as categories. Repeatable.")
]
Bins = Annotated[
    str,
    typer.Option(
        help="How numbers are cut: quantile, width or mdlp.",
        autocompletion=completing(lambda: ("quantile", "width", "mdlp")),
    ),
]
NBins = Annotated[int, typer.Option(help="Into how many intervals (mdlp finds out).")]
MaxLevels = Annotated[int, typer.Option(help="Beyond so many levels the rarest share one.")]
