"""Arrow IPC files, which Feather files are too, read record batch by record batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tanbark.sources.column_types import cast_array, merged_schema
from tanbark.sources.duckdb_rows import Rows, first_line
from tanbark.sources.file_source import FileSource, arrow_rows
from tanbark.sources.source import SourceError, batch_rows, raised_by_arrow
from tanbark.sources.stored_files import StoredFile

if TYPE_CHECKING:
    import pyarrow as pa

FILE_MAGIC = b"ARROW1"
"""First bytes of the file format; the stream format has none."""


class ArrowFiles(FileSource):
    """Arrow IPC files or streams with the same columns. Text is read as dictionaries, as from Parquet files."""

    kind = "arrow file"

    @cached_property
    def _schemas(self) -> list[pa.Schema]:
        """Schema of each file."""
        schemas = []
        for file in self.stored:
            with _opened(file) as (schema, _):
                schemas.append(schema)
        return schemas

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns; different numeric types are widened to a common type."""
        return merged_schema(self, self._schemas)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        import pyarrow as pa

        names = list(self.schema.names if columns is None else columns)
        wanted = pa.schema([self.schema.field(name) for name in names])
        for file in self.stored:
            with _opened(file) as (_, stored):
                for batch in stored:
                    # Damaged values could end the process.
                    batch.select(names).validate(full=True)
                    arrays = [cast_array(batch.column(field.name), field, file) for field in wanted]
                    whole = pa.record_batch(arrays, schema=wanted)
                    step = batch_rows(len(names))
                    yield from (whole.slice(start, step) for start in range(0, whole.num_rows, step))

    def as_written(self) -> Rows:
        """Return the rows in the types of the files."""
        return arrow_rows(self)


@contextmanager
def _opened(file: StoredFile) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """Open a file, and convert errors of reading it to SourceError."""
    import pyarrow as pa

    try:
        with pa.OSFile(str(file.local)) as opened:
            if opened.read(len(FILE_MAGIC)) == FILE_MAGIC:
                reader: Any = pa.ipc.open_file(opened)
                yield reader.schema, (reader.get_batch(at) for at in range(reader.num_record_batches))
            else:
                opened.seek(0)
                reader = pa.ipc.open_stream(opened)
                yield reader.schema, iter(reader)
    except Exception as error:
        if not raised_by_arrow(error):
            raise
        raise SourceError(f"{file} is not a valid Arrow file: {first_line(error)}") from error
