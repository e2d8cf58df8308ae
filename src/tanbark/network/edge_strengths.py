"""Edge strengths: the information that a parent carries about its child."""

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

MOST_CONFIGURATIONS = 2**16
"""An edge into a node whose parents have more configurations is not measured."""
MOST_CELLS = 2**14
"""Where all that a node's parents depend on has more combinations of values, drawn rows say how frequent theirs are."""
DRAWS = 20_000
MOST_PLANNED = 20_000
"""To sum out more ancestors, those of all attributes together, is not even planned."""
MOST_STEPS = 1e9
"""Summing out in more steps takes seconds and more."""
IN_LOGARITHMS = 10
"""A step counts as so many where probabilities are zero; in logarithms it takes three to five times as long."""


def edge_strengths(network: Network) -> dict[tuple[str, str], float]:
    """Return what each parent tells about its child beyond the child's other parents, in nats.

    ``I(child; parent | the other parents)`` under the network, by the names of parent and child. How probable the
    parents' values are is estimated from rows drawn with a fixed seed where they depend on many others.
    NaN stands for edges into nodes with very many configurations of parents.

    >>> from tanbark import NaiveBayes
    >>> network = NaiveBayes(parameters="ml").fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
    >>> edge_strengths(network) == {("class", "x0"): math.log(2)}
    True
    """
    names = network.names
    drawn = _DrawnRows(network)
    found: dict[tuple[str, str], float] = {}
    for node, above in enumerate(network.structure.parents):
        if not above:
            continue
        joint = _family(network, node, drawn)
        for axis, parent in enumerate(above):
            found[names[parent], names[node]] = math.nan if joint is None else _conditional_information(joint, axis)
    return found


def numbered_strengths(network: Network) -> dict[tuple[int, int], float]:
    """Return the strengths of edges by the numbers of parent and child."""
    place = {name: node for node, name in enumerate(network.names)}
    return {(place[above], place[below]): told for (above, below), told in edge_strengths(network).items()}


def class_joints(network: Network) -> list[Array]:
    """Return ``P(value, class)`` of every attribute, of shape (values, classes).

    It is estimated from drawn rows where finding it exactly takes long (`is_quick`).
    """
    if is_quick(network):
        return [np.exp(alone + network.class_log_prior) for alone in network.log_given_class]
    drawn, of_class = _DrawnRows(network), network.structure.of_class
    return [drawn.frequencies((u, of_class)) for u in range(of_class)]


def is_quick(network: Network) -> bool:
    """Return whether ``P(value | class)`` of all attributes is soon found exactly."""
    if network.tree is not None:
        return True
    structure, planned = network.structure, 0
    for u in range(structure.of_class):
        planned += len(structure.ancestors([u, structure.of_class]))
        if planned > MOST_PLANNED:
            return False
    groups = network.factors.all_but_one
    steps = sum(group.multiplications for group in groups) * len(network.schema.classes)
    if np.isneginf(network.factors.layout.tables).any():
        steps *= IN_LOGARITHMS
    return steps <= MOST_STEPS and all(group.largest <= MAX_TABLE for group in groups)


def mutual_information(joint: Array) -> float:
    """Return the information that the rows and columns of a joint distribution have of one another, in nats.

    >>> mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])) == math.log(2)
    True
    """
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return max(float(rel_entr(joint, apart).sum()), 0.0)


def _conditional_information(joint: Array, axis: int) -> float:
    """Return the information that one axis and the last have of one another, given all others."""
    without_child = joint.sum(axis=-1, keepdims=True)
    without_parent = joint.sum(axis=axis, keepdims=True)
    given = without_parent.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(given > 0, without_child * without_parent / given, 0.0)
    return max(float(rel_entr(joint, apart).sum()), 0.0)


def _family(network: Network, node: int, drawn: _DrawnRows) -> Array | None:
    """Return the joint distribution of a node's parents and, last, its own values; None where that is too large."""
    above, of_class = network.structure.parents[node], network.structure.of_class
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    if math.prod(arity[p] for p in above) > MOST_CONFIGURATIONS:
        return None
    return _parents(network, above, of_class, drawn)[..., None] * network.table(network.names[node])


def _parents(network: Network, above: Sequence[int], of_class: int, drawn: _DrawnRows) -> Array:
    """Return the joint distribution of some nodes, an axis for each."""
    attributes = [p for p in above if p != of_class]
    sizes = network.schema.arity[attributes].tolist()
    rows = np.full((len(network.schema.columns), math.prod(sizes)), network.schema.missing_code, network.schema.dtype)
    if attributes:
        rows[attributes] = np.array(list(product(*map(range, sizes)))).T
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    if network.tree is None and math.prod(arity[node] for node in network.structure.ancestors(above)) > MOST_CELLS:
        return drawn.frequencies(above)
    joint = np.exp(network.log_joint(rows)).reshape(*sizes, -1)
    if of_class not in above:
        return np.asarray(joint.sum(axis=-1))
    return np.asarray(np.moveaxis(joint, -1, above.index(of_class)))


class _DrawnRows:
    """Rows drawn from a network, once they are asked for."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def values(self) -> NDArray[np.int64]:
        """The nodes' values, of shape (nodes, rows)."""
        codes, classes = self.network.sample_codes(DRAWS, np.random.default_rng(0))
        return np.vstack([codes, classes[None]])

    def frequencies(self, nodes: Sequence[int]) -> Array:
        """Return the shares of rows that have each combination of some nodes' values, an axis for each node."""
        arity = [*self.network.schema.arity.tolist(), len(self.network.schema.classes)]
        shape = tuple(arity[node] for node in nodes)
        at = np.ravel_multi_index(tuple(self.values[list(nodes)]), shape)
        return np.bincount(at, minlength=math.prod(shape)).reshape(shape) / DRAWS
