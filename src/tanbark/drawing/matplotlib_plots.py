"""Plots of networks and edge probabilities with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.drawing.layout import Edge, layout
from tanbark.drawing.network_pictures import shortened
from tanbark.graph import Structure

THINNEST, THICKEST = 0.8, 5.0


def axes_for(ax: Any, width: float, height: float) -> Any:
    """Return the given axes, or new ones of a size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def plot_network(names: Sequence[str], structure: Structure, strengths: Mapping[Edge, float], ax: Any) -> Any:
    """Return axes with a network in layers from left to right; strong edges are thick."""
    laid = layout(structure)
    layers, rows = laid.size
    ax = axes_for(ax, 1.2 + 1.7 * layers, 0.6 + 0.4 * rows)
    for edge, thick in thicknesses(structure, strengths).items():
        if edge in laid.edges:
            across, down = zip(*laid.edges[edge])
            line = "-" if thick == thick else ":"
            width = THINNEST + (THICKEST - THINNEST) * np.nan_to_num(thick)
            ax.plot(*_smooth(across, down), line, color="0.6", linewidth=width, zorder=1, solid_capstyle="butt")
    of_class = structure.of_class
    for node, ((x, y), name) in enumerate(zip(laid.places, names)):
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "linewidth": 2.0 if node == of_class else 0.8}
        # Dollar signs in names must not be parsed as mathematics.
        ax.text(x, y, shortened(name), ha="center", va="center", fontsize=9, bbox=box, parse_math=False)
    ax.set_xlim(-0.5, layers - 0.5)
    ax.set_ylim(rows - 0.4, -0.6)
    ax.set_axis_off()
    return ax


def thicknesses(structure: Structure, strengths: Mapping[Edge, float]) -> Mapping[Edge, float]:
    """Return the strength of each edge relative to the strongest visible edge."""
    visible = [strengths[edge] for edge in layout(structure).edges if strengths[edge] == strengths[edge]]
    most = max(visible, default=0.0) or 1.0
    return {edge: strength / most for edge, strength in strengths.items()}


def _smooth(across: tuple[float, ...], down: tuple[float, ...]) -> tuple[Any, Any]:
    """Return the points of a line that is horizontal at every layer."""
    t = np.linspace(0.0, 1.0, 20)
    bend = t * t * (3.0 - 2.0 * t)
    xs = [x + (u - x) * t for x, u in pairwise(across)]
    ys = [y + (v - y) * bend for y, v in pairwise(down)]
    return np.concatenate(xs), np.concatenate(ys)


MOST_NUMBERS = 12
"""With more attributes, the cells of the plot show no numbers."""


def plot_edge_probabilities(probabilities: NDArray[np.float64], names: Sequence[str], ax: Any) -> Any:
    """Return axes with a heat map of the edge probabilities of all pairs of attributes."""
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
