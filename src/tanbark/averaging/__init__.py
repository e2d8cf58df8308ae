"""Many networks at once: all trees and their posterior, and all super-parents."""

from tanbark.averaging.committee import Committee
from tanbark.averaging.pool_members import MOST_CELLS, WEAK_STRUCTURES, Members, Networks, SuperParents, by_folds
from tanbark.averaging.pool_weights import Pool, PoolLikelihood, best_pool
from tanbark.averaging.tree_mixture import TreeMixture
from tanbark.averaging.tree_posterior import TreePosterior, edge_prior_matrix, log_evidence_without_edges

__all__ = [
    "MOST_CELLS",
    "WEAK_STRUCTURES",
    "Committee",
    "Members",
    "Networks",
    "Pool",
    "PoolLikelihood",
    "SuperParents",
    "TreeMixture",
    "TreePosterior",
    "best_pool",
    "by_folds",
    "edge_prior_matrix",
    "log_evidence_without_edges",
]
