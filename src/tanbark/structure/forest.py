"""The forest of greatest total gain: edges only where they pay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.structure.edge_weights import bdeu_weights, cmi_weights
from tanbark.structure.spanning_tree import Edge, maximum_spanning_tree, settled

Matrix = NDArray[np.float64]


def penalised_information(counts: Counts, ess: float) -> Matrix:
    """Return what each edge adds to the log likelihood, less half a log of the rows for each parameter it adds (MDL).

    An edge adds ``classes * (r_u - 1) * (r_v - 1)`` parameters. Where values are missing, the rows are those that have
    both.
    """
    offset, arity = counts.schema.offset[:-1], counts.schema.arity.astype(np.float64)
    rows = np.add.reduceat(np.add.reduceat(counts.table.sum(axis=0), offset, axis=0), offset, axis=1)
    parameters = len(counts.class_counts) * np.multiply.outer(arity - 1, arity - 1)
    gain = cmi_weights(counts, ess) * float(counts.class_counts.sum())
    return np.asarray(gain - 0.5 * np.log(np.maximum(rows, 1.0)) * parameters)


EDGE_GAINS: dict[str, Callable[[Counts, float], Matrix]] = {"bdeu": bdeu_weights, "cmi": penalised_information}


def maximum_forest(gains: Matrix) -> list[Edge]:
    """Return the edges of the forest of greatest total gain, all of them above zero, in the order of Prim's algorithm.

    It is the maximum spanning tree without the edges that lose.

    >>> maximum_forest(np.array([[0, -1, 5], [-1, 0, -3], [5, -3, 0.0]]))
    [(0, 2)]
    """
    pays = settled(gains) > 0
    return [edge for edge in maximum_spanning_tree(gains) if pays[edge]]
