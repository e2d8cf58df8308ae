"""ARFF files, one or many, with the same attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tanbark.sources import arff
from tanbark.sources.errors import SourceError
from tanbark.sources.file_source import FileSource, reading_files
from tanbark.sources.rows import Rows, connect

if TYPE_CHECKING:
    import pyarrow as pa


class ArffFiles(FileSource):
    """ARFF files."""

    kind = "arff"

    @cached_property
    def _headers(self) -> list[arff.Header]:
        headers = [arff.read_header(path) for path in self.paths]
        for path, header in zip(self.paths, headers):
            if header.attributes != headers[0].attributes:
                raise SourceError(f"{path} declares other attributes than {self.paths[0]}")
        return headers

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""
        return arff.arrow_schema(self._headers[0])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        for batch in self._batches(typed=True):
            yield batch if columns is None else batch.select(list(columns))

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        import pyarrow as pa

        names = tuple(self.schema.names)
        connection = connect()
        texts = pa.schema([(name, pa.string()) for name in names])
        connection.register("arff_rows", pa.RecordBatchReader.from_batches(texts, self._batches(typed=False)))
        return Rows(self, connection, "arff_rows", names, ("VARCHAR",) * len(names), reading_files(self))

    def _batches(self, typed: bool) -> Iterator[pa.RecordBatch]:
        for path, header in zip(self.paths, self._headers):
            yield from arff.batches(path, header, self.missing, typed)
