"""How much an edge between two attributes is worth, for every pair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.counts import Counts
from tanbark.kernels.acll import acll_gains
from tanbark.kernels.weights import conditional_information, dirichlet_evidence
from tanbark.scores.acll import FLOOR, beta
from tanbark.structure.spanning_tree import settled

Matrix = NDArray[np.float64]

_LOGARITHMS = np.log(np.maximum(np.arange(2**16), 1.0))


def logarithms(counts: Counts) -> NDArray[np.float64]:
    """Return those of small whole numbers (and 0 for 0), none where counts are not whole."""
    return _LOGARITHMS if counts.table.dtype.kind == "i" else _LOGARITHMS[:0]


def cmi_weights(counts: Counts, ess: float) -> Matrix:
    """Return the conditional mutual information ``I(U; V | C)`` in nats (Friedman, Geiger and Goldszmidt 1997).

    Where values are missing, a pair's information is that of the rows that have both, times their share of all rows:
    the gain in log likelihood per training row. With margins of more rows than the pair has, edges to columns full of
    holes would look wonderful.
    """
    out = np.zeros((len(counts.schema.columns),) * 2)
    conditional_information(counts.table, counts.schema.offset, logarithms(counts), out)
    return out / (float(counts.class_counts.sum()) or 1.0)


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
    """Return ``aCLL(v | u, C) - aCLL(v | C)`` for the edge from `u` to `v` (`tanbark.scores.acll`).

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
    offset = counts.schema.offset[:-1]
    seen = counts.values.astype(np.float64)
    in_class = np.add.reduceat(seen, offset, axis=1)
    in_value = seen.sum(axis=0)
    total = in_class.sum(axis=0)
    information = (
        np.add.reduceat(xlogy(seen, seen).sum(axis=0) - xlogy(in_value, in_value), offset)
        - xlogy(in_class, in_class).sum(axis=0)
        + xlogy(total, total)
    )
    gain: Matrix = np.maximum(information, 0.0)
    return gain / (float(counts.class_counts.sum()) or 1.0)
