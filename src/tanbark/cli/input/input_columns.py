"""The rows that a command reads: where they are, which columns to learn from, and the columns that a model needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.stdin import STDIN, STDIN_KINDS, STDIN_NAME, copy_stdin
from tanbark.cli.terminal.console import CommandError, ProgressLine, listed
from tanbark.sources import Source, files, sql
from tanbark.sources.database import Query, database_kind
from tanbark.sources.duckdb_rows import Rows, present, quoted
from tanbark.sources.file_patterns import KINDS
from tanbark.sources.file_source import FileSource

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.schema import Encoder, Schema

USUAL_TARGETS = ("class", "target", "label")
"""Names of the class column that are recognised without --target, in order of preference."""
MAX_NAMES_LISTED = 40


# Where the rows are


def open_source(
    data: str, database: str | None, missing: list[str] | None, kind: str | None, labels: Sequence[str] = ()
) -> FileSource | Query:
    """Return the source of the rows: a query if there is a database, otherwise standard input or files."""
    if kind is not None and (database or data != STDIN):
        raise CommandError(f"--from is the format of standard input; it needs {STDIN} as DATA, got {data!r}")
    if database:
        return sql(data, database)
    if data == STDIN:
        if kind not in (None, *STDIN_KINDS):
            raise CommandError(f"--from must be one of {', '.join(STDIN_KINDS)}, got {kind!r}")
        source = files(copy_stdin(kind or "csv"), missing, labels)
        source.called = STDIN_NAME
        return source
    path = Path(data)
    if path.is_file():
        if path.suffix.lower() not in KINDS and database_kind(path):
            raise CommandError(f"{data} is a database; give an SQL query as DATA and use --database {data}")
    elif re.match(r"\s*(select|with|from|values)\s", data, re.IGNORECASE):
        raise CommandError("there is no such file; if it is an SQL query, name the database with --database")
    return files(data, missing, labels)


def files_read(source: Source) -> tuple[Path, ...]:
    """Return the files of a source; a query has none."""
    return tuple(source.paths) if isinstance(source, FileSource) else ()


# Columns to learn from


@dataclass(frozen=True)
class Columns:
    """The class column, the columns to leave out, and the encoder of the others.

    The columns in `categorical` are categories in addition to those that the encoder detects.
    """

    target: str
    ignore: Sequence[str]
    categorical: Sequence[str]
    encoder: Encoder

    @classmethod
    def of(
        cls,
        source: Source,
        target: str | None,
        ignore: Sequence[str],
        categorical: Sequence[str],
        bins: str,
        n_bins: int | None,
        max_levels: int,
    ) -> Columns:
        """Return the columns that the options of a command select. Raise CommandError if an option is invalid."""
        from tanbark.schema import Encoder

        names = source.schema.names
        chosen = _class_column(names, target, source)
        _check(names, chosen, ignore, categorical, source)
        encoder = Encoder(bins=bins, n_bins="auto" if n_bins is None else n_bins, max_levels=max_levels)
        encoder.check()
        return cls(chosen, ignore, categorical, encoder)

    def split(self, table: pa.Table) -> tuple[pa.Table, Any]:
        """Return the columns to learn from, and the class."""
        import narwhals as nw

        X = table.drop_columns(list(dict.fromkeys([self.target, *self.ignore])))
        return X, nw.from_native(table.column(self.target), series_only=True).alias(self.target)

    def encoder_of(self, X: pa.Table) -> Encoder:
        """Return the encoder for a table, with the detected and the given categories."""
        from tanbark.schema.read.table_reader import read_table

        if not self.categorical:
            return self.encoder
        columns = zip(X.column_names, read_table(X).columns, strict=True)
        return self._encoder_listing([name for name, raw in columns if raw.few_whole])

    def encoder_with(self, detected: Sequence[str]) -> Encoder:
        """Return the encoder, given the names of the columns that were detected as categories."""
        return self._encoder_listing(detected) if self.categorical else self.encoder

    def _encoder_listing(self, detected: Sequence[str]) -> Encoder:
        """Return an encoder that lists all categories, because a list replaces the detection of the library."""
        from sklearn.base import clone

        names = list(dict.fromkeys([*detected, *self.categorical]))
        encoder: Encoder = clone(self.encoder).set_params(categorical=names)
        return encoder


def _class_column(names: list[str], target: str | None, source: Source) -> str:
    if target is None:
        usual = [name for wanted in USUAL_TARGETS for name in names if name.lower() == wanted]
        if usual:
            return str(usual[0])
        raise CommandError(f"name the class column with --target; {source.name} has {listed(names, MAX_NAMES_LISTED)}")
    if target not in names:
        raise CommandError(f"{source.name} has no column {target!r}; it has {listed(names, MAX_NAMES_LISTED)}")
    return target


def _check(names: list[str], target: str, ignore: Sequence[str], categorical: Sequence[str], source: Source) -> None:
    """Raise CommandError if a column does not exist or no column is left."""
    for name in ignore:
        if name not in names:
            raise CommandError(f"--ignore names the column {name!r}, which is not in {source.name}")
        if name == target:
            raise CommandError(f"{name!r} is the class and cannot be ignored")
    left = [name for name in names if name != target and name not in ignore]
    if not left:
        raise CommandError(f"{source.name} has no column left to learn from apart from the class {target!r}")
    for name in categorical:
        if name not in left:
            raise CommandError(f"--categorical names the column {name!r}, which is not among {listed(left)}")


# Columns that a model needs


_NUMBER_AND_DATE_TYPES = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DATE", "TIME", "INTERVAL"),
)
"""Prefixes of the SQL types of numbers and dates."""


@dataclass(frozen=True)
class Input:
    """A column that a model needs, as SQL expressions.

    Parameters
    ----------
    name : str
    kind : str
        What the model expects, in words: text, numbers, or true or false.
    known : str
        The value as it is in the file; null if it is missing.
    converted : str
        The value in the type that the model learned; null if it is missing or cannot be converted.
    """

    name: str
    kind: str
    known: str
    converted: str


def attribute_inputs(schema: Schema, rows: Rows) -> list[Input]:
    """Return the attributes of the model."""
    _check_present(rows, schema.names)
    return [_input(rows, column.name, getattr(column, "levels", None)) for column in schema.columns]


def class_input(schema: Schema, rows: Rows, target: str | None) -> Input | None:
    """Return the class column, or None if the rows have none; `target` is its name if it differs from the model's."""
    if target is not None and target not in rows.names:
        raise CommandError(
            f"{rows.source.name} has no column {target!r}; it has {listed(rows.names, MAX_NAMES_LISTED)}"
        )
    name = target or schema.class_name
    return _input(rows, name, schema.classes) if name in rows.names else None


def learnable_inputs(schema: Schema, rows: Rows) -> list[Input]:
    """Return the attributes and then the class; numbers and dates cannot be new levels of a column of text."""
    _check_present(rows, [*schema.names, schema.class_name])
    inputs = [*attribute_inputs(schema, rows), _input(rows, schema.class_name, schema.classes)]
    known = [*(getattr(column, "levels", ()) for column in schema.columns), schema.classes]
    return [
        replace(one, converted=_restricted(one.converted, labels))
        if one.kind == "text" and rows.types[rows.names.index(one.name)].startswith(_NUMBER_AND_DATE_TYPES)
        else one
        for one, labels in zip(inputs, known, strict=True)
    ]


def read_inputs(
    rows: Rows, inputs: Sequence[Input], further: Sequence[str], bar: ProgressLine, task: str
) -> Iterator[pa.RecordBatch]:
    """Yield batches with the converted inputs, followed by the values of further SQL expressions.

    Parameters
    ----------
    rows : Rows
    inputs : sequence of Input
    further : sequence of str
    bar : ProgressLine
    task : str
        The task that the progress line shows.

    Yields
    ------
    RecordBatch

    Raises
    ------
    CommandError
        If a value cannot be converted to the type that the model learned.
    """
    expressions = [*(one.converted for one in inputs), *further, _invalid_value(inputs)]
    before = 0
    for batch in bar.over_batches(task, rows.select(expressions), rows.source.total):
        *columns, invalid = batch.columns
        _check_valid(inputs, invalid, before)
        before += batch.num_rows
        yield batch.select(range(len(columns)))


def _check_present(rows: Rows, wanted: Sequence[str]) -> None:
    """Raise CommandError if the rows lack a column."""
    absent = [name for name in wanted if name not in rows.names]
    if absent:
        columns = "the column" if len(absent) == 1 else "the columns"
        raise CommandError(f"{rows.source.name} lacks {columns} {listed(absent)}, which the model needs")


def _invalid_value(inputs: Sequence[Input]) -> str:
    """Return an SQL expression for the index and value of the first input that cannot be converted, or null."""
    cases = [
        f"CASE WHEN {one.known} IS NOT NULL AND {one.converted} IS NULL THEN '{u} ' || CAST({one.known} AS VARCHAR) END"
        for u, one in enumerate(inputs)
        if one.converted != one.known
    ]
    return f"COALESCE({', '.join(['CAST(NULL AS VARCHAR)', *cases])})"


def _check_valid(inputs: Sequence[Input], invalid: pa.Array, before: int) -> None:
    """Raise CommandError for the first invalid value of a batch, if any; `before` rows precede the batch."""
    import pyarrow.compute as pc

    row = pc.index(invalid.is_valid(), True).as_py()
    if row >= 0:
        place, _, value = invalid[row].as_py().partition(" ")
        one = inputs[int(place)]
        raise CommandError(
            f"column {one.name!r} holds {value!r} in row {before + row + 1}, but the model expects {one.kind}; if "
            "that stands for a missing value, name it with --missing"
        )


def _input(rows: Rows, name: str, labels: Sequence[Any] | None) -> Input:
    at = rows.names.index(name)
    if rows.types[at].endswith("]") or rows.types[at].startswith(("STRUCT", "MAP", "UNION")):
        raise CommandError(
            f"column {name!r} of {rows.source.name} holds lists or structures instead of single values; flatten it"
        )
    wanted = "DOUBLE" if labels is None else _sql_type(labels)
    missing = rows.source.missing if rows.source.kind in ("csv", "json") else ()
    # A token that the model learned as a label does not mark a missing value.
    known = present(f"c{at}", rows.types[at], [token for token in missing if token not in (labels or ())])
    kind = {"VARCHAR": "text", "BOOLEAN": "true or false"}.get(wanted, "numbers")
    return Input(name, kind, known, _converted(known, rows.types[at], wanted, labels or ()))


def _restricted(expression: str, labels: Sequence[Any]) -> str:
    """Return an SQL expression that is null unless the text is one of the labels."""
    each = " ".join(f"WHEN {quoted(label)} THEN {quoted(label)}" for label in labels if isinstance(label, str))
    return f"CASE {expression} {each} END" if each else "CAST(NULL AS VARCHAR)"


def _sql_type(labels: Sequence[Any]) -> str:
    """Return the SQL type that holds all labels."""
    if not labels or any(isinstance(v, str) for v in labels):
        return "VARCHAR"
    if all(isinstance(v, bool) for v in labels):
        return "BOOLEAN"
    from tanbark.schema.read.raw_columns import EXACT

    # A cast to an integer would round 3.7 to the level 4.
    if not any(isinstance(v, int) and abs(v) > EXACT for v in labels):
        return "DOUBLE"
    return "UBIGINT" if min(labels) >= 0 and max(labels) >= 2**63 else "BIGINT"


def _converted(expression: str, found: str, wanted: str, labels: Sequence[Any]) -> str:
    """Return an SQL expression of the wanted type that is null if the value cannot be converted."""
    if found == wanted:
        return expression
    if found == "BOOLEAN" and wanted == "VARCHAR":
        # Text may spell them true, True or TRUE; use the spelling that the model learned.
        yes, no = next(
            ((y, n) for y, n in (("true", "false"), ("True", "False"), ("TRUE", "FALSE")) if {y, n} & set(labels)),
            ("true", "false"),
        )
        return f"CASE {expression} WHEN true THEN {quoted(yes)} WHEN false THEN {quoted(no)} END"
    if found in ("DOUBLE", "FLOAT") and wanted == "VARCHAR":
        # Write whole numbers as a text file does: 3, not 3.0.
        whole = f"TRY_CAST({expression} AS BIGINT)"
        return f"CASE WHEN {whole} = {expression} THEN CAST({whole} AS VARCHAR) ELSE CAST({expression} AS VARCHAR) END"
    if wanted == "BOOLEAN" and found != "VARCHAR":
        # A cast would turn every number except 0 into true.
        return f"CASE WHEN {expression} = 1 THEN true WHEN {expression} = 0 THEN false END"
    return f"TRY_CAST({expression} AS {wanted})"
