"""Counts of Dask data frames: each worker counts its partitions, and a tree of tasks adds the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.counts.accumulator import check_memory, check_order
from tanbark.counts.batch_counting import check_columns, check_counted, check_schema_arguments, count_and_drop
from tanbark.counts.counts import Counts
from tanbark.schema import Encoder, Schema
from tanbark.schema.recipe.unreadable import UnreadableValues
from tanbark.schema.survey.schema_survey import Survey
from tanbark.shared_docs import insert_shared_docs

if TYPE_CHECKING:
    import pyarrow as pa

    Counted = tuple[Counts, int, UnreadableValues]

FAN_IN = 8
"""Number of results that one task merges, and thus the most that a worker holds at once."""


@insert_shared_docs
def count(
    df: Any,
    target: str,
    *,
    schema: Schema | None = None,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    order: int = 2,
) -> Counts:
    """Count a Dask data frame.

    The counts are identical to those of the same rows on one machine. With a schema, the rows are read once. Without,
    earlier passes learn the levels and cut points. The current Dask client does the work; without a client, local
    threads do.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        The data. Every pass computes them again, so they must be the same each time; persist them if they are
        expensive to compute.
    {data_frame_counting}

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
    check_schema_arguments(target, schema, encoder, ignore)
    invalid = next((name for name in df.columns if not isinstance(name, str)), None)
    if invalid is not None:
        raise TypeError(f"column names must be strings, got {invalid!r}; rename the column")
    declared = {name for name, dtype in df.dtypes.items() if dtype == "category" and df[name].cat.known}
    columns = _as_table(df._meta, declared).schema
    survey = None
    if schema is None:
        survey = Survey(encoder, target, columns, ignore)
        schema = _survey(df, survey, columns, declared)
    check_columns(columns, schema.input_names, target)
    check_memory(schema, order)
    counts: Counts
    counts, dropped, unreadable = _reduce_partitions(
        df[[*schema.input_names, target]], _count_partition, _add, schema, target, order, declared
    )
    check_counted(counts, dropped, unreadable, survey)
    return counts


def _survey(df: Any, survey: Survey, columns: pa.Schema, declared: set[str]) -> Schema:
    """Learn the schema in one or more passes over the rows."""
    # Refuse columns of unsupported types before any row is read.
    survey.fresh().see(columns.empty_table())
    another = True
    while another:
        survey.merge(_reduce_partitions(df[list(survey.names)], _see_partition, _merge, survey.fresh(), declared))
        another = survey.settle()
    return survey.schema()


def _reduce_partitions(df: Any, work: Callable[..., Any], merge: Callable[..., Any], *arguments: Any) -> Any:
    """Apply `work` to every partition, merge the results in a tree of tasks, and return the final result."""
    import dask

    _refuse_objects(df)
    # Each argument is one node of the task graph instead of a copy in every task.
    delayed = tuple(dask.delayed(value, traverse=False) for value in arguments)
    results = [dask.delayed(work)(part, *delayed) for part in df.to_delayed()]
    while len(results) > 1:
        results = [dask.delayed(merge)(*results[i : i + FAN_IN]) for i in range(0, len(results), FAN_IN)]
    return results[0].compute()


def _count_partition(part: Any, schema: Schema, target: str, order: int, declared: set[str]) -> Counted:
    return count_and_drop(schema, _as_table(part, declared).to_batches(), target, order, n_jobs=1)


def _add(*results: Counted) -> Counted:
    unreadable = UnreadableValues()
    for _, _, values in results:
        unreadable.merge(values)
    return reduce(add, (counts for counts, _, _ in results)), sum(dropped for _, dropped, _ in results), unreadable


def _see_partition(part: Any, survey: Survey, declared: set[str]) -> Survey:
    partial_survey = survey.fresh()
    partial_survey.see(_as_table(part, declared))
    return partial_survey


def _merge(*surveys: Survey) -> Survey:
    merged = surveys[0].fresh()
    for survey in surveys:
        merged.merge(survey)
    return merged


def _refuse_objects(df: Any) -> None:
    """Raise TypeError for columns of Python objects, whose type could differ between partitions."""
    name = next((name for name, dtype in df.dtypes.items() if dtype == np.dtype(object)), None)
    if name is not None:
        raise TypeError(f"column {name!r} holds Python objects; convert it to text or numbers with df.astype")


def _as_table(part: Any, declared: set[str]) -> pa.Table:
    """Convert a pandas data frame to Arrow; categoricals in `declared` become ordered dictionaries."""
    import pyarrow as pa

    arrays = []
    for i, name in enumerate(part.columns):
        column = part.iloc[:, i]
        if column.dtype != "category":
            arrays.append(pa.Array.from_pandas(column))
        else:
            codes = column.cat.codes.to_numpy()
            index, levels = pa.array(codes, mask=codes < 0), pa.array(column.cat.categories)
            arrays.append(pa.DictionaryArray.from_arrays(index, levels, ordered=name in declared))
    return pa.table(arrays, names=list(part.columns))
