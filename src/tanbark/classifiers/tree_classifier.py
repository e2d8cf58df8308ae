"""What the classifiers share whose attributes depend on one another along trees."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import NDArray

from tanbark.classifiers._base.network_classifier import NetworkClassifier
from tanbark.counts import Counts, Rows
from tanbark.network import Network, Structure
from tanbark.parameters import tree_tables
from tanbark.structure import most_telling, rooted


class TreeClassifier(NetworkClassifier):
    """A classifier whose network is a tree, or several, over the attributes: a subclass says which (`_edges`)."""

    tree_edges_: list[tuple[int, int, float]]

    @abstractmethod
    def _edges(self, counts: Counts) -> list[tuple[int, int, float]]:
        """Return the edges with their weights."""

    def _roots(self, counts: Counts) -> list[int]:
        """Return the attributes from which the trees hang: each from the first that is in it."""
        return most_telling(counts)

    def _network(self, counts: Counts, rows: Rows | None) -> Network:
        self.tree_edges_ = self._edges(counts)
        edges = [(u, v) for u, v, _ in self.tree_edges_]
        parent = rooted(len(counts.schema.columns), edges, self._roots(counts))
        tables = tree_tables(counts, parent, self.parameters, float(self.ess))
        return Network(counts.schema, Structure.augmented(parent), tables)

    def _state(self) -> dict[str, Any]:
        """Return the edges."""
        return {"tree_edges": [list(edge) for edge in self.tree_edges_]}

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, this network and these edges."""
        self.tree_edges_ = [(int(u), int(v), float(w)) for u, v, w in state["tree_edges"]]
        if not all(0 <= node < len(counts.schema.columns) for u, v, _ in self.tree_edges_ for node in (u, v)):
            raise ValueError("its tree has an edge of an attribute that is none")
        return super()._restore(counts, network, state, arrays)
