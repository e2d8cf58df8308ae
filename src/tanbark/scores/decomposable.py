"""Scores of structures that are sums over the families of a network."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.kernels.trees.pair_weights import table_evidence
from tanbark.network import Structure
from tanbark.scores.cases import Cases

Array = NDArray[np.float64]


class Decomposable(ABC):
    """A score that adds up over families, so that a change of one node's parents changes one term.

    Greater is better, and every score is in nats.
    """

    @abstractmethod
    def family(self, table: Array, configurations: float) -> float:
        """Return the score of a node under its parents.

        Parameters
        ----------
        table : array of shape (configurations seen, values)
            How often each value was seen under each configuration of the parents; one row where there are no parents.
        configurations : float
            How many configurations the parents can have, seen or not.
        """

    def local(self, cases: Cases, node: int, parents: Sequence[int]) -> float:
        """Return the score of a node under the given parents."""
        return self.family(cases.table(node, parents), cases.configurations(parents))

    def total(self, cases: Cases, structure: Structure) -> float:
        """Return the score of a structure."""
        return math.fsum(self.local(cases, node, above) for node, above in enumerate(structure.parents))


@dataclass(frozen=True)
class DirichletScore(Decomposable):
    """The log marginal likelihood of the cases when each row of a table has a symmetric Dirichlet prior.

    A subclass says which (`prior`).

    Parameters
    ----------
    ess : float
        Equivalent sample size, for priors that have one.
    """

    ess: float = 1.0

    @abstractmethod
    def prior(self, configurations: float, seen: int, arity: int) -> float:
        """Return the prior's weight for one cell of a table of which `seen` rows were seen."""

    def family(self, table: Array, configurations: float) -> float:
        """Return the sum over the rows seen of ``log G(a r) / G(a r + N) + sum over cells of log G(a + N) / G(a)``."""
        return float(table_evidence(table, self.prior(configurations, len(table), table.shape[1])))


@dataclass(frozen=True)
class PenalisedLikelihood(Decomposable):
    """The greatest log likelihood that a structure can give the cases, less a penalty for every free parameter.

    A subclass says which (`penalty`).
    """

    @abstractmethod
    def penalty(self, weight: float) -> float:
        """Return the price of one parameter where the cases weigh so much."""

    def family(self, table: Array, configurations: float) -> float:
        """Return ``sum of N log(N / N of the row) - penalty (values - 1) configurations``."""
        rows = table.sum(axis=1)
        fit = float(xlogy(table, table).sum() - xlogy(rows, rows).sum())
        price = self.penalty(float(rows.sum()))
        return float(fit - price * (table.shape[1] - 1) * configurations)
