"""Tables with a Dirichlet prior whose margins agree, also where training values are missing.

A pair's table is counted over the rows that have both values, so its margins differ from those of another pair with
the same attribute, and a tree made of such tables would be another distribution for every root. Each class's pair
table, prior added, is therefore raked to the attributes' smoothed class-conditional frequencies times the smoothed
class count: the constraints (eq 10-12) of Cerquides and Lopez de Mantaras (2003) then hold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.kernels.rake import fill_up, rake

Array = NDArray[np.float64]


def smoothed_values(counts: Counts, ess: float) -> Array:
    """Return ``N'*(i, k)`` of all values, of shape (classes, values): an attribute's sum to the class counts'."""
    values = counts.values.astype(np.float64)
    fill_up(values, counts.class_counts, counts.schema.offset, ess)
    return values


def raked_pair(counts: Counts, u: int, v: int, ess: float, values: Array) -> Array:
    """Return ``N'*(i, j, k)`` of two attributes, of shape (classes, arity u, arity v).

    Its margins are those of `values`, which are `smoothed_values`.
    """
    if u > v:
        return raked_pair(counts, v, u, ess, values).transpose(0, 2, 1)
    seen = counts.pair(u, v)
    table = np.ascontiguousarray(seen + ess / seen.size, np.float64)
    offset = counts.schema.offset
    of_u, of_v = (values[:, offset[w] : offset[w + 1]] for w in (u, v))
    for k in range(len(table)):
        rake(table[k], of_u[k], of_v[k])
    return table
