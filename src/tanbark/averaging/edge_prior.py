"""A user's belief in each edge, as a matrix of factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]


def edge_prior_matrix(given: Any, names: Sequence[str]) -> Array:
    """Return the factor of every edge in a tree's prior probability, of shape (attributes, attributes).

    `given` is None (every tree as probable as any other), a symmetric matrix in column order, a frame whose rows and
    columns are named, or a mapping from pairs of names to factors, 1 for those not mentioned. A factor of zero forbids
    an edge.
    """
    n = len(names)
    if given is None:
        return np.ones((n, n))
    if hasattr(given, "index") and hasattr(given, "columns"):
        given = _laid_out(given, names)
    matrix = _from_names(given, names) if isinstance(given, Mapping) else _from_matrix(given, n)
    for u in range(n):
        for v in range(u):
            if not (np.isfinite(matrix[u, v]) and matrix[u, v] >= 0):
                raise ValueError(
                    f"edge_prior gives the edge between {names[v]!r} and {names[u]!r} the factor {matrix[u, v]:g}; "
                    "factors are finite and at least 0"
                )
    parts, part = connected_components(matrix > 0, directed=False)
    if parts > 1:
        one, other = (names[int(np.argmax(part == p))] for p in (0, 1))
        raise ValueError(
            f"edge_prior forbids so many edges that no tree joins {one!r} and {other!r}; "
            "allow an edge between their parts"
        )
    return matrix


def _laid_out(frame: Any, names: Sequence[str]) -> Any:
    """Return the matrix in a frame that names its rows and columns, in column order."""
    if sorted(map(str, frame.index)) != sorted(names) or sorted(map(str, frame.columns)) != sorted(names):
        raise ValueError("edge_prior is a frame whose rows and columns are not named as the columns of the table")
    return (
        frame.set_axis(map(str, frame.index), axis=0).set_axis(map(str, frame.columns), axis=1).loc[[*names], [*names]]
    )


def _from_matrix(given: Any, n: int) -> Array:
    try:
        matrix = np.empty(0) if np.iscomplexobj(given) else np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.shape != (n, n):
        got = f", got the shape {np.shape(given)}" if isinstance(given, np.ndarray) else ""
        raise ValueError(
            f"edge_prior must be a {n} x {n} matrix of factors in column order, or a dict of pairs of names to "
            f"factors{got}"
        )
    if not np.array_equal(matrix, matrix.T, equal_nan=True):
        raise ValueError("edge_prior must be symmetric: an edge of a tree has no direction")
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _from_names(given: Mapping[Any, Any], names: Sequence[str]) -> Array:
    matrix = np.ones((len(names),) * 2)
    at = {name: u for u, name in enumerate(names)}
    named: dict[frozenset[str], float] = {}
    for pair, factor in given.items():
        if not isinstance(pair, tuple | frozenset) or len(pair) != 2:
            raise ValueError(f"edge_prior must map pairs of names to factors, got the key {pair!r}")
        strange = next((name for name in pair if name not in at), None)
        if strange is not None:
            raise ValueError(
                f"edge_prior names {strange!r}, which is no column; the columns are {', '.join(map(repr, names))}"
            )
        try:
            value = float(factor)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"edge_prior must map pairs of names to factors, got {factor!r} for {pair!r}") from None
        one, other = pair
        if one == other:
            raise ValueError(f"edge_prior gives a factor to {one!r} and itself; an edge has two ends")
        if frozenset(pair) in named and named[frozenset(pair)] != value:
            raise ValueError(f"edge_prior gives the edge between {one!r} and {other!r} two different factors")
        named[frozenset(pair)] = value
        matrix[at[one], at[other]] = matrix[at[other], at[one]] = value
    return matrix
