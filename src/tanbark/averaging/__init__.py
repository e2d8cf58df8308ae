"""Many networks at once: all trees and their posterior, and all super-parents."""

from tanbark.averaging.committee import Committee
from tanbark.averaging.edge_prior import edge_prior_matrix
from tanbark.averaging.evidence import log_evidence_without_edges
from tanbark.averaging.members import MOST_CELLS, Members, Networks, by_folds
from tanbark.averaging.pool_weights import Pool, PoolLikelihood, best_pool
from tanbark.averaging.super_parents import SuperParents
from tanbark.averaging.tree_mixture import TreeMixture
from tanbark.averaging.tree_posterior import TreePosterior

__all__ = [
    "MOST_CELLS",
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
