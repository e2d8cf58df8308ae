"""BDeu: Bayesian Dirichlet, likelihood-equivalent, uniform (Buntine 1991; Heckerman, Geiger and Chickering 1995)."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.scores.decomposable import DirichletScore


@dataclass(frozen=True)
class BDeu(DirichletScore):
    """The marginal likelihood when every table shares `ess` imagined cases equally among its cells.

    Equation 3 of Sugahara, Uto and Ueno (2018): a cell's prior is ``ess / (r q)`` for a node of `r` values whose
    parents have `q` configurations. Structures that say the same of independence have the same score.
    """

    def prior(self, configurations: float, seen: int, arity: int) -> float:
        """Return ``ess / (r q)``."""
        return self.ess / (arity * configurations)
