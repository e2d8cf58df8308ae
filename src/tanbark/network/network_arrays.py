"""Conversion of networks to the arrays of model files and back, with validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.network.network import Network
from tanbark.network.structure import Structure
from tanbark.network.tables import SparseTable
from tanbark.schema import Schema

ROUNDING = 1e-6
"""Maximum deviation from 1 of the sum of probabilities in a file."""


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
    if not np.allclose(np.exp(checked).sum(axis=-1), 1.0, rtol=0.0, atol=ROUNDING):
        raise ValueError("a table holds probabilities that do not sum to 1")
    return checked


def _checked_logs(log_table: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array, or raise ValueError if it holds other values than log probabilities."""
    if log_table.dtype != np.float64 or np.isnan(log_table).any() or (log_table > 1e-9).any():
        raise ValueError("a table holds values that are not log probabilities")
    return log_table
