"""Edge strengths: the conditional mutual information of parent and child under the network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from tanbark.network.factor_inference import MAX_TABLE

if TYPE_CHECKING:
    from tanbark.network.network import Network

Array = NDArray[np.float64]

MAX_CONFIGURATIONS = 2**16
"""Edges into a node whose parents have more configurations are not measured."""
MAX_EXACT_CELLS = 2**14
"""If a node's parents and their ancestors have more joint values, the distribution of the parents is estimated."""
N_SAMPLES = 20_000
"""Number of sampled rows for such estimates."""
MAX_PLANNED_ANCESTORS = 20_000
"""If all attributes together have more ancestors, exact marginalisation is not even planned."""
MAX_STEPS = 1e9
"""Number of multiplications above which marginalisation takes seconds or longer."""
LOG_STEP_COST = 10
"""Cost of a multiplication if probabilities are zero; in logarithms it takes three to five times as long."""


def edge_strengths(network: Network) -> dict[tuple[str, str], float]:
    """Return the strength of each edge in nats, by the names of parent and child.

    The strength is ``I(child; parent | other parents of the child)`` under the network. If the parents have many
    ancestors, their joint distribution is estimated from rows sampled with a fixed seed. The strength is NaN for edges
    into nodes whose parents have very many configurations.

    >>> from tanbark import NaiveBayes
    >>> network = NaiveBayes(parameters="ml").fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
    >>> edge_strengths(network) == {("class", "x0"): math.log(2)}
    True
    """
    names = network.names
    sampled = _SampledRows(network)
    strengths: dict[tuple[str, str], float] = {}
    for node, parents in enumerate(network.structure.parents):
        if not parents:
            continue
        joint = _family_joint(network, node, sampled)
        for axis, parent in enumerate(parents):
            strengths[names[parent], names[node]] = math.nan if joint is None else _conditional_information(joint, axis)
    return strengths


def numbered_strengths(network: Network) -> dict[tuple[int, int], float]:
    """Return the edge strengths by the node numbers of parent and child."""
    number = {name: node for node, name in enumerate(network.names)}
    return {(number[parent], number[child]): s for (parent, child), s in edge_strengths(network).items()}


def class_joints(network: Network) -> list[Array]:
    """Return ``P(value, class)`` of every attribute, of shape (values, classes).

    It is estimated from sampled rows if exact inference takes long (see `has_fast_marginals`).
    """
    if has_fast_marginals(network):
        return [np.exp(log_given_class + network.class_log_prior) for log_given_class in network.log_given_class]
    sampled, of_class = _SampledRows(network), network.structure.of_class
    return [sampled.frequencies((u, of_class)) for u in range(of_class)]


def has_fast_marginals(network: Network) -> bool:
    """Return whether exact inference of ``P(value | class)`` of all attributes is fast."""
    if network.tree is not None:
        return True
    structure, ancestors = network.structure, 0
    for u in range(structure.of_class):
        ancestors += len(structure.ancestors([u, structure.of_class]))
        if ancestors > MAX_PLANNED_ANCESTORS:
            return False
    groups = network.factors.marginal_groups
    steps = sum(group.multiplications for group in groups) * len(network.schema.classes)
    if np.isneginf(network.factors.layout.tables).any():
        steps *= LOG_STEP_COST
    return steps <= MAX_STEPS and all(group.largest_table <= MAX_TABLE for group in groups)


def mutual_information(joint: Array) -> float:
    """Return the mutual information of the rows and columns of a joint distribution, in nats.

    >>> mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])) == math.log(2)
    True
    """
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return max(float(rel_entr(joint, independent).sum()), 0.0)


def _conditional_information(joint: Array, axis: int) -> float:
    """Return the mutual information of one axis and the last, given all other axes."""
    without_child = joint.sum(axis=-1, keepdims=True)
    without_parent = joint.sum(axis=axis, keepdims=True)
    given = without_parent.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        independent = np.where(given > 0, without_child * without_parent / given, 0.0)
    return max(float(rel_entr(joint, independent).sum()), 0.0)


def _family_joint(network: Network, node: int, sampled: _SampledRows) -> Array | None:
    """Return the joint distribution of a node's parents and, on the last axis, the node; None if it is too large."""
    parents = network.structure.parents[node]
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    if math.prod(arity[p] for p in parents) > MAX_CONFIGURATIONS:
        return None
    return _parents_joint(network, parents, sampled)[..., None] * network.table(network.names[node])


def _parents_joint(network: Network, parents: Sequence[int], sampled: _SampledRows) -> Array:
    """Return the joint distribution of some nodes, with one axis for each."""
    of_class = network.structure.of_class
    attributes = [p for p in parents if p != of_class]
    sizes = network.schema.arity[attributes].tolist()
    rows = np.full((len(network.schema.columns), math.prod(sizes)), network.schema.missing_code, network.schema.dtype)
    if attributes:
        rows[attributes] = np.array(list(product(*map(range, sizes)))).T
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    ancestors = network.structure.ancestors(parents)
    if network.tree is None and math.prod(arity[node] for node in ancestors) > MAX_EXACT_CELLS:
        return sampled.frequencies(parents)
    joint = np.exp(network.log_joint(rows)).reshape(*sizes, -1)
    if of_class not in parents:
        return np.asarray(joint.sum(axis=-1))
    return np.asarray(np.moveaxis(joint, -1, parents.index(of_class)))


class _SampledRows:
    """Rows sampled from a network on first use."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def values(self) -> NDArray[np.int64]:
        """The values of the nodes, of shape (nodes, rows)."""
        codes, classes = self.network.sample_codes(N_SAMPLES, np.random.default_rng(0))
        return np.vstack([codes, classes[None]])

    def frequencies(self, nodes: Sequence[int]) -> Array:
        """Return the relative frequencies of the joint values of some nodes, with one axis for each."""
        arity = [*self.network.schema.arity.tolist(), len(self.network.schema.classes)]
        shape = tuple(arity[node] for node in nodes)
        cells = np.ravel_multi_index(tuple(self.values[list(nodes)]), shape)
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape) / N_SAMPLES
