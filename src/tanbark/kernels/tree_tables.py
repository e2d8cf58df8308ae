"""The tables of all attributes of a tree, from the Burt table."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit
from tanbark.kernels.rake import rake
from tanbark.kernels.shares import log_conditional

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def tree_log_tables(
    table: NDArray[np.generic],
    single: NDArray[np.generic],
    offset: Integers,
    parent: Integers,
    added: Floats,
    start: Integers,
    out: Floats,
) -> None:
    """Write ``log P(j | i, k)`` of every attribute to `out`, from ``start[u]`` on: parent's value, class, own value.

    Parameters
    ----------
    table : array of shape (classes, values, values)
        Counts of pairs of values; empty where no attribute has a parent.
    single : array of shape (classes, 1, values)
        Counts of single values.
    parent : array
        Each attribute's parent, -1 for none.
    added : array of shape (values,)
        What the count of each value gets more.
    """
    classes = len(single)
    for u in range(len(parent)):
        first, last, above = offset[u], offset[u + 1], parent[u]
        configurations = 1 if above < 0 else offset[above + 1] - offset[above]
        cells = out[start[u] : start[u + 1]].reshape((configurations, classes, last - first))
        if above < 0:
            log_conditional(single[:, :, first:last], added[first:last], cells)
        else:
            log_conditional(table[:, offset[above] : offset[above + 1], first:last], added[first:last], cells)


@njit(nogil=True, cache=True)
def raked_log_tables(
    table: NDArray[np.generic],
    offset: Integers,
    parent: Integers,
    added: Floats,
    holes: NDArray[np.bool_],
    values: Floats,
    start: Integers,
    out: Floats,
) -> None:
    """Write the tables of `tree_log_tables` where an attribute or its parent has holes, so that pairs must be raked.

    It is a kernel of its own since it takes long to compile, and tables without holes do not need it.

    Parameters
    ----------
    holes : array of bool
        Which attributes have holes.
    values : array of shape (classes, values)
        What raked pairs are to sum to.
    """
    classes = len(table)
    for u in range(len(parent)):
        above = parent[u]
        if above < 0 or not (holes[u] or holes[above]):
            continue
        shape = (offset[above + 1] - offset[above], classes, offset[u + 1] - offset[u])
        cells = out[start[u] : start[u + 1]].reshape(shape)
        for k in range(classes):
            _log_raked(table[k], offset, above, u, added[offset[u]], values[k], cells[:, k])


@njit(nogil=True, cache=True)
def _log_raked(
    table: NDArray[np.generic], offset: Integers, above: int, u: int, more: float, values: Floats, out: Floats
) -> None:
    """Write ``log P(j | i)`` of a pair within a class, raked to what its values are to sum to."""
    low, high = min(above, u), max(above, u)
    pair = np.empty((offset[low + 1] - offset[low], offset[high + 1] - offset[high]))
    for i in range(pair.shape[0]):
        for j in range(pair.shape[1]):
            pair[i, j] = table[offset[low] + i, offset[high] + j] + more
    rake(pair, values[offset[low] : offset[low + 1]], values[offset[high] : offset[high + 1]])
    joint = pair if above == low else pair.T
    for i in range(out.shape[0]):
        total = 0.0
        for j in range(out.shape[1]):
            total += joint[i, j]
        for j in range(out.shape[1]):
            out[i, j] = math.log(joint[i, j] / total)
