"""Revise a tree when counts grow, instead of learning it again (Roure 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanbark.counts import Counts
from tanbark.kernels.trees.pair_weights import margin_products
from tanbark.kernels.trees.tree_growth import CALCULATED, RECALLED, arcs_in_order, finish_tree
from tanbark.structure.trees.edge_weights import EDGE_WEIGHTS, count_products
from tanbark.structure.trees.spanning_tree import Edge, maximum_spanning_tree

REVISABLE = ("cmi", "bdeu")
"""The criteria under which an edge weighs the same in both directions."""


@dataclass(frozen=True)
class RestructureStats:
    """What the last learning of a tree took, in the quantities of Roure's Table 1 and Figure 1.

    Parameters
    ----------
    calculated : int
        How many weights were calculated.
    recalled : int
        How often a weight was looked at while arcs were compared: every candidate of every step. A batch learner
        calculates all weights first, the heaviest among them, and looks at them from the second arc on.
    first_out_of_order : int
        Which arc of the former tree, in the order of their adding and counted from one, was the first that is no longer
        where it should be; the number of attributes if all are in order. Always 1 where no order was looked at.
    edges_changed : int
        How many edges of the tree the former one did not have.
    """

    calculated: int
    recalled: int
    first_out_of_order: int
    edges_changed: int


def weighed_tree(
    counts: Counts, criterion: str, ess: float, former: Sequence[Edge] = ()
) -> tuple[list[tuple[int, int, float]], RestructureStats]:
    """Return the maximum spanning tree in the order of Prim's algorithm, with weights, and what it took."""
    weights = EDGE_WEIGHTS[criterion](counts, ess)
    tree = maximum_spanning_tree(weights)
    n = len(weights)
    recalled = sum(i * (n - i) for i in range(2, n))
    stats = RestructureStats(n * (n - 1) // 2, recalled, 1, _changed(tree, former))
    return [(u, v, float(weights[u, v])) for u, v in tree], stats


def revised_tree(
    counts: Counts, criterion: str, ess: float, former: Sequence[Edge]
) -> tuple[list[tuple[int, int, float]], RestructureStats]:
    """Return the tree that the heuristic "arcs in correct order" makes of a former one, with weights.

    The former arcs are walked in the order in which they were added. Those before the first that is not the heaviest of
    the former tree's arcs at its step are kept, and Prim's algorithm finishes the tree; it starts over where the first
    arc fails. Only weights that are needed are calculated. An edge that the former tree lacks is never looked at while
    all of its own are in order, so the tree need not be the heaviest.
    """
    n = len(counts.schema.columns)
    us, vs = (np.array([edge[end] for edge in former], np.int64) for end in (0, 1))
    weights = np.full((n, n), np.nan)
    work = np.zeros(2, np.int64)
    of_prior = ess if criterion == "bdeu" else 0.0
    products, units = count_products(counts) if criterion == "cmi" else (np.empty(0, np.int64), 1.0)
    holes = counts.has_missing()
    sums = margin_products(counts.table, counts.class_counts, counts.schema.offset, holes, products)
    given = (counts.table, counts.schema.offset, of_prior, products, units, sums, us, vs)
    kept = int(arcs_in_order(*given, weights, work))
    if not kept:
        tree, stats = weighed_tree(counts, criterion, ess, former)
        return tree, RestructureStats(stats.calculated, stats.recalled + int(work[RECALLED]), 1, stats.edges_changed)
    finish_tree(*given, kept, weights, work)
    edges = list(zip(us.tolist(), vs.tolist()))
    first = kept + 1 if kept < n - 1 else n
    stats = RestructureStats(int(work[CALCULATED]), int(work[RECALLED]), first, _changed(edges, former))
    # As `EDGE_WEIGHTS` has them: information is that of one row.
    scale = units * (float(counts.class_counts.sum()) or 1.0) if criterion == "cmi" else 1.0
    return [(u, v, w) for (u, v), w in zip(edges, (weights[us, vs] / scale).tolist())], stats


def _changed(tree: Sequence[Edge], former: Sequence[Edge]) -> int:
    known = {*former, *((v, u) for u, v in former)}
    return sum(edge not in known for edge in tree)
