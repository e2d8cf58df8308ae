"""How much worse than before the last rows were foreseen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEWEST = 100
"""So many rows at least are judged together: the loss of a few is anything but normal."""


@dataclass(frozen=True)
class Surprise:
    """The losses of the last rows, and the mean and the variance of those before.

    Of these older ones count less: half after `half_life` rows.
    """

    half_life: float
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    last: tuple[Array, Array] = (np.empty(0), np.empty(0))
    """The losses and the weights of the last rows."""

    @property
    def excess(self) -> float:
        """By how many standard errors the mean of the last losses is above that of those before.

        NaN where there is nothing to compare with.
        """
        losses, weights = self.last
        many = float(weights.sum())
        if not self.weight or not many:
            return float("nan")
        above = float(losses @ weights) / many - self.mean
        error = float(np.sqrt(self.squares / self.weight * (1.0 / many + 1.0 / self.weight)))
        return above / error if error > 0 else float(np.sign(above)) * np.inf if above else 0.0

    def followed_by(self, losses: Array, weights: Array) -> Surprise:
        """Return it with the losses of a further chunk, judged with as many before it as make up 100 rows."""
        kept = max(FEWEST - len(losses), 0)
        cut = max(len(self.last[0]) - kept, 0)
        settled = self._settling(self.last[0][:cut], self.last[1][:cut])
        last = np.concatenate([self.last[0][cut:], losses]), np.concatenate([self.last[1][cut:], weights])
        return Surprise(self.half_life, settled.weight, settled.mean, settled.squares, last)

    def _settling(self, losses: Array, weights: Array) -> Surprise:
        """Return it with losses that are no longer among the last taken into the mean and the variance."""
        many = float(weights.sum())
        if not many:
            return self
        fade = 0.5 ** (many / self.half_life)
        before, mean = self.weight * fade, float(losses @ weights) / many
        total = before + many
        squares = self.squares * fade + float(weights @ (losses - mean) ** 2)
        squares += (mean - self.mean) ** 2 * before * many / total
        return Surprise(self.half_life, total, self.mean + (mean - self.mean) * many / total, squares)
