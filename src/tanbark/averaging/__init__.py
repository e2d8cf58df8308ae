"""Posterior distributions over trees, and the members and weights of pools."""

from tanbark.averaging.pool_members import (
    MAX_JOINT_CELLS,
    WEAK_STRUCTURES,
    Members,
    Networks,
    SuperParents,
    cross_validated_log_joints,
)
from tanbark.averaging.pool_weights import PoolLikelihood, PoolOptimum, best_pool
from tanbark.averaging.tree_posterior import TreePosterior, edge_prior_matrix, log_evidence_without_edges

__all__ = [
    "MAX_JOINT_CELLS",
    "WEAK_STRUCTURES",
    "Members",
    "Networks",
    "PoolLikelihood",
    "PoolOptimum",
    "SuperParents",
    "TreePosterior",
    "best_pool",
    "cross_validated_log_joints",
    "edge_prior_matrix",
    "log_evidence_without_edges",
]
