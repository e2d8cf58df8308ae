"""``tanbark report``: write an HTML page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.input_columns import attribute_inputs, class_input, files_read, open_source, read_inputs
from tanbark.cli.input.options import Database, From, Json, Missing, ModelFile, TrueClass, output_option
from tanbark.cli.terminal.console import CommandError, check_writable, print_json, progress, summary_console

if TYPE_CHECKING:
    from tanbark.cli.terminal.console import ProgressLine
    from tanbark.schema import Schema
    from tanbark.sources.duckdb_rows import Rows


def report(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="Rows to evaluate the model on, preferably not its training rows."),
    ] = None,
    output: Annotated[Path | None, output_option("PAGE", "The HTML file to write.", "MODEL.html")] = None,
    target: TrueClass = None,
    database: Database = None,
    kind: From = None,
    missing: Missing = None,
    as_json: Json = False,
) -> None:
    """Write an HTML page about a model.

    The page draws and explains the model and answers what-if questions. It is one self-contained file. Given rows with
    a known class, it also shows the calibration, the confusion matrix and the importance of each attribute.

    With --json, the keys are file, output and rows.
    """
    if data is None and (target, database, kind, missing) != (None,) * 4:
        raise CommandError("--target, --database, --from and --missing need rows; give DATA after MODEL")
    path = output or Path(f"{model.stem}.html")
    source = None if data is None else open_source(data, database, missing, kind)
    check_writable(path, [model, *(files_read(source) if source else ())])
    with progress() as bar:
        from tanbark.files import load
        from tanbark.report import write_report

        fitted = load(model).set_params(n_jobs=-1)
        test_rows = None if source is None else _read_test_rows(fitted.schema_, source.as_written(), target, bar)
        bar("writing", 0, None)
        write_report(fitted, path, test_rows)
    rows = 0 if test_rows is None else test_rows[0].num_rows
    if as_json:
        print_json({"file": str(model), "output": str(path), "rows": rows})
        return
    summary_console().print(f"Written to {path}; open it in a browser.", soft_wrap=True)


def _read_test_rows(schema: Schema, rows: Rows, target: str | None, bar: ProgressLine) -> tuple[Any, list[Any] | None]:
    """Return the attributes of the model, and the classes or None if the rows have none."""
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
