"""``tanbark predict``: write the prediction and the class probabilities of each row."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.input_columns import Input, attribute_inputs, class_input, files_read, open_source, read_inputs
from tanbark.cli.input.options import (
    Data,
    Database,
    From,
    Json,
    Missing,
    ModelFile,
    TrueClass,
    completer,
    output_option,
)
from tanbark.cli.output.prediction_writer import SINKS, open_sink
from tanbark.cli.terminal.console import CommandError, check_writable, err, print_json, progress
from tanbark.messages import percent
from tanbark.sources import Source
from tanbark.sources.duckdb_rows import Rows, present

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.classifiers.base.counts_classifier import CountsClassifier

_INTEGER_TYPES = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT")
_CSV_TYPES = (*_INTEGER_TYPES, "VARCHAR", "DOUBLE", "FLOAT", "BOOLEAN", "DATE", "TIMESTAMP")
"""SQL types that are written to CSV without a cast to text."""


def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path | None, output_option("OUT", "The .csv, .parquet or .jsonl file to write.", "stdout")
    ] = None,
    target: TrueClass = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Format of the output on stdout: {', '.join(SINKS)}.",
            show_default="csv",
            autocompletion=completer(lambda: SINKS),
        ),
    ] = None,
    database: Database = None,
    kind: From = None,
    missing: Missing = None,
    as_json: Json = False,
) -> None:
    """Add a prediction and the probability of each class to rows.

    Columns are matched by name. All columns are copied to the output, also those that the model does not use. If the
    rows have a true class, the accuracy is printed at the end.

    With --json, which needs --output, the keys are file, data, output, rows, labelled (rows with a true class), right
    (correct predictions among them) and accuracy (null if no row is labelled).
    """
    file_format = _output_format(output, to)
    if as_json and output is None:
        raise CommandError(
            "--json describes a file of predictions; name the file with --output, or write rows with --to jsonl"
        )
    source = open_source(data, database, missing, kind)
    if output is not None:
        check_writable(output, [model, *files_read(source)])
    with progress() as bar:
        from tanbark.files import load

        fitted = load(model).set_params(n_jobs=-1)
        rows = source.as_written()
        plan = _plan(fitted, rows, target, as_text=file_format == "csv")
        tally = Tally()
        with open_sink(output, file_format) as sink:
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
        have = "1 of these rows has" if tally.unknown == 1 else f"{tally.unknown:,} of these rows have"
        note = f"note: {have} a class that the model does not know; predictions for them count as wrong"
        console.print(note, style="yellow", soft_wrap=True)
    if tally.sampled:
        have = "row has" if tally.sampled == 1 else "rows have"
        reason = f"{tally.sampled:,} {have} too many missing values for an exact answer"
        console.print(f"note: {reason}; the probabilities are estimates", style="yellow", soft_wrap=True)
    if output is not None:
        console.print(f"{tally.rows:,} rows written to {output}", soft_wrap=True)


def _output_format(output: Path | None, to: str | None) -> str:
    """Return the format of the predictions."""
    if output is not None and to is not None:
        raise CommandError(f"--to is the format of standard output; the format of {output} follows from its name")
    if to is not None and to not in SINKS:
        raise CommandError(f"--to must be one of {', '.join(SINKS)}, got {to!r}")
    file_format = to or ("csv" if output is None else output.suffix.lower().removeprefix("."))
    if file_format not in SINKS:
        raise CommandError(f"{output}: the name must end in {', '.join(f'.{name}' for name in SINKS)}")
    return file_format


@dataclass
class Tally:
    """Numbers of rows.

    Attributes
    ----------
    rows : int
        All rows.
    labelled : int
        Rows with a true class.
    right : int
        Rows with a correct prediction.
    unknown : int
        Rows with a class that the model does not know.
    sampled : int
        Rows whose probabilities are estimated from samples, because too many values are missing.
    """

    rows: int = 0
    labelled: int = 0
    right: int = 0
    unknown: int = 0
    sampled: int = 0


@dataclass(frozen=True)
class Plan:
    """The columns to read: the attributes of the model, the columns to copy to the output, and the true class.

    Parameters
    ----------
    inputs : tuple of Input
        The attributes of the model.
    further : tuple of str
        SQL expressions: one per column to copy and, if there is a true class, the class and whether it is known.
    copied : tuple of str
        The names of the columns to copy.
    target_name : str or None
        The name of the column with the true class.
    """

    inputs: tuple[Input, ...]
    further: tuple[str, ...]
    copied: tuple[str, ...]
    target_name: str | None


def _plan(model: CountsClassifier, rows: Rows, target: str | None, as_text: bool) -> Plan:
    schema = model.schema_
    inputs = attribute_inputs(schema, rows)
    true_class = class_input(schema, rows, target)
    taken = [name for name in ("prediction", *map(_probability, schema.classes)) if name in rows.names]
    if taken:
        raise CommandError(f"{rows.source.name} already has a column {taken[0]!r}; rename it")
    copied = _copied_columns(rows, as_text)
    if true_class is None:
        return Plan(tuple(inputs), (*copied,), rows.names, None)
    truth = (true_class.converted, f"({true_class.known} IS NOT NULL)")
    return Plan(tuple(inputs), (*copied, *truth), rows.names, true_class.name)


def _copied_columns(rows: Rows, as_text: bool) -> list[str]:
    """Return SQL expressions for the columns to copy: unchanged for CSV, otherwise in the inferred types."""
    indices = range(len(rows.names))
    if as_text:
        # Types without a usual notation in CSV are written as DuckDB prints them.
        return [f"c{i}" if rows.types[i] in _CSV_TYPES else f"CAST(c{i} AS VARCHAR)" for i in indices]
    if rows.source.kind not in ("csv", "arff"):
        return [f"c{i}" for i in indices]
    types = _inferred_types(rows.source)
    return [f"TRY_CAST({present(f'c{i}', 'VARCHAR', rows.source.missing)} AS {types[i]})" for i in indices]


def _inferred_types(source: Source) -> list[str]:
    """Return the SQL types of the columns of a text table; dates stay text because their notation varies."""
    import pyarrow as pa

    return [
        "BIGINT" if pa.types.is_integer(t) else "DOUBLE" if pa.types.is_floating(t) else "VARCHAR"
        for t in source.schema.types
    ]


def _predicted(model: CountsClassifier, plan: Plan, batch: pa.RecordBatch, tally: Tally) -> pa.RecordBatch:
    """Return the copied columns, the predictions and the probabilities of a batch, and update the tally."""
    import numpy as np
    import pyarrow as pa

    schema = model.schema_
    n_inputs = len(plan.inputs)
    X = pa.table(batch.columns[:n_inputs], names=list(schema.names))
    copied = batch.columns[n_inputs : n_inputs + len(plan.copied)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        probabilities = model.predict_proba(X)
    tally.sampled += sum(getattr(warning.message, "rows", 0) for warning in caught)
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
        [*copied, labels.take(pa.array(best)), *map(pa.array, np.ascontiguousarray(probabilities.T))],
        names=[*plan.copied, "prediction", *map(_probability, schema.classes)],
    )


def _probability(label: Any) -> str:
    return f"p({label})"
