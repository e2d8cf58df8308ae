"""Tables of nodes with any parents, from the rows in which the whole family is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.counts.family import count_family
from tanbark.memory import check_free
from tanbark.network import SparseTable
from tanbark.parameters.conditional import conditional

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
