"""Small batches put together, since each costs something however small it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

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
