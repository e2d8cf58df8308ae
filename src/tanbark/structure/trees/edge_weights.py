"""Weights of edges between attributes, computed from counts of pairs.

From top to bottom: the weights for spanning trees (`EDGE_WEIGHTS`), the gains for forests (`EDGE_GAINS`,
`maximum_forest`), and the information of single attributes about the class. Weights are in nats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.counts import Counts
from tanbark.immutable import read_only
from tanbark.kernels.trees.pair_weights import acll_gains, class_gains, conditional_information, dirichlet_evidence
from tanbark.scores.conditional_scores import MIN_COUNT, beta
from tanbark.structure.trees.spanning_tree import Edge, maximum_spanning_tree, rounded_weights

Matrix = NDArray[np.float64]

MAX_TABULATED_COUNT = 2**20
"""If every class has fewer rows, terms ``N log N`` are looked up in a table; otherwise each is computed."""
MIN_INFORMATION = 1e-13
"""Nats per row. Less information, if it is also less than one nat for all rows together, is a rounding error."""


def cmi_weights(counts: Counts, _ess: float) -> Matrix:
    """Return the conditional mutual information ``I(U; V | C)`` in nats (Friedman, Geiger and Goldszmidt 1997).

    If values are missing, the information of a pair is that of the rows that have both values, times their share of all
    rows: the gain in log likelihood per training row. With margins from more rows than the pair has, edges to columns
    with many missing values would be greatly overrated.
    """
    out = np.zeros((len(counts.schema.columns),) * 2)
    products, units = count_products(counts)
    conditional_information(
        counts.table, counts.class_counts, counts.schema.offset, counts.has_missing(), products, units, out
    )
    return _without_rounding_errors(out / (units * (float(counts.class_counts.sum()) or 1.0)), counts)


def count_products(counts: Counts) -> tuple[NDArray[np.int64], float]:
    """Return ``N log N`` for all counts N up to the size of a class in integer units, and the number of units per nat.

    The table is empty, and a nat is one unit, if counts are fractional or too large.
    """
    if counts.table.dtype.kind == "i":
        largest, rows = int(counts.class_counts.max(initial=0)), int(counts.class_counts.sum())
        if 0 <= largest < MAX_TABULATED_COUNT:
            return _products(largest.bit_length(), rows.bit_length())
    return np.empty(0, np.int64), 1.0


@lru_cache
def _products(class_bits: int, total_bits: int) -> tuple[NDArray[np.int64], float]:
    # log N is less than the number of bits of N, so sums over classes stay below 2**61 and two of them fit an int64.
    units = 2.0 ** (61 - total_bits - total_bits.bit_length())
    numbers = np.arange(2.0**class_bits)
    return np.rint(xlogy(numbers, numbers) * units).astype(np.int64), units


def bdeu_weights(counts: Counts, ess: float) -> Matrix:
    """Return ``score(v | u, C) - score(v | C)`` under BDeu, the log Bayes factor of an edge against no edge.

    This is ``log W`` of eq 22 of Cerquides and Lopez de Mantaras (2003), plus the class term that eq 22 omits. With
    complete rows, that term is the same for every pair and does not change the tree. With missing values, each pair
    needs its own.
    """
    return np.asarray(bdeu_weights_by_class(counts, ess).sum(axis=0))


def bdeu_weights_by_class(counts: Counts, ess: float) -> Matrix:
    """Return the contribution of each class to `bdeu_weights`, of shape (classes, attributes, attributes)."""
    out = np.zeros((len(counts.class_counts), *(len(counts.schema.columns),) * 2))
    dirichlet_evidence(counts.table, counts.schema.offset, ess, out)
    return out


def acll_weights(counts: Counts, _ess: float) -> Matrix:
    """Return ``aCLL(v | u, C) - aCLL(v | C)`` for the edge from `u` to `v` (`tanbark.scores.conditional_scores`).

    Counts below the minimum make the two directions of an edge differ considerably. If values are missing, the counts
    are those of the rows that have both values.
    """
    out = np.zeros((len(counts.schema.columns),) * 2)
    acll_gains(counts.table.astype(np.float64), counts.schema.offset, beta(len(counts.class_counts)), MIN_COUNT, out)
    return out


EDGE_WEIGHTS: dict[str, Callable[[Counts, float], Matrix]] = {
    "cmi": cmi_weights,
    "bdeu": bdeu_weights,
    "acll": acll_weights,
}
"""The weights of edges of a spanning tree, by criterion: functions of counts and an equivalent sample size."""


def penalised_information(counts: Counts, ess: float) -> Matrix:
    """Return the gain in log likelihood of each edge, less ``log(N) / 2`` for each parameter it adds (MDL).

    An edge adds ``classes * (r_u - 1) * (r_v - 1)`` parameters. If values are missing, N counts the rows that have both
    values.
    """
    offset, arity = counts.schema.offset[:-1], counts.schema.arity.astype(np.float64)
    rows = np.add.reduceat(np.add.reduceat(counts.table.sum(axis=0), offset, axis=0), offset, axis=1)
    parameters = len(counts.class_counts) * np.multiply.outer(arity - 1, arity - 1)
    gain = cmi_weights(counts, ess) * float(counts.class_counts.sum())
    return np.asarray(gain - 0.5 * np.log(np.maximum(rows, 1.0)) * parameters)


EDGE_GAINS: dict[str, Callable[[Counts, float], Matrix]] = {"bdeu": bdeu_weights, "cmi": penalised_information}
"""The gains of edges of a forest, by criterion: functions of counts and an equivalent sample size."""


def maximum_forest(gains: Matrix) -> list[Edge]:
    """Return the edges of the forest of greatest total gain in the order of Prim's algorithm; all gains are positive.

    The forest is the maximum spanning tree without the edges that do not gain.

    >>> maximum_forest(np.array([[0, -1, 5], [-1, 0, -3], [5, -3, 0.0]]))
    [(0, 2)]
    """
    is_gain = rounded_weights(gains) > 0
    return [edge for edge in maximum_spanning_tree(gains) if is_gain[edge]]


def attributes_by_information(counts: Counts) -> list[int]:
    """Return the attributes in descending order of ``I(X; C)``; ties go to column order."""
    order: list[int] = np.argsort(-rounded_weights(class_information(counts)), kind="stable").tolist()
    return order


def class_information(counts: Counts) -> Matrix:
    """Return ``I(X; C)`` of each attribute in nats, from the rows that have its value times their share of all rows."""
    gain = np.empty(len(counts.schema.columns))
    class_gains(read_only(counts.values), counts.schema.offset, gain)
    return _without_rounding_errors(gain / (float(counts.class_counts.sum()) or 1.0), counts)


def _without_rounding_errors(information: Matrix, counts: Counts) -> Matrix:
    """Return information in nats per row with rounding errors set to zero, so that they do not rank attributes."""
    least = min(MIN_INFORMATION, 1.0 / max(float(counts.class_counts.sum()), 1.0))
    return np.where(np.abs(information) < least, 0.0, information)
