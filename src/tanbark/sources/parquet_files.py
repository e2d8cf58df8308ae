"""Parquet files, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tanbark.sources.column_types import cast_array, merged_schema
from tanbark.sources.duckdb_rows import Rows, connect, first_line
from tanbark.sources.file_source import FileErrors, FileSource, arrow_rows, check_same_order
from tanbark.sources.source import SourceError, batch_rows, raised_by_arrow
from tanbark.sources.stored_files import StoredFile

if TYPE_CHECKING:
    import pyarrow as pa

BUFFER_BYTES = 2**20
"""Number of bytes of a column that are read at a time."""
MAX_GROUPED_BYTES = 2**24
"""Maximum total size of small row groups that are read together."""


class ParquetFiles(FileSource):
    """Parquet files with the same columns.

    Text is read as dictionaries, as the files store it, so that counting processes each distinct string once. The
    dictionaries are only a storage format: they do not declare levels.
    """

    kind = "parquet"

    @cached_property
    def _footers(self) -> list[tuple[pa.Schema, int]]:
        """Schema and number of rows of each file."""
        footers = []
        for file in self.stored:
            with _parquet_errors(file), _opened(file) as parquet:
                footers.append((parquet.schema_arrow, parquet.metadata.num_rows))
        return footers

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns; different numeric types are widened to a common type."""
        return merged_schema(self, [schema for schema, _ in self._footers])

    @property
    def total(self) -> int | None:
        """Number of rows."""
        return sum(rows for _, rows in self._footers)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        import pyarrow as pa

        names = list(self.schema.names if columns is None else columns)
        wanted = pa.schema([self.schema.field(name) for name in names])
        texts = [field.name for field in wanted if pa.types.is_dictionary(field.type)]
        for file in self.stored:
            with _parquet_errors(file), _opened(file, texts) as parquet:
                missing = parquet.metadata.num_rows
                for groups in _row_groups(parquet.metadata):
                    for batch in parquet.iter_batches(2 * batch_rows(len(names)), groups, names):
                        arrays = [cast_array(batch.column(field.name), field, file) for field in wanted]
                        missing -= batch.num_rows
                        yield pa.record_batch(arrays, schema=wanted)
            if names and missing:
                raise SourceError(f"{file} is not a valid Parquet file: its number of rows is not that of its footer")

    def as_written(self) -> Rows:
        """Return the rows in the types of the files."""
        import pyarrow as pa

        if any(pa.types.is_duration(kind) for kind in self.schema.types):
            # DuckDB would read them as integers.
            return arrow_rows(self)
        names = tuple(self.schema.names)
        orders = [columns.names for columns, _ in self._footers]
        check_same_order(self.stored, orders)
        union = f", union_by_name={'true' if any(order != orders[0] for order in orders) else 'false'}"
        relation = f"read_parquet({self.sql_paths()}, hive_partitioning=false{union})"
        connection = connect()
        errors = _ParquetFilesErrors(self)
        with errors:
            types = tuple(map(str, connection.sql(f"SELECT * FROM {relation}").types))
        return Rows(self, connection, relation, names, types, errors)


class _ParquetFilesErrors(FileErrors):
    """Convert errors of reading Parquet files, and look for the damaged file."""

    def diagnose(self) -> None:
        """Raise SourceError if a file is damaged."""
        for file in self.source.stored:
            with _parquet_errors(file), _opened(file) as parquet:
                for _ in parquet.iter_batches():
                    pass


@contextmanager
def _parquet_errors(file: StoredFile) -> Iterator[None]:
    """Convert errors of reading one Parquet file to SourceError."""
    try:
        yield
    except Exception as error:
        if not raised_by_arrow(error):
            raise
        raise SourceError(f"{file} is not a valid Parquet file: {first_line(error)}") from error


def _opened(file: StoredFile, texts: Sequence[str] = ()) -> Any:
    """Open a Parquet file, and read the given columns as dictionaries."""
    from pyarrow.parquet import ParquetFile

    # The buffer limits how much of a column is in memory.
    return ParquetFile(
        file.local, buffer_size=BUFFER_BYTES, read_dictionary=list(texts), page_checksum_verification=True
    )


def _row_groups(metadata: Any) -> Iterator[list[int]]:
    """Yield lists of row groups to read together; they stay in memory until all of them are read."""
    pending: list[int] = []
    size = 0
    for group in range(metadata.num_row_groups):
        if pending and size + metadata.row_group(group).total_byte_size > MAX_GROUPED_BYTES:
            yield pending
            pending, size = [], 0
        pending.append(group)
        size += metadata.row_group(group).total_byte_size
    if pending:
        yield pending
