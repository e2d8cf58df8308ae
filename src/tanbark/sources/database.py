"""The rows of an SQL query: DuckDB and SQLite files, and PostgreSQL, streamed as Arrow data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.schema.encode.columns import first_repeated
from tanbark.sources.duckdb_rows import Rows, arrow_reader, connect, each, first_line, identifier, interruptible
from tanbark.sources.source import Source, SourceError, batch_rows

if TYPE_CHECKING:
    import pyarrow as pa


def sql(query: str, database: str | Path) -> Query:
    """Return the rows of an SQL query, which can be read more than once and are never all in memory.

    Parameters
    ----------
    query : str
        One SELECT statement.
    database : str or Path
        A DuckDB or an SQLite file, or an address: ``postgresql://...``, ``sqlite:///...`` or ``duckdb:///...``.

    Examples
    --------
    >>> from tanbark import Counts, sources
    >>> rows = sources.sql("SELECT * FROM visits WHERE year > 2020", "clinic.db")  # doctest: +SKIP
    >>> counts = Counts.from_batches(rows, target="outcome")  # doctest: +SKIP
    """
    query = query.strip().rstrip(";").strip()
    if not query:
        raise SourceError("the query is empty; write a SELECT statement")
    scheme, separator, rest = str(database).partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return PostgresQuery(query, str(database))
    if separator and scheme not in ("sqlite", "duckdb"):
        raise SourceError(
            f"{scheme}:// is no database that can be read; there are postgresql://, sqlite:///, duckdb:/// and files"
        )
    path = Path(rest[1:] if separator and rest.startswith("/") else rest if separator else str(database))
    if not path.is_file():
        raise SourceError(f"there is no database file {path}")
    kind = scheme if separator else database_kind(path)
    if kind is None:
        raise SourceError(f"{path} is neither a DuckDB nor an SQLite file")
    return SqliteQuery(query, path) if kind == "sqlite" else DuckQuery(query, path)


def database_kind(path: Path) -> str | None:
    """Return which database wrote a file, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    return None


class Query(Source):
    """A query to a database."""

    kind = "sql"

    def __init__(self, query: str, database: str | Path) -> None:
        self.query = query
        self.database = database

    @property
    def name(self) -> str:
        """What to call the rows in a sentence."""
        return "the query"

    @abstractmethod
    def as_written(self) -> Rows:
        """Return the rows in the types that the database has, for SQL."""

    @property
    def subquery(self) -> str:
        """The query as it stands after FROM, on lines of its own since it may end in a comment."""
        return f"(\n{self.query}\n) AS tanbark_rows"

    def selecting(self, columns: Sequence[str] | None) -> str:
        """Return the query, of which only some columns are wanted."""
        names = self.schema.names if columns is None else columns
        return f"SELECT {', '.join(map(identifier, names))} FROM {self.subquery}"

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what a database says into sentences."""
        import duckdb

        try:
            yield
        except duckdb.InterruptException:
            raise
        except (duckdb.Error, OSError) as error:
            raise SourceError(f"the query cannot be run: {first_line(error)}") from error
        except Exception as error:
            # The errors of an ADBC driver are its own, and it may not be installed.
            if "adbc" not in type(error).__module__:
                raise
            raise SourceError(f"the query cannot be run: {first_line(error)}") from error

    def _refuse_repeated(self, names: Sequence[str]) -> None:
        twice = first_repeated(names)
        if twice is not None:
            raise SourceError(f"the query has two columns named {twice!r}; rename one with AS")


class DuckQuery(Query):
    """A query to a DuckDB file, which is opened for reading only."""

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""
        with self.errors(), closing(connect(str(self.database), read_only=True)) as connection:
            if len(connection.extract_statements(self.query)) > 1:
                raise SourceError("the query is more than one statement; write one SELECT statement")
            found = connection.sql(self.query)
            self._refuse_repeated(found.columns)
            return arrow_reader(found.limit(0), len(found.columns)).schema

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        query = self.selecting(columns)
        with self.errors():
            connection = connect(str(self.database), read_only=True)
        yield from each(self._read(connection, query), connection.interrupt)

    def _read(self, connection: Any, query: str) -> Iterator[pa.RecordBatch]:
        with self.errors(), closing(connection):
            yield from arrow_reader(connection.sql(query), len(self.schema))

    def as_written(self) -> Rows:
        """Return the rows in the types that the database has."""
        names = tuple(self.schema.names)
        with self.errors():
            connection = connect(str(self.database), read_only=True)
            types = tuple(map(str, connection.sql(self.query).types))
        return Rows(self, connection, f"(\n{self.query}\n)", names, types, self.errors())


class AdbcQuery(Query):
    """A query through an ADBC driver."""

    @abstractmethod
    def connected(self) -> Any:
        """Return a connection."""

    def as_written(self) -> Rows:
        """Return the rows in the types that the database has, seen through DuckDB."""
        import pyarrow as pa

        connection = connect()
        connection.register("query_rows", pa.RecordBatchReader.from_batches(self.schema, self.batches()))
        types = tuple(map(str, connection.sql("SELECT * FROM query_rows LIMIT 0").types))
        return Rows(self, connection, "query_rows", tuple(self.schema.names), types, self.errors())


class SqliteQuery(AdbcQuery):
    """A query to an SQLite file, which is opened for reading only.

    SQLite has a type for each value, not for each column, and its driver takes a column's type from the first rows.
    So the query is run once to see what types there are, and a made-up first row shows them to the driver.
    """

    _SAMPLES = {"int64": "0", "double": "0.5", "string": "'text'"}  # noqa: RUF012 (never changed)

    def connected(self) -> Any:
        """Return a connection."""
        try:
            from adbc_driver_sqlite import dbapi
        except ImportError as error:
            raise SourceError("an SQLite file needs a driver: pip install 'tanbark[sqlite]'") from error
        return dbapi.connect(f"{Path(self.database).absolute().as_uri()}?mode=ro")

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types: whole numbers, numbers, or text where a value is text."""
        return interruptible(self._found_schema)

    def _found_schema(self) -> pa.Schema:
        import pyarrow as pa

        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            cursor.execute(self.query)
            names = cursor.fetch_record_batch().schema.names
            self._refuse_repeated(names)
            # One expression a column, since a query may have no more expressions than a table may have columns.
            widest = [
                f"max(CASE typeof({identifier(name)}) WHEN 'blob' THEN 3 WHEN 'text' THEN 2 WHEN 'real' THEN 1 END)"
                for name in names
            ]
            cursor.execute(f"SELECT {', '.join(widest)} FROM {self.subquery}")
            found = cursor.fetchone()
        if 3 in found:
            name = names[found.index(3)]
            raise SourceError(f"column {name!r} of the query holds bytes; turn it into text or numbers")
        types = {2: pa.string(), 1: pa.float64(), None: pa.int64()}
        return pa.schema([(name, types[kind]) for name, kind in zip(names, found)])

    def selecting(self, columns: Sequence[str] | None) -> str:
        """Return the query, of which only some columns are wanted; the driver would round numbers among text."""
        import pyarrow as pa

        wanted = [
            f"CAST({identifier(name)} AS TEXT)" if self.schema.field(name).type == pa.string() else identifier(name)
            for name in (self.schema.names if columns is None else columns)
        ]
        return f"SELECT {', '.join(wanted)} FROM {self.subquery}"

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        yield from each(self._read(self.schema.names if columns is None else list(columns)))

    def _read(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        samples = ", ".join(
            f"{self._SAMPLES[str(self.schema.field(name).type)]} AS {identifier(name)}" for name in names
        )
        query = f"SELECT {samples} UNION ALL {self.selecting(names)}"
        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": batch_rows(len(names))})
            cursor.execute(query)
            for place, batch in enumerate(cursor.fetch_record_batch()):
                yield batch if place else batch[1:]


class PostgresQuery(AdbcQuery):
    """A query to PostgreSQL. Its numerics become floats, and what Arrow has no type for becomes text."""

    def connected(self) -> Any:
        """Return a connection."""
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError as error:
            raise SourceError("PostgreSQL needs a driver: pip install 'tanbark[postgresql]'") from error
        return dbapi.connect(self.database)

    @cached_property
    def _casts(self) -> dict[str, str]:
        """What each column is cast to, nothing where Arrow has its type."""
        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            found = cursor.adbc_execute_schema(self.query)
        self._refuse_repeated(found.names)
        return {field.name: _postgres_cast(field) for field in found}

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""
        with self.errors(), closing(self.connected()) as connection, connection.cursor() as cursor:
            return cursor.adbc_execute_schema(self.selecting(None)).remove_metadata()

    def selecting(self, columns: Sequence[str] | None) -> str:
        """Return the query, of which only some columns are wanted, in types that Arrow has."""
        names = self._casts if columns is None else columns
        wanted = ", ".join(f"{identifier(name)}{self._casts[name]} AS {identifier(name)}" for name in names)
        return f"SELECT {wanted} FROM {self.subquery}"

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        query = self.selecting(columns)
        with self.errors():
            connection = self.connected()
            cursor = connection.cursor()
        yield from each(self._read(connection, cursor, query), cursor.adbc_cancel)

    def _read(self, connection: Any, cursor: Any, query: str) -> Iterator[pa.RecordBatch]:
        with self.errors(), closing(connection), cursor:
            cursor.execute(query)
            yield from cursor.fetch_record_batch()


def _postgres_cast(field: pa.Field) -> str:
    """Return what to put after a column so that Arrow has a type for it."""
    known = (field.metadata or {}).get(b"ADBC:postgresql:typname", b"").decode()
    if known == "numeric":
        return "::double precision"
    return "::text" if known or hasattr(field.type, "extension_name") else ""
