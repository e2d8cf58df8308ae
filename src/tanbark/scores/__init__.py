"""How good a structure is, for the cases there are."""

from tanbark.scores.cases import Cases
from tanbark.scores.conditional_scores import CMDL, Conditional, ConditionalLogLikelihood
from tanbark.scores.decomposable import Decomposable, DirichletScore, PenalisedLikelihood
from tanbark.scores.dirichlet_scores import BDeu, BDs, K2Score
from tanbark.scores.penalised_likelihood import AIC, BIC, LogLikelihood

__all__ = [
    "AIC",
    "BIC",
    "CMDL",
    "BDeu",
    "BDs",
    "Cases",
    "Conditional",
    "ConditionalLogLikelihood",
    "Decomposable",
    "DirichletScore",
    "K2Score",
    "LogLikelihood",
    "PenalisedLikelihood",
]
