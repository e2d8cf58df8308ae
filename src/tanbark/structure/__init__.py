"""Learning which attribute depends on which."""

from tanbark.structure.arborescence import maximum_arborescence
from tanbark.structure.best_trees import best_trees
from tanbark.structure.edge_weights import EDGE_WEIGHTS, bdeu_weights_by_class, class_information, most_telling
from tanbark.structure.exact import exact_structure
from tanbark.structure.forest import EDGE_GAINS, maximum_forest
from tanbark.structure.hill_climbing import hill_climb
from tanbark.structure.incremental import REVISABLE, RestructureStats, revised_tree, weighed_tree
from tanbark.structure.k2_search import k2_search
from tanbark.structure.k_dependence import k_dependence
from tanbark.structure.restrictions import Restrictions
from tanbark.structure.search import CRITERIA, SEARCHES, searched_structure
from tanbark.structure.spanning_tree import maximum_spanning_tree, rooted, settled
from tanbark.structure.weak import WEAK_STRUCTURES

__all__ = [
    "CRITERIA",
    "EDGE_GAINS",
    "EDGE_WEIGHTS",
    "REVISABLE",
    "SEARCHES",
    "WEAK_STRUCTURES",
    "Restrictions",
    "RestructureStats",
    "bdeu_weights_by_class",
    "best_trees",
    "class_information",
    "exact_structure",
    "hill_climb",
    "k2_search",
    "k_dependence",
    "maximum_arborescence",
    "maximum_forest",
    "maximum_spanning_tree",
    "most_telling",
    "revised_tree",
    "rooted",
    "searched_structure",
    "settled",
    "weighed_tree",
]
