"""How good a structure is, for the cases there are."""

from tanbark.scores.aic import AIC
from tanbark.scores.bdeu import BDeu
from tanbark.scores.bds import BDs
from tanbark.scores.bic import BIC
from tanbark.scores.cases import Cases
from tanbark.scores.cmdl import CMDL
from tanbark.scores.conditional import Conditional
from tanbark.scores.conditional_log_likelihood import ConditionalLogLikelihood
from tanbark.scores.decomposable import Decomposable, DirichletScore, PenalisedLikelihood
from tanbark.scores.k2 import K2Score
from tanbark.scores.log_likelihood import LogLikelihood

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
