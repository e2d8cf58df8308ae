"""Many networks at once: all trees and their posterior, and all super-parents."""

from tanbark.averaging.edge_prior import edge_prior_matrix
from tanbark.averaging.evidence import log_evidence_without_edges
from tanbark.averaging.super_parents import HeldOut, SuperParents
from tanbark.averaging.tree_mixture import TreeMixture
from tanbark.averaging.tree_posterior import TreePosterior

__all__ = [
    "HeldOut",
    "SuperParents",
    "TreeMixture",
    "TreePosterior",
    "edge_prior_matrix",
    "log_evidence_without_edges",
]
