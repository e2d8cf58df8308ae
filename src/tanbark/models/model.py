"""The interface of all fitted models, and conversion of networks to the arrays of model files and back.

A model is immutable. It is built once by a classifier, or read from a file, and then only asked. Everything outside
this package (files, reports, exports, evaluation, the command line) uses this interface and the models' public fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.immutable import Immutable
from tanbark.kernels.infer.posterior import log_posterior, posterior
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.memory import LOAD_ADVICE, check_free_memory
from tanbark.network import Network, SparseTable, Structure
from tanbark.parameters import PARAMETERS, Smoothing, children_tables
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

MAX_LOG_RATIO = 1e4
"""Bound on the log ratio of two nonzero probabilities in a file; floats cannot exceed about 750."""
MAX_SUM_ERROR = 1e-6
"""Maximum deviation from 1 of the sum of probabilities in a file."""
MIN_ESS, MAX_ESS = 1e-100, 1e100
"""Bounds on the equivalent sample size in a file, whose square must be positive and finite."""
MAX_STEPS = 2**30
"""Multiples of a step are stored as whole numbers of at most this size."""
PAIR_COPIES = 3
"""Peak memory while tables of pairs are computed from counts, in multiples of these."""


@dataclass(frozen=True)
class StoredModel:
    """A model as plain values and arrays, for files.

    Parameters
    ----------
    state : dict
        Plain values that JSON can hold. A list under ``"members"`` holds fitted classifiers.
    arrays : dict of arrays
    parents : list of lists of int, optional
        The parents of each node, if the model is a single network.
    """

    state: dict[str, Any]
    arrays: Arrays
    parents: list[list[int]] | None = None


class Model(Immutable, ABC):
    """A fitted model.

    A subclass is a frozen dataclass with at least the fields `counts` and `class_log_prior`. It implements
    `log_scores`, `to_arrays` and `from_arrays`; and `evidence` and `networks`, if it has any.
    """

    counts: Counts
    class_log_prior: Array

    has_joint: ClassVar[bool]
    """Whether `log_scores` are the log probabilities of a joint distribution of rows and classes."""

    @property
    def schema(self) -> Schema:
        """The schema of the rows."""
        return self.counts.schema

    @property
    def has_evidence(self) -> bool:
        """Whether the model is additive, so that `evidence` returns an array."""
        return False

    @property
    def networks(self) -> Sequence[Network]:
        """The networks that can be drawn, queried or exported; of many trees, the most probable."""
        return ()

    @abstractmethod
    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return ``log P(row, class)`` of encoded rows, with missing values marginalised.

        Without a joint distribution, these are log posteriors up to a constant for each row.
        """

    def evidence(self, codes: Codes, n_jobs: int | None = None) -> Array | None:
        """Return additive weights of evidence of shape (rows, 1 + attributes, classes), or None.

        The prior comes first. The weights are centred over the classes, and sum to the log posterior up to a constant.
        """
        return None

    def posterior(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the posterior probability of each class; the class prior for rows that are impossible."""
        scores = self.log_scores(codes, n_jobs)
        prior = np.exp(self.class_log_prior)
        run_over_rows(partial(posterior, scores, prior, out=scores), len(scores), n_jobs)
        return scores

    def log_posterior(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log posterior probability of each class, also where the probability underflows."""
        scores = self.log_scores(codes, n_jobs)
        run_over_rows(partial(log_posterior, scores, self.class_log_prior, out=scores), len(scores), n_jobs)
        return scores

    @abstractmethod
    def to_arrays(self) -> StoredModel:
        """Return the model, except for its counts, as plain values and arrays."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described.

        Raises
        ------
        ValueError
            If the values do not describe a model, for example because a file was changed.
        """


def centred(parts: Array) -> Array:
    """Subtract from weights of evidence their mean over the classes that are possible."""
    possible = np.isfinite(parts)
    classes = possible.sum(axis=2, keepdims=True)
    mean = np.where(possible, parts, 0.0).sum(axis=2, keepdims=True) / np.maximum(classes, 1)
    less_mean: Array = parts - mean
    return less_mean


def stored_seed(state: Mapping[str, Any]) -> int:
    """Return the seed in a file."""
    seed = state["seed"]
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"its seed must be a whole number of at least 0, got {seed!r}")
    return seed


def stored_number(state: Mapping[str, Any], name: str) -> float:
    """Return a number in a file, which may be infinite but not NaN."""
    number = state[name]
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"its {name} must be a number, got {number!r}")
    return float(number)


def stored_prior_ratio(arrays: Arrays, classes: int) -> Array:
    """Return the log ratio of the given class prior to the learned one, from a file."""
    ratio: Array = arrays["prior_ratio"]
    if ratio.shape != (classes,) or ratio.dtype != np.float64 or not (ratio < MAX_LOG_RATIO).all():
        raise ValueError("its prior_ratio is invalid")
    return ratio


def in_steps(values: Array, step: float) -> NDArray[Any]:
    """Return multiples of a step as whole numbers, for files; other values stay as they are.

    The whole numbers 0, -1, 1, -2, ... become 0, 1, 2, 3, ..., so that the high bytes of small ones are zero.
    """
    steps = np.rint(values / step)
    if not np.array_equal(steps * step, values) or np.abs(steps).max(initial=0.0) > MAX_STEPS:
        return values
    whole = steps.astype(np.int64)
    folded = (whole << 1) ^ (whole >> 63)
    return folded.astype(np.uint16 if folded.max(initial=0) <= np.iinfo(np.uint16).max else np.uint32)


def from_steps(array: NDArray[Any], step: float) -> Array:
    """Return the values that `in_steps` described."""
    if array.dtype not in (np.uint16, np.uint32, np.float32, np.float64):
        raise ValueError("its tables have an invalid type")
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    folded = array.astype(np.int64)
    return np.asarray(((folded >> 1) ^ -(folded & 1)) * step, np.float64)


def pairs_to_arrays(pairs: Array, estimator: tuple[str, float] | None) -> tuple[dict[str, Any], Arrays]:
    """Return the plain values and the arrays that describe the tables of all pairs of values, for files.

    Parameters
    ----------
    pairs : array of shape (values, classes, values)
        ``log P(x_j | class, x_i)``.
    estimator : tuple of (str, float) or None
        The estimator and its equivalent sample size. With it, the tables are left out: they follow from the counts.
    """
    return ({}, {"pairs": pairs}) if estimator is None else ({"estimator": list(estimator)}, {})


def pairs_from_arrays(counts: Counts, stored: StoredModel) -> tuple[Array, tuple[str, float] | None]:
    """Return the tables that `pairs_to_arrays` described, and their estimator; raise ValueError if they are invalid."""
    arrays, estimator = stored.arrays, None
    classes, values = counts.values.shape
    if "pairs" not in arrays:
        parameters, ess = stored.state["estimator"]
        estimator = parameters, checked_ess(ess)
        if parameters not in PARAMETERS:
            raise ValueError(f"its estimator must be one of {', '.join(PARAMETERS)}, got {parameters!r}")
        check_pair_memory(counts)
        with np.errstate(all="ignore"):  # What a hostile file leads to is checked below.
            arrays = {"pairs": children_tables(counts, Smoothing.of(counts, *estimator))}
    return checked_log_table(arrays, "pairs", (values, classes, values)), estimator


def checked_ess(ess: Any) -> float:
    """Return an equivalent sample size in a file, or raise ValueError."""
    if isinstance(ess, bool) or not isinstance(ess, int | float) or not MIN_ESS <= ess <= MAX_ESS:
        raise ValueError(f"its ess must be a number from {MIN_ESS} to {MAX_ESS}, got {ess!r}")
    return float(ess)


def check_pair_memory(counts: Counts) -> None:
    """Raise ValueError unless tables of all pairs of values can be computed from the counts."""
    if counts.order == 1:
        raise ValueError("its counts are of single values, but its tables follow from counts of pairs")
    check_free_memory(PAIR_COPIES * 8 * counts.table.size, "computing its tables from its counts", LOAD_ADVICE)


def network_arrays(network: Network, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return the tables of a network by names that begin with `prefix`.

    The table of a node is ``log_table_<node>``. For a sparse table, this array holds its rows, and ``keys_<node>`` and
    ``default_<node>`` hold the rest. Together with the schema and ``structure.parents``, the arrays define the network.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for node, table in enumerate(network.log_tables):
        if isinstance(table, SparseTable):
            arrays[f"{prefix}log_table_{node}"] = table.rows
            arrays[f"{prefix}keys_{node}"] = table.keys
            arrays[f"{prefix}default_{node}"] = table.default
        else:
            arrays[f"{prefix}log_table_{node}"] = table
    return arrays


def network_from_arrays(
    schema: Schema, parents: Sequence[Sequence[Any]], arrays: Mapping[str, NDArray[Any]], prefix: str = ""
) -> Network:
    """Return the network with these parents and the arrays of `network_arrays`, or raise ValueError."""
    structure = Structure(tuple(tuple(int(p) for p in node_parents) for node_parents in parents))
    arity = [*schema.arity.tolist(), len(schema.classes)]
    if len(structure.parents) != len(arity):
        raise ValueError(f"its network has {len(structure.parents)} nodes, its schema requires {len(arity)}")
    log_tables: list[NDArray[np.float64] | SparseTable] = []
    for node, node_parents in enumerate(structure.parents):
        table = _checked_logs(arrays[f"{prefix}log_table_{node}"])
        if f"{prefix}keys_{node}" in arrays:
            shape = (*(arity[p] for p in node_parents), arity[node])
            class_axis = node_parents.index(structure.of_class) if structure.of_class in node_parents else None
            default = _checked_logs(arrays[f"{prefix}default_{node}"])
            log_tables.append(SparseTable(shape, class_axis, arrays[f"{prefix}keys_{node}"], table, default))
        else:
            log_tables.append(table)
    network = Network(schema, structure, tuple(log_tables))
    # The network has checked the shapes: the last axis of each table is that of the node's own values.
    for node_table in network.log_tables:
        for part in (node_table.rows, node_table.default) if isinstance(node_table, SparseTable) else (node_table,):
            _checked_distributions(part)
    return network


def networks_arrays(networks: Sequence[Network], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the tables of several networks by names that begin with `prefix` and the number of the network."""
    arrays: dict[str, NDArray[Any]] = {}
    for i, network in enumerate(networks):
        arrays |= network_arrays(network, f"{prefix}{i}_")
    return arrays


def networks_from_arrays(
    schema: Schema, parents: Sequence[Sequence[Sequence[Any]]], arrays: Mapping[str, NDArray[Any]], prefix: str
) -> list[Network]:
    """Return the networks with these parents and the arrays of `networks_arrays`."""
    return [network_from_arrays(schema, network, arrays, f"{prefix}{i}_") for i, network in enumerate(parents)]


def checked_log_prior(arrays: Mapping[str, NDArray[Any]], name: str, classes: int) -> NDArray[np.float64]:
    """Return the array of this name; raise ValueError if it is not a log distribution over the classes."""
    checked_log_table(arrays, name, (classes,))
    return _checked_distributions(arrays[name])


def checked_log_table(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the array of this name; raise ValueError unless it has this shape and holds log probabilities."""
    if arrays[name].shape != shape:
        raise ValueError(f"its array {name!r} has shape {arrays[name].shape}, expected {shape}")
    return _checked_logs(arrays[name])


def _checked_distributions(log_table: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array, or raise ValueError if its rows are not log probabilities that sum to one."""
    checked = _checked_logs(log_table)
    if not np.allclose(np.exp(checked).sum(axis=-1), 1.0, rtol=0.0, atol=MAX_SUM_ERROR):
        raise ValueError("a table holds probabilities that do not sum to 1")
    return checked


def _checked_logs(log_table: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array, or raise ValueError if it holds other values than log probabilities."""
    if log_table.dtype != np.float64 or np.isnan(log_table).any() or (log_table > 1e-9).any():
        raise ValueError("a table holds values that are not log probabilities")
    return log_table
