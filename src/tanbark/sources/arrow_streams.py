"""Arrow streams as sources, and merging small batches."""

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
        _, rest = self._begun or self._begin()
        self._begun = None
        for batch in rest:
            yield batch if columns is None else batch.select([name for name in columns if name in batch.schema.names])

    def _begin(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        if self.once and self._read:
            raise SourceError("these rows can be read only once, and they have been")
        self._read = True
        return _begin(self._opened())


def as_source(given: Any) -> Source:
    """Return whatever streams Arrow data as a source.

    A table, a data frame, a relation or an Arrow dataset is read anew each time; so is a list of record batches, and
    what a function returns. A record batch reader and a generator can be read only once.
    """
    import pyarrow as pa

    if isinstance(given, Source):
        return given
    if isinstance(given, str | Path):
        raise TypeError(f"rows must come as Arrow data; those of a file are tanbark.sources.files({str(given)!r})")
    if hasattr(given, "collect") and hasattr(given, "collect_schema"):
        raise TypeError("rows must come as Arrow data, and this is a lazy frame; call its collect() to read it")
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
        f"rows must come as Arrow data: a table, a data frame, record batches, a function that returns them, or what "
        f"tanbark.sources finds, got {type(given).__name__!r}"
    )


def _of_pandas(frame: Any) -> pa.Table:
    """Return the columns of a pandas frame, without its index."""
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise TypeError(f"the data frame cannot be read as Arrow data: {' '.join(map(str, error.args))}") from error


def _begin(opened: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the columns of a stream and its batches."""
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
    import pyarrow as pa

    if not isinstance(batch, pa.RecordBatch):
        advice = "; join tables by pyarrow.concat_tables" if isinstance(batch, pa.Table) else ""
        raise TypeError(f"expected Arrow record batches, got {type(batch).__name__!r}{advice}")
    return batch


FEW_ROWS = 32_768


def gathered(batches: Iterable[pa.RecordBatch], rows: int = FEW_ROWS) -> Iterator[pa.Table]:
    """Yield the batches as tables of at least so many rows, empty ones left out, while their columns stay the same.

    So must the levels that a column declares, for whoever looks at them to see them all.
    """
    import pyarrow as pa

    waiting: list[Any] = []
    many = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if waiting and (many >= rows or not _alike(batch, waiting[0])):
            yield pa.Table.from_batches(waiting)
            waiting, many = [], 0
        waiting.append(batch)
        many += batch.num_rows
    if waiting:
        yield pa.Table.from_batches(waiting)


def _alike(batch: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """Return whether two batches have the same columns, and these the same declared levels."""
    import pyarrow as pa

    if not batch.schema.equals(other.schema):
        return False
    declared = (at for at, kind in enumerate(batch.schema.types) if pa.types.is_dictionary(kind) and kind.ordered)
    return all(batch.column(at).dictionary.equals(other.column(at).dictionary) for at in declared)
