"""``tanbark export``: a model for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tanbark.cli.input.options import completing
from tanbark.cli.terminal.console import CommandError, check_writable, err, told

FORMATS = ("bif", "xmlbif", "dot", "onnx")


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"One of {', '.join(FORMATS)}.",
            autocompletion=completing(lambda: FORMATS),
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write.", show_default="stdout, but for onnx"),
    ] = None,
) -> None:
    """Write a model for other programs.

    BIF and XMLBIF are networks with their tables for pgmpy, pyAgrum, Weka and others; DOT is a drawing for graphviz;
    ONNX is a classifier for onnxruntime.
    """
    if to not in FORMATS:
        raise CommandError(f"--to must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {to!r}")
    if output is not None:
        check_writable(output, [model])
    elif to == "onnx":
        raise CommandError("ONNX is no text to print; name a file with --output")
    from tanbark import export as formats
    from tanbark.files import load

    fitted = load(model)
    made = getattr(formats, to)(fitted, output)
    if output is None:
        sys.stdout.buffer.write(made.encode())
        return
    if to == "onnx" and formats.needs_complete_rows(fitted):
        note = "note: this network answers for complete rows only; onnxruntime fails on a row that lacks a value"
        err().print(note, soft_wrap=True)
    told().print(f"Written to {output}.", soft_wrap=True)
