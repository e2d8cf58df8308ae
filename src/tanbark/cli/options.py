"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV, Parquet, ARFF or JSON-lines file, a pattern, or an SQL query.")
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
Bins = Annotated[str, typer.Option(help="How numbers are cut: quantile, width or mdlp.")]
NBins = Annotated[int, typer.Option(help="Into how many intervals (mdlp finds out).")]
MaxLevels = Annotated[int, typer.Option(help="Beyond so many levels the rarest share one.")]
