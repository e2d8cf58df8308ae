"""Estimation of the tables of networks of any structure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.counts.family_counts import count_family
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.memory import check_free_memory
from tanbark.network import Network, SparseTable, Structure
from tanbark.parameters.tree_tables import attribute_table, class_table, conditional

Array = NDArray[np.float64]

Table = Array | SparseTable
Family = tuple[int, tuple[int, ...]]
"""A node and its parents."""

SMALL_TABLE_CELLS = 2**16
"""Tables with at most this many cells are always dense."""
MAX_DENSE_RATIO = 4
"""Larger tables are dense if they have at most this many times the cells of the observed configurations."""
N_COPIES = 4
"""Peak memory during the estimation, in multiples of the table."""


def family_table(counts: Counts, rows: Rows, node: int, parents: Sequence[int], parameters: str, ess: float) -> Table:
    """Estimate the log table of a node from rows in which the whole family is known.

    The table has one axis for each parent, followed by the axis of the node's own values. It is sparse if that needs
    much less memory. The number of the class node is the number of attributes.
    """
    schema, of_class = rows.schema, len(rows.schema.columns)
    arity = [*schema.arity.tolist(), len(schema.classes)]
    attributes = [p for p in parents if p != of_class]
    n_values, n_classes = arity[node], arity[of_class] if of_class in parents else 1
    columns = attributes if node == of_class else [*attributes, node]
    family = count_family(schema, rows.codes, rows.classes, columns, rows.weights)
    class_index, rest = np.divmod(family.keys, math.prod(family.shape[1:]))
    if node == of_class:
        configuration, parent_class, value = rest, np.zeros_like(class_index), class_index
    else:
        configuration, value = np.divmod(rest, n_values)
        parent_class = class_index if n_classes > 1 else np.zeros_like(class_index)
    configurations = math.prod(arity[p] for p in attributes)
    cells = configurations * n_classes * n_values
    keys = np.unique(configuration)
    sparse = cells > max(SMALL_TABLE_CELLS, MAX_DENSE_RATIO * len(keys) * n_classes * n_values)
    row = np.searchsorted(keys, configuration) if sparse else configuration
    # The last row of a sparse table has no counts: it stands for all unobserved configurations.
    n_rows = len(keys) + 1 if sparse else configurations
    size = n_rows * n_classes * n_values
    name = (*schema.names, schema.class_name)[node]
    check_free_memory(
        N_COPIES * 8 * size,
        f"the table of {name!r} with {len(parents)} parents ({size:,} cells)",
        "allow fewer parents, or lower max_levels",
    )
    cell = (row * n_classes + parent_class) * n_values + value
    seen = np.zeros(size)
    np.add.at(seen, cell, family.counts)
    overall = counts.class_counts if node == of_class else counts.value(node).sum(axis=0)
    with np.errstate(divide="ignore"):
        table = np.log(
            conditional(parameters, seen.reshape(n_rows, n_classes, n_values), overall.astype(np.float64), ess, cells)
        )
    shape = tuple(arity[p] for p in (*parents, node))
    class_axis = list(parents).index(of_class) if of_class in parents else None
    if sparse:
        return SparseTable(shape, class_axis, keys, table[:-1], table[-1])
    if class_axis is None:
        return table.reshape(shape)
    return np.moveaxis(table.reshape(*(arity[p] for p in attributes), n_classes, n_values), -2, class_axis)


def estimated_networks(
    counts: Counts,
    rows: Rows | None,
    structures: Iterable[Structure],
    parameters: str,
    ess: float,
    n_jobs: int | None = None,
) -> list[Network]:
    """Estimate the networks of some structures.

    Families that several structures share are estimated once. The tables of a class without parents, and of attributes
    whose parents are the class and at most one attribute, are estimated from the counts. All other families are counted
    from the rows in which the whole family is known.

    Parameters
    ----------
    counts : Counts
        Counts of pairs.
    rows : Rows or None
        The rows; None if the counts suffice.
    structures : iterable of Structure
        The structures.
    parameters : {"ml", "softened", "dirichlet", "laplace", "m"}
        The estimator; a key of `PARAMETERS`.
    ess : float
        Equivalent sample size.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn.

    Returns
    -------
    networks : list of Network
    """
    structures = list(structures)
    families = {(node, parents) for structure in structures for node, parents in enumerate(structure.parents)}
    tables: dict[Family, Table] = {}

    def estimate(family: Family) -> None:
        tables[family] = _table(counts, rows, family, parameters, ess)

    n_rows = 0 if rows is None else len(rows.classes)
    run([partial(estimate, family) for family in sorted(families)], thread_count(n_jobs, n_rows))
    return [Network(counts.schema, s, tuple(tables[family] for family in enumerate(s.parents))) for s in structures]


def _table(counts: Counts, rows: Rows | None, family: Family, parameters: str, ess: float) -> Table:
    """Estimate the log table of a family, from counts if they suffice, otherwise from rows."""
    node, parents = family
    of_class = len(counts.schema.columns)
    attributes = [p for p in parents if p != of_class]
    if node == of_class and not parents:
        return class_table(counts, parameters, ess)
    if node != of_class and of_class in parents and len(attributes) < 2:
        table = attribute_table(counts, node, attributes[0] if attributes else -1, parameters, ess)
        return table if parents[-1] == of_class else table.swapaxes(0, 1)
    if rows is None:
        raise ValueError(
            f"the table of node {node} with parents {parents} cannot be estimated from counts of pairs; rows are needed"
        )
    return family_table(counts, rows, node, parents, parameters, ess)
