"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

from tanbark.cli.input.stdin import STDIN_KINDS
from tanbark.cli.terminal.console import QUIET, CommandError
from tanbark.messages import same_name, suggestion

BIN_METHODS = ("auto", "modl", "mdlp", "quantile", "width")
DATE_COLUMNS = ("expand", "number", "ignore")

DEBUG: ContextVar[bool] = ContextVar("debug", default=False)
"""Whether to print the traceback of an error."""


def _switch(variable: ContextVar[bool]) -> Callable[[bool], None]:
    """Return the callback of a flag that sets a variable, whether the flag is before or after the command."""

    def callback(on: bool) -> None:
        if on:
            variable.set(True)

    return callback


def completer(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a shell completion callback that offers the names with the typed prefix."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def model_names() -> list[str]:
    """Return the names of all classifiers."""
    from tanbark.classifiers.registry import REGISTRY

    return list(REGISTRY)


def named_model(name: str, names: Iterable[str]) -> str:
    """Return the name of a model, matched without regard to case and hyphens. Raise CommandError if it is unknown.

    >>> named_model("AveragedTAN", ["tan", "averaged-tan"])
    'averaged-tan'
    """
    names = list(names)
    found = same_name(name, names)
    if found is None:
        instead = suggestion(name, names, f"the models are {', '.join(names)}")
        raise CommandError(f"there is no model {name!r}; {instead}")
    return found


def chosen_value(option: str, value: str, values: Iterable[str]) -> str:
    """Return one of the allowed values of an option, matched without regard to case. Raise CommandError otherwise.

    >>> chosen_value("bins", "MDLP", ["quantile", "mdlp"])
    'mdlp'
    """
    values = list(values)
    found = same_name(value, values)
    if found is None:
        instead = suggestion(value, values, "")
        raise CommandError(
            f"--{option} must be one of {', '.join(values)}, got {value!r}" + (f"; {instead}" if instead else "")
        )
    return found


def output_option(metavar: str, description: str, default: str) -> Any:
    """Return the option ``--output``; `default` describes what is written without it."""
    return typer.Option("--output", "-o", metavar=metavar, help=description, show_default=default)


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", expose_value=False, callback=_switch(QUIET), help="Hide notes, summaries and progress."
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", expose_value=False, callback=_switch(DEBUG), help="Show the traceback of an error.")
]
Json = Annotated[bool, typer.Option("--json", help="Print a JSON document instead of text.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file written by `tanbark fit`.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Excel, Parquet, Arrow, ARFF or JSON file, a glob pattern, - for standard input, or an SQL query.",
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help=f"Format of standard input: {', '.join(STDIN_KINDS)}.",
        show_default="csv",
        autocompletion=completer(lambda: STDIN_KINDS),
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="The class column.", show_default="class, target or label"),
]
TrueClass = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COL", help="The column with the true classes.", show_default="as in the model"
    ),
]
Database = Annotated[
    str | None,
    typer.Option(metavar="DB", help="The database of the query: a DuckDB or SQLite file, or postgresql://..."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of a text file.", show_default="UTF-8, otherwise Windows-1252"),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="SHEET", help="Sheet of a workbook, by name or number from 1.", show_default="the first"),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", help="A further text that stands for a missing value, such as n.k. or -999. Repeatable."
    ),
]
MissingOnly = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="A text that stands for a missing value, instead of the usual ones. Repeatable."),
]
Decimal = Annotated[
    str | None, typer.Option(metavar="SIGN", help="The decimal separator, . or ,.", show_default="by column")
]
DayFirst = Annotated[bool, typer.Option("--day-first", help="Read 01/02/2024 as the first of February.")]
Dates = Annotated[
    str,
    typer.Option(
        help="What a date becomes: expand (a number, and weekday, month and hour), number, or ignore.",
        autocompletion=completer(lambda: DATE_COLUMNS),
    ),
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COL", help="A column to leave out. Repeatable.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="A column to keep although it looks like an identifier. Repeatable."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="A column to treat as categories, whatever its values. Repeatable."),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="How to read the columns: a file that `tanbark schema` wrote."),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="A column such as the patient: rows with the same value are in the same fold of a cross-validation. It is "
        "not learned from.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="A column with the weight of each row: 3 counts it three times, 0 leaves it out. It is not learned from.",
    ),
]
Cost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TRUE:PREDICTED=COST",
        help="What it costs to predict a class for a row of another; other errors cost 1. Repeatable.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse rows that lack a column of the model.")]
Bins = Annotated[
    str,
    typer.Option(
        help="How to bin numbers: modl or mdlp (by the class), quantile, width, or auto (the model chooses).",
        autocompletion=completer(lambda: BIN_METHODS),
    ),
]
NBins = Annotated[
    int | None,
    typer.Option(
        help="Maximum number of intervals per numeric column. With --bins auto they are quantiles.",
        show_default="the model's",
    ),
]
Cut = Annotated[
    list[str] | None,
    typer.Option(
        "--cut",
        metavar="COL=A,B,...",
        help="Cut points of a column, such as age=18,40,65, or seen=2024-01-01,2024-07-01 for dates. Repeatable.",
    ),
]
MaxLevels = Annotated[int, typer.Option(help="Maximum levels per column; beyond it the rarest are merged.")]

BinTarget = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Cut a numeric class into N classes of about equal size, at its quantiles.", show_default="no"
    ),
]

ROW_OPTIONS = ("kind", "encoding", "sheet", "missing")
"""Options about rows for a model that suggested commands repeat."""
READING_OPTIONS = (
    "kind",
    "encoding",
    "sheet",
    "ignore",
    "keep",
    "categorical",
    "missing",
    "missing_only",
    "decimal",
    "day_first",
    "dates",
    "schema_file",
)
TABLE_OPTIONS = (
    *READING_OPTIONS,
    "group",
    "weight",
    "class_weight",
    "bins",
    "n_bins",
    "cut",
    "max_levels",
    "bin_target",
)
"""Options about the columns of a table, which suggested commands repeat."""
