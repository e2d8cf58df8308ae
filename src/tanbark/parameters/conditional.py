"""Five estimators of conditional probabilities from counts.

Each estimator adds pseudo-counts to the counts of a child's values under every configuration of its parents. The sums,
normalised, are the conditional probabilities.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.count.table_estimates import normalise_rows

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

    Parameters
    ----------
    overall : ndarray of shape (n_values,)
        Counts of the child's values over all configurations of its parents.

    Returns
    -------
    pseudo_counts : ndarray of shape (n_values,)
    """
    return np.zeros(overall.shape[-1])


def softened(overall: Array, ess: float, _cells: int) -> Array:
    """Return `ess` pseudo-counts under each configuration, distributed as the child's relative frequencies.

    Eq 3 of Cerquides and Lopez de Mantaras (2003) with ``N0 = ess``; Friedman et al. (1997).

    Parameters
    ----------
    overall : ndarray of shape (n_values,)
        Counts of the child's values over all configurations of its parents.
    ess : float
        Equivalent sample size.

    Returns
    -------
    pseudo_counts : ndarray of shape (n_values,)
    """
    return ess * shares(overall)


def dirichlet(overall: Array, ess: float, cells: int) -> Array:
    """Return `ess` pseudo-counts in total, distributed uniformly over the cells of the family.

    The estimate is the posterior mean under a Dirichlet prior (BDeu); eq 4 of Cerquides and Lopez de Mantaras (2003).

    Parameters
    ----------
    overall : ndarray of shape (n_values,)
        Counts of the child's values over all configurations of its parents.
    ess : float
        Equivalent sample size.
    cells : int
        Number of cells of the family.

    Returns
    -------
    pseudo_counts : ndarray of shape (n_values,)
    """
    return np.full(overall.shape[-1], ess / cells)


def laplace(overall: Array, _ess: float, _cells: int) -> Array:
    """Return one pseudo-count for every cell.

    Parameters
    ----------
    overall : ndarray of shape (n_values,)
        Counts of the child's values over all configurations of its parents.

    Returns
    -------
    pseudo_counts : ndarray of shape (n_values,)
    """
    return np.ones(overall.shape[-1])


def m_estimate(overall: Array, ess: float, _cells: int) -> Array:
    """Return `ess` pseudo-counts under each configuration, distributed uniformly over the child's values.

    The m-estimate of Mitchell (1997).

    Parameters
    ----------
    overall : ndarray of shape (n_values,)
        Counts of the child's values over all configurations of its parents.
    ess : float
        Equivalent sample size.

    Returns
    -------
    pseudo_counts : ndarray of shape (n_values,)
    """
    return np.full(overall.shape[-1], ess / overall.shape[-1])


PARAMETERS: dict[str, Callable[[Array, float, int], Array]] = {
    "ml": maximum_likelihood,
    "softened": softened,
    "dirichlet": dirichlet,
    "laplace": laplace,
    "m": m_estimate,
}
"""The estimators by name. Each returns the pseudo-counts of the child's values, from ``(overall, ess, cells)``."""


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
