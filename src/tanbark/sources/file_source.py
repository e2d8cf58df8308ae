"""Base classes of sources that read files."""

from __future__ import annotations

import glob
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tanbark.sources.duckdb_rows import Rows, connect, first_line, present, quoted
from tanbark.sources.source import Source, SourceError, raised_by_arrow
from tanbark.sources.stored_files import StoredFile

if TYPE_CHECKING:
    import pyarrow as pa


class FileSource(Source):
    """Files of one format, read one after the other.

    Parameters
    ----------
    stored : sequence of StoredFile
        The files.
    missing : sequence of str
        Texts that represent missing values.

    Attributes
    ----------
    paths : tuple of Path
        Paths of the files as they were given, for example of zip archives.
    """

    coerce = True

    def __init__(self, stored: Sequence[StoredFile], missing: Sequence[str]) -> None:
        self.stored = tuple(stored)
        self.paths = tuple(file.path for file in stored)
        self.missing = tuple(missing)

    @property
    def called(self) -> str | None:
        """Name in messages instead of the paths, for temporary files."""
        return self.stored[0].called

    @called.setter
    def called(self, name: str | None) -> None:
        for file in self.stored:
            file.called = name

    @property
    def name(self) -> str:
        """Name of the files in messages."""
        first = str(self.stored[0])
        return (
            first if len(self.stored) == 1 or self.called is not None else f"{first} and {len(self.paths) - 1:,} more"
        )

    @property
    def nbytes(self) -> int | None:
        """Total size of the files in bytes."""
        return sum(path.stat().st_size for path in self.paths)

    def prepare(self) -> None:
        """Determine the encodings of text files; warn of one that may surprise."""
        for file in self.stored:
            _ = file.local

    @abstractmethod
    def as_written(self) -> Rows:
        """Return the rows for SQL in the types of the files; all values of a text table are text."""

    def sql_paths(self) -> str:
        """Return the paths as an SQL list."""
        return "[" + ", ".join(map(sql_path, self.stored)) + "]"

    def check_same_columns(self, names: Sequence[str], file: StoredFile, others: Sequence[str]) -> None:
        """Raise SourceError if a file does not have the same columns as the first."""
        first = self.stored[0]
        for here, there, has, lacks in ((names, others, first, file), (others, names, file, first)):
            for name in here:
                if name not in there:
                    raise SourceError(f"{lacks} has no column {name!r}, which {has} has")


class DuckFiles(FileSource):
    """Files that DuckDB reads, with types that it infers."""

    texts_may_be_missing = False
    """Whether the texts for missing values must be replaced here, because DuckDB does not."""

    def typed(self) -> Rows:
        """Return the rows in the types inferred from the files."""
        return self.as_written()

    @cached_property
    def _typed(self) -> Rows:
        return self.typed()

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        import pyarrow as pa

        inferred = self._reopened().schema(self._expressions(self._typed.names))
        return pa.schema([field.with_name(name) for field, name in zip(inferred, self._typed.names, strict=True)])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        names = list(self._typed.names if columns is None else columns)
        for batch in self._reopened().select(self._expressions(names)):
            yield batch.rename_columns(names)

    def _reopened(self) -> Rows:
        """Return the rows over a separate connection, because a connection supports one query at a time."""
        return replace(self._typed, connection=self._typed.connection.cursor())

    def _expressions(self, names: Sequence[str]) -> list[str]:
        """Return the SQL expression of each column, which is null for missing values."""
        rows = self._typed
        tokens = self.missing if self.texts_may_be_missing else ()
        place = {name: i for i, name in enumerate(rows.names)}
        return [present(f"c{place[name]}", rows.types[place[name]], tokens) for name in names]


def sql_path(file: StoredFile) -> str:
    """Return a path as an SQL string in which DuckDB expands nothing; raise SourceError if there is no such string."""
    path = str(file.local)
    if glob.has_magic(path) and "\\" in path:
        raise SourceError(f"{file}: a path with a backslash and one of * ? [ cannot be read; rename the file")
    return quoted(glob.escape(path))


def check_same_order(files: Sequence[StoredFile], names: Sequence[Sequence[str]]) -> None:
    """Raise SourceError if DuckDB would confuse the columns of several files, because it ignores the case of names."""
    first = names[0]
    if len({name.lower() for name in first}) == len(first):
        return
    for file, others in zip(files, names, strict=True):
        if list(others) != list(first):
            raise SourceError(
                f"{file} has its columns in another order than {files[0]}, and some names differ only in case; rename "
                "them or use the same order"
            )


class FileErrors:
    """Context manager that converts errors of DuckDB and Arrow to SourceError."""

    def __init__(self, source: FileSource) -> None:
        self.source = source

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import duckdb

        # Errors after the first rows are raised by Arrow.
        if error is None or not (raised_by_arrow(error) or isinstance(error, duckdb.Error)):
            return
        if isinstance(error, duckdb.InterruptException) or "INTERRUPT" in str(error):
            return
        self.diagnose()
        reason = first_line(error)
        for file in self.source.stored:
            reason = file.with_own_name(reason)
        raise SourceError(f"{self.source.name} cannot be read: {reason}") from error

    def diagnose(self) -> None:
        """Raise SourceError with a more precise message, if the files reveal one."""


def arrow_rows(source: FileSource) -> Rows:
    """Return the rows of a source that DuckDB cannot read itself; durations are numbers of days."""
    import pyarrow as pa

    fields = [field.with_type(_duck_type(field.type)) for field in source.schema]
    batches = (_for_duckdb(batch) for batch in source.batches())
    connection = connect()
    errors = StreamErrors(source)
    with errors:
        connection.register("arrow_rows", pa.RecordBatchReader.from_batches(pa.schema(fields), batches))
        types = tuple(map(str, connection.sql("SELECT * FROM arrow_rows LIMIT 0").types))
    return Rows(source, connection, "arrow_rows", tuple(source.schema.names), types, errors)


def _duck_type(stored: pa.DataType) -> pa.DataType:
    """Return the type in which DuckDB reads a column: it has no plain durations and no 16-bit floats."""
    import pyarrow as pa

    if pa.types.is_duration(stored):
        return pa.float64()
    return pa.float32() if pa.types.is_float16(stored) else stored


def _for_duckdb(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a record batch in types that DuckDB has."""
    import pyarrow as pa

    from tanbark.schema.read.arrow_columns import as_arrow
    from tanbark.schema.read.table_reader import read_column

    columns = []
    for field, values in zip(batch.schema, batch.columns, strict=True):
        is_duration = pa.types.is_duration(field.type)
        columns.append(
            as_arrow(read_column(values, field.name)) if is_duration else values.cast(_duck_type(field.type))
        )
    return pa.record_batch(columns, names=batch.schema.names)


class StreamErrors(FileErrors):
    """Convert errors of files that DuckDB reads as an Arrow stream, and would report with a traceback."""

    def diagnose(self) -> None:
        """Raise the error that reading the files raises."""
        for _ in self.source.batches():
            pass
