"""How much the edges of a network matter, and how much its attributes tell about the class."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from tanbark.network.estimates import DrawnValuesWarning

if TYPE_CHECKING:
    from tanbark.network.network import Network

Array = NDArray[np.float64]

MOST_CONFIGURATIONS = 2**16
"""An edge into a node whose parents have more configurations is not measured."""


def edge_strengths(network: Network) -> dict[tuple[str, str], float]:
    """Return what each parent tells about its child beyond the child's other parents, in nats.

    ``I(child; parent | the other parents)`` under the network, by the names of parent and child. NaN stands for edges
    into nodes with very many configurations of parents.

    >>> from tanbark import NaiveBayes
    >>> network = NaiveBayes(parameters="ml").fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
    >>> edge_strengths(network) == {("class", "x0"): math.log(2)}
    True
    """
    names = network.names
    found: dict[tuple[str, str], float] = {}
    for node, above in enumerate(network.structure.parents):
        if not above:
            continue
        joint = _family(network, node)
        for axis, parent in enumerate(above):
            found[names[parent], names[node]] = math.nan if joint is None else _conditional_information(joint, axis)
    return found


def class_information(network: Network) -> Array:
    """Return ``I(attribute; class)`` under the network, in nats, in column order."""
    prior = np.exp(network.class_log_prior)
    return np.array([mutual_information(np.exp(alone) * prior) for alone in network.log_given_class])


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


def _family(network: Network, node: int) -> Array | None:
    """Return the joint distribution of a node's parents and, last, its own values; None where that is too large."""
    above, of_class = network.structure.parents[node], network.structure.of_class
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    if math.prod(arity[p] for p in above) > MOST_CONFIGURATIONS:
        return None
    return _parents(network, above, of_class)[..., None] * network.table(network.names[node])


def _parents(network: Network, above: Sequence[int], of_class: int) -> Array:
    """Return the joint distribution of some nodes, an axis for each."""
    attributes = [p for p in above if p != of_class]
    prior = np.exp(network.class_log_prior)
    if len(attributes) < 2:
        joint = np.exp(network.log_given_class[attributes[0]]) * prior if attributes else prior
    else:
        sizes = network.schema.arity[attributes].tolist()
        rows = np.full(
            (len(network.schema.columns), math.prod(sizes)), network.schema.missing_code, network.schema.dtype
        )
        rows[attributes] = np.array(list(product(*map(range, sizes)))).T
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DrawnValuesWarning)
            joint = np.exp(network.log_joint(rows)).reshape(*sizes, -1)
    if of_class not in above:
        return np.asarray(joint.sum(axis=-1))
    return np.asarray(np.moveaxis(joint, -1, above.index(of_class)))
