"""A model's structure drawn in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.averaged_tan import AveragedTAN
    from tanbark.network import Network


def print_structure(console: Console, model: Any) -> None:
    """Print the class and, beneath, the attributes as a tree: of many the most probable, or that of most votes."""
    if hasattr(model, "network_"):
        print_tree(console, str(model.network_))
    elif hasattr(model, "networks_"):
        heaviest = int(model.estimator_weights_.argmax())
        if len(model.networks_) > 1:
            console.print(f"{len(model.networks_)} networks vote; that of the heaviest vote:")
        print_tree(console, str(model.networks_[heaviest]))
    else:
        _print_average(console, model)


def print_tree(console: Console, drawn: str) -> None:
    """Print a drawn tree, its first line bold."""
    from rich.text import Text

    first, _, rest = drawn.partition("\n")
    console.print(Text(first, style="bold"), soft_wrap=True)
    console.print(Text(rest), soft_wrap=True)


def _print_average(console: Console, model: AveragedTAN) -> None:
    """Print the most probable tree, or that of each class, with the probability of every edge to an attribute above."""
    best, several = model.map_tree_, len(model.schema_.columns) > 1
    multinet = isinstance(best, tuple)
    if several:
        words = "tree of each class" if multinet else "tree"
        console.print(f"The most probable {words}, and how probable each edge is:")
    if multinet:
        for label, network, matrix in zip(model.schema_.classes, best, model.edge_probabilities_):
            print_tree(console, _annotated(network, matrix, f"{model.schema_.class_name} = {label}"))
    else:
        print_tree(console, _annotated(best, model.edge_probabilities_, model.schema_.class_name))
    if several:
        share = f"Of these edges a tree of the posterior has {_share(model.concentration_)} on average."
        console.print(share, style="dim", soft_wrap=True)


def _annotated(network: Network, matrix: Any, head: str) -> str:
    """Return the drawing of a tree in which every name is followed by how probable the edge to it is."""
    from tanbark.network.drawing import draw

    names = []
    for u, name in enumerate(network.names[:-1]):
        above = network.structure.attribute_parents(u)
        names.append(f"{name}  {_share(matrix[u, above[0]])}" if above else name)
    return draw([*names, head], network.structure)


def _share(probability: float) -> str:
    if probability < 0.0005:
        return "below 0.1%"
    return "over 99.9%" if 0.9995 <= probability < 1.0 else f"{probability:.1%}"
