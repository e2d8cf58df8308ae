"""Weights of edges between attributes, and the forest of greatest gain."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.counts import Counts
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.trees.pair_weights import acll_gains, class_gains, conditional_information, dirichlet_evidence
from tanbark.scores.conditional_scores import FLOOR, beta
from tanbark.structure.trees.spanning_tree import Edge, maximum_spanning_tree, settled

Matrix = NDArray[np.float64]

MOST_LOOKED_UP = 2**20
"""Where every class has fewer rows, the information is made of looked-up terms; else each is calculated."""
LEAST_INFORMATION = 1e-13
"""In nats a row: what is less, and no nat for all rows together, has come of rounding and does not count."""


def count_products(counts: Counts) -> tuple[NDArray[np.int64], float]:
    """Return ``N log N`` of whole numbers up to the rows of a class, as multiples of a unit, and how many make one.

    None, and 1, where counts are not whole or too great.
    """
    if counts.table.dtype.kind == "i":
        most, rows = (int(many) for many in (counts.class_counts.max(initial=0), counts.class_counts.sum()))
        if 0 <= most < MOST_LOOKED_UP:
            return _products(most.bit_length(), rows.bit_length())
    return np.empty(0, np.int64), 1.0


@lru_cache
def _products(bits: int, bits_of_all: int) -> tuple[NDArray[np.int64], float]:
    # log N is less than its bits, so that sums over classes stay below 2**61, and two of them below what a word holds.
    units = 2.0 ** (61 - bits_of_all - bits_of_all.bit_length())
    numbers = np.arange(2.0**bits)
    return np.rint(xlogy(numbers, numbers) * units).astype(np.int64), units


def cmi_weights(counts: Counts, ess: float) -> Matrix:
    """Return the conditional mutual information ``I(U; V | C)`` in nats (Friedman, Geiger and Goldszmidt 1997).

    Where values are missing, a pair's information is that of the rows that have both, times their share of all rows:
    the gain in log likelihood per training row. With margins of more rows than the pair has, edges to columns full of
    holes would look wonderful.
    """
    out = np.zeros((len(counts.schema.columns),) * 2)
    products, units = count_products(counts)
    holes = counts.has_missing()
    conditional_information(counts.table, counts.class_counts, counts.schema.offset, holes, products, units, out)
    return _heard(out / (units * (float(counts.class_counts.sum()) or 1.0)), counts)


def bdeu_weights(counts: Counts, ess: float) -> Matrix:
    """Return ``score(v | u, C) - score(v | C)`` under BDeu, the log Bayes factor of an edge against none.

    This is ``log W`` of eq 22 of Cerquides and Lopez de Mantaras (2003) and the class term that eq 22 leaves out. With
    complete rows that term is the same for every pair and moves no tree; where values are missing each pair needs its
    own.
    """
    return np.asarray(bdeu_weights_by_class(counts, ess).sum(axis=0))


def bdeu_weights_by_class(counts: Counts, ess: float) -> Matrix:
    """Return what the rows of each class add to `bdeu_weights`, of shape (classes, attributes, attributes)."""
    out = np.zeros((len(counts.class_counts), *(len(counts.schema.columns),) * 2))
    dirichlet_evidence(counts.table, counts.schema.offset, ess, out)
    return out


def acll_weights(counts: Counts, ess: float) -> Matrix:
    """Return ``aCLL(v | u, C) - aCLL(v | C)`` for the edge from `u` to `v` (`tanbark.scores.conditional_scores`).

    Counts below the floor make the two directions of an edge differ, and not a little. Where values are missing, the
    counts are those of the rows that have both.
    """
    out = np.zeros((len(counts.schema.columns),) * 2)
    acll_gains(counts.table.astype(np.float64), counts.schema.offset, beta(len(counts.class_counts)), FLOOR, out)
    return out


EDGE_WEIGHTS: dict[str, Callable[[Counts, float], Matrix]] = {
    "cmi": cmi_weights,
    "bdeu": bdeu_weights,
    "acll": acll_weights,
}


def most_telling(counts: Counts) -> list[int]:
    """Return the attributes in the order of ``I(X; C)``, the greatest first; ties go to column order."""
    order: list[int] = np.argsort(-settled(class_information(counts)), kind="stable").tolist()
    return order


def class_information(counts: Counts) -> Matrix:
    """Return ``I(X; C)`` in nats of each attribute, over the rows that have it, times their share of all rows."""
    gain = np.empty(len(counts.schema.columns))
    class_gains(frozen(counts.values), counts.schema.offset, gain)
    return _heard(gain / (float(counts.class_counts.sum()) or 1.0), counts)


def _heard(information: Matrix, counts: Counts) -> Matrix:
    """Return information in nats a row without what is but rounding, by which no attribute shall be preferred."""
    least = min(LEAST_INFORMATION, 1.0 / max(float(counts.class_counts.sum()), 1.0))
    return np.where(np.abs(information) < least, 0.0, information)


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
