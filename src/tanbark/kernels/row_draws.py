"""Rows drawn each from a tree of its own."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def _draw_value(weights: Floats, point: float) -> int:
    """Return which of the weights a point between 0 and 1 falls on, the weights laid end to end from 0 to 1."""
    target = point * weights.sum()
    reached = 0.0
    for i in range(len(weights)):
        reached += weights[i]
        if target < reached:
            return i
    return len(weights) - 1


@njit(nogil=True, cache=True)
def draw_rows(
    classes: Integers,
    offset: Integers,
    values: Floats,
    ratios: Floats,
    order: Integers,
    parent: Integers,
    rng: np.random.Generator,
    out: Integers,
) -> None:
    """Write codes of rows of the given classes to `out`, of shape (attributes, rows), each row drawn from its tree."""
    for row in range(len(classes)):
        k = classes[row]
        for u in order[row]:
            weights = values[offset[u] : offset[u + 1], k]
            above = parent[row, u]
            if above >= 0:
                weights = weights * ratios[offset[above] + out[above, row], offset[u] : offset[u + 1], k]
            out[u, row] = _draw_value(weights, rng.random())
