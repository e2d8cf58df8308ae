"""What a climber asks of a score."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]


class Gains(ABC):
    """The score of the structure that a climber is at, and what each step from it would gain.

    All arrays are of shape (nodes, nodes), the parent first.
    """

    score: float

    @abstractmethod
    def go_to(self, edges: Flags) -> None:
        """Be at the structure with these edges."""

    @abstractmethod
    def toggling(self, asked: Flags) -> Matrix:
        """Return what adding or, where it is there, taking away each edge gains, at least of those asked for."""

    @abstractmethod
    def turning(self, asked: Flags) -> Matrix:
        """Return what turning each edge round gains, at least of those asked for."""
