"""``tanbark predict``: a prediction and the probabilities of all classes for every row of a file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.console import err, listed, percent, progress, rows_read
from tanbark.cli.errors import CommandError
from tanbark.cli.sink import open_sink
from tanbark.sources import Source, files, sql
from tanbark.sources.rows import Rows, present, quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.classifiers.base import CountsClassifier

# Integers beyond this are not all floats.

_PLAIN = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT")
_WRITABLE = (*_PLAIN, "VARCHAR", "DOUBLE", "FLOAT", "BOOLEAN", "DATE", "TIMESTAMP")


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A CSV, Parquet, ARFF or JSON-lines file, a pattern, or an SQL query."),
    ],
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
    database: Annotated[
        str | None,
        typer.Option(metavar="DB", help="What the query DATA is put to: a DuckDB or SQLite file, or postgresql://..."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKEN", help="What is missing instead of NA, NaN, null and ?. Repeatable."),
    ] = None,
) -> None:
    """Write the rows of a file with a prediction and the probability of every class.

    Columns are found by name; those that the model does not know are kept and not used. If the true class is among
    them, the accuracy is printed at the end.
    """
    source = sql(data, database) if database else files(data, missing)
    with progress() as bar:
        task = bar.add_task("starting", total=None, detail="")
        from tanbark.files import load

        fitted = load(model).set_params(n_jobs=-1)
        rows = source.as_written()
        plan = _plan(fitted, rows, target, as_text=output is None or ".csv" in output.suffixes)
        bar.remove_task(task)
        tally = Tally()
        with open_sink(output) as sink:
            for batch in rows_read(bar, "predicting", rows.select(plan.expressions), source.total):
                sink.write(_predicted(fitted, plan, batch, tally))
            if not tally.rows:
                raise CommandError(f"{source.name} has no rows")
    console = err()
    if tally.labelled:
        share = tally.right / tally.labelled
        console.print(f"accuracy {percent(share)} on {tally.labelled:,} rows with a known {plan.target_name}")
    if tally.drawn:
        lack = "row lacks" if tally.drawn == 1 else "rows lack"
        note = f"note: {tally.drawn:,} {lack} so many values that drawn trees were averaged instead of all"
        console.print(note, style="yellow", soft_wrap=True)
    if output is not None:
        console.print(f"{tally.rows:,} rows written to {output}", soft_wrap=True)


@dataclass
class Tally:
    """How many rows there were, how many had a class, how many of those were right, how many needed drawn trees."""

    rows: int = 0
    labelled: int = 0
    right: int = 0
    drawn: int = 0


@dataclass(frozen=True)
class Plan:
    """Which SQL expressions to select, and what they are: columns to keep, the model's, flags, and the class.

    Parameters
    ----------
    expressions : tuple of str
        One per column to keep, one per column of the model, whether a value of those could not be converted, and, if
        there is a true class, that class and whether it is known.
    kept : tuple of str
        The names of the columns to keep.
    target_name : str, optional
    missing : tuple of str
        What stands for no value in the columns to keep.
    """

    expressions: tuple[str, ...]
    kept: tuple[str, ...]
    target_name: str | None
    missing: tuple[str, ...]


def _plan(model: CountsClassifier, rows: Rows, target: str | None, as_text: bool) -> Plan:
    schema = model.schema_
    at = {name: i for i, name in enumerate(rows.names)}
    absent = [name for name in schema.names if name not in at]
    if absent:
        raise CommandError(f"{rows.source.name} lacks {_columns(len(absent))} {listed(absent)}, which the model needs")
    if target is not None and target not in at:
        raise CommandError(f"{rows.source.name} has no column {target!r}; it has {listed(rows.names, 40)}")
    taken = [name for name in ("prediction", *map(_probability, schema.classes)) if name in at]
    if taken:
        raise CommandError(f"{rows.source.name} already has a column {taken[0]!r}; rename it")
    missing = rows.source.missing if rows.source.kind in ("csv", "json") else ()
    kept = _kept(rows, as_text)
    inputs, failed = [], ["false"]
    for column in schema.columns:
        i = at[column.name]
        levels = getattr(column, "levels", None)
        value, wanted = f"c{i}", "DOUBLE" if levels is None else _sql_type(levels)
        # What the model learned as a level is no missing value.
        known = present(value, rows.types[i], [t for t in missing if t not in (levels or ())])
        converted = _converted(known, rows.types[i], wanted, levels or ())
        inputs.append(converted)
        if converted != known:
            failed.append(f"({known} IS NOT NULL AND {converted} IS NULL)")
    name = target or schema.class_name
    truth = []
    if name in at:
        i = at[name]
        known = present(f"c{i}", rows.types[i], [t for t in missing if t not in schema.classes])
        truth = [_converted(known, rows.types[i], _sql_type(schema.classes), schema.classes), f"({known} IS NOT NULL)"]
    return Plan((*kept, *inputs, " OR ".join(failed), *truth), rows.names, name if truth else None, tuple(missing))


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


def _sql_type(labels: Sequence[Any]) -> str:
    """Return the SQL type of labels."""
    if not labels or any(isinstance(v, str) for v in labels):
        return "VARCHAR"
    if all(isinstance(v, bool) for v in labels):
        return "BOOLEAN"
    from tanbark.schema.objects import EXACT

    # A cast to an integer would round 3.7 to the level 4.
    return "BIGINT" if any(isinstance(v, int) and abs(v) > EXACT for v in labels) else "DOUBLE"


def _converted(expression: str, found: str, wanted: str, labels: Sequence[Any]) -> str:
    """Return an SQL expression of the wanted type, null where the value cannot be converted."""
    if found == wanted:
        return expression
    if found == "BOOLEAN" and wanted == "VARCHAR":
        # Text may spell them true, True or TRUE; take the spelling that was learned.
        yes, no = next(
            ((y, n) for y, n in (("true", "false"), ("True", "False"), ("TRUE", "FALSE")) if {y, n} & set(labels)),
            ("true", "false"),
        )
        return f"CASE {expression} WHEN true THEN {quoted(yes)} WHEN false THEN {quoted(no)} END"
    if found in ("DOUBLE", "FLOAT") and wanted == "VARCHAR":
        # A whole number is spelled as a file spells it: 3, not 3.0.
        whole = f"TRY_CAST({expression} AS BIGINT)"
        return f"CASE WHEN {whole} = {expression} THEN CAST({whole} AS VARCHAR) ELSE CAST({expression} AS VARCHAR) END"
    return f"TRY_CAST({expression} AS {wanted})"


def _predicted(model: CountsClassifier, plan: Plan, batch: pa.RecordBatch, tally: Tally) -> pa.RecordBatch:
    """Return the columns to keep with the prediction and the probabilities."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = model.schema_
    many = len(plan.kept)
    inputs = batch.columns[many : many + len(schema.names)]
    failed = batch.column(many + len(schema.names))
    if pc.any(failed).as_py():
        raise _not_convertible(model, plan, batch, pc.index(failed, True).as_py(), tally.rows)
    X = pa.table(inputs, names=list(schema.names))
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
    tally.rows += batch.num_rows
    return pa.record_batch(
        [*batch.columns[:many], labels.take(pa.array(best)), *map(pa.array, np.ascontiguousarray(probabilities.T))],
        names=[*plan.kept, "prediction", *map(_probability, schema.classes)],
    )


def _not_convertible(model: CountsClassifier, plan: Plan, batch: pa.RecordBatch, row: int, before: int) -> CommandError:
    """Return a sentence about the value of a row that is not of the type that the model learned."""
    for u, column in enumerate(model.schema_.columns):
        value = batch.column(plan.kept.index(column.name))[row].as_py()
        if value is not None and value not in plan.missing and not batch.column(len(plan.kept) + u)[row].is_valid:
            return CommandError(
                f"column {column.name!r} holds {value!r} in row {before + row + 1}, where the model learned "
                f"{_kind(column)}; if that means missing, say so with --missing"
            )
    return CommandError(f"row {before + row + 1} holds a value that is not of the type that the model learned")


def _kind(column: Any) -> str:
    levels = getattr(column, "levels", None)
    return "true or false" if levels and _sql_type(levels) == "BOOLEAN" else "numbers"


def _probability(label: Any) -> str:
    return f"p({label})"


def _columns(many: int) -> str:
    return "the column" if many == 1 else "the columns"
