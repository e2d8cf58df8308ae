"""The network of a classifier, for formats that can hold only one."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.network import Network


def single_network(model: Any, form: str) -> Network:
    """Return a network, or the network of a classifier whose predictions are those of the network.

    Raise ValueError or TypeError if the model has no such network. `form` is the name of the format in the message.
    """
    network = network_of_model(model, form)
    if isinstance(model, NetworkClassifier) and model.model_.prior_ratio.any():
        raise ValueError(
            f"{form} cannot express class_prior for a network whose class has parents; "
            f"tanbark.export.{form.lower()}(model.network_, path) exports the network with the learned prior"
        )
    return network


def network_of_model(model: Any, form: str) -> Network:
    """Return a network, or the network of a classifier that has one, which may ignore `class_prior`."""
    if isinstance(model, Network):
        return model
    if not isinstance(model, CountsClassifier):
        raise TypeError(f"cannot export {type(model).__name__!r} to {form}: expected a Network or a tanbark classifier")
    check_is_fitted(model)
    if isinstance(model, NetworkClassifier):
        network: Network = model.network_
        return network
    if isinstance(model, AveragedTAN):
        multinet = isinstance(model.map_tree_, tuple)
        trees, best = ("all trees for each class", "map_tree_[0]") if multinet else ("all trees", "map_tree_")
        raise ValueError(
            f"AveragedTAN averages over {trees}, but {form} can hold only a single network; "
            f"export the most probable tree in Python: tanbark.export.{form.lower()}(model.{best}, path)"
        )
    if isinstance(model, BoostedBN):
        raise ValueError(
            f"BoostedBN combines several networks, but {form} can hold only one; export them one by one in Python: "
            f"tanbark.export.{form.lower()}(model.networks_[0], path)"
        )
    raise ValueError(
        f"{type(model).__name__} combines many networks, but {form} can hold only one; fit another classifier, "
        "for example TAN"
    )
