"""Scores that are sums over the families of a network.

`Decomposable` is the base class. Most scores are one of its two kinds: `DirichletScore`, a marginal likelihood, or
`PenalisedLikelihood`, a maximum log likelihood less a penalty for every parameter.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from tanbark.kernels.search.direct_scores import LIKELIHOOD
from tanbark.kernels.trees.score_weights import table_evidence
from tanbark.network import Structure
from tanbark.scores.cases import Array, Cases
from tanbark.scores.gains import DecomposableGains, FamilyScores, Gains
from tanbark.scores.score import Score
from tanbark.shared_docs import insert_shared_docs


class SetFunction(NamedTuple):
    """A function of sets of nodes whose differences are the scores of families.

    ``g(S)`` is the sum over the cells of S of ``log G(a + N) / G(a)``, where `N` is the weight of the cases in a cell
    and G the gamma function, or of ``N log N`` if `a` is zero. The score of a node `x` with `r` values and parents P is
    ``g(P + x) - h(P)``, where `h` is `g` with ``r a`` in place of `a` if each cell has the weight `a` of its own, and
    `g` itself if all cells share it. The penalty for the free parameters comes on top.

    Parameters
    ----------
    concentration : float
        The prior weight `a` of a cell.
    shared : bool, default=False
        Whether the cells of S share the concentration equally.
    """

    concentration: float
    shared: bool = False

    def of_parents(self, arity: int) -> float:
        """Return the concentration of `h` for a node with `arity` values.

        Parameters
        ----------
        arity : int
            The number of values of the node.

        Returns
        -------
        float
            The concentration, shared as that of `g`.
        """
        return self.concentration if self.shared else arity * self.concentration

    def concentrations(self, arities: Sequence[int]) -> list[float]:
        """Return the distinct concentrations of `g` and `h`, that of `g` first.

        Parameters
        ----------
        arities : sequence of int
            The numbers of values of the nodes.

        Returns
        -------
        list of float
            One concentration for each set function to evaluate.
        """
        return list(dict.fromkeys([self.concentration, *map(self.of_parents, arities)]))


class FamilyRule(NamedTuple):
    """The form of a score whose families a compiled kernel can count one by one.

    Parameters
    ----------
    sharing : int
        A constant of `tanbark.kernels.search.direct_scores`: `BY_CONFIGURATIONS` or `BY_SEEN` if all or the observed
        configurations of the parents share the prior weight, `BY_CELLS` if each cell has a prior weight of one,
        `LIKELIHOOD` if there is no prior.
    weight : float, default=0.0
        The prior weight to share.
    """

    sharing: int
    weight: float = 0.0


@insert_shared_docs
class Decomposable(Score):
    """Base class of scores that are sums over families: a change of one node's parents changes one term.

    A subclass defines `family`. Every search then works. The other members are optional.

    Notes
    -----
    Exact search scores every node under every set of parents, in the fastest of three ways: from a `set_function`, with
    one value for each set of nodes; else by a `family_rule`, counting each family in compiled code; else by `family`,
    which is slow beyond some 15 nodes. `set_function` and `family_rule` describe the score without its `penalty` and
    must agree with `family`.
    """

    @property
    def is_decomposable(self) -> bool:
        """True: the score is a sum over families."""
        return True

    @abstractmethod
    def family(self, table: Array, configurations: float) -> float:
        """Return the score of a family.

        Parameters
        ----------
        table : array of shape (observed configurations, values)
            The weight of the cases with each value of the node under each observed configuration of its parents; one
            row if there are no parents.
        configurations : float
            The number of configurations that the parents can have, observed or not.

        Returns
        -------
        float
            The score in nats; greater is better.
        """

    @property
    def set_function(self) -> SetFunction | None:
        """The set function whose differences are the family scores; `None` if there is none."""
        return None

    @property
    def family_rule(self) -> FamilyRule | None:
        """The form in which a compiled kernel can score families; `None` if there is none."""
        return None

    def penalty(self, weight: float) -> float:
        """Return the penalty of one free parameter, a part of `family`.

        Exact search ignores parents whose penalty exceeds their largest possible gain, ``N log r`` for a node with `r`
        values and N cases. So only a score of which this is true may have a positive penalty.

        Parameters
        ----------
        weight : float
            Total weight of the cases.

        Returns
        -------
        float
            The penalty in nats, zero unless a subclass overrides it.
        """
        return 0.0

    def magnitude(self, cases: Cases) -> float:
        """Return an upper bound of the absolute value of set functions and family scores, penalties aside.

        Exact search rounds scores to multiples of 2**-50 of about this number to make their sums exact.

        Parameters
        ----------
        cases : Cases
            The data.

        Returns
        -------
        float
            The bound, ``N log N`` plus one for each case unless a subclass overrides it.
        """
        weight = float(cases.weights.sum()) + 2.0
        return weight * math.log(weight) + len(cases.weights)

    def local(self, cases: Cases, node: int, parents: Sequence[int]) -> float:
        """Return the score of a node given its parents.

        Parameters
        ----------
        cases : Cases
            The data.
        {node_and_parents}

        Returns
        -------
        float
            The score in nats; greater is better.
        """
        return self.family(cases.table(node, parents), cases.configurations(parents))

    def total(self, cases: Cases, structure: Structure) -> float:
        """Return the score of a structure, the sum of the scores of its families; see `Score.total`."""
        return math.fsum(self.local(cases, node, parents) for node, parents in enumerate(structure.parents))

    def gains(self, cases: Cases, n_jobs: int | None = None) -> Gains:
        """Return an object that computes the gains of single-edge changes; see `Score.gains`."""
        return DecomposableGains(FamilyScores(cases, self, n_jobs))


@dataclass(frozen=True)
class DirichletScore(Decomposable):
    """Base class of log marginal likelihoods under a symmetric Dirichlet prior of each row of a table.

    A subclass defines `prior`.

    Parameters
    ----------
    ess : float, default=1.0
        Equivalent sample size, for priors that have one.
    """

    ess: float = 1.0

    @abstractmethod
    def prior(self, configurations: float, seen: int, arity: int) -> float:
        """Return the prior weight of each cell of a family's table.

        Parameters
        ----------
        configurations : float
            The number of configurations that the parents can have.
        seen : int
            The number of configurations of the parents that were observed.
        arity : int
            The number of values of the node.

        Returns
        -------
        float
            The concentration of the Dirichlet distribution.
        """

    def family(self, table: Array, configurations: float) -> float:
        """Return the log marginal likelihood of a family's table; see `Decomposable.family`.

        It is the sum over the observed rows of ``log G(a r) / G(a r + N) + sum over cells of log G(a + N) / G(a)``.
        """
        return float(table_evidence(table, self.prior(configurations, len(table), table.shape[1])))

    def magnitude(self, cases: Cases) -> float:
        """Return an upper bound of the absolute value of set functions and family scores; see `Decomposable.magnitude`.

        It holds for prior weights between ``ess / (number of cells)`` and the larger of `ess` and the arity.
        """
        weight, widest = float(cases.weights.sum()) + 2.0, float(cases.arity.max())
        log_least = min(math.log(self.ess), 0.0) - float(np.log(cases.arity).sum())
        return weight * math.log(weight + self.ess + widest) - len(cases.weights) * log_least


@dataclass(frozen=True)
class PenalisedLikelihood(Decomposable):
    """Base class of maximum log likelihoods less a penalty for every free parameter.

    A subclass defines `penalty`.
    """

    @abstractmethod
    def penalty(self, weight: float) -> float:
        """Return the penalty of one free parameter; see `Decomposable.penalty`."""

    def family(self, table: Array, configurations: float) -> float:
        """Return the penalised log likelihood of a family's table; see `Decomposable.family`.

        It is ``sum of N log(N / N of the row) - penalty (values - 1) configurations``.
        """
        rows = table.sum(axis=1)
        fit = float(xlogy(table, table).sum() - xlogy(rows, rows).sum())
        price = self.penalty(float(rows.sum()))
        return float(fit - price * (table.shape[1] - 1) * configurations)

    @property
    def set_function(self) -> SetFunction:
        """``g(S) = sum over the cells of S of N log N``."""
        return SetFunction(0.0)

    @property
    def family_rule(self) -> FamilyRule:
        """There is no prior."""
        return FamilyRule(LIKELIHOOD)
