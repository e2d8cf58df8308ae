"""The distribution of every attribute and of every two in each class, from which any tree's tables follow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.kernels.rake import rake_pairs
from tanbark.parameters.dirichlet import smoothed_values

Array = NDArray[np.float64]


def pair_ratios(counts: Counts, ess: float) -> tuple[Array, Array]:
    """Return ``P(i | k)`` of all values, and ``P(i, j | k) / (P(i | k) P(j | k))`` of all pairs of them.

    The first has shape (values, classes), the second (values, values, classes). The pairs' tables have a Dirichlet
    prior of `ess` rows spread evenly over their cells and agree on the attributes' distributions, also where training
    values are missing, so that ``P(k) prod_u P(i_u | k) prod_edges ratio`` sums to one for every tree. Blocks of an
    attribute with itself mean nothing.
    """
    schema, classes = counts.schema, len(counts.class_counts)
    of_class = counts.class_counts + ess / classes
    seen = smoothed_values(counts, ess)
    share = np.repeat(1.0 / schema.arity, schema.arity)
    pairs = counts.table + (ess / classes) * np.multiply.outer(share, share)
    holes = counts.has_missing()
    if holes.any():
        rake_pairs(counts.table.astype(np.float64), schema.offset, holes, ess, seen, pairs)
    values = seen / of_class[:, None]
    pairs /= seen[:, :, None]
    pairs /= values[:, None, :]
    return np.ascontiguousarray(values.T), np.ascontiguousarray(pairs.transpose(1, 2, 0))
