"""Averaging over all trees: their posterior, and the distribution that they make together."""

from tanbark.averaging.edge_prior import edge_prior_matrix
from tanbark.averaging.evidence import log_evidence_without_edges
from tanbark.averaging.tree_mixture import TreeMixture
from tanbark.averaging.tree_posterior import TreePosterior

__all__ = ["TreeMixture", "TreePosterior", "edge_prior_matrix", "log_evidence_without_edges"]
