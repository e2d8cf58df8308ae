"""Bayesian Dirichlet scores: BDeu, BDs and K2."""

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


@dataclass(frozen=True)
class K2Score(DirichletScore):
    """The marginal likelihood under uniform priors of every row of every table: one imagined case for each cell.

    Cooper, G. F. and Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from data.
    Machine Learning 9, 309-347.
    """

    def prior(self, configurations: float, seen: int, arity: int) -> float:
        """Return one."""
        return 1.0
