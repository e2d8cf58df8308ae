"""Log likelihood, AIC and BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tanbark.scores.decomposable import PenalisedLikelihood


def half_log(weight: float) -> float:
    """Return ``log(N) / 2``, the price of a parameter by minimum description length; zero for N below one."""
    return 0.5 * math.log(max(weight, 1.0))


@dataclass(frozen=True)
class LogLikelihood(PenalisedLikelihood):
    """The maximum log likelihood of the cases under a structure: the fitting term of MDL."""

    def penalty(self, _weight: float) -> float:
        """Return zero."""
        return 0.0


@dataclass(frozen=True)
class AIC(PenalisedLikelihood):
    """The maximum log likelihood less one for every parameter: Akaike's criterion divided by minus two."""

    def penalty(self, _weight: float) -> float:
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
