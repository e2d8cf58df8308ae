"""The tables of networks of any structure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.kernels.threads import run, thread_count
from tanbark.network import Network, SparseTable, Structure
from tanbark.parameters.family_tables import family_table
from tanbark.parameters.tree_tables import attribute_table, class_table

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
