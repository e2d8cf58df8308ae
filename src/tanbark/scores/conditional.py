"""Scores of structures by how probable they make the classes of the cases, given their attributes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.class_factors import add_log_factor
from tanbark.kernels.posterior import log_evidence
from tanbark.network import Structure
from tanbark.scores.cases import Cases
from tanbark.scores.class_rows import ClassFactor, ClassRows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Conditional(ABC):
    """The conditional log likelihood of a structure, less a penalty for every free parameter of all its tables.

    It does not decompose: the classes' probabilities are normalised row by row, so what a family adds depends on all
    other families. Tables have the expected probabilities ``(N + a) / (N of the row + a r)`` under a BDeu prior, `a`
    being ``ess / (r q)`` for a node of `r` values whose parents have `q` configurations, so that nothing is impossible.
    Greater is better, in nats. A subclass says which penalty.

    Parameters
    ----------
    ess : float
        Equivalent sample size.
    """

    ess: float = 1.0

    @abstractmethod
    def penalty(self, weight: float) -> float:
        """Return the price of one parameter where the cases weigh so much."""

    def total(self, cases: Cases, structure: Structure) -> float:
        """Return the score of a structure."""
        rows = ClassRows.of(cases)
        factors = [rows.factor(node, above, self.ess) for node, above in enumerate(structure.parents)]
        likelihood, _ = conditional_likelihood(rows, factors)
        parameters = math.fsum(free_parameters(rows, node, above) for node, above in enumerate(structure.parents))
        return likelihood - self.penalty(float(rows.weights.sum())) * parameters


def free_parameters(rows: ClassRows, node: int, parents: Sequence[int]) -> float:
    """Return how many numbers of a family's table are free: ``(r - 1) q``."""
    return float(rows.arity[node] - 1) * rows.configurations(parents)


def conditional_likelihood(rows: ClassRows, factors: Sequence[ClassFactor]) -> tuple[float, Array]:
    """Return the log probability of the cases' classes given their attributes, and the log joints of the rows."""
    joint = np.zeros((len(rows.each), rows.arity[-1]))
    for factor in factors:
        add_log_factor(joint, factor.group, np.log(factor.table))
    evidence = np.empty(len(joint))
    log_evidence(joint, 0, len(joint), evidence)
    of_row = np.repeat(np.arange(len(joint)), np.diff(rows.start))
    return float(rows.weights @ (joint[of_row, rows.classes] - evidence[of_row])), joint
