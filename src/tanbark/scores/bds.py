"""BDs: Bayesian Dirichlet, sparse (Scutari 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.scores.decomposable import DirichletScore


@dataclass(frozen=True)
class BDs(DirichletScore):
    """BDeu whose imagined cases are shared by the configurations of the parents that were seen.

    BDeu spends prior weight on configurations that no case has, and so has less than `ess` for those that have some;
    by Scutari's argument it therefore adds too many edges where data are sparse. Structures that say the same of
    independence may differ in score. Scutari, M. (2016). An empirical-Bayes score for discrete Bayesian networks. PGM,
    438-448.
    """

    def prior(self, configurations: float, seen: int, arity: int) -> float:
        """Return ``ess / (r s)`` where `s` configurations of the parents were seen."""
        return self.ess / (arity * max(seen, 1))
