"""Counts as the arrays of model files, which hold large tables sparsely, and back with every check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.counts import ROUNDING, Counts
from tanbark.memory import LOAD_ADVICE, check_free_memory
from tanbark.schema import Schema

MAX_DENSE_BYTES = 2**16
"""Tables of at most this size are stored as they are, so that other programs can read them easily."""
TABLE_ARRAYS = ("table", "table_gaps", "table_values")
"""The names of the arrays that hold the table of counts: the first, or the other two."""

Arrays = dict[str, NDArray[Any]]
Cells = tuple[NDArray[np.int64], ...]
"""The class, the row and the column of each cell."""


def counts_to_arrays(counts: Counts) -> Arrays:
    """Return the counts as arrays, of which `counts_from_arrays` makes exactly the same counts.

    Most pairs of values of columns with many levels never occur, and every pair is in the table twice. Of a large table
    of pairs, only the nonzero cells on and above the diagonals are stored: ``table_gaps`` holds the distance of each
    from the one before in the flattened table, the first from position -1, and ``table_values`` the counts. Whole
    numbers have the narrowest type that holds them.

    Parameters
    ----------
    counts : Counts

    Returns
    -------
    arrays : dict of arrays
        ``class_counts``, and ``table`` or ``table_gaps`` and ``table_values``.
    """
    arrays: Arrays = {"class_counts": counts.class_counts}
    table = counts.table
    if counts.order == 2 and table.nbytes > MAX_DENSE_BYTES and table.dtype in (np.int64, np.float64):
        cells = np.unravel_index(np.flatnonzero(table), table.shape)
        k, i, j = (index[cells[1] <= cells[2]] for index in cells)
        # Counts that were put together by hand may be asymmetric, which `counts_from_arrays` reports.
        if np.array_equal(table[k, i, j], table[k, j, i]) and 2 * len(k) - (i == j).sum() == len(cells[0]):
            gaps = np.diff(np.ravel_multi_index((k, i, j), table.shape), prepend=-1)
            return arrays | {"table_gaps": _narrowed(gaps), "table_values": _narrowed(table[k, i, j])}
    return arrays | {"table": table}


def _narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the narrowest type for whole numbers of at least 0; floats stay as they are."""
    if numbers.dtype.kind == "f" or numbers.min(initial=0) < 0:
        return numbers
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def counts_from_arrays(schema: Schema, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> Counts:
    """Return the counts that `counts_to_arrays` described, after checking that they fit the schema and each other.

    Parameters
    ----------
    schema : Schema
    arrays : mapping of str to array
    prefix : str, default=""
        What the names of the arrays begin with.

    Returns
    -------
    counts : Counts

    Raises
    ------
    ValueError
        If the arrays do not describe counts, for example because a file was changed.
    """
    class_counts = arrays[f"{prefix}class_counts"]
    classes, total = len(schema.classes), int(schema.offset[-1])
    if class_counts.shape != (classes,):
        raise ValueError("the shape of the counts does not match the schema")
    _check_counts(class_counts)
    if f"{prefix}table" not in arrays:
        gaps, values = arrays[f"{prefix}table_gaps"], arrays[f"{prefix}table_values"]
        return _from_sparse(schema, class_counts, gaps, values)
    table = arrays[f"{prefix}table"]
    if table.shape not in ((classes, total), (classes, total, total)):
        raise ValueError("the shape of the counts does not match the schema")
    _check_counts(table)
    if table.dtype != class_counts.dtype:
        raise ValueError("the counts of classes and of values have different types")
    if table.ndim == 2:
        _check_bounds(schema, class_counts, table)
    else:
        single = np.diagonal(table, axis1=1, axis2=2)
        _check_bounds(schema, class_counts, single, np.nonzero(table), table[table != 0])
        if not np.array_equal(table, table.transpose(0, 2, 1)):
            raise ValueError("the counts of pairs are not symmetric")
    return Counts(schema, class_counts, table)


def _from_sparse(schema: Schema, class_counts: NDArray[Any], gaps: NDArray[Any], values: NDArray[Any]) -> Counts:
    """Return the counts of the nonzero cells on and above the diagonals."""
    shape = len(schema.classes), int(schema.offset[-1]), int(schema.offset[-1])
    size = shape[0] * shape[1] * shape[2]
    if gaps.dtype.kind != "u" or gaps.ndim != 1 or values.shape != gaps.shape:
        raise ValueError("the places of its counts are invalid")
    if values.dtype.kind != ("u" if class_counts.dtype.kind == "i" else "f"):
        raise ValueError("the counts of classes and of values have different types")
    values = values.astype(class_counts.dtype)
    _check_counts(values)
    # A gap of zero would name a cell twice. The sum of floats cannot overflow, that of whole numbers could.
    if not (gaps > 0).all() or gaps.sum(dtype=np.float64) > 2 * size:
        raise ValueError("the places of its counts are invalid")
    places = np.cumsum(gaps, dtype=np.int64) - 1
    if len(places) and places[-1] >= size:
        raise ValueError("the places of its counts are invalid")
    k, i, j = np.unravel_index(places, shape)
    if (i > j).any():
        raise ValueError("the places of its counts are invalid")
    check_free_memory(8 * size, f"its table of {size:,} counts", LOAD_ADVICE)
    table = np.zeros(shape, class_counts.dtype)
    table[k, i, j] = values
    table[k, j, i] = values
    _check_bounds(schema, class_counts, np.diagonal(table, axis1=1, axis2=2), (k, i, j), values)
    return Counts(schema, class_counts, table)


def _check_counts(array: NDArray[Any]) -> None:
    """Raise ValueError if an array holds other values than counts."""
    if array.dtype not in (np.dtype(np.int64), np.dtype(np.float64)) or not np.isfinite(array).all():
        raise ValueError("the counts are not finite numbers")
    if (array < 0).any():
        raise ValueError("a count is negative")


def _check_bounds(
    schema: Schema,
    class_counts: NDArray[Any],
    single: NDArray[Any],
    cells: Cells | None = None,
    pairs: NDArray[Any] | None = None,
) -> None:
    """Raise ValueError if a value is more frequent than its class, or a pair of values than one of them."""
    # Sums of whole counts are exact up to 2**53; beyond, one unit is less than the rounding error.
    slack = (ROUNDING if single.dtype.kind == "f" else 1e-16) * class_counts
    if (single > (class_counts + slack)[:, None]).any():
        raise ValueError("a value was seen more often than its class")
    if cells is not None:
        k, i, j = cells
        if (pairs > np.minimum(single[k, i], single[k, j]) + slack[k]).any():
            raise ValueError("two values were seen together more often than each of them")
    sums = np.add.reduceat(single, schema.offset[:-1], axis=1, dtype=np.float64)
    if (sums > (class_counts + slack)[:, None]).any():
        raise ValueError("the values of a column were seen more often than their class")
