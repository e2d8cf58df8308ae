"""A model as plain values and as text for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.additive_bn import AdditiveBN
    from tanbark.classifiers.averaged_tan import AveragedTAN
    from tanbark.classifiers.base.counts_classifier import CountsClassifier
    from tanbark.evaluate import CrossValidation
    from tanbark.network import Network


def described(model: CountsClassifier) -> dict[str, Any]:
    """Return what a model is.

    Its keys are ``model`` (the classifier's name), ``settings``, ``rows`` (learned from, by weight), ``class`` (its
    ``name``, ``levels``, and their ``rows`` and ``probabilities`` before anything is known), ``columns`` (each with
    ``name``, ``kind``, ``levels`` or ``cuts``, the share that is ``missing``, and its ``information`` about the class,
    in nats), ``parents`` (of each node, where there is one network) and ``log_score`` (where the network was searched).
    """
    import numpy as np

    from tanbark.classifiers.base.counts_classifier import settings_of
    from tanbark.classifiers.registry import REGISTRY
    from tanbark.schema import Number
    from tanbark.structure import class_information

    schema, counts = model.schema_, model.counts_
    network = one_network(model)
    present = [counts.value(u).sum() / counts.class_counts.sum() for u in range(len(schema.columns))]
    return {
        "model": next(entry.name for entry in REGISTRY.values() if entry.classifier is type(model)),
        "settings": settings_of(model),
        "rows": counts.class_counts.sum().item(),
        "class": {
            "name": schema.class_name,
            "levels": schema.classes,
            "rows": counts.class_counts,
            "probabilities": np.exp(model.class_log_prior_),
        },
        "columns": [
            {
                "name": column.name,
                "kind": "number" if isinstance(column, Number) else "category",
                **({"cuts": column.cuts} if isinstance(column, Number) else {"levels": column.levels}),
                "missing": 1 - share,
                "information": information,
            }
            for column, share, information in zip(schema.columns, present, class_information(counts))
        ],
        "parents": network.parents if hasattr(network, "parents") else None,
        "log_score": getattr(model, "log_score_", None),
    }


def scores(found: CrossValidation) -> dict[str, Any]:
    """Return every metric's ``mean`` and ``standard_error``, and the median seconds that a fold took."""
    import numpy as np

    from tanbark.evaluate import METRICS

    measured = {
        metric: {"mean": found.mean(metric), "standard_error": found.standard_error(metric)} for metric in METRICS
    }
    return {
        **measured,
        "fit_seconds": np.median(found.fit_seconds),
        "predict_seconds": np.median(found.predict_seconds),
    }


def print_structure(console: Console, model: Any) -> None:
    """Print the class and, beneath, the attributes as a tree, or of many what weighs most."""
    if hasattr(model, "network_"):
        print_network(console, model.network_)
    elif hasattr(model, "networks_"):
        heaviest = int(model.estimator_weights_.argmax())
        if len(model.networks_) > 1:
            console.print(f"{len(model.networks_)} networks vote; that of the heaviest vote:")
        print_network(console, model.networks_[heaviest])
    elif hasattr(model, "members_"):
        _print_pool(console, model)
    elif hasattr(model, "map_tree_"):
        _print_average(console, model)
    else:
        console.print("Every column in turn is above all others, and the answers are averaged.", soft_wrap=True)


def score_words(model: Any) -> str:
    """Return the score of a structure that was searched, and how it was searched."""
    how = {"exact": ", the greatest of all structures", "greedy": ", found by hill climbing"}
    return f"{model.log_score_:,.2f} nats{how.get(getattr(model, 'search_', ''), '')}"


def one_network(model: Any) -> Any:
    """Return the network that a model is, or the most probable one, or one for each class; None where it is many."""
    return getattr(model, "network_", None) or getattr(model, "map_tree_", None)


def _print_pool(console: Console, model: AdditiveBN) -> None:
    """Print what is pooled, the heaviest first."""
    from rich.table import Table
    from rich.text import Text

    many = range(len(model.weights_))
    names = {
        "superparent": list(model.schema_.names),
        "naive-bayes": [f"naive Bayes over the {m + 1} most telling columns" for m in many],
        "tan": [f"tree {m + 1}" for m in many],
        "kdb": [f"k-dependence network, k = {m}" for m in many],
    }.get(model.weak if isinstance(model.weak, str) else "") or [repr(member) for member in model.members_]
    console.print("Super-parents and their weights:" if model.weak == "superparent" else "What is pooled, by weight:")
    table = Table.grid(padding=(0, 3, 0, 0))
    for m in (-model.weights_).argsort(kind="stable").tolist():
        if model.weights_[m] > 0:
            table.add_row(Text(names[m]), f"{model.weights_[m]:.4f}")
    console.print(table)


def print_network(console: Console, network: Network) -> None:
    """Print a network as a tree, the class in bold."""
    _print_tree(console, str(network), network.schema.class_name)


def _print_tree(console: Console, drawn: str, bold: str) -> None:
    """Print a drawn tree, the line of one node in bold."""
    from rich.text import Text

    for line in drawn.splitlines():
        label = line.lstrip("│├└─ ").split("  (and ")[0]
        console.print(Text(line, style="bold" if label == bold else ""), soft_wrap=True)


def _print_average(console: Console, model: AveragedTAN) -> None:
    """Print the most probable tree, or that of each class, with the probability of every edge to an attribute above."""
    best, several = model.map_tree_, len(model.schema_.columns) > 1
    multinet = isinstance(best, tuple)
    if several:
        words = "tree of each class" if multinet else "tree"
        console.print(f"The most probable {words}, and how probable each edge is:")
    if multinet:
        for label, network, matrix in zip(model.schema_.classes, best, model.edge_probabilities_):
            title = f"{model.schema_.class_name} = {label}"
            _print_tree(console, _annotated(network, matrix, title), title)
    else:
        title = model.schema_.class_name
        _print_tree(console, _annotated(best, model.edge_probabilities_, title), title)
    if several:
        share = f"Of these edges a tree of the posterior has {_share(model.concentration_)} on average."
        console.print(share, style="dim", soft_wrap=True)


def _annotated(network: Network, matrix: Any, head: str) -> str:
    """Return the drawing of a tree in which every name is followed by how probable the edge to it is."""
    from tanbark.drawing.network_pictures import draw

    names = []
    for u, name in enumerate(network.names[:-1]):
        above = network.structure.attribute_parents(u)
        names.append(f"{name}  {_share(matrix[u, above[0]])}" if above else name)
    return draw([*names, head], network.structure)


def _share(probability: float) -> str:
    if probability < 0.0005:
        return "below 0.1%"
    return "over 99.9%" if 0.9995 <= probability < 1.0 else f"{probability:.1%}"
