"""Serialise a model for inference inside the report page."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.averaging import TreePosterior
from tanbark.averaging.pool_members import Networks, SuperParents
from tanbark.averaging.tree_mixture import COMPLETIONS
from tanbark.classifiers._base.network_classifier import NetworkClassifier
from tanbark.classifiers.additive_bn import AdditiveBN
from tanbark.classifiers.aode import AODE
from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.classifiers.fitted_members import Classifiers
from tanbark.network import Network
from tanbark.network.edge_strengths import is_quick
from tanbark.network.tables import SparseTable

MOST_NUMBERS = 4_000_000
"""A model of more numbers is too large for a page."""

Carried = dict[str, Any]


class TooLargeError(ValueError):
    """A model has more numbers than a page can carry."""


def carried(model: Any) -> Carried:
    """Return all that `script/inference.js` needs to answer as the model does; numbers keep all their digits.

    Raises
    ------
    TooLargeError
        Where the page would be too large.
    """
    numbers = _numbers(model)
    if numbers > MOST_NUMBERS:
        raise TooLargeError(f"its {numbers:,} numbers are more than a page can carry ({MOST_NUMBERS:,})")
    return _carried(model)


def is_explained(scorer: Carried | None) -> bool:
    """Return whether a page can share out what a model says as `explain` does; else it tells what moves the answer."""
    if scorer is None or scorer["kind"] in ("super-parents", "committee", "tree-average"):
        return False
    if scorer["kind"] == "pool":
        return not scorer["linear"] and all(map(is_explained, scorer.get("members", ())))
    return scorer["alone"] is not None


def packed(values: Any) -> Carried:
    """Return an array as text: little-endian doubles, or those that differ and which of them stands where.

    The most frequent ones stand first. A place is written in as few bytes as it takes, seven bits in each, the lowest
    first; the eighth bit says that more follow.

    >>> packed([0.0])
    {'values': 'AAAAAAAAAAA='}
    >>> packed([0.0] * 9)
    {'values': 'AAAAAAAAAAA=', 'codes': 'AAAAAAAAAAAA'}
    """
    flat = np.ascontiguousarray(values, "<f8").ravel()
    different, place, times = np.unique(flat.view("<i8"), return_inverse=True, return_counts=True)
    if 8 * len(different) + 2 * len(flat) >= 8 * len(flat):
        return {"values": _text(flat)}
    order = np.argsort(-times, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return {"values": _text(different[order]), "codes": _text(_in_bytes(rank[place.ravel()]))}


def _in_bytes(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return whole numbers below 2**28 in groups of seven bits.

    >>> _in_bytes(np.array([1, 300])).tolist()
    [1, 172, 2]
    """
    groups = np.stack([numbers >> shift & 127 for shift in (0, 7, 14, 21)], axis=1)
    many = 1 + (numbers[:, None] >> np.array([7, 14, 21]) > 0).sum(axis=1)
    written = np.arange(4) < many[:, None]
    more = np.arange(4) < many[:, None] - 1
    return np.asarray((groups | more * 128)[written], np.uint8)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _numbers(model: Any) -> int:
    """Return how many numbers a page about a classifier would carry."""
    return _kind(model)[1](model)


def _pool_numbers(model: AdditiveBN) -> int:
    voting = model._voting
    if isinstance(voting, SuperParents):
        return voting.pairs.size
    if isinstance(voting, Networks):
        return _cells(voting.networks)
    assert isinstance(voting, Classifiers)
    return sum(map(_numbers, voting.models))


def _cells(networks: Iterable[Network]) -> int:
    return sum(math.prod(table.shape) for network in networks for table in network.log_tables)


def _carried(model: Any) -> Carried:
    return _kind(model)[0](model)


def _kind(model: Any) -> tuple[Callable[[Any], Carried], Callable[[Any], int]]:
    """Return what carries a classifier, and what tells how many numbers that takes."""
    for kind, found in _CARRIERS.items():
        if isinstance(model, kind):
            return found
    raise TypeError(f"{type(model).__name__} is no classifier of tanbark")


def _network(network: Network) -> Carried:
    """Return a network: a table has an axis for each attribute above, one for the node's values, one for the class."""
    of_class = network.structure.of_class
    tables = []
    for table, above in zip(network.log_tables, network.structure.parents):
        dense = table.dense() if isinstance(table, SparseTable) else table
        axes = [axis for axis, p in enumerate(above) if p != of_class] + [len(above)]
        axes += [axis for axis, p in enumerate(above) if p == of_class]
        tables.append(packed(dense.transpose(axes)))
    return {
        "kind": "plain",
        "parents": [list(above) for above in network.structure.parents],
        "tables": tables,
        "alone": [packed(alone) for alone in network.log_given_class] if is_quick(network) else None,
        "logPrior": packed(network.class_log_prior),
    }


def _network_classifier(model: NetworkClassifier) -> Carried:
    prior = packed(model.class_log_prior_)
    return {**_network(model.network_), "kind": "network", "ratio": packed(model._prior_ratio), "givenPrior": prior}


def _aode(model: AODE) -> Carried:
    tables = model._arrays()
    names = {"own": "own", "pairs": "pairs", "votes": "votes", "alone": "alone", "log_prior": "logPrior"}
    return {"kind": "super-parents", **{name: packed(tables[ours]) for ours, name in names.items()}}


def _additive_bn(model: AdditiveBN) -> Carried:
    voting = model._voting
    pool: Carried = {
        "kind": "pool",
        "weights": packed(model._pool),
        "linear": model._linear,
        "learnedPrior": packed(model._learned_prior),
        "logPrior": packed(model.class_log_prior_),
        "ratio": packed(model._prior_ratio),
    }
    if isinstance(voting, SuperParents):
        # The tables of those that have no weight are not needed.
        used = np.zeros(len(voting.own), np.bool_)
        for u in voting.members.tolist():
            used[voting.offset[u] : voting.offset[u + 1]] = True
        pairs = np.where(used[:, None, None], voting.pairs, 0.0)
        return pool | {"superParents": voting.members.tolist(), "own": packed(voting.own), "pairs": packed(pairs)}
    if isinstance(voting, Networks):
        return pool | {"members": [_network(network) for network in voting.networks]}
    assert isinstance(voting, Classifiers)
    return pool | {"members": [_carried(member) for member in voting.models]}


def _boosted_bn(model: BoostedBN) -> Carried:
    return {
        "kind": "committee",
        "members": [_network(network) for network in model.networks_],
        "weights": packed(model.estimator_weights_),
        "temperature": model.temperature_,
        "logPrior": packed(model.class_log_prior_),
        "ratio": packed(model._prior_ratio),
    }


def _averaged_tan(model: AveragedTAN) -> Carried:
    """Return the distributions of pairs, the weights of edges, and the trees drawn for rows that lack much."""
    mixture = model._mixture
    values, offset = mixture.values, mixture.schema.offset.tolist()
    blocks = []
    for u in range(1, len(offset) - 1):
        for v in range(u):
            mine, theirs = slice(offset[u], offset[u + 1]), slice(offset[v], offset[v + 1])
            joint = mixture.ratios[mine, theirs] * values[mine, None] * values[None, theirs]
            blocks.append(joint.ravel())
    _, parent, times = mixture._trees
    posteriors = [TreePosterior(posterior.near) for posterior in mixture.posteriors]
    return {
        "kind": "tree-average",
        "values": packed(values),
        "pairs": packed(np.concatenate([*blocks, np.empty(0)])),
        "logPrior": packed(mixture.log_prior),
        "logWeights": [packed(posterior.log_weights) for posterior in posteriors],
        "logTotals": packed([posterior.log_total for posterior in posteriors]),
        "trees": [packed(trees) for trees in parent],
        "times": packed(times),
        "completions": COMPLETIONS,
    }


_CARRIERS: dict[type, tuple[Callable[[Any], Carried], Callable[[Any], int]]] = {
    NetworkClassifier: (_network_classifier, lambda model: _cells([model.network_])),
    AODE: (_aode, lambda model: model._arrays()["pairs"].size),
    AdditiveBN: (_additive_bn, _pool_numbers),
    BoostedBN: (_boosted_bn, lambda model: _cells(model.networks_)),
    AveragedTAN: (_averaged_tan, lambda model: model._mixture.ratios.size // 2),
}
