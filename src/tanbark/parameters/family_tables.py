"""Tables of networks of any structure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.counts.family_counts import count_family
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.memory import check_free
from tanbark.network import Network, SparseTable, Structure
from tanbark.parameters.conditional import conditional
from tanbark.parameters.tree_tables import attribute_table, class_table

Array = NDArray[np.float64]

SMALL = 2**16
"""A table of at most so many cells is always written out."""
COPIES = 4
"""So many arrays of a table's size there are while it is estimated."""
WASTE = 4
"""A larger one is where it has at most so many times the cells of the configurations that were seen."""


def family_table(
    counts: Counts, rows: Rows, node: int, parents: Sequence[int], parameters: str, ess: float
) -> Array | SparseTable:
    """Return the log table of a node: one axis per parent, its own values last; sparse where that is much smaller.

    The class, as node or parent, is the number after the last attribute's.
    """
    schema, of_class = rows.schema, len(rows.schema.columns)
    arity = [*schema.arity.tolist(), len(schema.classes)]
    above = [p for p in parents if p != of_class]
    own, classes = arity[node], arity[of_class] if of_class in parents else 1
    family = count_family(schema, rows.codes, rows.classes, above if node == of_class else [*above, node], rows.weights)
    label, rest = np.divmod(family.keys, math.prod(family.shape[1:]))
    if node == of_class:
        configuration, of_parent, value = rest, np.zeros_like(label), label
    else:
        configuration, value = np.divmod(rest, own)
        of_parent = label if classes > 1 else np.zeros_like(label)
    configurations = math.prod(arity[p] for p in above)
    cells = configurations * classes * own
    keys = np.unique(configuration)
    sparse = cells > max(SMALL, WASTE * len(keys) * classes * own)
    place = np.searchsorted(keys, configuration) if sparse else configuration
    # Under the last configuration of a sparse table nothing was seen: it stands for all those that are left out.
    many = len(keys) + 1 if sparse else configurations
    size = many * classes * own
    check_free(
        COPIES * 8 * size,
        f"a table of {size:,} cells, of {(*schema.names, schema.class_name)[node]!r} under its {len(parents)} parents,",
        "allow fewer parents, or lower max_levels",
    )
    cell = (place * classes + of_parent) * own + value
    seen = np.zeros(size)
    np.add.at(seen, cell, family.counts)
    overall = counts.class_counts if node == of_class else counts.value(node).sum(axis=0)
    with np.errstate(divide="ignore"):
        table = np.log(
            conditional(parameters, seen.reshape(many, classes, own), overall.astype(np.float64), ess, cells)
        )
    shape = tuple(arity[p] for p in (*parents, node))
    class_axis = list(parents).index(of_class) if of_class in parents else None
    if sparse:
        return SparseTable(shape, class_axis, keys, table[:-1], table[-1])
    if class_axis is None:
        return table.reshape(shape)
    return np.moveaxis(table.reshape(*(arity[p] for p in above), classes, own), -2, class_axis)


Table = NDArray[np.float64] | SparseTable
Family = tuple[int, tuple[int, ...]]


def estimated_networks(
    counts: Counts,
    rows: Rows | None,
    structures: Iterable[Structure],
    parameters: str,
    ess: float,
    n_jobs: int | None = None,
) -> list[Network]:
    """Return the networks of some structures; a family that several of them have is estimated once.

    The counts suffice for the class without parents and for an attribute under the class and at most one other; all
    other families are counted from the rows that have the whole family.
    """
    structures = list(structures)
    families = {(node, above) for structure in structures for node, above in enumerate(structure.parents)}
    tables: dict[Family, Table] = {}

    def estimate(family: Family) -> None:
        tables[family] = _table(counts, rows, family, parameters, ess)

    many = 0 if rows is None else len(rows.classes)
    run([partial(estimate, family) for family in sorted(families)], thread_count(n_jobs, many))
    return [Network(counts.schema, s, tuple(tables[family] for family in enumerate(s.parents))) for s in structures]


def _table(counts: Counts, rows: Rows | None, family: Family, parameters: str, ess: float) -> Table:
    """Return the log table of a node under its parents."""
    node, parents = family
    of_class = len(counts.schema.columns)
    above = [p for p in parents if p != of_class]
    if node == of_class and not parents:
        return class_table(counts, parameters, ess)
    if node != of_class and of_class in parents and len(above) < 2:
        table = attribute_table(counts, node, above[0] if above else -1, parameters, ess)
        return table if parents[-1] == of_class else table.swapaxes(0, 1)
    if rows is None:
        raise ValueError(f"the table of node {node} with the parents {parents} cannot be had from counts of pairs")
    return family_table(counts, rows, node, parents, parameters, ess)
