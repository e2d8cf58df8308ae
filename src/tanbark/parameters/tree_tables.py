"""The tables of a tree: the class above every attribute, at most one attribute beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.parameters.conditional import PARAMETERS
from tanbark.parameters.dirichlet import raked_pair

Array = NDArray[np.float64]


def tree_tables(counts: Counts, parent: Sequence[int], parameters: str, ess: float) -> tuple[Array, ...]:
    """Return the log tables of the attributes, shaped (parent's value, class, value), and of the class, last.

    Where training values are missing, a table comes from the rows that have the whole family, except with Dirichlet
    parameters, whose tables are made to agree with each other.
    """
    tables = [attribute_table(counts, u, above, parameters, ess) for u, above in enumerate(parent)]
    return (*tables, class_table(counts, parameters, ess))


def attribute_table(counts: Counts, u: int, above: int, parameters: str, ess: float) -> Array:
    """Return the log table of one attribute under the class and the attribute `above` (-1: none)."""
    estimate = PARAMETERS[parameters]
    overall = counts.value(u).sum(axis=0).astype(np.float64)
    if above >= 0 and parameters == "dirichlet" and counts.has_missing()[[u, above]].any():
        joint = raked_pair(counts, above, u, ess).transpose(1, 0, 2)
        table = joint / joint.sum(axis=2, keepdims=True)
    else:
        seen = counts.value(u) if above < 0 else counts.pair(above, u).transpose(1, 0, 2)
        table = estimate(seen.astype(np.float64), overall, ess, seen.size)
    return _logarithm(table)


def class_table(counts: Counts, parameters: str, ess: float) -> Array:
    """Return the log table of the class."""
    seen = counts.class_counts.astype(np.float64)
    return _logarithm(PARAMETERS[parameters](seen, seen, ess, seen.size))


def _logarithm(table: Array) -> Array:
    with np.errstate(divide="ignore"):
        logs: Array = np.log(table)
    return logs
