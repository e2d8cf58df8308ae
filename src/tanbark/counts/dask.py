"""Counting a Dask data frame: each partition where it lies, the counts added as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.counts.accumulator import check_memory, check_order
from tanbark.counts.batch_counting import check_given, count_and_drop, refuse_lacking
from tanbark.counts.counts import Counts
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.class_column import warn_of_dropped
from tanbark.schema.survey.schema_survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa

FAN_IN = 8
"""How many results are merged at once: of so many partitions no worker holds more."""


def count(
    df: Any,
    target: str,
    *,
    schema: Schema | None = None,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    order: int = 2,
) -> Counts:
    """Return the counts of a Dask data frame: those that one machine would count, bit for bit.

    With a schema the rows are read once. Without, earlier passes find the levels and cut points. The work is done by
    the current client, or by threads where there is none.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Every pass computes it anew, so it must give the same rows each time; persist what is dear to compute.
    target : str
        The column of classes. Rows without one are left out.
    schema : Schema, optional
    encoder : Encoder, optional
        How a schema is learned where none is given.
    ignore : sequence of str
        Columns to leave out.
    order : {1, 2}

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from tanbark.counts import dask
    >>> table = pd.DataFrame({"a": ["p", "q", "q"], "b": [0, 1, 1], "y": ["no", "yes", "yes"]})
    >>> dask.count(dd.from_pandas(table, npartitions=2), target="y").class_counts
    array([1, 2])
    """
    if not hasattr(df, "to_delayed") or getattr(df, "ndim", None) != 2:
        raise TypeError(f"df must be a Dask data frame (pip install 'tanbark[dask]'), got {type(df).__name__!r}")
    check_order(order)
    check_given(target, schema, encoder, ignore)
    strange = next((name for name in df.columns if not isinstance(name, str)), None)
    if strange is not None:
        raise TypeError(f"the columns must be named by text, got {strange!r}; rename them")
    declared = {name for name, dtype in df.dtypes.items() if dtype == "category" and df[name].cat.known}
    columns = _as_table(df._meta, declared).schema
    survey = None
    if schema is None:
        survey = Survey(encoder, target, columns, ignore)
        schema = _survey(df, survey, columns, declared)
    refuse_lacking(columns, schema.names, target)
    check_memory(schema, order)
    counts: Counts
    counts, dropped = _over(df[[*schema.names, target]], _count_partition, _add, schema, target, order, declared)
    if survey is None:
        warn_of_dropped(dropped)
    else:
        survey.refuse_other(int(counts.class_counts.sum()) + dropped)
    return counts


def _survey(df: Any, survey: Survey, columns: pa.Schema, declared: set[str]) -> Schema:
    """Return the schema of the rows, found by passes over them."""
    # A column of a type that cannot be is refused before any row is read.
    survey.fresh().see(columns.empty_table())
    another = True
    while another:
        survey.merge(_over(df[list(survey.names)], _see_partition, _merge, survey.fresh(), declared))
        another = survey.settle()
    return survey.schema()


def _over(df: Any, work: Callable[..., Any], merge: Callable[..., Any], *given: Any) -> Any:
    """Return what the work on every partition gives, merged as a tree."""
    import dask

    _refuse_objects(df)
    # Each is one node of the graph, not a copy in every task.
    given = tuple(dask.delayed(value, traverse=False) for value in given)
    results = [dask.delayed(work)(part, *given) for part in df.to_delayed()]
    while len(results) > 1:
        results = [dask.delayed(merge)(*results[at : at + FAN_IN]) for at in range(0, len(results), FAN_IN)]
    return results[0].compute()


def _count_partition(part: Any, schema: Schema, target: str, order: int, declared: set[str]) -> tuple[Counts, int]:
    return count_and_drop(schema, _as_table(part, declared).to_batches(), target, order, n_jobs=1)


def _add(*results: tuple[Counts, int]) -> tuple[Counts, int]:
    return reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), results)


def _see_partition(part: Any, survey: Survey, declared: set[str]) -> Survey:
    mine = survey.fresh()
    mine.see(_as_table(part, declared))
    return mine


def _merge(*surveys: Survey) -> Survey:
    merged = surveys[0].fresh()
    for survey in surveys:
        merged.merge(survey)
    return merged


def _refuse_objects(df: Any) -> None:
    """Raise where a column may hold anything, so that partitions could differ in what they hold."""
    strange = next((name for name, dtype in df.dtypes.items() if dtype == np.dtype(object)), None)
    if strange is not None:
        raise TypeError(f"column {strange!r} holds Python objects; make it text or numbers with df.astype")


def _as_table(part: Any, declared: set[str]) -> pa.Table:
    """Return a pandas frame as Arrow data in which some categories are declared levels, as they are in pandas."""
    import pyarrow as pa

    arrays = []
    for at, name in enumerate(part.columns):
        column = part.iloc[:, at]
        if column.dtype != "category":
            arrays.append(pa.Array.from_pandas(column))
        else:
            codes = column.cat.codes.to_numpy()
            index, levels = pa.array(codes, mask=codes < 0), pa.array(column.cat.categories)
            arrays.append(pa.DictionaryArray.from_arrays(index, levels, ordered=name in declared))
    return pa.table(arrays, names=list(part.columns))
