"""Fitted models: what learning leaves behind, immutable and complete."""

from tanbark.models.boosted_class_tables import BoostedClassTables
from tanbark.models.ensemble import Ensemble
from tanbark.models.evidence_model import EvidenceModel
from tanbark.models.model import Model, StoredModel
from tanbark.models.network_mixture import NetworkMixture
from tanbark.models.network_model import Findings, NetworkModel
from tanbark.models.pool import Pool
from tanbark.models.super_parent_average import SuperParentAverage
from tanbark.models.tree_average import TreeAverage
from tanbark.models.votes import Votes

__all__ = [
    "BoostedClassTables",
    "Ensemble",
    "EvidenceModel",
    "Findings",
    "Model",
    "NetworkMixture",
    "NetworkModel",
    "Pool",
    "StoredModel",
    "SuperParentAverage",
    "TreeAverage",
    "Votes",
]
