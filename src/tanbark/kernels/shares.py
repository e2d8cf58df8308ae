"""Conditional probabilities from counts and what is added to them."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def divide_by_sums(seen: Floats, out: Floats) -> None:
    """Write each row of `seen` divided by its sum to `out`, uniform where nothing was seen."""
    rows, values = seen.shape
    for i in range(rows):
        total = 0.0
        for j in range(values):
            total += seen[i, j]
        for j in range(values):
            out[i, j] = seen[i, j] / total if total > 0 else 1.0 / values


@njit(nogil=True, cache=True)
def log_conditional(seen: NDArray[np.generic], added: Floats, out: Floats) -> None:
    """Write ``log P(j | i, k)`` to `out[i, k, j]` from the counts `seen[k, i, j]` and what each value `j` gets more."""
    classes, configurations, values = seen.shape
    for i in range(configurations):
        for k in range(classes):
            total = 0.0
            for j in range(values):
                out[i, k, j] = seen[k, i, j] + added[j]
                total += out[i, k, j]
            for j in range(values):
                share = out[i, k, j] / total if total > 0 else 1.0 / values
                out[i, k, j] = math.log(share) if share > 0 else -np.inf


@njit(nogil=True, cache=True)
def tree_log_tables(
    table: NDArray[np.generic], offset: Integers, parent: Integers, added: Floats, start: Integers, out: Floats
) -> None:
    """Write the tables of all attributes of a tree to `out`, each as `log_conditional` does, from the Burt table.

    That of attribute `u` goes to ``start[u]``; its parent is ``parent[u]``, -1 for none.
    """
    classes = table.shape[0]
    for u in range(len(parent)):
        first, last, above = offset[u], offset[u + 1], parent[u]
        flat = out[start[u] : start[u + 1]]
        more = added[first:last]
        if above >= 0:
            configurations = offset[above + 1] - offset[above]
            seen = table[:, offset[above] : offset[above + 1], first:last]
            log_conditional(seen, more, flat.reshape((configurations, classes, last - first)))
        else:
            alone = np.empty((classes, 1, last - first), table.dtype)
            for k in range(classes):
                for j in range(last - first):
                    alone[k, 0, j] = table[k, first + j, first + j]
            log_conditional(alone, more, flat.reshape((1, classes, last - first)))
