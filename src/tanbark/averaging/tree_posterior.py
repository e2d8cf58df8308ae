"""A distribution over all trees in which a tree's probability is a product over its edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from tanbark.copying import CopiedByFields
from tanbark.kernels.edge_probabilities import edge_probabilities
from tanbark.kernels.frozen import frozen
from tanbark.kernels.tree_draws import draw_trees, reduced_graphs
from tanbark.kernels.tree_sums import NOTHING, tree_sum
from tanbark.structure import best_trees

MOST_WEIGHT = 1e200
"""Sums of log weights below it stay finite."""

Array = NDArray[np.float64]
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
        return frozen(mantissa), frozen(np.where(possible, exponent, NOTHING))

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
            draw_trees(self._graphs, rng, trees)
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
