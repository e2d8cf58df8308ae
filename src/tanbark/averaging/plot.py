"""How probable edges are, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.network.picture import shortened
from tanbark.network.plot import axes_for

MOST_NUMBERS = 12
"""With more attributes the squares bear no numbers."""


def plot_edge_probabilities(probabilities: NDArray[np.float64], names: Sequence[str], ax: Any) -> Any:
    """Return axes with a square for every two attributes, the darker the more probable the edge between them is."""
    n = len(names)
    ax = axes_for(ax, 2.6 + 0.42 * n, 1.8 + 0.42 * n)
    shown = np.where(np.eye(n, dtype=np.bool_), np.nan, probabilities)
    image = ax.imshow(shown, vmin=0.0, vmax=1.0, cmap="Blues")
    labels = [shortened(name) for name in names]
    ax.set_xticks(range(n), labels, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    ax.set_yticks(range(n), labels, parse_math=False)
    if n <= MOST_NUMBERS:
        for u, v in zip(*np.nonzero(~np.isnan(shown))):
            look = "white" if shown[u, v] > 0.6 else "black"
            ax.text(v, u, f"{shown[u, v]:.2f}", ha="center", va="center", color=look, fontsize=8)
    ax.figure.colorbar(image, ax=ax, label="probability of the edge", shrink=0.8)
    return ax
