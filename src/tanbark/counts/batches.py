"""Counts of rows that stream by as Arrow record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from tanbark.counts.counts import Counts
from tanbark.counts.tally import PRIVATE_BYTES, Tally
from tanbark.kernels.threads import feed
from tanbark.schema import Schema
from tanbark.schema.rows import warn_of_dropped
from tanbark.schema.table import read_table
from tanbark.schema.target import codes_among, read_labels

if TYPE_CHECKING:
    import pyarrow as pa

FEW_ROWS = 32_768
"""Batches of fewer rows are counted together: each has its costs, however small it is."""


def count_batches(
    schema: Schema,
    batches: Iterable[pa.RecordBatch],
    target: str,
    order: int = 2,
    n_jobs: int | None = None,
    seen: Callable[[int], None] | None = None,
) -> Counts:
    """Return the counts of rows that go by once, under a schema that is known.

    Parameters
    ----------
    schema : Schema
    batches : iterable of pyarrow.RecordBatch
        Their columns are found by name; columns that the schema does not have are ignored.
    target : str
        The column of classes. Rows without one are left out.
    order : {1, 2}
    n_jobs : int, optional
    seen : callable, optional
        Called with the number of rows so far, as they go by.
    """
    threads = int(effective_n_jobs(n_jobs))
    tally = Tally(schema, order)
    # Each worker counts to tables of its own while these are small; else all of them work on the same rows.
    together = tally.nbytes > PRIVATE_BYTES
    free: SimpleQueue[Tally] = SimpleQueue()
    tallies = [tally] if together else [tally, *(Tally(schema, order) for _ in range(threads - 1))]
    for each in tallies:
        free.put(each)
    dropped = [0]
    inner = threads if together else 1

    def count(rows: pa.Table) -> None:
        _refuse_lacking(rows.schema, (*schema.names, target))
        labels, codes = read_labels(rows.column(target), target)
        classes = codes_among(labels, codes, schema.classes)
        values = schema.encode_table(read_table(rows.select(schema.names), inner), inner)
        known = classes >= 0
        if not known.all():
            dropped.append(int((~known).sum()))
            classes, values = classes[known], np.ascontiguousarray(values[:, known])
        mine = free.get()
        try:
            mine.add(values, classes, n_jobs=inner)
        finally:
            free.put(mine)

    rows = 0
    for part in feed(count, gathered(batches), len(tallies)):
        rows += part.num_rows
        if seen is not None:
            seen(rows)
    for each in tallies[1:]:
        tally.merge(each)
    warn_of_dropped(sum(dropped))
    return tally.counts()


def gathered(batches: Iterable[pa.RecordBatch], rows: int = FEW_ROWS) -> Iterator[pa.Table]:
    """Yield the batches as tables of at least so many rows, empty ones left out, while their columns stay the same."""
    import pyarrow as pa

    waiting: list[Any] = []
    many = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if waiting and (many >= rows or not batch.schema.equals(waiting[0].schema)):
            yield pa.Table.from_batches(waiting)
            waiting, many = [], 0
        waiting.append(batch)
        many += batch.num_rows
    if waiting:
        yield pa.Table.from_batches(waiting)


def _refuse_lacking(columns: pa.Schema, names: Iterable[str]) -> None:
    for name in names:
        found = len(columns.get_all_field_indices(name))
        if found == 0:
            raise ValueError(f"the rows lack the column {name!r}, which the schema has")
        if found > 1:
            raise ValueError(f"the table has two columns named {name!r}; rename one")
