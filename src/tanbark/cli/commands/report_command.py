"""``tanbark report``: a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.input_columns import attribute_inputs, class_input, files_read, read_inputs, rows_named
from tanbark.cli.input.options import Database, From, Json, Missing
from tanbark.cli.terminal.console import CommandError, check_writable, print_json, progress, told

if TYPE_CHECKING:
    from rich.progress import Progress

    from tanbark.schema import Schema
    from tanbark.sources.duckdb_rows import Rows


def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="Rows to judge the model by, best some that it has not seen."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PAGE", help="Where to write.", show_default="MODEL.html"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COL", help="The column of true classes, if it was renamed."),
    ] = None,
    database: Database = None,
    kind: From = None,
    missing: Missing = None,
    as_json: Json = False,
) -> None:
    """Write a page about a model: one HTML file that draws it, explains it and answers what-if questions by itself.

    With rows whose class is known it also shows calibration, confusion, and how much each attribute weighs.

    With --json the keys are file, output and rows.
    """
    if data is None and (target, database, kind, missing) != (None,) * 4:
        raise CommandError("--target, --database, --from and --missing tell of rows; name the rows after the model")
    path = output or Path(f"{model.stem}.html")
    source = None if data is None else rows_named(data, database, missing, kind)
    check_writable(path, [model, *(files_read(source) if source else ())])
    with progress() as bar:
        task = bar.add_task("starting", total=None, detail="")
        from tanbark.files import load
        from tanbark.report import write_report

        fitted = load(model).set_params(n_jobs=-1)
        bar.remove_task(task)
        given = None if source is None else _given(fitted.schema_, source.as_written(), target, bar)
        bar.add_task("writing", total=None, detail="")
        write_report(fitted, path, given)
    rows = 0 if given is None else given[0].num_rows
    if as_json:
        print_json({"file": str(model), "output": str(path), "rows": rows})
        return
    told().print(f"Written to {path}; open it in a browser.", soft_wrap=True)


def _given(schema: Schema, rows: Rows, target: str | None, bar: Progress) -> tuple[Any, list[Any] | None]:
    """Return the columns of the model, and the classes where there are some."""
    import pyarrow as pa

    inputs = attribute_inputs(schema, rows)
    true_class = class_input(schema, rows, target)
    further = [] if true_class is None else [true_class.converted]
    batches = list(read_inputs(rows, inputs, further, bar, "reading"))
    if not any(batch.num_rows for batch in batches):
        raise CommandError(f"{rows.source.name} has no rows")
    table = pa.Table.from_batches(batches)
    X = pa.table(table.columns[: len(inputs)], names=list(schema.names))
    return X, table.column(len(inputs)).to_pylist() if further else None
