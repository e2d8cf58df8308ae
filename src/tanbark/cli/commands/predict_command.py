"""``tanbark predict``: write the prediction and the class probabilities of each row."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.input_columns import files_read, open_source, print_source_notes
from tanbark.cli.input.model_rows import ModelRows
from tanbark.cli.input.options import (
    Cost,
    Data,
    Database,
    Encoding,
    From,
    Json,
    Missing,
    ModelFile,
    Sheet,
    Strict,
    TrueClass,
    chosen_value,
    completer,
    output_option,
)
from tanbark.cli.input.weights_and_costs import cost_notes, costs_document, costs_of
from tanbark.cli.output.prediction_writer import SINKS, open_sink
from tanbark.cli.terminal.console import CommandError, check_writable, err, print_json, progress
from tanbark.messages import counted, percent
from tanbark.sources import Source
from tanbark.sources.duckdb_rows import Rows, present
from tanbark.sources.text_files import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.classifiers.base.counts_classifier import CountsClassifier
    from tanbark.evaluate.decisions import CostTally
    from tanbark.evaluate.training_rows import TrainingRowsCheck
    from tanbark.schema.recipe.unreadable import UnreadableValues

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
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: Missing = None,
    strict: Strict = False,
    cost: Cost = None,
    as_json: Json = False,
) -> None:
    """Add a prediction and the probability of each class to rows.

    Columns are matched by name and read as in training. A column that is absent counts as missing, with a note, unless
    more than half are. All columns are copied to the output, also those that the model does not use. If the rows have a
    true class, the accuracy is printed at the end, with a note if the model learned from these rows.

    With --cost, the prediction is the class of least expected cost instead of the most probable one: a correct
    prediction costs 0, and an error 1 unless --cost says otherwise. The probabilities stay the same.

    With --json, which needs --output, the keys are file, data, output, rows, labelled (rows with a true class), right
    (correct predictions among them), accuracy (null if no row is labelled), training_rows (whether the model learned
    from these rows) and notes; with --cost also costs, mean_cost (per labelled row) and mean_cost_of_most_probable.
    """
    file_format = _output_format(output, to)
    if as_json and output is None:
        raise CommandError(
            "--json describes a file of predictions; name the file with --output, or write rows with --to jsonl"
        )
    source = open_source(data, database, kind, encoding, sheet, [*MISSING, *(missing or ())])
    print_source_notes(source)
    if output is not None:
        check_writable(output, [model, *files_read(source)])
    with progress() as bar:
        from tanbark.files import load_classifier

        fitted = load_classifier(model).set_params(n_jobs=-1)
        rows = ModelRows.of(fitted.schema_, source.as_written(), target, missing, strict)
        copied = _copied_columns(rows.rows, as_text=file_format == "csv")
        names = _output_names(fitted, rows)
        from tanbark.evaluate.training_rows import TRAINING_ROWS_NOTE, TrainingRowsCheck
        from tanbark.schema.recipe.unreadable import UnreadableValues, collecting

        costs = costs_of(cost or (), fitted.schema_.classes)
        tally, training = Tally(_cost_tally(fitted, costs) if costs else None), TrainingRowsCheck(fitted)
        with open_sink(output, file_format) as sink, collecting(UnreadableValues(unseen_labels=True)) as unreadable:
            for X, y, columns in rows.batches(bar, "predicting", copied):
                sink.write(_predicted(fitted, X, y, columns, names, tally, training))
            unreadable.check()
            if not tally.rows:
                raise CommandError(f"{source.name} has no rows")
    share = tally.right / tally.labelled if tally.labelled else None
    notes = [*([TRAINING_ROWS_NOTE] if training.found else []), *_notes(tally, unreadable)]
    notes += cost_notes(fitted) if costs else ()
    if as_json:
        found: dict[str, Any] = {
            "rows": tally.rows,
            "labelled": tally.labelled,
            "right": tally.right,
            "accuracy": share,
        }
        if tally.costs is not None:
            found |= {"costs": costs_document(costs), **tally.costs.document()}
        document = {"file": str(model), "data": source.name, "output": str(output), **found}
        print_json({**document, "training_rows": training.found, "notes": notes})
        return
    console = err()
    if share is not None:
        decided = "" if tally.costs is None else " of these decisions"
        console.print(
            f"accuracy{decided} {percent(share)} on {counted(tally.labelled, 'row')} with a known {rows.target}"
        )
    if tally.costs is not None:
        measured = f": mean cost {tally.costs.mean:.3f} per row"
        measured += f", {tally.costs.mean_of_most_probable:.3f} for the most probable class"
        console.print(f"predictions of least expected cost{measured if tally.labelled else ''}", soft_wrap=True)
    for note in notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)
    if output is not None:
        console.print(f"{tally.rows:,} rows written to {output}", soft_wrap=True)


def _notes(tally: Tally, unreadable: UnreadableValues) -> list[str]:
    """Return notes on unknown classes, unexpected values and estimated probabilities."""
    notes = []
    if tally.unknown:
        have = "1 of these rows has" if tally.unknown == 1 else f"{tally.unknown:,} of these rows have"
        notes.append(f"{have} a class that the model does not know, which counts as a wrong prediction")
    notes += unreadable.notes()
    if tally.sampled:
        have = "row has" if tally.sampled == 1 else "rows have"
        reason = f"{tally.sampled:,} {have} too many missing values for an exact answer"
        notes.append(f"{reason}; the probabilities are estimates")
    return notes


def _output_format(output: Path | None, to: str | None) -> str:
    """Return the format of the predictions."""
    if output is not None and to is not None:
        raise CommandError(f"--to is the format of standard output; the format of {output} follows from its name")
    if to is not None:
        return chosen_value("to", to, SINKS)
    file_format = "csv" if output is None else output.suffix.lower().removeprefix(".")
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
    costs : CostTally or None
        The costs of decisions; None if the most probable class is predicted.
    """

    costs: CostTally | None = None
    rows: int = 0
    labelled: int = 0
    right: int = 0
    unknown: int = 0
    sampled: int = 0


def _cost_tally(model: CountsClassifier, costs: dict[tuple[Any, Any], float]) -> CostTally:
    from tanbark.evaluate.decisions import CostTally, cost_matrix

    return CostTally(cost_matrix(list(model.schema_.classes), costs))


def _output_names(model: CountsClassifier, rows: ModelRows) -> list[str]:
    """Return the names of the columns of the output; raise CommandError if the rows already have a new one."""
    new = ["prediction", *map(_probability, model.schema_.classes)]
    taken = [name for name in new if name in rows.rows.names]
    if taken:
        raise CommandError(f"{rows.rows.source.name} already has a column {taken[0]!r}; rename it")
    return [*rows.rows.names, *new]


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


def _predicted(
    model: CountsClassifier,
    X: pa.Table,
    y: list[Any] | None,
    copied: list[pa.Array],
    names: list[str],
    tally: Tally,
    training: TrainingRowsCheck,
) -> pa.RecordBatch:
    """Return the copied columns, the predictions and the probabilities of a batch; update the tally and the check."""
    import numpy as np
    import pyarrow as pa

    from tanbark.evaluate.model_evaluation import NO_CLASS, UNKNOWN_CLASS

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        codes = model.encode(X)
        probabilities = model.model_.posterior(codes, model.n_jobs)
    tally.sampled += sum(getattr(warning.message, "rows", 0) for warning in caught)
    best = probabilities.argmax(axis=1) if tally.costs is None else tally.costs.decide(probabilities)
    classes = list(model.schema_.classes)
    if y is not None:
        place: dict[Any, int] = {label: i for i, label in enumerate(classes)}
        place[None] = NO_CLASS
        truth = np.array([place.get(label, UNKNOWN_CLASS) for label in y])
        tally.labelled += int((truth != NO_CLASS).sum())
        tally.right += int((truth == best).sum())
        tally.unknown += int((truth == UNKNOWN_CLASS).sum())
        training.add(codes, truth)
        if tally.costs is not None:
            tally.costs.add(probabilities, truth)
    tally.rows += X.num_rows
    predictions = pa.array(classes).take(pa.array(best))
    return pa.record_batch([*copied, predictions, *map(pa.array, np.ascontiguousarray(probabilities.T))], names=names)


def _probability(label: Any) -> str:
    return f"p({label})"
