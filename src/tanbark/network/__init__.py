"""Networks: a structure with its tables, and the answers they give."""

from tanbark.network.network import Network
from tanbark.network.structure import Structure

__all__ = ["Network", "Structure"]
