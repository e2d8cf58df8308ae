"""Five ways from the counts of a family to the conditional probabilities of its child.

They differ in what is added to the counts of the child's values under every configuration of its parents, before these
are divided by their sum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.table_estimates import normalise_rows

Array = NDArray[np.float64]


def shares(seen: Array) -> Array:
    """Return `seen` divided by its sum over the last axis, uniform where nothing was seen."""
    rows = np.ascontiguousarray(seen).reshape(-1, seen.shape[-1])
    divided = np.empty_like(rows)
    normalise_rows(rows, divided)
    return divided.reshape(seen.shape)


def maximum_likelihood(overall: Array, ess: float, cells: int) -> Array:
    """Add nothing: relative frequencies (eq 2 of Cerquides and Lopez de Mantaras 2003)."""
    return np.zeros(overall.shape[-1])


def softened(overall: Array, ess: float, cells: int) -> Array:
    """Add `ess` rows with the child's own frequencies (eq 3, with N0 = ess; Friedman et al. 1997)."""
    return ess * shares(overall)


def dirichlet(overall: Array, ess: float, cells: int) -> Array:
    """Add `ess` rows in all, spread evenly over the family's cells: a Dirichlet prior's mean (eq 4; BDeu)."""
    return np.full(overall.shape[-1], ess / cells)


def laplace(overall: Array, ess: float, cells: int) -> Array:
    """Add one row for every cell."""
    return np.ones(overall.shape[-1])


def m_estimate(overall: Array, ess: float, cells: int) -> Array:
    """Add `ess` rows, spread evenly, under each parents' value (Mitchell 1997)."""
    return np.full(overall.shape[-1], ess / overall.shape[-1])


PARAMETERS: dict[str, Callable[[Array, float, int], Array]] = {
    "ml": maximum_likelihood,
    "softened": softened,
    "dirichlet": dirichlet,
    "laplace": laplace,
    "m": m_estimate,
}
"""What is added to the counts of each of the child's values, from how often each was seen whatever the parents."""


def conditional(parameters: str, seen: Array, overall: Array, ess: float, cells: int) -> Array:
    """Return the conditional probabilities of a child's values.

    Parameters
    ----------
    parameters : str
        Which of `PARAMETERS`.
    seen : array
        The counts of the child's values (last axis) under each configuration of its parents.
    overall : array
        The counts of those values whatever the parents.
    ess : float
    cells : int
        How many cells the family has: those of `seen`, and more where configurations without any count are left out.
    """
    return shares(seen + PARAMETERS[parameters](overall, ess, cells))
