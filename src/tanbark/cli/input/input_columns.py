"""The columns that a command reads: those to learn from, and those of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.stdin import CALLED, STDIN, spooled
from tanbark.cli.input.stdin import KINDS as STDIN_KINDS
from tanbark.cli.terminal.console import CommandError, listed, rows_read
from tanbark.sources import Source, files, sql
from tanbark.sources.database import Query, database_kind
from tanbark.sources.duckdb_rows import Rows, present, quoted
from tanbark.sources.file_patterns import KINDS
from tanbark.sources.file_source import FileSource

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.progress import Progress

    from tanbark.schema import Encoder, Schema
    from tanbark.sources import Source


USUAL_TARGETS = ("class", "target", "label")


@dataclass(frozen=True)
class Columns:
    """Which column is the class, which are left out, and how the others are encoded.

    Columns of `categorical` are categories, beside those that the encoder takes for some by itself.
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
        n_bins: int,
        max_levels: int,
    ) -> Columns:
        """Return what the options of a command say, which are checked."""
        from tanbark.schema import Encoder

        names = source.schema.names
        chosen = _target(names, target, source)
        _check(names, chosen, ignore, categorical, source)
        encoder = Encoder(bins=bins, n_bins=n_bins, max_levels=max_levels)
        encoder.check()
        return cls(chosen, ignore, categorical, encoder)

    def split(self, table: pa.Table) -> tuple[pa.Table, Any]:
        """Return the columns that are learned from, and the class."""
        import narwhals as nw

        X = table.drop_columns(list(dict.fromkeys([self.target, *self.ignore])))
        return X, nw.from_native(table.column(self.target), series_only=True).alias(self.target)

    def encoder_of(self, X: pa.Table) -> Encoder:
        """Return the encoder with the columns that are categories, by themselves and by name."""
        from tanbark.schema.read.table_reader import read_table

        if not self.categorical:
            return self.encoder
        return self._listing([name for name, raw in zip(X.column_names, read_table(X).columns) if raw.few_whole])

    def encoder_under(self, categories: Sequence[str]) -> Encoder:
        """Return the encoder where it is known which columns are categories."""
        return self._listing(categories) if self.categorical else self.encoder

    def _listing(self, by_itself: Sequence[str]) -> Encoder:
        """Return an encoder that lists categories: a list replaces the library's own choice; here it adds to it."""
        from sklearn.base import clone

        listed = list(dict.fromkeys([*by_itself, *self.categorical]))
        encoder: Encoder = clone(self.encoder).set_params(categorical=listed)
        return encoder


def _target(names: list[str], target: str | None, source: Source) -> str:
    if target is None:
        usual = [name for wanted in USUAL_TARGETS for name in names if name.lower() == wanted]
        if usual:
            return str(usual[0])
        raise CommandError(f"say with --target which column is the class; {source.name} has {listed(names, 40)}")
    if target not in names:
        raise CommandError(f"{source.name} has no column {target!r}; it has {listed(names, 40)}")
    return target


def _check(names: list[str], target: str, ignore: Sequence[str], categorical: Sequence[str], source: Source) -> None:
    """Raise where a column is not there, or none is left."""
    for name in ignore:
        if name not in names:
            raise CommandError(f"--ignore names the column {name!r}, which {source.name} does not have")
        if name == target:
            raise CommandError(f"{name!r} is the class and cannot be ignored")
    left = [name for name in names if name != target and name not in ignore]
    if not left:
        raise CommandError(f"{source.name} has no column left to learn from beside the class {target!r}")
    for name in categorical:
        if name not in left:
            raise CommandError(f"--categorical names the column {name!r}, which is not among {listed(left)}")


def rows_named(
    data: str, database: str | None, missing: list[str] | None, kind: str | None, labels: Sequence[str] = ()
) -> FileSource | Query:
    """Return the rows that a command is given: of a query if there is a database, of standard input, or of files."""
    if kind is not None and (database or data != STDIN):
        raise CommandError(f"--from says what standard input holds; DATA must be {STDIN} then, not {data!r}")
    if database:
        return sql(data, database)
    if data == STDIN:
        if kind not in (None, *STDIN_KINDS):
            raise CommandError(f"--from must be one of {', '.join(STDIN_KINDS)}, got {kind!r}")
        source = files(spooled(kind or "csv"), missing, labels)
        source.called = CALLED
        return source
    path = Path(data)
    if path.is_file():
        if path.suffix.lower() not in KINDS and database_kind(path):
            raise CommandError(f"{data} is a database; give a query instead, and --database {data}")
    elif re.match(r"\s*(select|with|from|values)\s", data, re.IGNORECASE):
        raise CommandError("there is no such file; if it is an SQL query, say with --database what to put it to")
    return files(data, missing, labels)


def files_read(source: Source) -> tuple[Path, ...]:
    """Return the files that rows are read from; those of a query are in none."""
    return tuple(source.paths) if isinstance(source, FileSource) else ()


_NO_TEXT = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DATE", "TIME", "INTERVAL"),
)
"""How the SQL types of numbers and dates begin."""


@dataclass(frozen=True)
class Input:
    """A column as SQL: where it is known, and its value in the type that the model learned, null if that cannot be."""

    name: str
    kind: str
    known: str
    converted: str


def attribute_inputs(schema: Schema, rows: Rows) -> list[Input]:
    """Return the columns of the model but for the class."""
    _refuse_lacking(rows, schema.names)
    return [_input(rows, column.name, getattr(column, "levels", None)) for column in schema.columns]


def class_input(schema: Schema, rows: Rows, target: str | None) -> Input | None:
    """Return the class if it is there; a target is what it is named, if not as the model learned it."""
    if target is not None and target not in rows.names:
        raise CommandError(f"{rows.source.name} has no column {target!r}; it has {listed(rows.names, 40)}")
    name = target or schema.class_name
    return _input(rows, name, schema.classes) if name in rows.names else None


def learnable_inputs(schema: Schema, rows: Rows) -> list[Input]:
    """Return the columns of the model, the class last; numbers and dates are no new labels where it learned text."""
    _refuse_lacking(rows, [*schema.names, schema.class_name])
    inputs = [*attribute_inputs(schema, rows), _input(rows, schema.class_name, schema.classes)]
    known = [*(getattr(column, "levels", ()) for column in schema.columns), schema.classes]
    return [
        replace(one, converted=_only(one.converted, labels))
        if one.kind == "text" and rows.types[rows.names.index(one.name)].startswith(_NO_TEXT)
        else one
        for one, labels in zip(inputs, known)
    ]


def read_inputs(
    rows: Rows, inputs: Sequence[Input], further: Sequence[str], bar: Progress, doing: str
) -> Iterator[pa.RecordBatch]:
    """Yield the inputs as the model learned them, and then what further SQL expressions hold, with a bar of progress.

    The first value that is not of the type that the model learned is a sentence that tells its row.
    """
    expressions = [*(one.converted for one in inputs), *further, _fault(inputs)]
    before = 0
    for batch in rows_read(bar, doing, rows.select(expressions), rows.source.total):
        *columns, faults = batch.columns
        _refuse_faults(inputs, faults, before)
        before += batch.num_rows
        yield batch.select(range(len(columns)))


def _refuse_lacking(rows: Rows, wanted: Sequence[str]) -> None:
    """Raise a sentence that names the columns that the files lack."""
    absent = [name for name in wanted if name not in rows.names]
    if absent:
        columns = "the column" if len(absent) == 1 else "the columns"
        raise CommandError(f"{rows.source.name} lacks {columns} {listed(absent)}, which the model needs")


def _fault(inputs: Sequence[Input]) -> str:
    """Return an SQL expression: null, or the place among the inputs of one that cannot be converted, and its value."""
    cases = [
        f"CASE WHEN {one.known} IS NOT NULL AND {one.converted} IS NULL THEN '{u} ' || CAST({one.known} AS VARCHAR) END"
        for u, one in enumerate(inputs)
        if one.converted != one.known
    ]
    return f"COALESCE({', '.join(['CAST(NULL AS VARCHAR)', *cases])})"


def _refuse_faults(inputs: Sequence[Input], faults: pa.Array, before: int) -> None:
    """Raise a sentence about the first of the faults, if any; so many rows came before them."""
    import pyarrow.compute as pc

    row = pc.index(faults.is_valid(), True).as_py()
    if row >= 0:
        place, _, value = faults[row].as_py().partition(" ")
        one = inputs[int(place)]
        raise CommandError(
            f"column {one.name!r} holds {value!r} in row {before + row + 1}, where the model learned {one.kind}; if "
            "that means missing, say so with --missing"
        )


def _input(rows: Rows, name: str, labels: Sequence[Any] | None) -> Input:
    at = rows.names.index(name)
    if rows.types[at].endswith("]") or rows.types[at].startswith(("STRUCT", "MAP", "UNION")):
        raise CommandError(f"column {name!r} of {rows.source.name} holds lists or structures, not values; flatten it")
    wanted = "DOUBLE" if labels is None else _sql_type(labels)
    missing = rows.source.missing if rows.source.kind in ("csv", "json") else ()
    # What the model learned as a label is no missing value.
    known = present(f"c{at}", rows.types[at], [token for token in missing if token not in (labels or ())])
    kind = {"VARCHAR": "text", "BOOLEAN": "true or false"}.get(wanted, "numbers")
    return Input(name, kind, known, _converted(known, rows.types[at], wanted, labels or ()))


def _only(expression: str, labels: Sequence[Any]) -> str:
    """Return an SQL expression that is null where a text is none of some labels."""
    each = " ".join(f"WHEN {quoted(label)} THEN {quoted(label)}" for label in labels if isinstance(label, str))
    return f"CASE {expression} {each} END" if each else "CAST(NULL AS VARCHAR)"


def _sql_type(labels: Sequence[Any]) -> str:
    """Return the SQL type of labels."""
    if not labels or any(isinstance(v, str) for v in labels):
        return "VARCHAR"
    if all(isinstance(v, bool) for v in labels):
        return "BOOLEAN"
    from tanbark.schema.read.object_columns import EXACT

    # A cast to an integer would round 3.7 to the level 4.
    if not any(isinstance(v, int) and abs(v) > EXACT for v in labels):
        return "DOUBLE"
    return "UBIGINT" if min(labels) >= 0 and max(labels) >= 2**63 else "BIGINT"


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
    if wanted == "BOOLEAN" and found != "VARCHAR":
        # A cast would take any number but 0 for true.
        return f"CASE WHEN {expression} = 1 THEN true WHEN {expression} = 0 THEN false END"
    return f"TRY_CAST({expression} AS {wanted})"
