"""Learning the structure of networks: trees over the attributes, and searches by score."""

from tanbark.structure.search.exact_or_greedy import SEARCHES, searched_structure
from tanbark.structure.search.exact_search import exact_structure
from tanbark.structure.search.hill_climbing import hill_climb
from tanbark.structure.search.ordered_search import k2_search, k_dependence
from tanbark.structure.search.restrictions import Restrictions
from tanbark.structure.trees.learned_trees import (
    EDGE_GAINS,
    EDGE_WEIGHTS,
    SYMMETRIC_CRITERIA,
    RestructureStats,
    attributes_by_information,
    bdeu_weights_by_class,
    class_information,
    learned_tree,
    maximum_forest,
    maximum_spanning_tree,
    revised_tree,
    rooted_parents,
    rounded_weights,
)
from tanbark.structure.trees.optimal_trees import best_trees, maximum_arborescence

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
