"""Networks: a structure with its tables, and the answers they give."""

from tanbark.network.network import DrawnValuesWarning, Network
from tanbark.network.sparse import SparseTable
from tanbark.network.structure import Structure

__all__ = ["DrawnValuesWarning", "Network", "SparseTable", "Structure"]
