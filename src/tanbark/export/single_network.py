"""The single network of a classifier, for formats that hold one."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.network import Network


def single_network(model: Any, form: str) -> Network:
    """Return a network, or that of a classifier whose answers are those of its network.

    Any other model is an error that says why the format, whose name is `form`, cannot express it.
    """
    network = drawn_network(model, form)
    if isinstance(model, NetworkClassifier) and model.model_.prior_ratio.any():
        raise ValueError(
            f"class_prior is in no table of a network whose class has parents, so that {form} cannot hold it; "
            f"tanbark.export.{form.lower()}(model.network_, path) exports the network under the learned prior"
        )
    return network


def drawn_network(model: Any, form: str) -> Network:
    """Return a network, or that of a classifier that has one."""
    if isinstance(model, Network):
        return model
    if not isinstance(model, CountsClassifier):
        raise TypeError(f"only a Network or a classifier of tanbark can become {form}, not {type(model).__name__!r}")
    check_is_fitted(model)
    if isinstance(model, NetworkClassifier):
        network: Network = model.network_
        return network
    if isinstance(model, AveragedTAN):
        multinet = isinstance(model.map_tree_, tuple)
        many, best = ("a tree for each class", "map_tree_[0]") if multinet else ("all trees", "map_tree_")
        raise ValueError(
            f"AveragedTAN averages over {many}, and so is no single network that {form} could hold; "
            f"export the most probable one, in Python: tanbark.export.{form.lower()}(model.{best}, path)"
        )
    if isinstance(model, BoostedBN):
        raise ValueError(
            f"BoostedBN lets networks vote, and {form} can hold one; export them one by "
            f"one, in Python: tanbark.export.{form.lower()}(model.networks_[0], path)"
        )
    raise ValueError(
        f"{type(model).__name__} pools many networks, and {form} can hold one; fit another model, TAN for example"
    )
