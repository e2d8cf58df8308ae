"""Five ways from the counts of a family to the conditional probabilities of its child.

Each takes `seen`, the counts of the child's values (last axis) under each configuration of its parents, the counts
`overall` of those values whatever the parents, `ess`, and how many `cells` the family has (those of `seen`, and more
where configurations without any count are left out); each returns an array of the shape of `seen` whose last axis sums
to one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def shares(seen: Array) -> Array:
    """Return `seen` divided by its sum over the last axis, uniform where nothing was seen."""
    total = seen.sum(axis=-1, keepdims=True)
    uniform = np.full_like(seen, 1.0 / seen.shape[-1])
    divided: Array = np.divide(seen, total, out=uniform, where=total > 0)
    return divided


def maximum_likelihood(seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Return relative frequencies (eq 2 of Cerquides and Lopez de Mantaras 2003)."""
    return shares(seen)


def softened(seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Return frequencies drawn towards the child's own by `ess` rows (eq 3, with N0 = ess; Friedman et al. 1997)."""
    return shares(seen + ess * shares(overall))


def dirichlet(seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Return the mean under a Dirichlet prior of `ess` rows spread evenly over the family's cells (eq 4; BDeu)."""
    return shares(seen + ess / cells)


def laplace(seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Return frequencies after one more row for every cell."""
    return shares(seen + 1.0)


def m_estimate(seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Return frequencies after `ess` more rows, spread evenly, under each parents' value (Mitchell 1997)."""
    return shares(seen + ess / seen.shape[-1])


PARAMETERS: dict[str, Callable[[Array, Array, float, int], Array]] = {
    "ml": maximum_likelihood,
    "softened": softened,
    "dirichlet": dirichlet,
    "laplace": laplace,
    "m": m_estimate,
}
