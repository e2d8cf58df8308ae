"""Drawings of the networks of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tanbark.classifiers.additive_bn import AdditiveBN
from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.classifiers.boosted_tables import BoostedTables
from tanbark.classifiers.ensemble_bn import EnsembleBN
from tanbark.classifiers.evidence_bn import EvidenceBN
from tanbark.drawing.layout import class_above_all
from tanbark.drawing.network_pictures import edge_labels, picture
from tanbark.network import Network, Structure
from tanbark.network.edge_strengths import numbered_strengths

MAX_DRAWINGS = 6
MIN_EDGE_PROBABILITY = 0.1
"""Edges outside the most probable tree are shown if they are at least this probable."""


@dataclass(frozen=True)
class Drawing:
    """A drawing of one network of a classifier."""

    title: str
    """Empty if the classifier has only one network."""
    caption: str
    """How to read the drawing."""
    svg: str
    path: tuple[int, ...]
    """The indices of the members that lead from the classifier to the network."""
    parents: tuple[tuple[int, ...], ...]
    of_class: int | None = None
    """The class to which the network applies, if each class has its own."""


def drawings(model: Any, shades: Sequence[float], path: tuple[int, ...] = ()) -> list[Drawing]:
    """Return drawings of the networks of a classifier, those of greatest weight first."""
    if isinstance(model, AveragedTAN):
        return _of_trees(model, shades, path)
    if isinstance(model, AdditiveBN):
        return _of_members(model, shades, path)
    if isinstance(model, BoostedBN):
        heaviest = np.argsort(-model.estimator_weights_, kind="stable")[:MAX_DRAWINGS].tolist()
        weights = model.estimator_weights_ / model.estimator_weights_.sum()
        return [
            _of_network(model.networks_[m], shades, f"Round {m + 1}, {weights[m]:.1%} of the votes", (*path, m))
            for m in heaviest
        ]
    if isinstance(model, EvidenceBN):
        return [_of_evidence(model, shades, path)]
    if isinstance(model, EnsembleBN):
        return [
            replace(drawing, title="The additive model inside") for drawing in drawings(model.evidence_, shades, path)
        ]
    if isinstance(model, BoostedTables):
        return [_of_boosted_tables(model, shades, path)]
    if hasattr(model, "network_"):
        return [_of_network(model.network_, shades, "", path)]
    return [_of_all_super_parents(model, shades, path)]


def _of_boosted_tables(model: BoostedTables, shades: Sequence[float], path: tuple[int, ...]) -> Drawing:
    schema = model.schema_
    structure = Structure.augmented([-1] * len(schema.columns))
    svg = picture((*schema.names, schema.class_name), structure, {}, {}, shades, buttons=True)
    caption = "The classifier adds up tables over questions about all attributes. Thus no edges are shown."
    return Drawing("", caption, svg, path, structure.parents)


def _of_network(network: Network, shades: Sequence[float], title: str, path: tuple[int, ...]) -> Drawing:
    strengths = numbered_strengths(network)
    labels = edge_labels(network.names, strengths)
    caption = (
        "Each line leads from a parent on the left to its child on the right. The thicker the line, the greater the "
        "mutual information between them given the child's other parents."
    )
    if class_above_all(network.structure):
        caption += f" Every attribute also depends on {network.schema.class_name}; these lines are omitted."
    svg = picture(network.names, network.structure, strengths, labels, shades, buttons=True)
    return Drawing(title, caption, svg, path, network.structure.parents)


def _of_evidence(model: EvidenceBN, shades: Sequence[float], path: tuple[int, ...]) -> Drawing:
    fitted = model.model_
    schema, structure, strengths = fitted.schema, fitted.structure, fitted.edge_strengths()
    names = (*schema.names, schema.class_name)
    caption = (
        "Each line leads from a parent on the left to its child on the right: the evidence of the child's value "
        "depends on the value of the parent. The thicker the line, the more the evidence of the child changes if the "
        "parent is unknown, on average over the training rows. Every attribute is evidence about "
        f"{schema.class_name}; these lines are omitted."
    )
    svg = picture(names, structure, strengths, edge_labels(names, strengths), shades, buttons=True)
    return Drawing("", caption, svg, path, structure.parents)


def _of_trees(model: AveragedTAN, shades: Sequence[float], path: tuple[int, ...]) -> list[Drawing]:
    multinet = model.model_.multinet
    networks = model.map_tree_ if multinet else (model.map_tree_,)
    matrices = model.edge_probabilities_ if multinet else model.edge_probabilities_[None]
    found = []
    for k, (network, matrix) in enumerate(zip(networks[:MAX_DRAWINGS], matrices[:MAX_DRAWINGS], strict=True)):
        names, structure = network.names, network.structure
        edges = [(p, u) for u in range(len(names) - 1) for p in structure.attribute_parents(u)]
        strengths = {(p, u): float(matrix[p, u]) for p, u in edges}
        further = {
            (u, v): float(matrix[u, v])
            for u, v in zip(*np.nonzero(np.tril(matrix, -1) >= MIN_EDGE_PROBABILITY), strict=True)
            if (u, v) not in strengths and (v, u) not in strengths
        }
        labels = {(a, b): f"{names[a]} – {names[b]}: {p:.1%} probable" for (a, b), p in (strengths | further).items()}
        svg = picture(names, structure, strengths, labels, shades, further, most=1.0, buttons=True)
        title = f"{network.schema.class_name} = {network.schema.classes[k]}" if multinet else ""
        caption = (
            "The most probable tree. The thicker a line, the more probable the edge. Dashed lines are other edges of "
            f"probability {MIN_EDGE_PROBABILITY:.0%} or more. The classifier averages over all trees; in each, every "
            f"attribute also depends on {network.schema.class_name}."
        )
        if len(networks) > MAX_DRAWINGS:
            caption += f" Each class has its own trees; those of the first {MAX_DRAWINGS} classes are shown."
        found.append(Drawing(title, caption, svg, path, structure.parents, k if multinet else None))
    return found


def _of_members(model: AdditiveBN, shades: Sequence[float], path: tuple[int, ...]) -> list[Drawing]:
    members: list[Any] = model.members_
    heaviest = np.argsort(-model.weights_, kind="stable")[:MAX_DRAWINGS].tolist()
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
                full_title = ", ".join(part for part in (title, type(member).__name__, drawing.title) if part)
                found.append(replace(drawing, title=full_title))
    return found[:MAX_DRAWINGS]


def _of_all_super_parents(model: Any, shades: Sequence[float], path: tuple[int, ...]) -> Drawing:
    schema = model.schema_
    structure = Structure.augmented([-1] * len(schema.columns))
    svg = picture((*schema.names, schema.class_name), structure, {}, {}, shades, buttons=True)
    caption = (
        "The classifier averages one network per attribute, in which this attribute and "
        f"{schema.class_name} are the parents of all other attributes. Thus no edges are shown."
    )
    return Drawing("", caption, svg, path, structure.parents)
