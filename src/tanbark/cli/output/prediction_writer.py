"""Writers of predictions in CSV, JSON Lines and Parquet."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from tanbark.atomic_write import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

MAX_BYTES_IN_MEMORY = 2**26
"""Larger output to stdout goes through a temporary file."""


class Sink(Protocol):
    """A writer of record batches."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""

    def close(self) -> None:
        """Write buffered rows."""


class CsvSink:
    """CSV with a header; fields are quoted only if necessary."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.begun = False

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.begun:
            line = io.StringIO()
            csv.writer(line, lineterminator="\n").writerow(batch.schema.names)
            self.file.write(line.getvalue().encode())
            self.begun = True
        # Arrow's own writer quotes all text. Here fields are quoted only if necessary, a column at a time.
        texts = [_as_csv(column) for column in batch.columns]
        lines = pc.binary_join_element_wise(*texts, pa.scalar(",", pa.large_string()))
        self.file.write("".join(f"{line}\n" for line in lines.to_pylist()).encode())

    def close(self) -> None:
        """Write buffered rows."""
        self.file.flush()


def _as_csv(column: pa.Array) -> pa.Array:
    """Return a column as CSV fields; missing values are empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.large_string()).fill_null("")
    if not pa.types.is_string(column.type):
        return text
    special = pc.match_substring_regex(text, '[",\\r\\n]')
    if not pc.any(special).as_py():
        return text
    inside = pc.replace_substring(text, '"', '""')
    mark = pa.scalar('"', pa.large_string())
    wrapped = pc.binary_join_element_wise(mark, inside, mark, pa.scalar("", pa.large_string()))
    return pc.if_else(special, wrapped, text)


class JsonSink:
    """One JSON object per line."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch; NaN becomes null."""
        for row in batch.to_pylist():
            plain = {name: None if value != value else value for name, value in row.items()}
            self.file.write(json.dumps(plain, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self) -> None:
        """Write buffered rows."""
        self.file.flush()


class ParquetSink:
    """A Parquet file, one row group per batch."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.writer: ParquetWriter | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""
        from pyarrow.parquet import ParquetWriter

        if self.writer is None:
            self.writer = ParquetWriter(self.file, batch.schema)
        self.writer.write_batch(batch)

    def close(self) -> None:
        """Write buffered rows."""
        if self.writer is not None:
            self.writer.close()


SINKS: dict[str, Callable[[IO[bytes]], Sink]] = {"csv": CsvSink, "parquet": ParquetSink, "jsonl": JsonSink}


@contextmanager
def open_sink(path: Path | None, kind: str) -> Iterator[Sink]:
    """Yield a writer to a file, or to stdout if `path` is None. Without success, nothing is written."""
    if path is None:
        with tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY) as file:
            sink = SINKS[kind](file)
            yield sink
            sink.close()
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    with replacing(path) as file:
        sink = SINKS[kind](file)
        yield sink
        sink.close()
