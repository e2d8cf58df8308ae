"""The tables of a tree: the class above every attribute, at most one attribute beside it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.kernels.frozen import frozen
from tanbark.kernels.shares import log_conditional
from tanbark.kernels.tree_tables import raked_log_tables, tree_log_tables
from tanbark.parameters.conditional import PARAMETERS
from tanbark.parameters.dirichlet import raked_pair, smoothed_values

Array = NDArray[np.float64]


def tree_tables(counts: Counts, parent: Sequence[int], parameters: str, ess: float) -> tuple[Array, ...]:
    """Return the log tables of the attributes, shaped (parent's value, class, value), and of the class, last.

    Where training values are missing, a table comes from the rows that have the whole family, except with Dirichlet
    parameters, whose tables are made to agree with each other.
    """
    if parameters != "softened" and (counts.order == 2 or max(parent, default=-1) < 0):
        tables = _tables_at_once(counts, parent, parameters, ess)
    else:
        tables = [attribute_table(counts, u, above, parameters, ess) for u, above in enumerate(parent)]
    return (*tables, class_table(counts, parameters, ess))


def _tables_at_once(counts: Counts, parent: Sequence[int], parameters: str, ess: float) -> list[Array]:
    """Return the tables of `attribute_table`, where what is added to the counts follows from the tables' shapes."""
    arity, classes = counts.schema.arity.tolist(), len(counts.class_counts)
    shapes = [(classes, r) if above < 0 else (arity[above], classes, r) for r, above in zip(arity, parent)]
    start = np.cumsum([0, *map(math.prod, shapes)])
    flat = np.empty(start[-1])
    added = np.concatenate([np.empty(0), *(_added(parameters, ess, shape) for shape in shapes)])
    single = frozen(counts.values)[:, None, :]
    pairs = counts.table if counts.order == 2 else frozen(np.empty((classes, 0, 0), counts.table.dtype))
    offset, parents = counts.schema.offset, np.array(parent, np.int64)
    tree_log_tables(pairs, single, offset, parents, added, start, flat)
    if parameters == "dirichlet" and max(parent, default=-1) >= 0 and counts.has_missing().any():
        values = smoothed_values(counts, ess)
        raked_log_tables(pairs, offset, parents, added, counts.has_missing(), values, start, flat)
    return [flat[a:b].reshape(shape) for (a, b), shape in zip(itertools.pairwise(start.tolist()), shapes)]


@lru_cache
def _added(parameters: str, ess: float, shape: tuple[int, ...]) -> Array:
    """Return what is added to the counts of the values of a family's child: in a stream, the same time and again."""
    added = PARAMETERS[parameters](np.empty(shape[-1]), ess, math.prod(shape))
    return frozen(added)


def attribute_table(counts: Counts, u: int, above: int, parameters: str, ess: float) -> Array:
    """Return the log table of one attribute under the class and the attribute `above` (-1: none)."""
    holes = counts.has_missing()
    if above >= 0 and parameters == "dirichlet" and (holes[u] or holes[above]):
        joint = raked_pair(counts, above, u, ess, smoothed_values(counts, ess)).transpose(1, 0, 2)
        return np.asarray(np.log(joint / joint.sum(axis=2, keepdims=True)))
    seen = np.asarray(counts.value(u)[:, None, :] if above < 0 else counts.pair(above, u), np.float64)
    classes, configurations, arity = seen.shape
    overall = counts.value(u).sum(axis=0).astype(np.float64) if parameters == "softened" else np.empty(arity)
    table = np.empty((configurations, classes, arity))
    log_conditional(frozen(seen), PARAMETERS[parameters](overall, ess, seen.size), table)
    return table if above >= 0 else table[0]


def class_table(counts: Counts, parameters: str, ess: float) -> Array:
    """Return the log table of the class."""
    seen = counts.class_counts.astype(np.float64)
    logs: Array = np.empty(seen.size)
    alone = (1, 1, seen.size)
    log_conditional(frozen(seen).reshape(alone), PARAMETERS[parameters](seen, ess, seen.size), logs.reshape(alone))
    return logs
