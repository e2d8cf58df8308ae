"""Posterior distributions over trees, and the members and weights of pools."""

from tanbark.averaging.pool_members import MOST_CELLS, WEAK_STRUCTURES, Members, Networks, SuperParents, by_folds
from tanbark.averaging.pool_weights import PoolLikelihood, PoolOptimum, best_pool
from tanbark.averaging.tree_posterior import TreePosterior, edge_prior_matrix, log_evidence_without_edges

__all__ = [
    "MOST_CELLS",
    "WEAK_STRUCTURES",
    "Members",
    "Networks",
    "PoolLikelihood",
    "PoolOptimum",
    "SuperParents",
    "TreePosterior",
    "best_pool",
    "by_folds",
    "edge_prior_matrix",
    "log_evidence_without_edges",
]
