"""The tables of a network of any structure."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.kernels.threads import run, thread_count
from tanbark.network import SparseTable, Structure
from tanbark.parameters.family_tables import family_table
from tanbark.parameters.tree_tables import attribute_table, class_table

Table = NDArray[np.float64] | SparseTable


def network_tables(
    counts: Counts, rows: Rows | None, structure: Structure, parameters: str, ess: float, n_jobs: int | None = None
) -> tuple[Table, ...]:
    """Return the log tables of all nodes, the class last.

    The counts suffice for the class without parents and for an attribute under the class and at most one other; all
    other families are counted from the rows that have the whole family.
    """
    of_class = structure.of_class
    tables: list[Table] = [np.empty(0)] * len(structure.parents)

    def estimate(node: int) -> None:
        parents, above = structure.parents[node], structure.attribute_parents(node)
        if node == of_class and not parents:
            tables[node] = class_table(counts, parameters, ess)
        elif node != of_class and of_class in parents and len(above) < 2:
            tables[node] = attribute_table(counts, node, above[0] if above else -1, parameters, ess)
        elif rows is None:
            raise ValueError(f"the table of node {node} with the parents {parents} cannot be had from counts of pairs")
        else:
            tables[node] = family_table(counts, rows, node, parents, parameters, ess)

    many = 0 if rows is None else len(rows.classes)
    run([partial(estimate, node) for node in range(len(tables))], thread_count(n_jobs, many))
    return tuple(tables)
