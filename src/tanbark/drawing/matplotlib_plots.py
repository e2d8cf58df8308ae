"""Matplotlib plots of networks and edge probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.drawing.layout import Edge, Graph, layout
from tanbark.drawing.network_pictures import shortened

MIN_LINE_WIDTH, MAX_LINE_WIDTH = 0.8, 5.0
"""Widths of the weakest and the strongest edge, in points."""
MAX_ANNOTATED_ATTRIBUTES = 12
"""With more attributes, the cells of edge probabilities show no numbers."""


def axes_for(ax: Any, width: float, height: float) -> Any:
    """Return `ax`, or new axes of this size in inches if it is None."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def plot_network(names: Sequence[str], structure: Graph, strengths: Mapping[Edge, float], ax: Any) -> Any:
    """Plot a network in layers from left to right, with thick lines for strong edges."""
    arranged = layout(structure)
    layers, rows = arranged.size
    ax = axes_for(ax, 1.2 + 1.7 * layers, 0.6 + 0.4 * rows)
    for edge, strength in relative_strengths(structure, strengths).items():
        if edge in arranged.edges:
            xs, ys = zip(*arranged.edges[edge], strict=True)
            line = "-" if strength == strength else ":"
            width = MIN_LINE_WIDTH + (MAX_LINE_WIDTH - MIN_LINE_WIDTH) * np.nan_to_num(strength)
            ax.plot(*_smooth(xs, ys), line, color="0.6", linewidth=width, zorder=1, solid_capstyle="butt")
    of_class = structure.of_class
    for node, ((x, y), name) in enumerate(zip(arranged.places, names, strict=True)):
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "linewidth": 2.0 if node == of_class else 0.8}
        # Dollar signs in names must not start mathematics.
        ax.text(x, y, shortened(name), ha="center", va="center", fontsize=9, bbox=box, parse_math=False)
    ax.set_xlim(-0.5, layers - 0.5)
    ax.set_ylim(rows - 0.4, -0.6)
    ax.set_axis_off()
    return ax


def relative_strengths(structure: Graph, strengths: Mapping[Edge, float]) -> Mapping[Edge, float]:
    """Return the strength of each edge relative to the strongest drawn edge."""
    measured = [strengths[edge] for edge in layout(structure).edges if strengths[edge] == strengths[edge]]
    largest = max(measured, default=0.0) or 1.0
    return {edge: strength / largest for edge, strength in strengths.items()}


def _smooth(layers: tuple[float, ...], rows: tuple[float, ...]) -> tuple[Any, Any]:
    """Return points of a smooth line through the given points that is horizontal at each of them."""
    t = np.linspace(0.0, 1.0, 20)
    bend = t * t * (3.0 - 2.0 * t)
    xs = [x + (u - x) * t for x, u in pairwise(layers)]
    ys = [y + (v - y) * bend for y, v in pairwise(rows)]
    return np.concatenate(xs), np.concatenate(ys)


def plot_edge_probabilities(probabilities: NDArray[np.float64], names: Sequence[str], ax: Any) -> Any:
    """Plot a heat map of the edge probabilities of all pairs of attributes."""
    n = len(names)
    ax = axes_for(ax, 2.6 + 0.42 * n, 1.8 + 0.42 * n)
    shown = np.where(np.eye(n, dtype=np.bool_), np.nan, probabilities)
    image = ax.imshow(shown, vmin=0.0, vmax=1.0, cmap="Blues")
    labels = [shortened(name) for name in names]
    ax.set_xticks(range(n), labels, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    ax.set_yticks(range(n), labels, parse_math=False)
    if n <= MAX_ANNOTATED_ATTRIBUTES:
        for u, v in zip(*np.nonzero(~np.isnan(shown)), strict=True):
            colour = "white" if shown[u, v] > 0.6 else "black"
            ax.text(v, u, f"{shown[u, v]:.2f}", ha="center", va="center", color=colour, fontsize=8)
    ax.figure.colorbar(image, ax=ax, label="probability of the edge", shrink=0.8)
    return ax
