"""Arrow streams as sources, and merging of small batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.sources.source import Source, SourceError

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowStream(Source):
    """Rows of an Arrow stream, which is opened again for each reading unless it can be read only once.

    Parameters
    ----------
    opened : callable
        Function that returns an object with ``__arrow_c_stream__``, or an iterable of record batches.
    once : bool, default=False
        Whether the stream can be read only once.
    total : int, default=None
        Number of rows, if known.
    """

    kind = "arrow"

    def __init__(self, opened: Callable[[], Any], once: bool = False, total: int | None = None) -> None:
        self._opened = opened
        self._total = total
        self._begun: tuple[pa.Schema, Iterator[pa.RecordBatch]] | None = None
        self._read = False
        self.once = once

    @property
    def name(self) -> str:
        """Name of the source in messages."""
        return "the stream"

    @property
    def total(self) -> int | None:
        """Number of rows, or None if it is not known."""
        return self._total

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        self._begun = self._begin()
        return self._begun[0]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        # Reuse the stream that was opened to read the schema.
        _, rest = self._begun or self._begin()
        self._begun = None
        for batch in rest:
            yield batch if columns is None else batch.select([name for name in columns if name in batch.schema.names])

    def _begin(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Open the stream, and raise SourceError if it cannot be read again."""
        if self.once and self._read:
            raise SourceError("these rows can be read only once and have already been read")
        self._read = True
        return _begin(self._opened())


def as_source(given: Any) -> Source:
    """Return a source that reads Arrow data.

    Parameters
    ----------
    given : Source, table, data frame, relation, dataset, iterable of record batches or callable
        Anything with ``__arrow_c_stream__`` or ``to_batches``, an iterable of record batches, or a function that
        returns one of these. A source is returned unchanged.

    Returns
    -------
    source : Source
        The source. It can be read again unless `given` is a record batch reader or a generator.

    Raises
    ------
    TypeError
        If `given` is not Arrow data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tanbark.sources import as_source
    >>> source = as_source(pa.table({"x": [1, 2], "y": ["a", "b"]}))
    >>> source.total, source.once
    (2, False)
    """
    import pyarrow as pa

    if isinstance(given, Source):
        return given
    if isinstance(given, str | Path):
        raise TypeError(f"expected Arrow data, got a path; to read files, use tanbark.sources.files({str(given)!r})")
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):
        raise TypeError("expected Arrow data, got a lazy frame; call its collect() first")
    if isinstance(given, pa.RecordBatch):
        given = [given]
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        given = _of_pandas(given)
    if hasattr(given, "__arrow_c_stream__"):
        return ArrowStream(lambda: given, isinstance(given, pa.RecordBatchReader), getattr(given, "num_rows", None))
    if hasattr(given, "to_batches"):
        return ArrowStream(given.to_batches)
    if callable(given):
        return ArrowStream(given)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return ArrowStream(lambda: given, iter(given) is given)
    raise TypeError(
        f"expected Arrow data: a table, a data frame, record batches, a function that returns them, or a source of "
        f"tanbark.sources, got {type(given).__name__!r}"
    )


def _of_pandas(frame: Any) -> pa.Table:
    """Convert a pandas frame to an Arrow table, without its index."""
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise TypeError(f"the data frame cannot be converted to Arrow: {' '.join(map(str, error.args))}") from error


def _begin(opened: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the schema of a stream and its batches."""
    import pyarrow as pa

    if hasattr(opened, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(opened)
        return reader.schema, iter(reader)
    if not isinstance(opened, Iterable):
        raise TypeError(f"the function must return Arrow data or record batches, got {type(opened).__name__!r}")
    batches = map(_checked, opened)
    first = next(batches, None)
    if first is None:
        return pa.schema([]), iter(())
    return first.schema, chain([first], batches)


def _checked(batch: Any) -> pa.RecordBatch:
    """Return the batch, and raise TypeError if it is not a record batch."""
    import pyarrow as pa

    if not isinstance(batch, pa.RecordBatch):
        advice = "; combine tables with pyarrow.concat_tables" if isinstance(batch, pa.Table) else ""
        raise TypeError(f"expected Arrow record batches, got {type(batch).__name__!r}{advice}")
    return batch


MIN_BATCH_ROWS = 32_768
"""Batches with fewer rows are merged."""


def merge_small_batches(batches: Iterable[pa.RecordBatch], rows: int = MIN_BATCH_ROWS) -> Iterator[pa.Table]:
    """Merge small batches into tables with at least `rows` rows, and skip empty batches.

    Only batches with the same columns, types and declared levels are merged.
    """
    import pyarrow as pa

    pending: list[Any] = []
    pending_rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if pending and (pending_rows >= rows or not _same_columns(batch, pending[0])):
            yield pa.Table.from_batches(pending)
            pending, pending_rows = [], 0
        pending.append(batch)
        pending_rows += batch.num_rows
    if pending:
        yield pa.Table.from_batches(pending)


def _same_columns(batch: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """Return whether two batches have the same columns, types and declared levels."""
    import pyarrow as pa

    if not batch.schema.equals(other.schema):
        return False
    declared = (at for at, kind in enumerate(batch.schema.types) if pa.types.is_dictionary(kind) and kind.ordered)
    return all(batch.column(at).dictionary.equals(other.column(at).dictionary) for at in declared)
