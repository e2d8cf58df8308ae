"""Parquet files, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.sources.duckdb_rows import Rows, connect, first_line
from tanbark.sources.file_source import FileErrors, FileSource, check_same_order, raised_by_arrow
from tanbark.sources.source import SourceError, batch_rows, check_names

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
        for path in self.paths:
            with _parquet_errors(path), _opened(path) as file:
                footers.append((file.schema_arrow, file.metadata.num_rows))
        return footers

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns; different numeric types are widened to a common type."""
        import pyarrow as pa

        merged = pa.schema([field.with_type(_stored(field.type)) for field in self._footers[0][0]])
        check_names(self.paths[0], merged.names)
        for path, (other, _) in zip(self.paths[1:], self._footers[1:], strict=True):
            self.check_same_columns(merged.names, path, other.names)
            for field in other:
                at = merged.names.index(field.name)
                merged = merged.set(at, _widened(merged.field(at), _stored(field.type), path, self.paths[0]))
        return merged.remove_metadata()

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
        for path in self.paths:
            with _parquet_errors(path), _opened(path, texts) as file:
                for groups in _row_groups(file.metadata):
                    for batch in file.iter_batches(2 * batch_rows(len(names)), groups, names):
                        arrays = [_as(batch.column(field.name), field, path) for field in wanted]
                        yield pa.record_batch(arrays, schema=wanted)

    def as_written(self) -> Rows:
        """Return the rows in the types of the files."""
        names = tuple(self.schema.names)
        orders = [columns.names for columns, _ in self._footers]
        check_same_order(self.paths, orders)
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
        for path in self.source.paths:
            with _parquet_errors(path), _opened(path) as file:
                for _ in file.iter_batches():
                    pass


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    """Convert errors of reading one Parquet file to SourceError."""
    try:
        yield
    except Exception as error:
        if not raised_by_arrow(error):
            raise
        raise SourceError(f"{path} is not a valid Parquet file: {first_line(error)}") from error


def _opened(path: Path, texts: Sequence[str] = ()) -> Any:
    """Open a Parquet file, and read the given columns as dictionaries."""
    from pyarrow.parquet import ParquetFile

    # The buffer limits how much of a column is in memory.
    return ParquetFile(path, buffer_size=BUFFER_BYTES, read_dictionary=list(texts), page_checksum_verification=True)


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


def _stored(found: pa.DataType) -> pa.DataType:
    """Return the type as which a column is read: a dictionary for text, otherwise the type in the file."""
    import pyarrow as pa

    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return pa.dictionary(pa.int32(), pa.string())
    return found


def _widened(field: pa.Field, other: pa.DataType, path: Path, first: Path) -> pa.Field:
    """Return a field with a type that can also represent the type in another file."""
    import pyarrow as pa

    if field.type == other:
        return field
    try:
        fields = [pa.schema([field]), pa.schema([field.with_type(other)])]
        return pa.unify_schemas(fields, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        here, there = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (other, field.type))
        raise SourceError(
            f"column {field.name!r} has type {here} in {path}, but {there} in {first}; "
            "write all files with the same types"
        ) from error


def _as(values: pa.Array, field: pa.Field, path: Path) -> pa.Array:
    """Cast an array to the type of a field, and raise SourceError if a value does not fit."""
    import pyarrow as pa

    wanted = field.type
    if values.type == wanted:
        return values
    if pa.types.is_dictionary(wanted) and pa.types.is_dictionary(values.type):
        levels = values.dictionary.cast(wanted.value_type)
        return pa.DictionaryArray.from_arrays(values.indices.cast(wanted.index_type), levels)
    if pa.types.is_dictionary(wanted):
        return values.cast(wanted.value_type).dictionary_encode()
    try:
        # Only casts to floats may round.
        return values.cast(wanted, safe=not pa.types.is_floating(wanted))
    except pa.ArrowException as error:
        raise SourceError(
            f"column {field.name!r} has type {values.type} in {path}, with values that do not fit {wanted}, the type "
            "in other files; write all files with the same types"
        ) from error
