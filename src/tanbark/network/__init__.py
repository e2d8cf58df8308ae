"""Bayesian networks: structure, conditional probability tables and inference."""

from tanbark.network.factor_inference import DrawnAnswerWarning, DrawnValuesWarning
from tanbark.network.network import Network
from tanbark.network.structure import Structure
from tanbark.network.tables import SparseTable

__all__ = ["DrawnAnswerWarning", "DrawnValuesWarning", "Network", "SparseTable", "Structure"]
