"""The distribution of every attribute and of every two in each class, from which any tree's tables follow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.parameters.dirichlet import raked_pair, smoothed_values

Array = NDArray[np.float64]


def pair_ratios(counts: Counts, ess: float) -> tuple[Array, Array]:
    """Return ``P(i | k)`` of all values, and ``P(i, j | k) / (P(i | k) P(j | k))`` of all pairs of them.

    The first has shape (values, classes), the second (values, values, classes). The pairs' tables have a Dirichlet
    prior of `ess` rows spread evenly over their cells and agree on the attributes' distributions, also where training
    values are missing, so that ``P(k) prod_u P(i_u | k) prod_edges ratio`` sums to one for every tree. Blocks of an
    attribute with itself mean nothing.
    """
    schema, classes = counts.schema, len(counts.class_counts)
    n = len(schema.columns)
    of_class = counts.class_counts + ess / classes
    values = np.concatenate([smoothed_values(counts, u, ess) for u in range(n)], axis=1) / of_class[:, None]
    share = np.repeat(1.0 / schema.arity, schema.arity)
    ratios = np.empty((*counts.table.shape[1:], classes))
    for k in range(classes):
        scale = 1.0 / (of_class[k] * values[k])
        ratios[:, :, k] = counts.table[k]
        ratios[:, :, k] += (ess / classes) * share[:, None] * share
        ratios[:, :, k] *= scale[:, None]
        ratios[:, :, k] /= values[k]
    holes = counts.has_missing()
    offset = schema.offset
    for u in range(n):
        for v in range(u):
            if holes[u] or holes[v]:
                block = np.ix_(range(offset[u], offset[u + 1]), range(offset[v], offset[v + 1]))
                margins = smoothed_values(counts, u, ess)[:, :, None] * smoothed_values(counts, v, ess)[:, None, :]
                ratio = raked_pair(counts, u, v, ess) / margins * of_class[:, None, None]
                ratios[block] = ratio.transpose(1, 2, 0)
                ratios[offset[v] : offset[v + 1], offset[u] : offset[u + 1]] = ratio.transpose(2, 1, 0)
    return np.ascontiguousarray(values.T), ratios
