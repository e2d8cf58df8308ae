"""Trees learned from counts: weights of edges, the maximum spanning tree, its root, and its revision.

From top to bottom: the weights of edges for spanning trees (`EDGE_WEIGHTS`) and their gains for forests (`EDGE_GAINS`),
the information of single attributes about the class, the maximum spanning tree or forest and its orientation from a
root, and the tree that counts give: learned anew, or revised when counts grow (Roure 2002). Weights are in nats. They
are compared after rounding, so that ties are exact and go to column order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.counts import Counts
from tanbark.kernels.trees.information_trees import class_gains, conditional_information, grow_tree, margin_products
from tanbark.kernels.trees.score_weights import acll_gains, dirichlet_evidence
from tanbark.kernels.trees.tree_revision import CALCULATED, RECALLED, count_ordered_arcs, finish_tree
from tanbark.scores.conditional_scores import MIN_COUNT, beta

Edge = tuple[int, int]
Matrix = NDArray[np.float64]

SYMMETRIC_CRITERIA = ("cmi", "bdeu")
"""The criteria under which an edge has the same weight in both directions."""
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


def attributes_by_information(counts: Counts) -> list[int]:
    """Return the attributes in descending order of ``I(X; C)``; ties go to column order."""
    order: list[int] = np.argsort(-rounded_weights(class_information(counts)), kind="stable").tolist()
    return order


def class_information(counts: Counts) -> Matrix:
    """Return ``I(X; C)`` of each attribute in nats, from the rows that have its value times their share of all rows."""
    gain = np.empty(len(counts.schema.columns))
    class_gains(counts.values, counts.schema.offset, gain)
    return _without_rounding_errors(gain / (float(counts.class_counts.sum()) or 1.0), counts)


def _without_rounding_errors(information: Matrix, counts: Counts) -> Matrix:
    """Return information in nats per row with rounding errors set to zero, so that they do not rank attributes."""
    least = min(MIN_INFORMATION, 1.0 / max(float(counts.class_counts.sum()), 1.0))
    return np.where(np.abs(information) < least, 0.0, information)


def maximum_spanning_tree(weights: Matrix) -> list[Edge]:
    """Return the edges of the maximum spanning tree in the order in which Prim's algorithm adds them.

    The tree grows from the heaviest pair. Each further edge leads from the tree to a new attribute. Ties go to column
    order. An incremental learner checks this order first when weights have changed (Roure 2002).

    >>> maximum_spanning_tree(np.array([[0, 1, 5], [1, 0, 3], [5, 3, 0.0]]))
    [(0, 2), (2, 1)]
    """
    n = len(weights)
    if n < 2:
        return []
    us, vs = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    grow_tree(rounded_weights(np.asarray(weights, np.float64)), us, vs)
    return list(zip(us.tolist(), vs.tolist(), strict=True))


def rounded_weights(weights: Matrix) -> Matrix:
    """Return the weights as integer multiples of 1e-12 of the greatest, so that rounding errors do not break ties.

    Sums of these are exact, so trees of equal weight tie too.

    >>> rounded_weights(np.array([0.1 + 0.2, 0.3, -0.15])).tolist()
    [1000000000000.0, 1000000000000.0, -500000000000.0]
    """
    unit = float(np.abs(weights).max(initial=0.0)) * 1e-12
    return np.round(weights / unit) if unit > 0 else weights


def maximum_forest(gains: Matrix) -> list[Edge]:
    """Return the edges of the forest of greatest total gain in the order of Prim's algorithm; all gains are positive.

    The forest is the maximum spanning tree without the edges that do not gain.

    >>> maximum_forest(np.array([[0, -1, 5], [-1, 0, -3], [5, -3, 0.0]]))
    [(0, 2)]
    """
    is_gain = rounded_weights(gains) > 0
    return [edge for edge in maximum_spanning_tree(gains) if is_gain[edge]]


def rooted_parents(n: int, edges: Sequence[Edge], roots: Sequence[int]) -> tuple[int, ...]:
    """Return each attribute's parent in the tree rooted at the first of `roots`, -1 for the root.

    In a forest, every other tree is rooted at the first of `roots` that it contains, or else at its first attribute in
    column order.

    >>> rooted_parents(3, [(0, 2), (2, 1)], roots=[1])
    (2, -1, 1)
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    parent = [-1] * n
    reached = [False] * n
    for root in [*roots, *range(n)]:
        waiting = [] if reached[root] else [root]
        reached[root] = True
        while waiting:
            u = waiting.pop()
            for v in neighbours[u]:
                if not reached[v]:
                    reached[v] = True
                    parent[v] = u
                    waiting.append(v)
    return tuple(parent)


@dataclass(frozen=True)
class RestructureStats:
    """The cost of learning or revising a tree, in the quantities of Roure's Table 1 and Figure 1.

    Parameters
    ----------
    calculated : int
        Number of weights that were calculated.
    recalled : int
        Number of times that a weight was read while arcs were compared: once for every candidate of every step. A batch
        learner finds the heaviest arc while it calculates all weights, and reads them from the second arc on.
    first_out_of_order : int
        The first arc of the former tree, counted from one in the order in which arcs were added, that is no longer in
        order; the number of attributes if all arcs are in order. Always 1 if no order was checked.
    edges_changed : int
        Number of edges that the former tree did not have.
    """

    calculated: int
    recalled: int
    first_out_of_order: int
    edges_changed: int


def learned_tree(
    counts: Counts, criterion: str, ess: float, former: Sequence[Edge] = ()
) -> tuple[list[tuple[int, int, float]], RestructureStats]:
    """Return the weighted edges of the maximum spanning tree in the order of Prim's algorithm, and the cost."""
    weights = EDGE_WEIGHTS[criterion](counts, ess)
    tree = maximum_spanning_tree(weights)
    n = len(weights)
    recalled = sum(i * (n - i) for i in range(2, n))
    stats = RestructureStats(n * (n - 1) // 2, recalled, 1, _changed(tree, former))
    return [(u, v, float(weights[u, v])) for u, v in tree], stats


def revised_tree(
    counts: Counts, criterion: str, ess: float, former: Sequence[Edge]
) -> tuple[list[tuple[int, int, float]], RestructureStats]:
    """Return the weighted edges of a former tree revised by the heuristic "arcs in correct order", and the cost.

    The heuristic checks the former arcs in the order in which they were added, up to the first that is not the heaviest
    of the former tree's arcs at its step. It keeps the arcs before that one, and Prim's algorithm completes the tree.
    If the first arc fails, the whole tree is learned again. Only the weights that are needed are calculated. As long as
    all former arcs are in order, no other edge is considered, so the tree need not be the heaviest.
    """
    n = len(counts.schema.columns)
    us, vs = (np.array([edge[end] for edge in former], np.int64) for end in (0, 1))
    weights = np.full((n, n), np.nan)
    work = np.zeros(2, np.int64)
    prior = ess if criterion == "bdeu" else 0.0
    products, units = count_products(counts) if criterion == "cmi" else (np.empty(0, np.int64), 1.0)
    sums = margin_products(counts.table, counts.class_counts, counts.schema.offset, counts.has_missing(), products)
    data = (counts.table, counts.schema.offset, prior, products, units, sums, us, vs)
    kept = int(count_ordered_arcs(*data, weights, work))
    if not kept:
        tree, stats = learned_tree(counts, criterion, ess, former)
        return tree, RestructureStats(stats.calculated, stats.recalled + int(work[RECALLED]), 1, stats.edges_changed)
    finish_tree(*data, kept, weights, work)
    edges = list(zip(us.tolist(), vs.tolist(), strict=True))
    first = kept + 1 if kept < n - 1 else n
    stats = RestructureStats(int(work[CALCULATED]), int(work[RECALLED]), first, _changed(edges, former))
    # Information is per row, as in `EDGE_WEIGHTS`.
    scale = units * (float(counts.class_counts.sum()) or 1.0) if criterion == "cmi" else 1.0
    return [(u, v, w) for (u, v), w in zip(edges, (weights[us, vs] / scale).tolist(), strict=True)], stats


def _changed(tree: Sequence[Edge], former: Sequence[Edge]) -> int:
    """Return the number of edges that are not in the former tree."""
    known = {*former, *((v, u) for u, v in former)}
    return sum(edge not in known for edge in tree)
