"""Add, drop and reorder the columns of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tanbark.messages import first_repeated, similar_name, warn
from tanbark.schema.read.table_reader import as_known_table

ALIGN_ADVICE = "schema_.align(X) adds missing columns and orders them"


def aligned_frame(frame: Any, names: Sequence[str] | None) -> Any:
    """Return a data frame with the named columns, in order; columns that it does not have hold missing values.

    Parameters
    ----------
    frame : data frame or Arrow table
        A frame of pandas, polars, Arrow or another library that narwhals supports.
    names : sequence of str or None
        Names of the columns. None if they have none, which is an error.

    Returns
    -------
    frame : data frame or Arrow table
        A frame of the same library.

    Raises
    ------
    TypeError
        If `frame` is not a data frame.
    ValueError
        If there are no names, the frame has two columns of one name, or none of the named columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> aligned_frame(pa.table({"b": [1], "c": [2]}), ("a", "b")).to_pydict()
    {'a': [None], 'b': [1]}
    """
    import narwhals as nw
    from narwhals import dependencies

    frame = as_known_table(frame)
    if not dependencies.is_into_dataframe(frame):
        raise TypeError(f"align needs a data frame or an Arrow table, whose columns have names, got {_kind(frame)}")
    if names is None:
        raise ValueError("the model was fitted without column names, so that columns cannot be matched by name")
    given = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    repeated = first_repeated(given)
    if repeated is not None:
        raise ValueError(f"the table has two columns named {repeated!r}; rename one")
    table = nw.from_native(frame, eager_only=True)
    if not set(names) & set(given):
        raise ValueError(f"the table has none of the columns {', '.join(map(repr, names))}; check its column names")
    for name in names:
        similar = None if name in given else similar_name(name, [one for one in given if one not in names])
        if similar is not None:
            warn(f"the table has no column {name!r}, but {similar!r}; rename it if it is the same")
    missing = nw.lit(None, dtype=nw.Float64)
    columns = [nw.col(name) if name in given else missing.alias(name) for name in names]
    return table.select(*columns).to_native()


def _kind(frame: Any) -> str:
    """Return the name of a type, for a message."""
    lazy = hasattr(frame, "collect") and hasattr(frame, "collect_schema")
    return "a lazy frame; call collect() first" if lazy else repr(type(frame).__name__)
