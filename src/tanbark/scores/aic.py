"""AIC (Akaike 1974)."""

from __future__ import annotations

from dataclasses import dataclass

from tanbark.scores.decomposable import PenalisedLikelihood


@dataclass(frozen=True)
class AIC(PenalisedLikelihood):
    """The log likelihood less one for every parameter: Akaike's criterion over minus two."""

    def penalty(self, weight: float) -> float:
        """Return one."""
        return 1.0
