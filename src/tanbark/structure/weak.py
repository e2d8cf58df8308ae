"""Families of simple structures, to be pooled."""

from __future__ import annotations

from tanbark.counts import Counts
from tanbark.network import Structure
from tanbark.structure.best_trees import best_trees
from tanbark.structure.edge_weights import cmi_weights, most_telling
from tanbark.structure.k_dependence import k_dependence
from tanbark.structure.spanning_tree import rooted, settled

TREES = 10
MOST_DEPENDENCE = 3


def nested_naive_bayes(counts: Counts) -> list[Structure]:
    """Return naive Bayes over the attribute that says most of the class, over the two that do, and so on to all.

    All other attributes depend on nothing. A logarithmic pool of them is naive Bayes with a weight between zero and one
    for each attribute.
    """
    n = len(counts.schema.columns)
    order = most_telling(counts)
    return [Structure((*((n,) if u in order[:many] else () for u in range(n)), ())) for many in range(1, n + 1)]


def heaviest_trees(counts: Counts) -> list[Structure]:
    """Return the trees of greatest conditional mutual information, the heaviest first."""
    n = len(counts.schema.columns)
    trees = best_trees(settled(cmi_weights(counts, 0.0)), TREES)
    return [Structure.augmented(rooted(n, edges, most_telling(counts))) for edges in trees]


def growing_dependence(counts: Counts) -> list[Structure]:
    """Return the k-dependence structures from naive Bayes on."""
    return [k_dependence(counts, k) for k in range(min(MOST_DEPENDENCE, len(counts.schema.columns) - 1) + 1)]


WEAK_STRUCTURES = {"naive-bayes": nested_naive_bayes, "tan": heaviest_trees, "kdb": growing_dependence}
