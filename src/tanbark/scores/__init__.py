"""Scores of network structures.

A score is an object that rates a structure for given cases: greater is better, in nats. A score states its own family
rule, set function and penalty; a search uses these and never names a score. `Score` explains how to write a new one.
"""

from collections.abc import Callable

from tanbark.scores.cases import Cases
from tanbark.scores.conditional_scores import CMDL, Conditional, ConditionalLogLikelihood
from tanbark.scores.decomposable_bases import Decomposable, DirichletScore, FamilyRule, PenalisedLikelihood, SetFunction
from tanbark.scores.decomposable_scores import AIC, BIC, BDeu, BDs, K2Score, LogLikelihood
from tanbark.scores.gains import Gains
from tanbark.scores.score import Score

CRITERIA: dict[str, Callable[[float], Score]] = {
    "bdeu": BDeu,
    "bds": BDs,
    "bic": lambda _: BIC(),
    "aic": lambda _: AIC(),
    "k2": K2Score,
    "cmdl": CMDL,
}
"""The scores that classifiers can search with: for each name, a function from an equivalent sample size to a score."""

__all__ = [
    "AIC",
    "BIC",
    "CMDL",
    "CRITERIA",
    "BDeu",
    "BDs",
    "Cases",
    "Conditional",
    "ConditionalLogLikelihood",
    "Decomposable",
    "DirichletScore",
    "FamilyRule",
    "Gains",
    "K2Score",
    "LogLikelihood",
    "PenalisedLikelihood",
    "Score",
    "SetFunction",
]
