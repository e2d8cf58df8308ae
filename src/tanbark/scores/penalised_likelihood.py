"""Log likelihood, AIC and BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tanbark.scores.decomposable import PenalisedLikelihood


@dataclass(frozen=True)
class LogLikelihood(PenalisedLikelihood):
    """The greatest log likelihood of the cases under a structure: the fitting term of MDL."""

    def penalty(self, weight: float) -> float:
        """Return zero."""
        return 0.0


@dataclass(frozen=True)
class AIC(PenalisedLikelihood):
    """The log likelihood less one for every parameter: Akaike's criterion over minus two."""

    def penalty(self, weight: float) -> float:
        """Return one."""
        return 1.0


@dataclass(frozen=True)
class BIC(PenalisedLikelihood):
    """The log likelihood less half the logarithm of the number of cases for every parameter.

    It is MDL of equation 4 of Sugahara, Uto and Ueno (2018) with the other sign, so that greater is better.
    """

    def penalty(self, weight: float) -> float:
        """Return ``log(N) / 2``."""
        return 0.5 * math.log(max(weight, 1.0))
