"""Networks as arrays for model files, and back, with validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.graph import Structure
from tanbark.network.network import Network
from tanbark.network.tables import SparseTable
from tanbark.schema import Schema

ROUNDING = 1e-6
"""How far the probabilities of a file may sum from 1."""


def network_arrays(network: Network, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return the tables of a network under names that begin with `prefix`; ``structure.parents`` is all else it has.

    A node's table is ``log_table_<node>``; if it is sparse, that is its rows, and ``keys_<node>`` and
    ``default_<node>`` are beside it.
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


def network_from(
    schema: Schema, parents: Sequence[Sequence[Any]], arrays: Mapping[str, NDArray[Any]], prefix: str = ""
) -> Network:
    """Return the network with these parents and the tables that `network_arrays` named."""
    structure = Structure(tuple(tuple(int(p) for p in above) for above in parents))
    arity = [*schema.arity.tolist(), len(schema.classes)]
    if len(structure.parents) != len(arity):
        raise ValueError("its network has more or fewer nodes than its schema")
    log_tables: list[NDArray[np.float64] | SparseTable] = []
    for node, above in enumerate(structure.parents):
        table = _checked(arrays[f"{prefix}log_table_{node}"])
        if f"{prefix}keys_{node}" in arrays:
            shape = (*(arity[p] for p in above), arity[node])
            class_axis = above.index(structure.of_class) if structure.of_class in above else None
            default = _checked(arrays[f"{prefix}default_{node}"])
            log_tables.append(SparseTable(shape, class_axis, arrays[f"{prefix}keys_{node}"], table, default))
        else:
            log_tables.append(table)
    network = Network(schema, structure, tuple(log_tables))
    # Only now is it sure that the last axis of each table is of the node's own values.
    for one in network.log_tables:
        for part in (one.rows, one.default) if isinstance(one, SparseTable) else (one,):
            _normalised(part)
    return network


def networks_arrays(networks: Sequence[Network], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the tables of several networks under names that begin with `prefix` and their number."""
    arrays: dict[str, NDArray[Any]] = {}
    for i, network in enumerate(networks):
        arrays |= network_arrays(network, f"{prefix}{i}_")
    return arrays


def networks_from(
    schema: Schema, parents: Sequence[Sequence[Sequence[Any]]], arrays: Mapping[str, NDArray[Any]], prefix: str
) -> list[Network]:
    """Return the networks with these parents and the tables that `networks_arrays` named."""
    return [network_from(schema, above, arrays, f"{prefix}{i}_") for i, above in enumerate(parents)]


def log_prior(arrays: Mapping[str, NDArray[Any]], name: str, classes: int) -> NDArray[np.float64]:
    """Return the array of this name, which holds the log probabilities of so many classes."""
    log_table(arrays, name, (classes,))
    return _normalised(arrays[name])


def log_table(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the array of this name, which has this shape and holds nothing but log probabilities."""
    if arrays[name].shape != shape:
        raise ValueError(f"its {name!r} has the shape {arrays[name].shape} instead of {shape}")
    return _checked(arrays[name])


def _normalised(log_table: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array whose rows are log probabilities that sum to one."""
    checked = _checked(log_table)
    if not np.allclose(np.exp(checked).sum(axis=-1), 1.0, rtol=0.0, atol=ROUNDING):
        raise ValueError("a table holds probabilities that do not sum to 1")
    return checked


def _checked(log_table: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array that holds nothing but log probabilities."""
    if log_table.dtype != np.float64 or np.isnan(log_table).any() or (log_table > 1e-9).any():
        raise ValueError("a table holds something that is no log probability")
    return log_table
