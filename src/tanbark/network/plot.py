"""A network drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.network.layout import Edge, layout
from tanbark.network.picture import shortened
from tanbark.network.strengths import numbered_strengths

if TYPE_CHECKING:
    from tanbark.network.network import Network

THINNEST, THICKEST = 0.8, 5.0


def axes_for(ax: Any, width: float, height: float) -> Any:
    """Return the axes to draw on: those given, or new ones of a size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def plot_network(network: Network, ax: Any) -> Any:
    """Return axes with the network: layers from left to right, the thicker an edge the more the parent tells."""
    laid = layout(network.structure)
    layers, rows = laid.size
    ax = axes_for(ax, 1.2 + 1.7 * layers, 0.6 + 0.4 * rows)
    for edge, thick in thicknesses(network).items():
        if edge in laid.edges:
            across, down = zip(*laid.edges[edge])
            line = "-" if thick == thick else ":"
            width = THINNEST + (THICKEST - THINNEST) * np.nan_to_num(thick)
            ax.plot(*_smooth(across, down), line, color="0.6", linewidth=width, zorder=1, solid_capstyle="butt")
    of_class = network.structure.of_class
    for node, ((x, y), name) in enumerate(zip(laid.places, network.names)):
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "linewidth": 2.0 if node == of_class else 0.8}
        # Names are not mathematics, whatever dollars they hold.
        ax.text(x, y, shortened(name), ha="center", va="center", fontsize=9, bbox=box, parse_math=False)
    ax.set_xlim(-0.5, layers - 0.5)
    ax.set_ylim(rows - 0.4, -0.6)
    ax.set_axis_off()
    return ax


def thicknesses(network: Network) -> Mapping[Edge, float]:
    """Return what each parent tells about its child, as a share of the most that any edge among attributes does."""
    strengths = numbered_strengths(network)
    drawn = [strengths[edge] for edge in layout(network.structure).edges if strengths[edge] == strengths[edge]]
    most = max(drawn, default=0.0) or 1.0
    return {edge: strength / most for edge, strength in strengths.items()}


def _smooth(across: tuple[float, ...], down: tuple[float, ...]) -> tuple[Any, Any]:
    """Return points of a line that leaves and reaches every layer level."""
    t = np.linspace(0.0, 1.0, 20)
    bend = t * t * (3.0 - 2.0 * t)
    xs = [x + (u - x) * t for x, u in pairwise(across)]
    ys = [y + (v - y) * bend for y, v in pairwise(down)]
    return np.concatenate(xs), np.concatenate(ys)
