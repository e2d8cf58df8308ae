"""Parquet files, one or many, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.sources.duckdb_rows import Rows, connect, first_line
from tanbark.sources.file_source import FileSource, reading_files
from tanbark.sources.source import SourceError, batch_rows, check_names

if TYPE_CHECKING:
    import pyarrow as pa

BUFFER = 2**20
"""How many bytes of a column are read at a time."""
TOGETHER = 2**24
"""Up to so many bytes, small row groups are read together."""


class ParquetFiles(FileSource):
    """Parquet files of the same columns.

    Text arrives in dictionaries, as the files have it: counting then touches no string twice. Dictionaries are taken
    as a way of storing, whatever else they declare.
    """

    kind = "parquet"

    @cached_property
    def _footers(self) -> list[tuple[pa.Schema, int]]:
        """The columns and the number of rows of each file."""
        footers = []
        for path in self.paths:
            with _reading_parquet(path), _opened(path) as file:
                footers.append((file.schema_arrow, file.metadata.num_rows))
        return footers

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types; numbers of different types become the wider one."""
        import pyarrow as pa

        together = pa.schema([field.with_type(_stored(field.type)) for field in self._footers[0][0]])
        check_names(self.paths[0], together.names)
        for path, (other, _) in zip(self.paths[1:], self._footers[1:]):
            self.refuse_different(together.names, path, other.names)
            for field in other:
                at = together.names.index(field.name)
                together = together.set(at, _widened(together.field(at), _stored(field.type), path, self.paths[0]))
        return together.remove_metadata()

    @property
    def total(self) -> int | None:
        """How many rows there are."""
        return sum(rows for _, rows in self._footers)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        import pyarrow as pa

        names = list(self.schema.names if columns is None else columns)
        wanted = pa.schema([self.schema.field(name) for name in names])
        texts = [field.name for field in wanted if pa.types.is_dictionary(field.type)]
        for path in self.paths:
            with _reading_parquet(path), _opened(path, texts) as file:
                for groups in _row_groups(file.metadata):
                    for batch in file.iter_batches(2 * batch_rows(len(names)), groups, names):
                        arrays = [_as(batch.column(field.name), field, path) for field in wanted]
                        yield pa.record_batch(arrays, schema=wanted)

    def as_written(self) -> Rows:
        """Return the rows in the types that the files have."""
        names = tuple(self.schema.names)
        together = ", union_by_name=true" if len(self.paths) > 1 else ""
        relation = f"read_parquet({self.listed()}{together})"
        connection = connect()
        errors = _reading_parquets(self)
        with errors:
            types = tuple(map(str, connection.sql(f"SELECT * FROM {relation}").types))
        return Rows(self, connection, relation, names, types, errors)


class _reading_parquets(reading_files):
    def look_closer(self) -> None:
        """Raise where a file is broken."""
        for path in self.source.paths:
            with _reading_parquet(path), _opened(path) as file:
                for _ in file.iter_batches():
                    pass


class _reading_parquet:
    """Turn what can go wrong with a Parquet file into sentences that name it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import pyarrow as pa

        broken = isinstance(error, pa.ArrowException) or (isinstance(error, OSError) and error.errno is None)
        if error is not None and broken:
            raise SourceError(f"{self.path} is not a whole Parquet file: {first_line(error)}") from error


def _opened(path: Path, texts: Sequence[str] = ()) -> Any:
    from pyarrow.parquet import ParquetFile

    # With a buffer a column is read bit by bit, however long it is.
    return ParquetFile(path, buffer_size=BUFFER, read_dictionary=list(texts), page_checksum_verification=True)


def _row_groups(metadata: Any) -> Iterator[list[int]]:
    """Yield row groups that are read together: what was read of one is kept until all of them have been."""
    together: list[int] = []
    size = 0
    for group in range(metadata.num_row_groups):
        if together and size + metadata.row_group(group).total_byte_size > TOGETHER:
            yield together
            together, size = [], 0
        together.append(group)
        size += metadata.row_group(group).total_byte_size
    if together:
        yield together


def _stored(found: pa.DataType) -> pa.DataType:
    """Return the type in which a column of a file is read."""
    import pyarrow as pa

    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return pa.dictionary(pa.int32(), pa.string())
    return found


def _widened(field: pa.Field, other: pa.DataType, path: Path, first: Path) -> pa.Field:
    """Return a field that holds what another file has too."""
    import pyarrow as pa

    if field.type == other:
        return field
    try:
        fields = [pa.schema([field]), pa.schema([field.with_type(other)])]
        return pa.unify_schemas(fields, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        here, there = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (other, field.type))
        raise SourceError(
            f"{path} has column {field.name!r} as {here}, {first} has it as {there}; write them alike"
        ) from error


def _as(values: pa.Array, field: pa.Field, path: Path) -> pa.Array:
    """Return an array in the type of a field, with every value that it has in the file."""
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
        # Only floats may round.
        return values.cast(wanted, safe=not pa.types.is_floating(wanted))
    except pa.ArrowException as error:
        raise SourceError(
            f"{path} has column {field.name!r} as {values.type}, with values that {wanted} of the other files "
            "does not hold; write them alike"
        ) from error
