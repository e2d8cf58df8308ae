"""``tanbark predict``: a prediction and the probabilities of all classes for every row of a file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.input_columns import Input, attribute_inputs, class_input, files_read, read_inputs, rows_named
from tanbark.cli.input.options import Data, Database, From, Json, Missing, completing
from tanbark.cli.output.prediction_writer import SINKS, open_sink
from tanbark.cli.terminal.console import CommandError, check_writable, err, percent, print_json, progress
from tanbark.sources import Source
from tanbark.sources.duckdb_rows import Rows, present

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.classifiers.base.counts_classifier import CountsClassifier

_PLAIN = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT")
_WRITABLE = (*_PLAIN, "VARCHAR", "DOUBLE", "FLOAT", "BOOLEAN", "DATE", "TIMESTAMP")


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="A .csv, .parquet or .jsonl file.", show_default="CSV, stdout"
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COL", help="The column of true classes, if it was renamed."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help=f"What to write to stdout: {', '.join(SINKS)}.",
            show_default="csv",
            autocompletion=completing(lambda: SINKS),
        ),
    ] = None,
    database: Database = None,
    kind: From = None,
    missing: Missing = None,
    as_json: Json = False,
) -> None:
    """Write rows with a prediction and the probability of every class.

    Columns are found by name; those that the model does not know are kept and not used. If the true class is among
    them, the accuracy is printed at the end.

    With --json, which needs --output, the keys are file, data, output, rows, labelled (rows with a true class), right
    (of those) and accuracy (null if there are none).
    """
    written = _kind_written(output, to)
    if as_json and output is None:
        raise CommandError(
            "--json tells of a file of predictions; name it with --output, or write rows with --to jsonl"
        )
    source = rows_named(data, database, missing, kind)
    if output is not None:
        check_writable(output, [model, *files_read(source)])
    with progress() as bar:
        task = bar.add_task("starting", total=None, detail="")
        from tanbark.files import load

        fitted = load(model).set_params(n_jobs=-1)
        rows = source.as_written()
        plan = _plan(fitted, rows, target, as_text=written == "csv")
        bar.remove_task(task)
        tally = Tally()
        with open_sink(output, written) as sink:
            for batch in read_inputs(rows, plan.inputs, plan.further, bar, "predicting"):
                sink.write(_predicted(fitted, plan, batch, tally))
            if not tally.rows:
                raise CommandError(f"{source.name} has no rows")
    if as_json:
        share = tally.right / tally.labelled if tally.labelled else None
        found = {"rows": tally.rows, "labelled": tally.labelled, "right": tally.right, "accuracy": share}
        print_json({"file": str(model), "data": source.name, "output": str(output), **found})
        return
    console = err()
    if tally.labelled:
        share = tally.right / tally.labelled
        console.print(f"accuracy {percent(share)} on {tally.labelled:,} rows with a known {plan.target_name}")
    if tally.unknown:
        which = "is 1" if tally.unknown == 1 else f"are {tally.unknown:,}"
        note = f"note: among these rows {which} of a class that the model does not know, so that it cannot be right"
        console.print(note, style="yellow", soft_wrap=True)
    if tally.drawn:
        lack = "row lacks" if tally.drawn == 1 else "rows lack"
        note = f"note: {tally.drawn:,} {lack} so many values that drawn trees were averaged instead of all"
        console.print(note, style="yellow", soft_wrap=True)
    if output is not None:
        console.print(f"{tally.rows:,} rows written to {output}", soft_wrap=True)


def _kind_written(output: Path | None, to: str | None) -> str:
    """Return in what the predictions are written."""
    if output is not None and to is not None:
        raise CommandError(f"--to says what to write to stdout; {output} says by its name what it holds")
    if to is not None and to not in SINKS:
        raise CommandError(f"--to must be one of {', '.join(SINKS)}, got {to!r}")
    found = to or ("csv" if output is None else output.suffix.lower().removeprefix("."))
    if found not in SINKS:
        raise CommandError(f"{output}: the name of the output must end in {', '.join(f'.{kind}' for kind in SINKS)}")
    return found


@dataclass
class Tally:
    """How many rows there were, how many had a class, how many of those were right, and how many are beyond the model.

    A class may be one that the model does not know, and a row may need drawn trees.
    """

    rows: int = 0
    labelled: int = 0
    right: int = 0
    unknown: int = 0
    drawn: int = 0


@dataclass(frozen=True)
class Plan:
    """Which columns to read: those of the model, those to keep, and the class.

    Parameters
    ----------
    inputs : tuple of Input
        The columns of the model.
    further : tuple of str
        SQL expressions: one per column to keep and, if there is a true class, that class and whether it is known.
    kept : tuple of str
        The names of the columns to keep.
    target_name : str, optional
    """

    inputs: tuple[Input, ...]
    further: tuple[str, ...]
    kept: tuple[str, ...]
    target_name: str | None


def _plan(model: CountsClassifier, rows: Rows, target: str | None, as_text: bool) -> Plan:
    schema = model.schema_
    inputs = attribute_inputs(schema, rows)
    true_class = class_input(schema, rows, target)
    taken = [name for name in ("prediction", *map(_probability, schema.classes)) if name in rows.names]
    if taken:
        raise CommandError(f"{rows.source.name} already has a column {taken[0]!r}; rename it")
    kept = _kept(rows, as_text)
    if true_class is None:
        return Plan(tuple(inputs), (*kept,), rows.names, None)
    truth = (true_class.converted, f"({true_class.known} IS NOT NULL)")
    return Plan(tuple(inputs), (*kept, *truth), rows.names, true_class.name)


def _kept(rows: Rows, as_text: bool) -> list[str]:
    """Return the columns to keep in SQL: as they stand for CSV, else in the types that the file suggests."""
    names = range(len(rows.names))
    if as_text:
        # What CSV has no spelling for is written as DuckDB prints it.
        return [f"c{i}" if rows.types[i] in _WRITABLE else f"CAST(c{i} AS VARCHAR)" for i in names]
    if rows.source.kind not in ("csv", "arff"):
        return [f"c{i}" for i in names]
    types = _suggested(rows.source)
    return [f"TRY_CAST({present(f'c{i}', 'VARCHAR', rows.source.missing)} AS {types[i]})" for i in names]


def _suggested(source: Source) -> list[str]:
    """Return the SQL types of the columns of a text table; dates stay text, since they are spelled in many ways."""
    import pyarrow as pa

    return [
        "BIGINT" if pa.types.is_integer(t) else "DOUBLE" if pa.types.is_floating(t) else "VARCHAR"
        for t in source.schema.types
    ]


def _predicted(model: CountsClassifier, plan: Plan, batch: pa.RecordBatch, tally: Tally) -> pa.RecordBatch:
    """Return the columns to keep with the prediction and the probabilities."""
    import numpy as np
    import pyarrow as pa

    schema = model.schema_
    many = len(plan.inputs)
    X = pa.table(batch.columns[:many], names=list(schema.names))
    kept = batch.columns[many : many + len(plan.kept)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        probabilities = model.predict_proba(X)
    tally.drawn += sum(getattr(warning.message, "rows", 0) for warning in caught)
    best = probabilities.argmax(axis=1)
    labels = pa.array(list(schema.classes))
    if plan.target_name is not None:
        truth, known = batch.column(-2).to_pylist(), np.array(batch.column(-1).to_pylist(), bool)
        place = {label: i for i, label in enumerate(schema.classes)}
        codes = np.array([place.get(label, -1) for label in truth])
        tally.labelled += int(known.sum())
        tally.right += int((known & (codes == best)).sum())
        tally.unknown += int((known & (codes < 0)).sum())
    tally.rows += batch.num_rows
    return pa.record_batch(
        [*kept, labels.take(pa.array(best)), *map(pa.array, np.ascontiguousarray(probabilities.T))],
        names=[*plan.kept, "prediction", *map(_probability, schema.classes)],
    )


def _probability(label: Any) -> str:
    return f"p({label})"
