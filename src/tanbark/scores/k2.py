"""The K2 score (Cooper and Herskovits 1992)."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.scores.decomposable import DirichletScore


@dataclass(frozen=True)
class K2Score(DirichletScore):
    """The marginal likelihood under uniform priors of every row of every table: one imagined case for each cell.

    Cooper, G. F. and Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from data.
    Machine Learning 9, 309-347.
    """

    def prior(self, configurations: float, seen: int, arity: int) -> float:
        """Return one."""
        return 1.0
