"""CMDL, conditional minimum description length (Friedman, Geiger and Goldszmidt 1997)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tanbark.scores.conditional import Conditional


@dataclass(frozen=True)
class CMDL(Conditional):
    """The conditional log likelihood less half the logarithm of the number of cases for every parameter.

    It is equation 6 of Sugahara, Uto and Ueno (2018) with the other sign, so that greater is better. It does not
    decompose over families.
    """

    def penalty(self, weight: float) -> float:
        """Return ``log(N) / 2``."""
        return 0.5 * math.log(max(weight, 1.0))
