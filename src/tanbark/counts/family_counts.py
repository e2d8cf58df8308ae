"""Counts of families of any size: dense where they fit, otherwise sparse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.configurations import family_keys
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes

MOST_CELLS = 2**22
MOST_DENSE = 2**28
ROOM = 2**62


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """How often each joint value of the class and some attributes was seen.

    Parameters
    ----------
    columns : tuple of int
        The attributes, in the order of the digits.
    shape : tuple of int
        Classes first, then each attribute's arity (one more where missing counts as a level).
    keys : array of int64
        The cells that occur, in ascending order: positions in a row-major array of that shape.
    counts : array
        How often each of them was seen.
    """

    columns: tuple[int, ...]
    shape: tuple[int, ...]
    keys: NDArray[np.int64]
    counts: NDArray[Any]

    def dense(self) -> NDArray[Any]:
        """Return the counts as an array of the family's shape."""
        cells = math.prod(self.shape)
        if cells > MOST_DENSE:
            raise ValueError(f"a table of shape {self.shape} has {cells:,} cells; use the sparse counts")
        table = np.zeros(cells, self.counts.dtype)
        table[self.keys] = self.counts
        return table.reshape(self.shape)


def count_family(
    schema: Schema,
    codes: Codes,
    y: NDArray[np.integer],
    columns: Sequence[int],
    weights: NDArray[np.float64] | None = None,
    missing_as_level: bool = False,
) -> FamilyCounts:
    """Return the counts of the class with the given attributes, over rows where none of them is missing.

    With `missing_as_level` a missing value is a further level, as searches over larger families want it.
    """
    columns = tuple(int(u) for u in columns)
    arity = schema.arity[list(columns)] + missing_as_level
    shape = (len(schema.classes), *(int(r) for r in arity))
    cells = math.prod(shape)
    if cells >= ROOM:
        raise ValueError(f"a family of shape {shape} has more cells than can be numbered; use fewer attributes")
    keys = np.asarray(y).astype(np.int64)
    chosen = codes[list(columns)]
    if missing_as_level:
        chosen = np.minimum(chosen, schema.arity[list(columns), None]).astype(codes.dtype)
    family_keys(chosen, arity.astype(np.int64), keys)
    known = keys >= 0
    if not known.all():
        keys = keys[known]
        weights = None if weights is None else weights[known]
    if cells <= max(MOST_CELLS, 4 * len(keys)):
        table = np.bincount(keys, weights, minlength=cells)
        seen = np.flatnonzero(table)
        return FamilyCounts(columns, shape, seen, table[seen])
    seen, at = np.unique(keys, return_inverse=True)
    return FamilyCounts(columns, shape, seen, np.bincount(at, weights, minlength=len(seen)))
