"""The tables of a tree: the class above every attribute, at most one attribute beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.parameters.conditional import dirichlet, laplace, m_estimate, maximum_likelihood, softened
from tanbark.parameters.dirichlet import raked_pair

Array = NDArray[np.float64]

PARAMETERS: dict[str, Callable[[Array, Array, float], Array]] = {
    "ml": maximum_likelihood,
    "softened": softened,
    "dirichlet": dirichlet,
    "laplace": laplace,
    "m": m_estimate,
}


def tree_tables(counts: Counts, parent: Sequence[int], parameters: str, ess: float) -> tuple[Array, ...]:
    """Return the log tables of the attributes, shaped (parent's value, class, value), and of the class, last.

    Where training values are missing, a table comes from the rows that have the whole family, except with Dirichlet
    parameters, whose tables are made to agree with each other.
    """
    estimate = PARAMETERS[parameters]
    holes = counts.has_missing() if parameters == "dirichlet" else np.zeros(len(parent), np.bool_)
    tables = []
    for u, above in enumerate(parent):
        overall = counts.value(u).sum(axis=0).astype(np.float64)
        if above < 0:
            table = estimate(counts.value(u).astype(np.float64), overall, ess)
        elif holes[u] or holes[above]:
            joint = raked_pair(counts, above, u, ess).transpose(1, 0, 2)
            table = joint / joint.sum(axis=2, keepdims=True)
        else:
            table = estimate(counts.pair(above, u).astype(np.float64).transpose(1, 0, 2), overall, ess)
        tables.append(table)
    seen = counts.class_counts.astype(np.float64)
    tables.append(estimate(seen, seen, ess))
    with np.errstate(divide="ignore"):
        return tuple(np.log(t) for t in tables)
