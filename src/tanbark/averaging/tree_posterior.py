"""Prior and posterior distributions over all spanning trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from tanbark.counts import Counts
from tanbark.immutable import CopiedByFields
from tanbark.kernels.average.sampled_trees import reduced_graphs, sample_spanning_trees
from tanbark.kernels.average.tree_sums import ZERO_EXPONENT, edge_probabilities, tree_sum
from tanbark.kernels.runtime.compiling import read_only
from tanbark.kernels.trees.pair_weights import sequence_evidence, values_evidence
from tanbark.structure import best_trees

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


def log_evidence_without_edges(counts: Counts, ess: float) -> float:
    """Return the log evidence of naive Bayes: the classes, and each attribute's values given the class.

    Dirichlet priors of `ess` rows spread evenly over the cells of a table. A missing value is left out of the evidence.
    """
    of_class = sequence_evidence(counts.class_counts.astype(np.float64), ess / len(counts.class_counts))
    return float(of_class + values_evidence(counts.values.astype(np.float64), counts.schema.offset, ess))


MOST_WEIGHT = 1e200
"""Sums of log weights below it stay finite."""

Trees = NDArray[np.int64]

# The logarithm of two in two parts, the first with so few digits that its multiples up to 2**20 are exact.
LOG_TWO_HIGH, LOG_TWO_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
FAR = 2.0**40
"""Log weights beyond have too few digits left to be added to logarithms of small numbers."""
WORLDS = 2.0**20
"""So much lighter in logarithms is as good as nothing beside all trees there can be."""


@dataclass(frozen=True, eq=False)
class TreePosterior(CopiedByFields):
    """Trees over n attributes, each as probable as the product of its edges' weights says.

    The decomposable distributions of Meila and Jaakkola (2000) and Cerquides and Lopez de Mantaras (2003, eq 7).

    Parameters
    ----------
    log_weights : array of shape (n, n)
        Symmetric; -inf where an edge cannot be. The graph of possible edges must be connected.

    Examples
    --------
    >>> posterior = TreePosterior(np.log(np.array([[0.0, 1, 2], [1, 0, 4], [2, 4, 0]]) + np.eye(3)))
    >>> round(math.exp(posterior.log_total), 9)
    14.0
    >>> posterior.edge_probabilities.round(3)
    array([[0.   , 0.429, 0.714],
           [0.429, 0.   , 0.857],
           [0.714, 0.857, 0.   ]])
    """

    log_weights: Array

    def check(self) -> None:
        """Raise where the weights, as a file has them, are none: draws would not end, or be of no attribute."""
        weights = self.log_weights
        possible = np.abs(weights) < MOST_WEIGHT
        if not np.array_equal(weights, weights.T) or not (possible | np.isneginf(weights)).all():
            raise ValueError("the weights of edges are infinite, or not the same in both directions")
        if connected_components(possible, directed=False)[0] > 1:
            raise ValueError("the weights of edges allow no tree")

    @cached_property
    def near(self) -> Array:
        """The log weights, or if some are `FAR` from zero others by which trees are as probable.

        Which trees are heaviest depends on the order of the weights alone, and a tree that has a lighter edge than it
        could is that much less probable: what lies between two weights next to each other may be cut to `WORLDS`.
        """
        possible = np.isfinite(self.log_weights)
        np.fill_diagonal(possible, False)
        levels, at = np.unique(self.log_weights[possible], return_inverse=True)
        if np.abs(levels).max(initial=0.0) <= FAR:
            return self.log_weights
        logs = np.full_like(self.log_weights, -np.inf)
        logs[possible] = np.append(0.0, np.cumsum(np.minimum(np.diff(levels), WORLDS)))[at]
        return logs

    @cached_property
    def scaled(self) -> tuple[Array, Array]:
        """The weights as mantissas and exponents of two, for the kernels; those of `near`."""
        possible = np.isfinite(self.near)
        logs = np.where(possible, self.near, 0.0)
        exponent = np.rint(logs / math.log(2.0))
        mantissa: Array = np.exp((logs - exponent * LOG_TWO_HIGH) - exponent * LOG_TWO_LOW)
        return read_only(mantissa), read_only(np.where(possible, exponent, ZERO_EXPONENT))

    @cached_property
    def scaled_total(self) -> tuple[float, float]:
        """The sum over all trees of the product of their edges' `scaled` weights, likewise."""
        mantissa, exponent = tree_sum(*self.scaled)
        return float(mantissa), float(exponent)

    @property
    def log_total(self) -> float:
        """The logarithm of the sum over all trees of the product of their edges' weights."""
        mantissa, exponent = self.scaled_total
        total = math.log(mantissa) + exponent * math.log(2.0)
        if self.near is self.log_weights:
            return total
        # All trees that count are as much heavier than `near` has them as the heaviest is.
        cost = np.where(np.isfinite(self.near), self.near.max() + 1.0 - self.near, 0.0)
        tree = minimum_spanning_tree(cost).nonzero()
        return total + float((self.log_weights[tree] - self.near[tree]).sum())

    @cached_property
    def edge_probabilities(self) -> Array:
        """The probability of every edge; those of one tree's worth, n - 1, in sum."""
        return np.where(np.isfinite(self.log_weights), edge_probabilities(*self.scaled), 0.0)

    def best(self, k: int) -> list[tuple[float, Trees]]:
        """Return the `k` most probable trees, each as its log probability and its edges."""
        trees = [np.array(tree, np.int64).reshape(-1, 2) for tree in best_trees(self.log_weights, k)]
        return [(self.log_probability(tree), tree) for tree in trees]

    def log_probability(self, tree: Trees) -> float:
        """Return the log probability of a tree."""
        return min(float(self.log_weights[tree[:, 0], tree[:, 1]].sum()) - self.log_total, 0.0)

    def draw(self, many: int, rng: np.random.Generator) -> Trees:
        """Return trees drawn exactly, of shape (many, n - 1, 2)."""
        trees = np.empty((many, len(self.log_weights) - 1, 2), np.int64)
        if trees.size:
            sample_spanning_trees(self._graphs, rng, trees)
        return trees

    @cached_property
    def _graphs(self) -> Array:
        graphs: Array = reduced_graphs(self.near)
        return graphs

    @property
    def concentration(self) -> float:
        """The share of the best tree's edges that a tree has on average: 2 / n if all are alike, 1 if there is but one.

        The posterior mass of all trees, each weighed by how near it is to the best one.
        """
        _, tree = self.best(1)[0]
        return float(self.edge_probabilities[tree[:, 0], tree[:, 1]].mean()) if len(tree) else 1.0
