"""Rows that DuckDB reads, and SQL over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from tanbark.sources.interrupts import each
from tanbark.sources.source import batch_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.sources.source import Source


@dataclass(frozen=True)
class Rows:
    """Rows that DuckDB can read: column `i` is ``c<i>`` in SQL, whatever its name.

    Parameters
    ----------
    source : Source
    connection : duckdb.DuckDBPyConnection
    relation : str
        What comes after FROM.
    names, types : tuples of str
        The columns' names in the source, and their SQL types.
    errors : context manager
        Turns what DuckDB says into sentences about the source.
    parts : tuple of str
        What comes after FROM for each part of the rows, where only parts are sure to come in order.
    """

    source: Source
    connection: Any
    relation: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    errors: AbstractContextManager[None]
    parts: tuple[str, ...] = ()

    def select(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the values of SQL expressions in the order of the rows, as columns named 0, 1, ..."""
        yield from each(self._batches(expressions), self.connection.interrupt)

    def _batches(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for relation in self.parts or (self.relation,):
            with self.errors:
                yield from self._reader(expressions, relation)

    def schema(self, expressions: Sequence[str]) -> pa.Schema:
        """Return the types of SQL expressions."""
        with self.errors:
            return self._reader(expressions, self.relation).schema

    def _reader(self, expressions: Sequence[str], relation: str) -> pa.RecordBatchReader:
        named = ", ".join(f'{expression} AS "{i}"' for i, expression in enumerate(expressions))
        columns = ", ".join(f"c{i}" for i in range(len(self.names)))
        query = f"SELECT {named} FROM {relation} AS rows({columns})"
        return arrow_reader(self.connection.sql(query), len(expressions))


def arrow_reader(found: Any, columns: int) -> pa.RecordBatchReader:
    """Return what streams the rows of a result of DuckDB, which called it otherwise before its version 1.5."""
    read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
    return read(batch_rows(columns))


def connect(database: str = ":memory:", read_only: bool = False) -> Any:
    """Return a connection to DuckDB that prints nothing."""
    import duckdb

    connection = duckdb.connect(database, read_only=read_only)
    connection.execute("SET enable_progress_bar = false")
    return connection


def present(expression: str, sql_type: str, missing: Sequence[str]) -> str:
    """Return an SQL expression that is null where a text says that it is missing."""
    if sql_type == "JSON":
        expression = f"({expression} ->> '$')"
    elif sql_type != "VARCHAR":
        return expression
    if not missing:
        return expression
    # Not by IN, which DuckDB may turn into a join, and a join forgets the order of the rows.
    tokens = " ".join(f"WHEN {quoted(token)} THEN NULL" for token in spelled(missing))
    return f"CASE {expression} {tokens} ELSE {expression} END"


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def spelled(missing: Sequence[str]) -> list[str]:
    """Return the tokens as they stand in files, some of which put a space after each comma."""
    return list(dict.fromkeys(chain(missing, (f" {token}" for token in missing))))


def first_line(error: BaseException) -> str:
    """Return the first line that an error says."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
