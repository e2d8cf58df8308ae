"""Serialise a model for inference inside the report page."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.averaging import Networks, SuperParents, TreePosterior
from tanbark.models import (
    BoostedClassTables,
    Ensemble,
    EvidenceModel,
    Model,
    NetworkModel,
    Pool,
    SuperParentAverage,
    TreeAverage,
    Votes,
)
from tanbark.models.tree_average import MAX_COMPLETIONS
from tanbark.network import Network
from tanbark.network.edge_strengths import has_fast_marginals
from tanbark.network.tables import SparseTable
from tanbark.schema import Number
from tanbark.schema.encode.columns import Column

MAX_NUMBERS = 4_000_000
"""A model with more numbers is too large for a page."""

PageModel = dict[str, Any]


class TooLargeError(ValueError):
    """A model has too many numbers for a page, or consists of too many tables to be written to it."""


def page_model(model: Model) -> PageModel:
    """Return the data from which `script/inference.js` computes the model's answers, in full precision.

    Raises
    ------
    TooLargeError
        If the model has more than `MAX_NUMBERS` numbers, or contains boosted tables.
    """
    if isinstance(model, BoostedClassTables | Ensemble):
        raise TooLargeError("the model consists of thousands of small tables")
    size = _size(model)
    if size > MAX_NUMBERS:
        raise TooLargeError(f"the model has {size:,} numbers, more than the maximum of {MAX_NUMBERS:,}")
    return _serialised(model)


def has_evidence(model: PageModel | None) -> bool:
    """Return whether a page can compute the weights of `explain`; otherwise it shows how values change the answer."""
    if model is None or model["kind"] in ("super-parents", "votes", "tree-average"):
        return False
    if model["kind"] == "evidence":
        return True
    if model["kind"] == "pool":
        return not model["linear"] and all(map(has_evidence, model.get("members", ())))
    return model["alone"] is not None


def packed(values: Any) -> PageModel:
    """Return an array as base64 text: little-endian doubles, or the distinct doubles and the index of each element.

    The most frequent doubles come first. An index takes as few bytes as possible, with seven bits in each, lowest
    first; the eighth bit is set if more bytes follow.

    >>> packed([0.0])
    {'values': 'AAAAAAAAAAA='}
    >>> packed([0.0] * 9)
    {'values': 'AAAAAAAAAAA=', 'codes': 'AAAAAAAAAAAA'}
    """
    flat = np.ascontiguousarray(values, "<f8").ravel()
    distinct, place, times = np.unique(flat.view("<i8"), return_inverse=True, return_counts=True)
    if 8 * len(distinct) + 2 * len(flat) >= 8 * len(flat):
        return {"values": _text(flat)}
    order = np.argsort(-times, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return {"values": _text(distinct[order]), "codes": _text(_in_bytes(rank[place.ravel()]))}


def _in_bytes(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Encode whole numbers below 2**28 in groups of seven bits.

    >>> _in_bytes(np.array([1, 300])).tolist()
    [1, 172, 2]
    """
    groups = np.stack([numbers >> shift & 127 for shift in (0, 7, 14, 21)], axis=1)
    n_bytes = 1 + (numbers[:, None] >> np.array([7, 14, 21]) > 0).sum(axis=1)
    written = np.arange(4) < n_bytes[:, None]
    more = np.arange(4) < n_bytes[:, None] - 1
    return np.asarray((groups | more * 128)[written], np.uint8)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _size(model: Model) -> int:
    """Return how many numbers a page about a model contains."""
    return _writer(model)[1](model)


def _pool_size(pool: Pool) -> int:
    voting = pool.voting
    if isinstance(voting, SuperParents):
        return voting.pairs.size
    if isinstance(voting, Networks):
        return _cells(voting.networks)
    return sum(map(_size, voting.models))


def _cells(networks: Iterable[Network]) -> int:
    return sum(math.prod(table.shape) for network in networks for table in network.log_tables)


def _serialised(model: Model) -> PageModel:
    return _writer(model)[0](model)


def _writer(model: Model) -> tuple[Callable[[Any], PageModel], Callable[[Any], int]]:
    """Return the functions that serialise a model and that return its size."""
    return _WRITERS[type(model)]


def _network(network: Network) -> PageModel:
    """Serialise a network. Tables have an axis for each parent attribute, the node's values, and the class."""
    of_class = network.structure.of_class
    tables = []
    for table, parents in zip(network.log_tables, network.structure.parents, strict=True):
        dense = table.dense() if isinstance(table, SparseTable) else table
        axes = [axis for axis, p in enumerate(parents) if p != of_class] + [len(parents)]
        axes += [axis for axis, p in enumerate(parents) if p == of_class]
        tables.append(packed(dense.transpose(axes)))
    return {
        "kind": "plain",
        "parents": [list(parents) for parents in network.structure.parents],
        "tables": tables,
        "alone": [packed(alone) for alone in network.log_given_class] if has_fast_marginals(network) else None,
        "logPrior": packed(network.class_log_prior),
    }


def _network_model(model: NetworkModel) -> PageModel:
    prior = packed(model.class_log_prior)
    return {**_network(model.network), "kind": "network", "ratio": packed(model.prior_ratio), "givenPrior": prior}


def _evidence(model: EvidenceModel) -> PageModel:
    """Serialise the compiled tables, and the weight of the training rows in each of their cells.

    The page restores the entries of the last code, which are zero, and those of the last class: all classes sum to
    zero.
    """
    compiled, columns = model.compiled, model.schema.columns
    return {
        "kind": "evidence",
        "base": packed(model.base_scores),
        "tables": [packed(table[..., :-1, :-1]) for table in compiled.tables],
        "rows": [packed(joint.sum(axis=-1)) for joint in model.joints],
        "parents": [list(parents) for parents in compiled.parents],
        "digits": [digits.tolist() for digits in compiled.digits],
        "contexts": [context_labels(*one) for one in zip(columns, compiled.digits, strict=True)],
        "logPrior": packed(model.class_log_prior),
    }


def context_labels(column: Column, digits: NDArray[np.int64]) -> list[str | None]:
    """Return a label for each digit of a column as a parent, except the last; `None` if no code has the digit.

    >>> context_labels(Number("age", (30, 40, 50, 60), missing=True), np.array([0, 0, 2, 2, 2, 3, 4]))
    ['<= 40', None, '> 40', '(missing)']
    """
    labels: list[str | None] = [None] * int(digits[-1])
    for digit in np.unique(digits[:-1]).tolist():
        codes = np.flatnonzero(digits == digit).tolist()
        if len(codes) == 1:
            labels[digit] = column.labels[codes[0]]
        elif isinstance(column, Number):
            below, above = column.cuts[: codes[0]][-1:], column.cuts[codes[-1] :][:1]
            labels[digit] = replace(column, cuts=below + above, missing=False).labels[len(below)]
        else:
            labels[digit] = f"{len(codes):,} rare levels"
    return labels


def _super_parent_average(model: SuperParentAverage) -> PageModel:
    return {
        "kind": "super-parents",
        "own": packed(model.own),
        "pairs": packed(model.pairs),
        "votes": packed(model.votes),
        "alone": packed(model.alone),
        "logPrior": packed(model.class_log_prior),
    }


def _pool(model: Pool) -> PageModel:
    voting = model.voting
    pool: PageModel = {
        "kind": "pool",
        "weights": packed(model.voting_weights),
        "linear": model.linear,
        "learnedPrior": packed(model.learned_log_prior),
        "logPrior": packed(model.class_log_prior),
        "ratio": packed(model.prior_ratio),
    }
    if isinstance(voting, SuperParents):
        # The tables of super-parents without a weight are not needed.
        used = np.zeros(len(voting.own), np.bool_)
        for u in voting.members.tolist():
            used[voting.offset[u] : voting.offset[u + 1]] = True
        pairs = np.where(used[:, None, None], voting.pairs, 0.0)
        return pool | {"superParents": voting.members.tolist(), "own": packed(voting.own), "pairs": packed(pairs)}
    if isinstance(voting, Networks):
        return pool | {"members": [_network(network) for network in voting.networks]}
    return pool | {"members": [_serialised(member) for member in voting.models]}


def _votes(model: Votes) -> PageModel:
    return {
        "kind": "votes",
        "members": [_network(network) for network in model.members],
        "weights": packed(model.weights),
        "temperature": model.temperature,
        "logPrior": packed(model.class_log_prior),
        "ratio": packed(model.prior_ratio),
    }


def _tree_average(model: TreeAverage) -> PageModel:
    """Serialise the distributions of pairs, the edge weights, and the trees sampled for rows with missing values."""
    values, offset = model.values, model.schema.offset.tolist()
    blocks = []
    for u in range(1, len(offset) - 1):
        for v in range(u):
            rows, columns = slice(offset[u], offset[u + 1]), slice(offset[v], offset[v + 1])
            joint = model.ratios[rows, columns] * values[rows, None] * values[None, columns]
            blocks.append(joint.ravel())
    _, parent, times = model.sampled_trees
    posteriors = [TreePosterior(posterior.bounded_log_weights) for posterior in model.posteriors]
    return {
        "kind": "tree-average",
        "values": packed(values),
        "pairs": packed(np.concatenate([*blocks, np.empty(0)])),
        "logPrior": packed(model.class_log_prior),
        "logWeights": [packed(posterior.log_weights) for posterior in posteriors],
        "logTotals": packed([posterior.log_total for posterior in posteriors]),
        "trees": [packed(trees) for trees in parent],
        "times": packed(times),
        "completions": MAX_COMPLETIONS,
    }


_WRITERS: dict[type[Model], tuple[Callable[[Any], PageModel], Callable[[Any], int]]] = {
    NetworkModel: (_network_model, lambda model: _cells([model.network])),
    SuperParentAverage: (_super_parent_average, lambda model: model.pairs.size),
    Pool: (_pool, _pool_size),
    Votes: (_votes, lambda model: _cells(model.members)),
    TreeAverage: (_tree_average, lambda model: model.ratios.size // 2),
    EvidenceModel: (_evidence, lambda model: sum(joint.size for joint in model.joints)),
}
