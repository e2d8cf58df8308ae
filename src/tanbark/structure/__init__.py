"""Learning the structure of networks: trees over the attributes, and searches by score."""

from tanbark.structure.search.exact_or_greedy import SEARCHES, searched_structure
from tanbark.structure.search.exact_search import exact_structure
from tanbark.structure.search.hill_climbing import hill_climb
from tanbark.structure.search.ordered_search import k2_search, k_dependence
from tanbark.structure.search.restrictions import Restrictions
from tanbark.structure.trees.edge_weights import (
    EDGE_GAINS,
    EDGE_WEIGHTS,
    attributes_by_information,
    bdeu_weights_by_class,
    class_information,
    maximum_forest,
)
from tanbark.structure.trees.spanning_tree import (
    best_trees,
    maximum_arborescence,
    maximum_spanning_tree,
    rooted_parents,
    rounded_weights,
)
from tanbark.structure.trees.tree_revision import SYMMETRIC_CRITERIA, RestructureStats, learned_tree, revised_tree

__all__ = [
    "EDGE_GAINS",
    "EDGE_WEIGHTS",
    "SEARCHES",
    "SYMMETRIC_CRITERIA",
    "Restrictions",
    "RestructureStats",
    "attributes_by_information",
    "bdeu_weights_by_class",
    "best_trees",
    "class_information",
    "exact_structure",
    "hill_climb",
    "k2_search",
    "k_dependence",
    "learned_tree",
    "maximum_arborescence",
    "maximum_forest",
    "maximum_spanning_tree",
    "revised_tree",
    "rooted_parents",
    "rounded_weights",
    "searched_structure",
]
