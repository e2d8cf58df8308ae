"""Pictures of the networks of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tanbark.classifiers.additive_bn import AdditiveBN
from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.drawing.layout import class_above_all
from tanbark.drawing.network_pictures import picture, told_words
from tanbark.network import Network, Structure
from tanbark.network.edge_strengths import numbered_strengths

MOST_DRAWINGS = 6
LEAST_PROBABLE = 0.1
"""Edges beside the most probable tree are drawn from this probability on."""


@dataclass(frozen=True)
class Drawing:
    """A network of a classifier.

    Parameters
    ----------
    title : str
        Which of several it is; empty where there is one.
    explained : str
        What one sees.
    svg : str
    path : tuple of int
        Which members to follow from the classifier to the network.
    parents : tuple of tuples of int
        What each node depends on.
    of_class : int, optional
        The class for which alone this holds.
    """

    title: str
    explained: str
    svg: str
    path: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    of_class: int | None = None


def drawings(model: Any, shades: Sequence[float], path: tuple[int, ...] = ()) -> list[Drawing]:
    """Return drawings of the networks that a classifier has, the weightiest first where there are many."""
    if isinstance(model, AveragedTAN):
        return _of_trees(model, shades, path)
    if isinstance(model, AdditiveBN):
        return _of_members(model, shades, path)
    if isinstance(model, BoostedBN):
        heaviest = np.argsort(-model.estimator_weights_, kind="stable")[:MOST_DRAWINGS].tolist()
        weights = model.estimator_weights_ / model.estimator_weights_.sum()
        return [
            _of_network(model.networks_[m], shades, f"Round {m + 1}, {weights[m]:.1%} of the votes", (*path, m))
            for m in heaviest
        ]
    if hasattr(model, "network_"):
        return [_of_network(model.network_, shades, "", path)]
    return [_of_all_super_parents(model, shades, path)]


def _of_network(network: Network, shades: Sequence[float], title: str, path: tuple[int, ...]) -> Drawing:
    strengths = numbered_strengths(network)
    said = told_words(network.names, strengths)
    explained = (
        "What stands at the right end of a line depends on what stands at its left end. The thicker the line the more "
        "is told, beyond what the other parents tell."
    )
    if class_above_all(network.structure):
        explained += f" Every attribute depends on {network.schema.class_name} too; these lines are left out."
    svg = picture(network.names, network.structure, strengths, said, shades, buttons=True)
    return Drawing(title, explained, svg, path, network.structure.parents)


def _of_trees(model: AveragedTAN, shades: Sequence[float], path: tuple[int, ...]) -> list[Drawing]:
    multinet = model.model_.multinet
    networks = model.map_tree_ if multinet else (model.map_tree_,)
    matrices = model.edge_probabilities_ if multinet else model.edge_probabilities_[None]
    found = []
    for k, (network, matrix) in enumerate(zip(networks[:MOST_DRAWINGS], matrices)):
        names, structure = network.names, network.structure
        edges = [(p, u) for u in range(len(names) - 1) for p in structure.attribute_parents(u)]
        strengths = {(p, u): float(matrix[p, u]) for p, u in edges}
        further = {
            (u, v): float(matrix[u, v])
            for u, v in zip(*np.nonzero(np.tril(matrix, -1) >= LEAST_PROBABLE))
            if (u, v) not in strengths and (v, u) not in strengths
        }
        said = {(a, b): f"{names[a]} – {names[b]}: {p:.1%} probable" for (a, b), p in (strengths | further).items()}
        svg = picture(names, structure, strengths, said, shades, further, most=1.0, buttons=True)
        title = f"{network.schema.class_name} = {network.schema.classes[k]}" if multinet else ""
        explained = (
            "The most probable tree. The thicker a line the more probable is that edge; dashed are other edges of at "
            f"least {LEAST_PROBABLE:.0%}. The classifier averages over all trees; every attribute depends on "
            f"{network.schema.class_name} in each."
        )
        if len(networks) > MOST_DRAWINGS:
            explained += f" Each class has trees of its own; those of the first {MOST_DRAWINGS} are drawn."
        found.append(Drawing(title, explained, svg, path, structure.parents, k if multinet else None))
    return found


def _of_members(model: AdditiveBN, shades: Sequence[float], path: tuple[int, ...]) -> list[Drawing]:
    members: list[Any] = model.members_
    heaviest = np.argsort(-model.weights_, kind="stable")[:MOST_DRAWINGS].tolist()
    voting = np.flatnonzero(model.weights_).tolist()
    found = []
    for m in heaviest:
        if m not in voting:
            continue
        member, title, at = members[m], f"Weight {model.weights_[m]:.1%}", (*path, voting.index(m))
        if isinstance(member, Network):
            found.append(_of_network(member, shades, title, at))
        else:
            for drawing in drawings(member, shades, at):
                words = ", ".join(part for part in (title, type(member).__name__, drawing.title) if part)
                found.append(replace(drawing, title=words))
    return found[:MOST_DRAWINGS]


def _of_all_super_parents(model: Any, shades: Sequence[float], path: tuple[int, ...]) -> Drawing:
    schema = model.schema_
    structure = Structure.augmented([-1] * len(schema.columns))
    svg = picture((*schema.names, schema.class_name), structure, {}, {}, shades, buttons=True)
    explained = (
        "The classifier is the mean of as many networks as there are attributes: in each, one attribute is above all "
        f"others, beside {schema.class_name}. So there is no line that is thicker than another."
    )
    return Drawing("", explained, svg, path, structure.parents)
