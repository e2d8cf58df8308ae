"""Five estimators of conditional probabilities from counts, and the tables of trees that they give.

Each estimator adds pseudo-counts to the counts of a child's values under every configuration of its parents. The sums,
normalised, are the conditional probabilities.

The table of a pair of attributes is counted over the rows in which both are known. If values are missing, its margins
therefore differ from those of other pairs with the same attribute, and the joint distribution of a tree would depend on
the choice of its root. To prevent this, the pair table of each class, with the prior added, is raked to the smoothed
class-conditional frequencies of both attributes times the smoothed class count. The constraints (eq 10-12) of Cerquides
and Lopez de Mantaras (2003) then hold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.immutable import read_only
from tanbark.kernels.count.table_estimates import (
    log_conditional,
    normalise_rows,
    rake,
    rake_pairs,
    raked_log_tables,
    smooth_margins,
    tree_log_tables,
)
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]


def shares(seen: Array) -> Array:
    """Normalise counts over the last axis.

    Parameters
    ----------
    seen : ndarray
        The counts.

    Returns
    -------
    shares : ndarray of the same shape
        The counts divided by their sum over the last axis; uniform if the sum is zero.
    """
    rows = np.ascontiguousarray(seen).reshape(-1, seen.shape[-1])
    divided = np.empty_like(rows)
    normalise_rows(rows, divided)
    return divided.reshape(seen.shape)


def maximum_likelihood(overall: Array, _ess: float, _cells: int) -> Array:
    """Return zero pseudo-counts: the estimates are relative frequencies.

    Eq 2 of Cerquides and Lopez de Mantaras (2003).
    """
    return np.zeros(overall.shape[-1])


def softened(overall: Array, ess: float, _cells: int) -> Array:
    """Return `ess` pseudo-counts under each configuration, distributed as the child's relative frequencies.

    Eq 3 of Cerquides and Lopez de Mantaras (2003) with ``N0 = ess``; Friedman et al. (1997).
    """
    return ess * shares(overall)


def dirichlet(overall: Array, ess: float, cells: int) -> Array:
    """Return `ess` pseudo-counts in total, distributed uniformly over the cells of the family.

    The estimate is the posterior mean under a Dirichlet prior (BDeu); eq 4 of Cerquides and Lopez de Mantaras (2003).
    """
    return np.full(overall.shape[-1], ess / cells)


def laplace(overall: Array, _ess: float, _cells: int) -> Array:
    """Return one pseudo-count for every cell."""
    return np.ones(overall.shape[-1])


def m_estimate(overall: Array, ess: float, _cells: int) -> Array:
    """Return `ess` pseudo-counts under each configuration, distributed uniformly over the child's values.

    The m-estimate of Mitchell (1997).
    """
    return np.full(overall.shape[-1], ess / overall.shape[-1])


PARAMETERS: dict[str, Callable[[Array, float, int], Array]] = {
    "ml": maximum_likelihood,
    "softened": softened,
    "dirichlet": dirichlet,
    "laplace": laplace,
    "m": m_estimate,
}
"""The estimators by name. Each returns the pseudo-counts of the child's values, of shape (n_values,), from `overall`,
the counts of the child's values over all configurations of its parents, `ess`, the equivalent sample size, and `cells`,
the number of cells of the family."""


def conditional(parameters: str, seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Estimate the conditional probabilities of a child's values.

    Parameters
    ----------
    parameters : {"ml", "softened", "dirichlet", "laplace", "m"}
        The estimator; a key of `PARAMETERS`.
    seen : ndarray of shape (..., n_values)
        Counts of the child's values under each configuration of its parents.
    overall : ndarray of shape (n_values,)
        Counts of the child's values over all configurations.
    ess : float
        Equivalent sample size.
    cells : int
        Number of cells of the family. It exceeds the size of `seen` if unobserved configurations are left out.

    Returns
    -------
    probabilities : ndarray of the shape of `seen`
    """
    return shares(seen + PARAMETERS[parameters](overall, ess, cells))


def smoothed_values(counts: Counts, ess: float) -> Array:
    """Return the smoothed counts ``N'*(i, k)`` of all values.

    Parameters
    ----------
    counts : Counts
    ess : float
        Equivalent sample size.

    Returns
    -------
    values : ndarray of shape (n_classes, n_values)
        The values of each attribute sum to the smoothed class counts ``N(k) + ess / n_classes``.
    """
    values = counts.values.astype(np.float64)
    smooth_margins(values, counts.class_counts, counts.schema.offset, ess)
    return values


def raked_pair(counts: Counts, u: int, v: int, ess: float, values: Array) -> Array:
    """Return the smoothed counts ``N'*(i, j, k)`` of two attributes, raked to the margins of their values.

    Parameters
    ----------
    counts : Counts
        Counts of pairs.
    u, v : int
        Indices of the attributes.
    ess : float
        Equivalent sample size.
    values : ndarray of shape (n_classes, n_values)
        Output of `smoothed_values`, which the margins agree with.

    Returns
    -------
    table : ndarray of shape (n_classes, arity of u, arity of v)
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
    """Estimate the distributions of all values and the dependence ratios of all pairs of values.

    The tables of pairs have a Dirichlet prior of `ess` rows, distributed uniformly over their cells, and consistent
    margins, even if training values are missing. Therefore ``P(k) prod_u P(i_u | k) prod_edges ratio`` sums to one for
    every tree.

    Parameters
    ----------
    counts : Counts
        Counts of pairs.
    ess : float
        Equivalent sample size.

    Returns
    -------
    values : ndarray of shape (n_values, n_classes)
        ``P(i | k)``.
    ratios : ndarray of shape (n_values, n_values, n_classes)
        ``P(i, j | k) / (P(i | k) P(j | k))``; meaningless for two values of the same attribute.
    """
    schema, classes = counts.schema, len(counts.class_counts)
    of_class = counts.class_counts + ess / classes
    seen = smoothed_values(counts, ess)
    share = np.repeat(1.0 / schema.arity, schema.arity)
    pairs = counts.table + (ess / classes) * np.multiply.outer(share, share)
    has_missing = counts.has_missing()
    if has_missing.any():
        rake_pairs(counts.table.astype(np.float64), schema.offset, has_missing, ess, seen, pairs)
    values = seen / of_class[:, None]
    pairs /= seen[:, :, None]
    pairs /= values[:, None, :]
    return np.ascontiguousarray(values.T), np.ascontiguousarray(pairs.transpose(1, 2, 0))


def tree_tables(counts: Counts, parent: Sequence[int], parameters: str, ess: float) -> tuple[Array, ...]:
    """Estimate the log tables of a tree.

    If training values are missing, a table is estimated from the rows in which the whole family is known, except with
    Dirichlet parameters, whose tables are raked to consistent margins.

    Parameters
    ----------
    counts : Counts
        Counts of pairs, or of single values if no attribute has a parent.
    parent : sequence of int
        Parent of each attribute, -1 for a root.
    parameters : {"ml", "softened", "dirichlet", "laplace", "m"}
        The estimator; a key of `PARAMETERS`.
    ess : float
        Equivalent sample size.

    Returns
    -------
    log_tables : tuple of ndarray
        The tables of the attributes, of shape (parent's values, n_classes, own values) or, for a root,
        (n_classes, own values), and last the table of the class.
    """
    if parameters != "softened" and (counts.order == 2 or max(parent, default=-1) < 0):
        tables = _all_tables(counts, parent, parameters, ess)
    else:
        tables = [attribute_table(counts, u, p, parameters, ess) for u, p in enumerate(parent)]
    return (*tables, class_table(counts, parameters, ess))


def _all_tables(counts: Counts, parent: Sequence[int], parameters: str, ess: float) -> list[Array]:
    """Estimate the tables of all attributes at once, if the pseudo-counts depend only on the shapes of the tables."""
    arity, classes = counts.schema.arity.tolist(), len(counts.class_counts)
    shapes = [(classes, r) if p < 0 else (arity[p], classes, r) for r, p in zip(arity, parent, strict=True)]
    start = np.cumsum([0, *map(math.prod, shapes)])
    flat = np.empty(start[-1])
    pseudo_counts = np.concatenate([np.empty(0), *(_pseudo_counts(parameters, ess, shape) for shape in shapes)])
    single = counts.values[:, None, :]
    pairs = counts.table if counts.table.ndim == 3 else read_only(np.empty((classes, 0, 0), counts.table.dtype))
    offset, parents = counts.schema.offset, np.array(parent, np.int64)
    tree_log_tables(pairs, single, offset, parents, pseudo_counts, start, flat)
    has_missing = counts.has_missing()
    if parameters == "dirichlet" and max(parent, default=-1) >= 0 and has_missing.any():
        values = smoothed_values(counts, ess)
        raked_log_tables(pairs, offset, parents, pseudo_counts, has_missing, values, start, flat)
    bounds = itertools.pairwise(start.tolist())
    return [flat[a:b].reshape(shape) for (a, b), shape in zip(bounds, shapes, strict=True)]


@lru_cache
def _pseudo_counts(parameters: str, ess: float, shape: tuple[int, ...]) -> Array:
    """Return the pseudo-counts of a child's values; cached, since a stream needs the same ones for every chunk."""
    pseudo_counts = PARAMETERS[parameters](np.empty(shape[-1]), ess, math.prod(shape))
    return read_only(pseudo_counts)


def attribute_table(counts: Counts, u: int, parent: int, parameters: str, ess: float) -> Array:
    """Estimate the log table of an attribute given the class and the attribute `parent` (-1 for none)."""
    has_missing = counts.has_missing()
    if parent >= 0 and parameters == "dirichlet" and (has_missing[u] or has_missing[parent]):
        joint = raked_pair(counts, parent, u, ess, smoothed_values(counts, ess)).transpose(1, 0, 2)
        return np.asarray(np.log(joint / joint.sum(axis=2, keepdims=True)))
    seen = np.asarray(counts.value(u)[:, None, :] if parent < 0 else counts.pair(parent, u), np.float64)
    classes, configurations, arity = seen.shape
    overall = counts.value(u).sum(axis=0).astype(np.float64) if parameters == "softened" else np.empty(arity)
    table = np.empty((configurations, classes, arity))
    log_conditional(read_only(seen), PARAMETERS[parameters](overall, ess, seen.size), table)
    return table if parent >= 0 else table[0]


@insert_shared_docs
def class_table(counts: Counts, parameters: str, ess: float) -> Array:
    """Estimate the log table of a class without parents.

    {counts_and_estimator}

    Returns
    -------
    log_table : ndarray of shape (n_classes,)
    """
    seen = counts.class_counts.astype(np.float64)
    logs: Array = np.empty(seen.size)
    shape = (1, 1, seen.size)
    log_conditional(read_only(seen).reshape(shape), PARAMETERS[parameters](seen, ess, seen.size), logs.reshape(shape))
    return logs
