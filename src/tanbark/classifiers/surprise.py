"""How much worse than before a chunk of rows was foreseen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Surprise:
    """The mean and the variance of rows' losses, of which older ones count less: half after `half_life` rows."""

    half_life: float
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    def of(self, losses: Array, weights: Array) -> float:
        """Return by how many standard errors the mean of further losses is above that of those before.

        NaN where there is nothing to compare with.
        """
        many = float(weights.sum())
        if not self.weight or not many:
            return float("nan")
        excess = float(losses @ weights) / many - self.mean
        error = float(np.sqrt(self.squares / self.weight * (1.0 / many + 1.0 / self.weight)))
        return excess / error if error > 0 else float(np.sign(excess)) * np.inf if excess else 0.0

    def with_losses(self, losses: Array, weights: Array) -> Surprise:
        """Return it with further losses taken into the mean and the variance."""
        many = float(weights.sum())
        if not many:
            return self
        fade = 0.5 ** (many / self.half_life)
        before, mean = self.weight * fade, float(losses @ weights) / many
        total = before + many
        squares = self.squares * fade + float(weights @ (losses - mean) ** 2)
        squares += (mean - self.mean) ** 2 * before * many / total
        return Surprise(self.half_life, total, self.mean + (mean - self.mean) * many / total, squares)
