"""Which rows are held out of learning, to see when it stops helping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows

FEWEST = 30
"""With fewer distinct rows nothing is held out."""

PART = 5


def held_out(rows: Rows, seed: int) -> NDArray[np.bool_]:
    """Return which of distinct rows are held out: a fifth of each class, rounded down.

    They are those whose key is the least. A key is a random number that the row's own values and the seed determine,
    so the draw depends neither on the order of rows or columns nor on what other rows there are; and rows that differ
    in nothing but the class have the same key, so that they tend to be on one side.
    """
    out = np.zeros(len(rows.classes), np.bool_)
    if len(out) < FEWEST:
        return out
    keys = _keys(rows, seed)
    for k in range(len(rows.schema.classes)):
        at = np.flatnonzero(rows.classes == k)
        out[at[np.argsort(keys[at], kind="stable")[: len(at) // PART]]] = True
    return out


def _keys(rows: Rows, seed: int) -> NDArray[np.uint64]:
    """Return the sum of a random number for each of a row's values, its bits well mixed."""
    keys = np.zeros(len(rows.classes), np.uint64)
    for column, codes in zip(rows.schema.columns, rows.codes):
        rng = np.random.default_rng([seed, *column.name.encode()])
        draws = rng.integers(0, 2**64, column.arity + 1, np.uint64)
        keys += draws[np.minimum(codes, column.arity)]
    # The finaliser of SplitMix64 (Steele, Lea and Flood 2014): what two sums have in common is not seen any more.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))
