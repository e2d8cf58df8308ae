"""The conditional log likelihood (Friedman, Geiger and Goldszmidt 1997; Grossman and Domingos 2004)."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.scores.conditional import Conditional


@dataclass(frozen=True)
class ConditionalLogLikelihood(Conditional):
    """The log probability of the classes given the attributes: ``sum over cases of w log P(class | row)``.

    It does not decompose over families.
    """

    def penalty(self, weight: float) -> float:
        """Return zero."""
        return 0.0
