"""Networks: a structure with its tables, and the answers they give."""

from tanbark.network.estimates import DrawnAnswerWarning, DrawnValuesWarning
from tanbark.network.network import Network
from tanbark.network.sparse import SparseTable
from tanbark.network.structure import Structure

__all__ = ["DrawnAnswerWarning", "DrawnValuesWarning", "Network", "SparseTable", "Structure"]
