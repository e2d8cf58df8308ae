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

    They are those whose key is the least (`Rows.keys`); rows that differ in nothing but the class have the same key, so
    that they tend to be on one side.
    """
    out = np.zeros(len(rows.classes), np.bool_)
    if len(out) < FEWEST:
        return out
    keys = rows.keys(seed)
    for k in range(len(rows.schema.classes)):
        at = np.flatnonzero(rows.classes == k)
        out[at[np.argsort(keys[at], kind="stable")[: len(at) // PART]]] = True
    return out
