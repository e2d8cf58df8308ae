"""What steps gain by a score that adds up over families."""

from __future__ import annotations

import numpy as np

from tanbark.structure.family_scores import FamilyScores
from tanbark.structure.gains import Flags, Gains, Matrix


class DecomposableGains(Gains):
    """Gains of families: a step changes those of the nodes whose parents it changes, and no others."""

    def __init__(self, families: FamilyScores) -> None:
        self._families = families
        nodes = len(families.cases.arity)
        # No node is its own parent: the first structure is new in every family.
        self._parents: list[tuple[int, ...]] = [(node,) for node in range(nodes)]
        self._present = np.zeros(nodes)
        self._gains = np.full((nodes, nodes), np.nan)

    def go_to(self, edges: Flags) -> None:
        """Be at the structure with these edges."""
        for node, above in enumerate(edges.T):
            parents = tuple(np.flatnonzero(above).tolist())
            if parents != self._parents[node]:
                self._parents[node] = parents
                self._present[node] = self._families.local(node, parents)
                self._gains[:, node] = np.nan
        self.score = float(self._present.sum())

    def toggling(self, asked: Flags) -> Matrix:
        """Return what adding or taking away each edge gains; families that were scored before are not scored again."""
        unknown = asked & np.isnan(self._gains)
        for node in np.flatnonzero(unknown.any(axis=0)).tolist():
            parents = self._parents[node]
            others = [p for p in np.flatnonzero(unknown[:, node]).tolist() if p not in parents]
            scores = self._families.grown(node, parents, others)
            self._gains[others, node] = scores - self._present[node]
            for parent in parents:
                fewer = tuple(p for p in parents if p != parent)
                self._gains[parent, node] = self._families.local(node, fewer) - self._present[node]
        return self._gains

    def turning(self, asked: Flags) -> Matrix:
        """Return what turning each edge round gains: taking it away, and adding the other."""
        gains = self.toggling(asked | asked.T)
        return gains + gains.T
