"""Anything that streams Arrow data, as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from tanbark.sources.errors import SourceError
from tanbark.sources.source import Source

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowStream(Source):
    """Rows of which a function opens a stream anew, or which can be read only once.

    Parameters
    ----------
    opened : callable
        Returns something with ``__arrow_c_stream__``, or an iterable of record batches.
    once : bool
        Whether there is but one stream.
    total : int, optional
        How many rows there are.
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
        """What to call the rows in a sentence."""
        return "the stream"

    @property
    def total(self) -> int | None:
        """How many rows there are, where that is known."""
        return self._total

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""
        self._begun = self._begin()
        return self._begun[0]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        # The stream that was opened to see its columns is the first to be read.
        schema, rest = self._begun or self._begin()
        self._begun = None
        for batch in rest:
            yield batch if columns is None else batch.select([name for name in columns if name in schema.names])

    def _begin(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        if self.once and self._read:
            raise SourceError("these rows can be read only once, and they have been")
        self._read = True
        return _begin(self._opened())


def as_source(given: Any) -> Source:
    """Return whatever streams Arrow data as a source.

    A table, a data frame or a relation is read anew each time; so is a list of record batches, and what a function
    returns. A record batch reader and a generator can be read only once.
    """
    import pyarrow as pa

    if isinstance(given, Source):
        return given
    if isinstance(given, pa.RecordBatch):
        given = [given]
    if hasattr(given, "__arrow_c_stream__"):
        return ArrowStream(lambda: given, isinstance(given, pa.RecordBatchReader), getattr(given, "num_rows", None))
    if callable(given):
        return ArrowStream(given)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return ArrowStream(lambda: given, iter(given) is given)
    raise TypeError(
        f"rows must come as Arrow data: a table, a data frame, record batches, a function that returns them, or what "
        f"tanbark.sources finds, got {type(given).__name__!r}"
    )


def _begin(opened: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the columns of a stream and its batches."""
    import pyarrow as pa

    if hasattr(opened, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(opened)
        return reader.schema, iter(reader)
    batches = map(_checked, opened)
    first = next(batches, None)
    if first is None:
        return pa.schema([]), iter(())
    return first.schema, chain([first], batches)


def _checked(batch: Any) -> pa.RecordBatch:
    import pyarrow as pa

    if not isinstance(batch, pa.RecordBatch):
        raise TypeError(f"expected Arrow record batches, got {type(batch).__name__!r}")
    return batch
