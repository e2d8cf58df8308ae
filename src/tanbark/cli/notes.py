"""What there is to note about rows, with what to do about it on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tanbark.cli.console import listed
from tanbark.cli.errors import as_option
from tanbark.cli.inputs import files_read
from tanbark.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.counts import Counts


def advice(message: str) -> str:
    """Return a warning of the library's with what to do about it on the command line.

    >>> advice("column 'id' looks like an identifier; drop it")
    "column 'id' looks like an identifier; leave it out with --ignore"
    """
    message = message.replace("; drop it", "; leave it out with --ignore")
    return as_option(message.replace("(max_levels)", "(--max-levels)"))


def folders_unread(source: Source) -> list[str]:
    """Return a note on columns that only the names of folders hold, as in ``year=2020/part.parquet``."""
    paths = files_read(source)
    named = {part.partition("=")[0] for path in paths for part in path.parts[:-1] if "=" in part}
    lost = sorted(named - set(source.schema.names))
    return [f"what the folders' names say of {listed(lost)} is not read; write it into the files"] if lost else []


def row_numbers(X: pa.Table) -> list[str]:
    """Return a note on each column that merely numbers the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for name, column in zip(X.column_names, X.columns):
        if X.num_rows > 20 and pa.types.is_integer(column.type) and not column.null_count:
            ends = pc.min_max(column).as_py()
            consecutive = ends["max"] - ends["min"] + 1 == X.num_rows
            if consecutive and pc.count_distinct(column).as_py() == X.num_rows:
                found.append(_numbering(name))
    return found


def likely_row_numbers(source: Source, counts: Counts, rows: int) -> list[str]:
    """Return a note on each column of integers whose range is that of the rows' numbers.

    Rows without a class were not counted, and the first and the last may be among them.
    """
    import pyarrow as pa

    from tanbark.schema import Number

    return [
        _numbering(column.name)
        for column in counts.schema.columns
        if isinstance(column, Number)
        and pa.types.is_integer(source.schema.field(column.name).type)
        and counts.class_counts.sum() <= column.high - column.low + 1 <= rows
    ]


def _numbering(name: str) -> str:
    return f"column {name!r} numbers the rows; leave it out with --ignore"
