"""``tanbark export``: convert a model for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tanbark.cli.input.options import ModelFile, chosen_value, completer, output_option
from tanbark.cli.terminal.console import CommandError, check_writable, err, summary_console

FORMATS = ("bif", "xmlbif", "dot", "onnx", "sql", "scorecard")


def export(
    model: ModelFile,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"The format: {', '.join(FORMATS)}.",
            autocompletion=completer(lambda: FORMATS),
        ),
    ],
    output: Annotated[Path | None, output_option("FILE", "The output file.", "stdout, if it is text")] = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="SQL: the table, as TABLE or SCHEMA.TABLE.", show_default="rows"),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="SQL: a column to copy to the result. Repeatable.", show_default="those of the model"
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Scorecard: the class to score.", show_default="the last")
    ] = None,
    points_to_double: Annotated[
        float | None, typer.Option(help="Scorecard: the points that double the odds.", show_default="20")
    ] = None,
    base_points: Annotated[
        float | None, typer.Option(help="Scorecard: the points at the base odds.", show_default="600")
    ] = None,
    base_odds: Annotated[
        float | None, typer.Option(help="Scorecard: the odds at the base points.", show_default="50")
    ] = None,
) -> None:
    """Convert a model for other programs.

    BIF and XMLBIF hold a network with its probability tables, for pgmpy, pyAgrum, Weka and others. DOT is a drawing for
    Graphviz. ONNX is a classifier for onnxruntime. SQL is a SELECT that predicts the rows of a table in DuckDB,
    PostgreSQL or SQLite, by evidence-bn or a tree. A scorecard lists the points of each interval and level of an
    evidence-bn with depth=0 and two classes, as CSV or HTML.
    """
    to = chosen_value("to", to, FORMATS)
    scaling: dict[str, Any] = {"points_to_double": points_to_double, "base_points": base_points, "base_odds": base_odds}
    if to != "scorecard" and (positive is not None or any(value is not None for value in scaling.values())):
        raise CommandError("--positive, --points-to-double, --base-points and --base-odds need --to scorecard")
    if to != "sql" and (table is not None or keep):
        raise CommandError("--table and --keep need --to sql")
    if output is not None:
        check_writable(output, [model])
    elif to == "onnx":
        raise CommandError("ONNX is a binary format; name a file with --output")
    elif to == "scorecard":
        raise CommandError("name a file for the scorecard that ends in .csv or .html with --output")
    from tanbark import export as formats
    from tanbark.files import load_classifier

    fitted = load_classifier(model)
    if to == "scorecard":
        assert output is not None
        settings = {name: value for name, value in scaling.items() if value is not None}
        card = formats.scorecard(fitted, output, positive=_class_named(positive, fitted), **settings)
        summary_console().print(f"Written to {output}. {card.losses.sentences()[0]}", soft_wrap=True)
        return
    if to == "sql":
        exported = formats.sql(fitted, output, table=(table or "rows").split("."), keep=keep or None)
    else:
        exported = getattr(formats, to)(fitted, output)
    if output is None:
        sys.stdout.buffer.write(exported.encode())
        return
    if to == "onnx" and formats.needs_complete_rows(fitted):
        note = "note: this network needs complete rows; onnxruntime fails on rows with missing values"
        err().print(note, soft_wrap=True)
    summary_console().print(f"Written to {output}.", soft_wrap=True)


def _class_named(name: str | None, model: Any) -> Any:
    """Return the class with this name, or the name itself if there is none."""
    labels = getattr(model, "classes_", [])
    return next((label for label in labels if str(label) == name), name)
