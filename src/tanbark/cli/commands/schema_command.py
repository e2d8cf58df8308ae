"""``tanbark schema``: show how the columns of a table are read."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tanbark.atomic_write import replacing
from tanbark.cli.input.fit_from_rows import explaining_column_errors
from tanbark.cli.input.input_columns import Columns, TableOptions, files_read, free_name, source_notes
from tanbark.cli.input.options import (
    READING_OPTIONS,
    Categorical,
    Data,
    Database,
    Dates,
    DayFirst,
    Decimal,
    Encoding,
    From,
    Ignore,
    Json,
    Keep,
    Missing,
    MissingOnly,
    SchemaFile,
    Sheet,
    Target,
    output_option,
)
from tanbark.cli.input.schema_file import schema_document
from tanbark.cli.output.printed_text import (
    advice,
    column_kind,
    data_arguments,
    folder_column_notes,
    input_redirection,
    missing_shares,
    print_placeholder,
    quoted,
    typed_options,
)
from tanbark.cli.terminal.console import (
    CommandError,
    ProgressLine,
    check_writable,
    print_json,
    printable,
    progress,
    summary_console,
)
from tanbark.messages import counted, percent

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.counts import Counts
    from tanbark.schema import Category, InputColumn, Number, Schema
    from tanbark.sources import Source

import typer

MAX_LEVELS_SHOWN = 6


def schema(
    ctx: typer.Context,
    data: Data,
    target: Target = None,
    output: Annotated[
        Path | None, output_option("FILE", "A JSON file to write, for tanbark fit --schema FILE.", "none")
    ] = None,
    database: Database = None,
    kind: From = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    ignore: Ignore = None,
    keep: Keep = None,
    categorical: Categorical = None,
    missing: Missing = None,
    missing_only: MissingOnly = None,
    decimal: Decimal = None,
    day_first: DayFirst = False,
    dates: Dates = "expand",
    schema_file: SchemaFile = None,
    as_json: Json = False,
) -> None:
    """Show how the columns of a table are read: their kinds, values and missing values, and what to check.

    With --output, also write this to a JSON file. Edit the kind of a column ("number", "category", "boolean", "date"
    or "ignored"), its missing values or its decimal separator there, and give the file to tanbark fit --schema.

    With --json, the keys are data, rows, target, columns (each with name, kind, missing (a share), levels or low and
    high, and parts of a date), notes, and schema (the content of the file).
    """
    options = TableOptions(
        target, ignore, keep, categorical, missing, missing_only, decimal, day_first, dates, schema_file
    )
    source = options.open(data, database, kind, encoding, sheet)
    notes = source_notes(source)
    if output is not None:
        check_writable(output, [*files_read(source), *([] if schema_file is None else [schema_file])])
    with progress() as bar, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from tanbark.schema.read.class_column import ContinuousClassError

        columns = Columns.of(source, options, needs_target=False)
        with explaining_column_errors():
            try:
                counts = _counts(source, columns, bar)
            except ContinuousClassError:
                notes.append(
                    f"{columns.target!r} holds numbers rather than labels; to predict it, cut it into intervals with "
                    "tanbark fit --bin-target 4"
                )
                ignored = (*columns.ignore, columns.target)
                columns = replace(columns, ignore=ignored, target=free_name(source.schema.names), has_target=False)
                counts = _counts(source, columns, bar)
        from tanbark.evaluate import leaking_columns

        leaking = leaking_columns(counts) if columns.has_target else ()
    notes += [advice(str(warning.message)) for warning in caught]
    notes += [*(advice(str(column)) for column in leaking), *folder_column_notes(source)]
    notes = list(dict.fromkeys(notes))
    found = counts.schema
    recipe = found.recipe
    assert recipe is not None
    target_name = columns.target if columns.has_target else None
    document = schema_document(recipe, target_name)
    if output is not None:
        with replacing(output) as file:
            file.write((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    rows = int(counts.class_counts.sum())
    if as_json:
        values = {"columns": [_description(one, counts) for one in recipe.inputs], "notes": notes, "schema": document}
        print_json({"data": source.name, "rows": rows, "target": target_name, **values})
        return
    console = summary_console()
    _print(console, source.name, target_name, counts)
    for note in notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)
    console.print()
    words = data_arguments(data, database)
    redirection = input_redirection(data, kind)
    if output is None:
        again = f"tanbark schema {words}{typed_options(ctx, ('target', *READING_OPTIONS))} -o schema.json{redirection}"
        console.print("To change how a column is read, write a file, edit it and fit with --schema:", soft_wrap=True)
        console.print(f"  {again}", style="cyan", soft_wrap=True)
    else:
        console.print(f"Written to {output}; edit it, then:", soft_wrap=True)
        fit = f"tanbark fit {words} --schema {quoted(output)}"
        fit += typed_options(ctx, ("kind", "encoding", "sheet", "ignore"))
        console.print(f"  {fit}{redirection}", style="cyan", soft_wrap=True)
    print_placeholder(console, data, kind)


def _counts(source: Source, columns: Columns, bar: ProgressLine) -> Counts:
    """Return counts of single values, with the schema; without a target all rows have the same class."""
    import pyarrow as pa
    from sklearn.base import clone

    from tanbark.counts import Counts
    from tanbark.evaluate.leakage import LEAKAGE_BINS
    from tanbark.schema.read.raw_columns import InfiniteValueError

    def with_class() -> pa.RecordBatchReader:
        """Return the rows with a class that is the same in all of them."""
        fields = [*source.schema, pa.field(columns.target, pa.string())]
        batches = (
            pa.record_batch([*batch.columns, pa.array(["all"] * batch.num_rows, pa.string())], schema=pa.schema(fields))
            for batch in source.batches()
        )
        return pa.RecordBatchReader.from_batches(pa.schema(fields), batches)

    encoder = clone(columns.encoder).set_params(n_bins=LEAKAGE_BINS)

    def counted_rows() -> Counts:
        rows = source if columns.has_target else with_class
        return Counts.from_batches(
            rows, columns.target, encoder=encoder, ignore=columns.ignore, order=1, n_jobs=-1, progress=bar.rows
        )

    try:
        counts = counted_rows()
    except InfiniteValueError:
        # In text, an infinite number counts as missing.
        if not source.read_as_text([name for name in source.schema.names if name != columns.target]):
            raise
        counts = counted_rows()
    if not counts.class_counts.sum():
        raise CommandError(f"{source.name} has no rows")
    return counts


def _description(one: InputColumn, counts: Counts) -> dict[str, Any]:
    """Return how a column is read, and its values."""
    from tanbark.schema import Category

    if not one.columns:
        return {"name": one.name, "kind": "left out"}
    column, share = _column(one, counts)
    values: dict[str, Any] = (
        {"levels": column.levels} if isinstance(column, Category) else {"low": column.low, "high": column.high}
    )
    parts = {"parts": one.parts} if one.parts else {}
    return {"name": one.name, "kind": column_kind(column), "missing": share, **values, **parts}


def _column(one: InputColumn, counts: Counts) -> tuple[Category | Number, float]:
    """Return the column of the schema for a column of the table, and the share of missing values."""
    at = counts.schema.index(one.name)
    return counts.schema.columns[at], missing_shares(counts)[at]


def _print(console: Console, name: str, target: str | None, counts: Counts) -> None:
    from rich.table import Table
    from rich.text import Text

    found: Schema = counts.schema
    assert found.recipe is not None
    size = f"{counted(counts.class_counts.sum().item(), 'row')}, {counted(len(found.recipe.inputs), 'column')}"
    console.print(Text.assemble((name, "bold"), f": {size}" + ("" if target is None else " and the class")))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for head in ("column", "kind", "missing", "values"):
        table.add_column(head, justify="right" if head == "missing" else "left", overflow="fold")
    for one in found.recipe.inputs:
        if not one.columns:
            table.add_row(Text(printable(one.name)), "left out", style="dim")
            continue
        column, share = _column(one, counts)
        parts = f", also its {_enumerated(one.parts)}" if one.parts else ""
        shown = percent(share) if share else ""
        table.add_row(Text(printable(one.name)), column_kind(column), shown, Text(printable(_values(column) + parts)))
    if target is not None:
        labels = _listed([str(label) for label in found.classes])
        table.add_row(Text(printable(target), "bold"), "class", "", Text(printable(labels)))
    console.print(table)


def _enumerated(words: Sequence[str]) -> str:
    """Return words as in a sentence.

    >>> _enumerated(["weekday", "month", "hour"]), _enumerated(["hour"])
    ('weekday, month and hour', 'hour')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _values(column: Category | Number) -> str:
    """Return the levels or the range of a column."""
    from tanbark.schema import Category

    if isinstance(column, Category):
        return _listed([str(level) for level in column.levels]) if column.levels else "none"
    low, high = column.texts_of([column.low, column.high]) if column.low < column.high else (None, None)
    return f"{low} to {high}" if low is not None else column.texts_of([column.low])[0]


def _listed(labels: list[str]) -> str:
    """Return labels separated by commas; of a long list the first few.

    >>> _listed(["a", "b"])
    'a, b'
    """
    shown = ", ".join(labels[:MAX_LEVELS_SHOWN])
    return shown if len(labels) <= MAX_LEVELS_SHOWN else f"{shown}, ... ({len(labels):,} levels)"
