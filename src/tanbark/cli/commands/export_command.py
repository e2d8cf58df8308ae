"""``tanbark export``: convert a model for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tanbark.cli.input.options import ModelFile, completer, output_option
from tanbark.cli.terminal.console import CommandError, check_writable, err, summary_console

FORMATS = ("bif", "xmlbif", "dot", "onnx")


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
    output: Annotated[Path | None, output_option("FILE", "The output file.", "stdout, except for onnx")] = None,
) -> None:
    """Convert a model for other programs.

    BIF and XMLBIF hold a network with its probability tables, for pgmpy, pyAgrum, Weka and others. DOT is a drawing for
    Graphviz. ONNX is a classifier for onnxruntime.
    """
    if to not in FORMATS:
        raise CommandError(f"--to must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {to!r}")
    if output is not None:
        check_writable(output, [model])
    elif to == "onnx":
        raise CommandError("ONNX is a binary format; name a file with --output")
    from tanbark import export as formats
    from tanbark.files import load

    fitted = load(model)
    exported = getattr(formats, to)(fitted, output)
    if output is None:
        sys.stdout.buffer.write(exported.encode())
        return
    if to == "onnx" and formats.needs_complete_rows(fitted):
        note = "note: this network needs complete rows; onnxruntime fails on rows with missing values"
        err().print(note, soft_wrap=True)
    summary_console().print(f"Written to {output}.", soft_wrap=True)
