"""``tanbark report``: write an HTML page about a model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.input_columns import files_read, open_source, print_source_notes
from tanbark.cli.input.model_rows import ModelRows
from tanbark.cli.input.options import (
    Database,
    Encoding,
    From,
    Json,
    Missing,
    ModelFile,
    Sheet,
    Strict,
    TrueClass,
    output_option,
)
from tanbark.cli.terminal.console import CommandError, check_writable, print_json, progress, summary_console

if TYPE_CHECKING:
    from tanbark.cli.terminal.console import ProgressLine


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
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: Missing = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Write an HTML page about a model.

    The page draws and explains the model and answers what-if questions. It is one self-contained file. Given rows with
    a known class, it also shows the calibration, the confusion matrix and the importance of each attribute.

    With --json, the keys are file, output, rows and notes.
    """
    options = (target, database, kind, encoding, sheet, missing, strict or None)
    if data is None and options != (None,) * len(options):
        names = "--target, --database, --from, --encoding, --sheet, --missing and --strict"
        raise CommandError(f"{names} need rows; give DATA after MODEL")
    path = output or Path(f"{model.stem}.html")
    source = None if data is None else open_source(data, database, kind, encoding, sheet)
    check_writable(path, [model, *(files_read(source) if source else ())])
    with progress() as bar:
        from tanbark.files import load_classifier
        from tanbark.report.importance import mean_weights
        from tanbark.report.performance import given_rows, measure_performance
        from tanbark.report.report import write_page

        fitted = load_classifier(model).set_params(n_jobs=-1)
        test_rows = None
        if source is not None:
            print_source_notes(source)
            test_rows = _read_test_rows(ModelRows.of(fitted.schema_, source.as_written(), target, missing, strict), bar)
        bar("writing", 0, None)
        performance, weights = None, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if test_rows is not None:
                given = given_rows(fitted, test_rows)
                performance, weights = measure_performance(fitted, given), mean_weights(fitted, given.codes)
            write_page(fitted, path, performance, weights)
    rows = 0 if test_rows is None else test_rows[0].num_rows
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    notes += () if performance is None else performance.notes
    if as_json:
        print_json({"file": str(model), "output": str(path), "rows": rows, "notes": notes})
        return
    console = summary_console()
    for note in notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)
    console.print(f"Written to {path}; open it in a browser.", soft_wrap=True)


def _read_test_rows(rows: ModelRows, bar: ProgressLine) -> tuple[Any, list[Any] | None]:
    """Return the attributes of the model, and the classes or None if the rows have none."""
    import pyarrow as pa

    batches = list(rows.batches(bar, "reading"))
    if not any(X.num_rows for X, _, _ in batches):
        raise CommandError(f"{rows.rows.source.name} has no rows")
    X = pa.concat_tables([X for X, _, _ in batches], promote_options="permissive")
    return X, None if rows.target is None else [label for _, y, _ in batches for label in y or ()]
