"""Counts as cells: what engines that add numbers by key can merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.counts import Counts
from tanbark.schema import Schema

Whole = NDArray[np.int64]


def to_cells(counts: Counts) -> tuple[Whole, Whole]:
    """Return the keys of the cells that are not zero, ascending, and their counts.

    The classes come first, then the table with only one of each two cells that mirror each other.

    >>> from tanbark import Category
    >>> schema = Schema([Category("a", ("p", "q")), Category("b", ("r", "s"))], classes=("no", "yes"))
    >>> counts = Counts.of(schema, np.array([[0, 0], [1, 1]], np.uint8), np.array([1, 1]))
    >>> to_cells(counts)
    (array([ 1, 18, 30, 33]), array([2, 2, 2, 2]))
    """
    half = np.tril(counts.table) if counts.order == 2 else counts.table
    cells = np.concatenate([counts.class_counts, half.ravel()])
    keys = np.flatnonzero(cells).astype(np.int64)
    return keys, cells[keys]


def from_cells(schema: Schema, order: int, keys: Whole, counts: Whole) -> Counts:
    """Return the counts that have these cells, zero elsewhere."""
    empty = Counts.zero(schema, order)
    classes = len(schema.classes)
    cells = np.zeros(classes + empty.table.size, np.int64)
    cells[keys] = counts
    table = cells[classes:].reshape(empty.table.shape)
    if order == 2:
        table = table + np.tril(table, -1).transpose(0, 2, 1)
    return Counts(schema, cells[:classes], table)
