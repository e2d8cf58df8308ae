"""Tables of trees, with Dirichlet priors whose margins agree.

Tables with a Dirichlet prior whose margins agree, also where training values are missing.

A pair's table is counted over the rows that have both values, so its margins differ from those of another pair with
the same attribute, and a tree made of such tables would be another distribution for every root. Each class's pair
table, prior added, is therefore raked to the attributes' smoothed class-conditional frequencies times the smoothed
class count: the constraints (eq 10-12) of Cerquides and Lopez de Mantaras (2003) then hold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.kernels.count.table_estimates import (
    log_conditional,
    rake,
    rake_pairs,
    raked_log_tables,
    smooth_margins,
    tree_log_tables,
)
from tanbark.kernels.runtime.compiling import read_only
from tanbark.parameters.conditional import PARAMETERS

Array = NDArray[np.float64]


def smoothed_values(counts: Counts, ess: float) -> Array:
    """Return ``N'*(i, k)`` of all values, of shape (classes, values): an attribute's sum to the class counts'."""
    values = counts.values.astype(np.float64)
    smooth_margins(values, counts.class_counts, counts.schema.offset, ess)
    return values


def raked_pair(counts: Counts, u: int, v: int, ess: float, values: Array) -> Array:
    """Return ``N'*(i, j, k)`` of two attributes, of shape (classes, arity u, arity v).

    Its margins are those of `values`, which are `smoothed_values`.
    """
    if u > v:
        return raked_pair(counts, v, u, ess, values).transpose(0, 2, 1)
    seen = counts.pair(u, v)
    table = np.ascontiguousarray(seen + ess / seen.size, np.float64)
    offset = counts.schema.offset
    of_u, of_v = (values[:, offset[w] : offset[w + 1]] for w in (u, v))
    for k in range(len(table)):
        rake(table[k], of_u[k], of_v[k])
    return table


def pair_ratios(counts: Counts, ess: float) -> tuple[Array, Array]:
    """Return ``P(i | k)`` of all values, and ``P(i, j | k) / (P(i | k) P(j | k))`` of all pairs of them.

    The first has shape (values, classes), the second (values, values, classes). The pairs' tables have a Dirichlet
    prior of `ess` rows spread evenly over their cells and agree on the attributes' distributions, also where training
    values are missing, so that ``P(k) prod_u P(i_u | k) prod_edges ratio`` sums to one for every tree. Blocks of an
    attribute with itself mean nothing.
    """
    schema, classes = counts.schema, len(counts.class_counts)
    of_class = counts.class_counts + ess / classes
    seen = smoothed_values(counts, ess)
    share = np.repeat(1.0 / schema.arity, schema.arity)
    pairs = counts.table + (ess / classes) * np.multiply.outer(share, share)
    holes = counts.has_missing()
    if holes.any():
        rake_pairs(counts.table.astype(np.float64), schema.offset, holes, ess, seen, pairs)
    values = seen / of_class[:, None]
    pairs /= seen[:, :, None]
    pairs /= values[:, None, :]
    return np.ascontiguousarray(values.T), np.ascontiguousarray(pairs.transpose(1, 2, 0))


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
    single = read_only(counts.values)[:, None, :]
    pairs = counts.table if counts.order == 2 else read_only(np.empty((classes, 0, 0), counts.table.dtype))
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
    return read_only(added)


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
    log_conditional(read_only(seen), PARAMETERS[parameters](overall, ess, seen.size), table)
    return table if above >= 0 else table[0]


def class_table(counts: Counts, parameters: str, ess: float) -> Array:
    """Return the log table of the class."""
    seen = counts.class_counts.astype(np.float64)
    logs: Array = np.empty(seen.size)
    alone = (1, 1, seen.size)
    log_conditional(read_only(seen).reshape(alone), PARAMETERS[parameters](seen, ess, seen.size), logs.reshape(alone))
    return logs
