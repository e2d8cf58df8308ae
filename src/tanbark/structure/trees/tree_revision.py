"""Revision of a tree when counts grow, as an alternative to learning it again (Roure 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanbark.counts import Counts
from tanbark.kernels.trees.pair_weights import margin_products
from tanbark.kernels.trees.tree_growth import CALCULATED, RECALLED, count_ordered_arcs, finish_tree
from tanbark.structure.trees.edge_weights import EDGE_WEIGHTS, count_products
from tanbark.structure.trees.spanning_tree import Edge, maximum_spanning_tree

SYMMETRIC_CRITERIA = ("cmi", "bdeu")
"""The criteria under which an edge has the same weight in both directions."""


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
