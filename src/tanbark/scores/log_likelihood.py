"""The log likelihood, which never prefers fewer edges."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.scores.decomposable import PenalisedLikelihood


@dataclass(frozen=True)
class LogLikelihood(PenalisedLikelihood):
    """The greatest log likelihood of the cases under a structure: the fitting term of MDL."""

    def penalty(self, weight: float) -> float:
        """Return zero."""
        return 0.0
