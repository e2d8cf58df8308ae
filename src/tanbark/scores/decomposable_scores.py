"""The decomposable scores: BDeu, BDs and K2 (Bayesian Dirichlet), and log likelihood, AIC and BIC (penalised)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tanbark.kernels.search.direct_scores import BY_CELLS, BY_CONFIGURATIONS, BY_SEEN
from tanbark.scores.decomposable_bases import DirichletScore, FamilyRule, PenalisedLikelihood, SetFunction


@dataclass(frozen=True)
class BDeu(DirichletScore):
    """The marginal likelihood when the cells of every table share `ess` imaginary cases equally.

    Equation 3 of Sugahara, Uto and Ueno (2018): the prior weight of a cell is ``ess / (r q)`` for a node of `r` values
    whose parents have `q` configurations. Structures with the same conditional independences have the same score.

    Parameters
    ----------
    ess : float, default=1.0
        Equivalent sample size.
    """

    def prior(self, configurations: float, _seen: int, arity: int) -> float:
        """Return ``ess / (r q)``."""
        return self.ess / (arity * configurations)

    @property
    def set_function(self) -> SetFunction:
        """``g(S) = sum over the cells of S of log G(ess / q + N) / G(ess / q)``, with `q` configurations of S."""
        return SetFunction(self.ess, shared=True)

    @property
    def family_rule(self) -> FamilyRule:
        """All configurations of the parents share `ess`."""
        return FamilyRule(BY_CONFIGURATIONS, self.ess)


@dataclass(frozen=True)
class BDs(DirichletScore):
    """BDeu with the imaginary cases shared by the observed configurations of the parents only.

    BDeu spends prior weight on configurations that no case has, which leaves less than `ess` for the observed ones.
    Scutari argues that it therefore adds too many edges if data are sparse. BDs may give structures with the same
    conditional independences different scores, and has no set function.

    Parameters
    ----------
    ess : float, default=1.0
        Equivalent sample size.

    References
    ----------
    Scutari, M. (2016). An empirical-Bayes score for discrete Bayesian networks. PGM, 438-448.
    """

    def prior(self, _configurations: float, seen: int, arity: int) -> float:
        """Return ``ess / (r s)`` with `s` observed configurations of the parents."""
        return self.ess / (arity * max(seen, 1))

    @property
    def family_rule(self) -> FamilyRule:
        """The observed configurations of the parents share `ess`."""
        return FamilyRule(BY_SEEN, self.ess)


@dataclass(frozen=True)
class K2Score(DirichletScore):
    """The marginal likelihood under uniform priors: one imaginary case in every cell.

    Parameters
    ----------
    ess : float, default=1.0
        Not used by the prior.

    References
    ----------
    Cooper, G. F. and Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from data.
    Machine Learning 9, 309-347.
    """

    def prior(self, _configurations: float, _seen: int, _arity: int) -> float:
        """Return one."""
        return 1.0

    @property
    def set_function(self) -> SetFunction:
        """``g(S) = sum over the cells of S of log G(1 + N)``."""
        return SetFunction(1.0)

    @property
    def family_rule(self) -> FamilyRule:
        """Every cell has a weight of one."""
        return FamilyRule(BY_CELLS, 1.0)


def half_log(weight: float) -> float:
    """Return ``log(N) / 2``, the price of a parameter by minimum description length; zero for N below one."""
    return 0.5 * math.log(max(weight, 1.0))


@dataclass(frozen=True)
class LogLikelihood(PenalisedLikelihood):
    """The maximum log likelihood of the cases under a structure: the fitting term of MDL."""

    def penalty(self, weight: float) -> float:
        """Return zero."""
        return 0.0


@dataclass(frozen=True)
class AIC(PenalisedLikelihood):
    """The maximum log likelihood less one for every parameter: Akaike's criterion divided by minus two."""

    def penalty(self, weight: float) -> float:
        """Return one."""
        return 1.0


@dataclass(frozen=True)
class BIC(PenalisedLikelihood):
    """The maximum log likelihood less half the logarithm of the number of cases for every parameter.

    This is MDL of equation 4 of Sugahara, Uto and Ueno (2018) with the opposite sign, so that greater is better.
    """

    def penalty(self, weight: float) -> float:
        """Return ``log(N) / 2``."""
        return half_log(weight)
