"""Rows of an SQL query to DuckDB, SQLite or PostgreSQL, streamed as Arrow data."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.messages import first_repeated
from tanbark.sources.duckdb_rows import (
    Rows,
    arrow_reader,
    connect,
    first_line,
    interruptible,
    interruptible_items,
    sql_identifier,
)
from tanbark.sources.source import Source, SourceError, batch_rows

if TYPE_CHECKING:
    import pyarrow as pa


READING_KEYWORDS = ("select", "with", "from", "values", "table", "describe", "summarize", "show")
"""First words of the statements that only read rows; not every database has all of them."""


def sql(query: str, database: str | Path) -> Query:
    """Return a source that streams the rows of an SQL query.

    Parameters
    ----------
    query : str
        One SELECT statement.
    database : str or Path
        A DuckDB or SQLite file, or a URL: ``postgresql://...``, ``sqlite:///...`` or ``duckdb:///...``.

    Returns
    -------
    source : Query
        The source. It runs the query each time it is read, and never holds all rows in memory.

    Raises
    ------
    SourceError
        If the query is empty, the file does not exist, or the database is not supported.

    See Also
    --------
    files : Read files.

    Examples
    --------
    >>> from tanbark import Counts, sources
    >>> rows = sources.sql("SELECT * FROM visits WHERE year > 2020", "clinic.db")  # doctest: +SKIP
    >>> counts = Counts.from_batches(rows, target="outcome")  # doctest: +SKIP
    """
    query = query.strip().rstrip(";").strip()
    if not query:
        raise SourceError("the query is empty; write a SELECT statement")
    first_word = re.match(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*(\w*)", query, re.DOTALL)
    if first_word is None or first_word[1].lower() not in READING_KEYWORDS:
        raise SourceError(f"the query must be one SELECT statement, got {query[:40]!r}")
    scheme, separator, rest = str(database).partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return PostgresQuery(query, str(database))
    if separator and scheme not in ("sqlite", "duckdb"):
        raise SourceError(
            f"unsupported database {scheme}://; use postgresql://, sqlite:///, duckdb:/// or the path of a file"
        )
    path = Path(rest[1:] if separator and rest.startswith("/") else rest if separator else str(database))
    if not path.is_file():
        raise SourceError(f"there is no database file {path}")
    kind = scheme if separator else database_kind(path)
    if kind is None:
        raise SourceError(f"{path} is neither a DuckDB nor an SQLite file")
    return SqliteQuery(query, path) if kind == "sqlite" else DuckQuery(query, path)


def database_kind(path: Path) -> str | None:
    """Return "sqlite" or "duckdb" by the first bytes of a file, or None if it is neither."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    return None


class Query(Source):
    """Base class of queries to a database."""

    kind = "sql"
    coerce = True

    def __init__(self, query: str, database: str | Path) -> None:
        self.query = query
        self.database = database

    @property
    def name(self) -> str:
        """Name of the source in messages."""
        return "the query"

    @abstractmethod
    def as_written(self) -> Rows:
        """Return the rows for SQL in the types of the database."""

    @property
    def subquery(self) -> str:
        """The query as a FROM clause, on separate lines because it may end in a comment."""
        return f"(\n{self.query}\n) AS tanbark_rows"

    def selecting(self, columns: Sequence[str] | None) -> str:
        """Return the query with all columns or the given ones."""
        names = self.schema.names if columns is None else columns
        return f"SELECT {', '.join(map(sql_identifier, names))} FROM {self.subquery}"

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Convert errors of the database to SourceError."""
        import duckdb

        try:
            yield
        except duckdb.InterruptException:
            raise
        except (duckdb.Error, OSError) as error:
            raise SourceError(f"the query cannot be run: {first_line(error)}") from error
        except Exception as error:
            # Each ADBC driver has its own error classes, and may not be installed.
            if "adbc" not in type(error).__module__:
                raise
            raise SourceError(f"the query cannot be run: {first_line(error)}") from error

    def _check_distinct(self, names: Sequence[str]) -> None:
        """Raise SourceError if two columns have the same name."""
        repeated = first_repeated(names)
        if repeated is not None:
            raise SourceError(f"the query has two columns named {repeated!r}; rename one with AS")


class DuckQuery(Query):
    """A query to a DuckDB file, which is opened read-only."""

    def _connected(self) -> Any:
        """Return a connection to the file."""
        # DuckDB replaces a leading "~" by the home folder, and some other names have a meaning too.
        return connect(str(Path(self.database).absolute()), read_only=True)

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        with self.errors(), closing(self._connected()) as connection:
            import duckdb

            statements = connection.extract_statements(self.query)
            if len(statements) > 1:
                raise SourceError("the query has more than one statement; write one SELECT statement")
            if statements[0].type != duckdb.StatementType.SELECT:
                raise SourceError(f"the query must be one SELECT statement, got {self.query[:40]!r}")
            result = connection.sql(self.query)
            self._check_distinct(result.columns)
            return arrow_reader(result.limit(0), len(result.columns)).schema

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        query = self.selecting(columns)
        with self.errors():
            connection = self._connected()
        yield from interruptible_items(self._read(connection, query), connection.interrupt)

    def _read(self, connection: Any, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query, and close the connection."""
        with self.errors(), closing(connection):
            yield from arrow_reader(connection.sql(query), len(self.schema))

    def as_written(self) -> Rows:
        """Return the rows in the types of the database."""
        names = tuple(self.schema.names)
        with self.errors():
            connection = self._connected()
            types = tuple(map(str, connection.sql(self.query).types))
        return Rows(self, connection, f"(\n{self.query}\n)", names, types, self.errors())


class AdbcQuery(Query):
    """Base class of queries through an ADBC driver."""

    @abstractmethod
    def connected(self) -> Any:
        """Return a connection."""

    def as_written(self) -> Rows:
        """Return the rows in the types of the database, read through DuckDB."""
        import pyarrow as pa

        connection = connect()
        connection.register("query_rows", pa.RecordBatchReader.from_batches(self.schema, self.batches()))
        types = tuple(map(str, connection.sql("SELECT * FROM query_rows LIMIT 0").types))
        return Rows(self, connection, "query_rows", tuple(self.schema.names), types, self.errors())


class SqliteQuery(AdbcQuery):
    """A query to an SQLite file, which is opened read-only.

    SQLite has a type for each value, not for each column, and its driver infers the type of a column from the first
    rows. Therefore the query is first run to find the types, and a sample row with these types is prepended.
    """

    _SAMPLES = {"int64": "0", "double": "0.5", "string": "'text'"}  # noqa: RUF012 (never changed)

    def connected(self) -> Any:
        """Return a connection."""
        try:
            from adbc_driver_sqlite import dbapi
        except ImportError as error:
            raise SourceError("reading an SQLite file requires a driver: pip install 'tanbark[sqlite]'") from error
        return dbapi.connect(f"{Path(self.database).absolute().as_uri()}?mode=ro")

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns: text if any value is text, else floats if any is a float, else integers."""
        return interruptible(self._inferred_schema)

    def _inferred_schema(self) -> pa.Schema:
        """Run the query to find the widest type of each column."""
        import pyarrow as pa

        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            # As a subquery, a statement that changes the database or a file is a syntax error.
            cursor.execute(f"SELECT * FROM {self.subquery} LIMIT 0")
            cursor.execute(self.query)
            names = cursor.fetch_record_batch().schema.names
            self._check_distinct(names)
            # One expression per column, because SQLite limits the number of expressions in a query.
            widest = [
                f"max(CASE typeof({sql_identifier(name)}) WHEN 'blob' THEN 3 WHEN 'text' THEN 2 WHEN 'real' THEN 1 END)"
                for name in names
            ]
            cursor.execute(f"SELECT {', '.join(widest)} FROM {self.subquery}")
            kinds = cursor.fetchone()
        if 3 in kinds:
            name = names[kinds.index(3)]
            raise SourceError(f"column {name!r} of the query holds bytes; convert it to text or numbers")
        types = {2: pa.string(), 1: pa.float64(), None: pa.int64()}
        return pa.schema([(name, types[kind]) for name, kind in zip(names, kinds, strict=True)])

    def selecting(self, columns: Sequence[str] | None) -> str:
        """Return the query with the given columns; numbers among text are cast, since the driver would round them."""
        import pyarrow as pa

        wanted = [
            f"CAST({sql_identifier(name)} AS TEXT)"
            if self.schema.field(name).type == pa.string()
            else sql_identifier(name)
            for name in (self.schema.names if columns is None else columns)
        ]
        return f"SELECT {', '.join(wanted)} FROM {self.subquery}"

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        yield from interruptible_items(self._read(self.schema.names if columns is None else list(columns)))

    def _read(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows after the sample row that sets the types."""
        samples = ", ".join(
            f"{self._SAMPLES[str(self.schema.field(name).type)]} AS {sql_identifier(name)}" for name in names
        )
        query = f"SELECT {samples} UNION ALL {self.selecting(names)}"
        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": batch_rows(len(names))})
            cursor.execute(query)
            for place, batch in enumerate(cursor.fetch_record_batch()):
                yield batch if place else batch[1:]


class PostgresQuery(AdbcQuery):
    """A query to PostgreSQL. Numerics are read as floats, and types that Arrow does not have as text."""

    def connected(self) -> Any:
        """Return a connection."""
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError as error:
            raise SourceError("reading PostgreSQL requires a driver: pip install 'tanbark[postgresql]'") from error
        return dbapi.connect(self.database)

    @cached_property
    def _casts(self) -> dict[str, str]:
        """SQL cast of each column, empty if Arrow has its type."""
        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            schema = cursor.adbc_execute_schema(self.query)
        self._check_distinct(schema.names)
        return {field.name: _postgres_cast(field) for field in schema}

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            return cursor.adbc_execute_schema(self.selecting(None)).remove_metadata()

    def selecting(self, columns: Sequence[str] | None) -> str:
        """Return the query with the given columns, cast to types that Arrow has."""
        names = self._casts if columns is None else columns
        wanted = ", ".join(f"{sql_identifier(name)}{self._casts[name]} AS {sql_identifier(name)}" for name in names)
        return f"SELECT {wanted} FROM {self.subquery}"

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        query = self.selecting(columns)
        with self.errors():
            connection = self.connected()
            cursor = connection.cursor()
        yield from interruptible_items(self._read(connection, cursor, query), cursor.adbc_cancel)

    def _read(self, connection: Any, cursor: Any, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query, and close the connection."""
        with self.errors(), closing(connection), cursor:
            cursor.execute(query)
            yield from cursor.fetch_record_batch()


def _postgres_cast(field: pa.Field) -> str:
    """Return the SQL cast that gives a column a type that Arrow has, or an empty text."""
    unsupported = (field.metadata or {}).get(b"ADBC:postgresql:typname", b"").decode()
    if unsupported == "numeric":
        return "::double precision"
    return "::text" if unsupported or hasattr(field.type, "extension_name") else ""
