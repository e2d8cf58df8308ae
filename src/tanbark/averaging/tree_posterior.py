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
from tanbark.immutable import Immutable, read_only
from tanbark.kernels.average.sampled_trees import reduced_graphs, sample_spanning_trees
from tanbark.kernels.average.tree_sums import ZERO_EXPONENT, edge_probabilities, tree_sum
from tanbark.kernels.trees.score_weights import sequence_evidence, values_evidence
from tanbark.messages import suggestion
from tanbark.structure import best_trees

Array = NDArray[np.float64]
Trees = NDArray[np.int64]

MAX_ABS_LOG_WEIGHT = 1e200
"""Sums of log weights below this size stay finite."""
MAX_EXACT_LOG_WEIGHT = 2.0**40
"""Larger log weights have too few digits left to be added to logarithms of small numbers."""
NEGLIGIBLE_LOG_RATIO = 2.0**20
"""A tree that is lighter than another by this log ratio is negligible, whatever the number of trees."""
# The logarithm of two in two parts. The first has so few digits that its multiples up to 2**20 are exact.
LOG_TWO_HIGH, LOG_TWO_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")


def edge_prior_matrix(given: Any, names: Sequence[str]) -> Array:
    """Return the factor of every edge in a tree's prior probability, of shape (attributes, attributes).

    A factor of zero forbids an edge.

    Parameters
    ----------
    given : None, matrix, data frame or mapping
        `None` for the uniform prior over trees; a symmetric matrix in column order; a frame with named rows and
        columns; or a mapping from pairs of names to factors, where omitted pairs have the factor 1.
    names : sequence of str
        The names of the attributes.

    Raises
    ------
    ValueError
        If `given` is malformed, or forbids every tree.
    """
    n = len(names)
    if given is None:
        return np.ones((n, n))
    if hasattr(given, "index") and hasattr(given, "columns"):
        given = _in_column_order(given, names)
    matrix = _from_names(given, names) if isinstance(given, Mapping) else _from_matrix(given, n)
    for u in range(n):
        for v in range(u):
            if not (np.isfinite(matrix[u, v]) and matrix[u, v] >= 0):
                raise ValueError(
                    f"edge_prior has the factor {matrix[u, v]:g} for the edge between {names[v]!r} and {names[u]!r}; "
                    "factors must be finite and at least 0"
                )
    parts, part = connected_components(matrix > 0, directed=False)
    if parts > 1:
        one, other = (names[int(np.argmax(part == p))] for p in (0, 1))
        raise ValueError(
            f"edge_prior forbids every tree: no allowed edges connect {one!r} with {other!r}; "
            "use a positive factor for an edge between their components"
        )
    return matrix


def _in_column_order(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame with its rows and columns in the order of the table's columns."""
    if sorted(map(str, frame.index)) != sorted(names) or sorted(map(str, frame.columns)) != sorted(names):
        raise ValueError("edge_prior must be a frame whose row and column names are the columns of the table")
    return (
        frame.set_axis(map(str, frame.index), axis=0).set_axis(map(str, frame.columns), axis=1).loc[[*names], [*names]]
    )


def _from_matrix(given: Any, n: int) -> Array:
    try:
        matrix = np.empty(0) if np.iscomplexobj(given) else np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.shape != (n, n):
        got = f", got an array of shape {np.shape(given)}" if isinstance(given, np.ndarray) else ""
        raise ValueError(
            f"edge_prior must be a {n} x {n} matrix of factors in column order, or a dict that maps pairs of names to "
            f"factors{got}"
        )
    if not np.array_equal(matrix, matrix.T, equal_nan=True):
        raise ValueError("edge_prior must be symmetric because edges of a tree have no direction")
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _from_names(given: Mapping[Any, Any], names: Sequence[str]) -> Array:
    matrix = np.ones((len(names),) * 2)
    at = {name: u for u, name in enumerate(names)}
    named: dict[frozenset[str], float] = {}
    for pair, factor in given.items():
        if not isinstance(pair, tuple | frozenset) or len(pair) != 2:
            raise ValueError(f"edge_prior must map pairs of names to factors, got the key {pair!r}")
        unknown = next((name for name in pair if name not in at), None)
        if unknown is not None:
            instead = suggestion(unknown, names, f"the columns are {', '.join(map(repr, names))}")
            raise ValueError(f"edge_prior names {unknown!r}, which is not a column; {instead}")
        try:
            value = float(factor)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"edge_prior must map pairs of names to factors, got {factor!r} for {pair!r}") from None
        one, other = pair
        if one == other:
            raise ValueError(f"edge_prior has a factor for {one!r} and itself; an edge connects two different columns")
        if frozenset(pair) in named and named[frozenset(pair)] != value:
            raise ValueError(f"edge_prior has two different factors for the edge between {one!r} and {other!r}")
        named[frozenset(pair)] = value
        matrix[at[one], at[other]] = matrix[at[other], at[one]] = value
    return matrix


def log_evidence_without_edges(counts: Counts, ess: float) -> float:
    """Return the log evidence of naive Bayes: the classes, and each attribute's values given the class.

    Each table has a uniform Dirichlet prior of equivalent sample size `ess`. Missing values are ignored.
    """
    of_class = sequence_evidence(counts.class_counts.astype(np.float64), ess / len(counts.class_counts))
    return float(of_class + values_evidence(counts.values.astype(np.float64), counts.schema.offset, ess))


@dataclass(frozen=True, eq=False)
class TreePosterior(Immutable):
    """A distribution over the spanning trees of n attributes: proportional to the product of the edge weights.

    The decomposable distributions of Meila and Jaakkola (2000) and Cerquides and Lopez de Mantaras (2003, eq 7).

    Parameters
    ----------
    log_weights : array of shape (n, n)
        Symmetric; -inf for a forbidden edge. The graph of allowed edges must be connected.

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
        """Raise ValueError if weights read from a file are invalid; sampling might not terminate."""
        weights = self.log_weights
        possible = np.abs(weights) < MAX_ABS_LOG_WEIGHT
        if not np.array_equal(weights, weights.T) or not (possible | np.isneginf(weights)).all():
            raise ValueError("the edge weights are infinite or not symmetric")
        if connected_components(possible, directed=False)[0] > 1:
            raise ValueError("the edge weights allow no spanning tree")

    @cached_property
    def bounded_log_weights(self) -> Array:
        """The log weights, or smaller ones with the same tree probabilities if some exceed `MAX_EXACT_LOG_WEIGHT`.

        The order of the weights alone determines which trees are heaviest. Replacing an edge of such a tree by the next
        lighter one divides its probability by the ratio of the weights. Thus gaps between adjacent log weights can be
        cut to `NEGLIGIBLE_LOG_RATIO`.
        """
        possible = np.isfinite(self.log_weights)
        np.fill_diagonal(possible, False)
        levels, at = np.unique(self.log_weights[possible], return_inverse=True)
        if np.abs(levels).max(initial=0.0) <= MAX_EXACT_LOG_WEIGHT:
            return self.log_weights
        logs = np.full_like(self.log_weights, -np.inf)
        logs[possible] = np.append(0.0, np.cumsum(np.minimum(np.diff(levels), NEGLIGIBLE_LOG_RATIO)))[at]
        return logs

    @cached_property
    def scaled(self) -> tuple[Array, Array]:
        """The mantissas and binary exponents of the weights in `bounded_log_weights`."""
        possible = np.isfinite(self.bounded_log_weights)
        logs = np.where(possible, self.bounded_log_weights, 0.0)
        exponent = np.rint(logs / math.log(2.0))
        mantissa: Array = np.exp((logs - exponent * LOG_TWO_HIGH) - exponent * LOG_TWO_LOW)
        return read_only(mantissa), read_only(np.where(possible, exponent, ZERO_EXPONENT))

    @cached_property
    def scaled_total(self) -> tuple[float, float]:
        """The mantissa and binary exponent of the sum over all trees of the product of their `scaled` weights."""
        mantissa, exponent = tree_sum(*self.scaled)
        return float(mantissa), float(exponent)

    @property
    def log_total(self) -> float:
        """The logarithm of the sum over all trees of the product of their edges' weights."""
        mantissa, exponent = self.scaled_total
        total = math.log(mantissa) + exponent * math.log(2.0)
        if self.bounded_log_weights is self.log_weights:
            return total
        # Bounding the weights changes the log weight of all trees that are not negligible by the same amount.
        bounded = self.bounded_log_weights
        cost = np.where(np.isfinite(bounded), bounded.max() + 1.0 - bounded, 0.0)
        tree = minimum_spanning_tree(cost).nonzero()
        return total + float((self.log_weights[tree] - bounded[tree]).sum())

    @cached_property
    def edge_probabilities(self) -> Array:
        """The probability of every edge; the sum over all edges is n - 1."""
        return np.where(np.isfinite(self.log_weights), edge_probabilities(*self.scaled), 0.0)

    def best(self, k: int) -> list[tuple[float, Trees]]:
        """Return the log probabilities and edges of the `k` most probable trees."""
        trees = [np.array(tree, np.int64).reshape(-1, 2) for tree in best_trees(self.log_weights, k)]
        return [(self.log_probability(tree), tree) for tree in trees]

    def log_probability(self, tree: Trees) -> float:
        """Return the log probability of a tree."""
        return min(float(self.log_weights[tree[:, 0], tree[:, 1]].sum()) - self.log_total, 0.0)

    def draw(self, size: int, rng: np.random.Generator) -> Trees:
        """Return independent exact samples of trees, of shape (size, n - 1, 2)."""
        trees = np.empty((size, len(self.log_weights) - 1, 2), np.int64)
        if trees.size:
            sample_spanning_trees(self._graphs, rng, trees)
        return trees

    @cached_property
    def _graphs(self) -> Array:
        graphs: Array = reduced_graphs(self.bounded_log_weights)
        return graphs

    @property
    def concentration(self) -> float:
        """The expected share of the most probable tree's edges in a tree of the distribution.

        It is 2 / n if all trees are equally probable, and 1 if there is only one tree.
        """
        _, tree = self.best(1)[0]
        return float(self.edge_probabilities[tree[:, 0], tree[:, 1]].mean()) if len(tree) else 1.0
