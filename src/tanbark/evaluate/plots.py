"""Drawings of results, each a string of SVG to put into a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tanbark.evaluate.svg import COLOURS, INK, style, svg


def scatter(x: ArrayLike, y: ArrayLike, x_name: str, y_name: str, labels: Sequence[str]) -> str:
    """Return the errors of two classifiers against one another, a point for each data set.

    Above the diagonal the classifier of `x` errs less. A pointer over a point shows its label.

    Parameters
    ----------
    x, y : array of shape (data sets,)
    x_name, y_name : str
    labels : sequence of str
        The names of the data sets.
    """
    across, up = np.asarray(x, np.float64), np.asarray(y, np.float64)
    with style():
        figure, axes = _axes(3.6, 3.6)
        most = max(1.08 * float(np.nanmax([across, up], initial=0.0)), 1e-9)
        axes.plot([0.0, most], [0.0, most], color=INK, linewidth=0.7, alpha=0.5)
        for at, place in enumerate(zip(across, up)):
            axes.plot(*place, "o", color=COLOURS[0], markersize=5.5, alpha=0.8, gid=f"point-{at}", clip_on=False)
        axes.set(xlim=(0.0, most), ylim=(0.0, most), aspect="equal")
        axes.set_xlabel(_plain(x_name))
        axes.set_ylabel(_plain(y_name))
        tooltips = {
            f"point-{at}": f"{label}: {x_name} {a:.3f}, {y_name} {b:.3f}"
            for at, (label, a, b) in enumerate(zip(labels, across, up))
        }
        return svg(figure, f"{y_name} against {x_name} on {len(labels)} data sets", tooltips)


def critical_difference_diagram(names: Sequence[str], ranks: ArrayLike, difference: float) -> str:
    """Return the diagram of Demšar (2006): mean ranks on a line, the best on the left.

    Bars join the classifiers that are not further apart than the critical difference, which is drawn above.

    Parameters
    ----------
    names : sequence of str
    ranks : array of shape (classifiers,)
        The mean rank of each, 1 being the best; see `tanbark.evaluate.significance.friedman`.
    difference : float
        See `tanbark.evaluate.significance.critical_difference`.
    """
    ranks = np.asarray(ranks, np.float64)
    order = np.argsort(ranks, kind="stable")
    many = len(order)
    low, high = 1, max(many, 2)
    bars = alike(ranks[order], difference)
    left = (many + 1) // 2
    first = 0.55 + 0.22 * len(bars)
    bottom = first + 0.42 * (left - 1)
    with style():
        figure, axes = _axes(4.4, 0.52 * (bottom + 1.7))
        axes.set_axis_off()
        axes.set(xlim=(low, high), ylim=(bottom + 0.25, -1.45))
        line = {"color": INK, "linewidth": 0.9, "clip_on": False}
        axes.plot([low, high], [0, 0], **line)
        for tick in range(low, high + 1):
            axes.plot([tick, tick], [-0.16, 0], **line)
            axes.text(tick, -0.25, str(tick), ha="center", va="bottom")
        end = min(low + difference, high)
        axes.plot([low, end], [-1.0, -1.0], marker="|", markersize=6, **line)
        axes.text((low + end) / 2, -1.1, f"critical difference {difference:.2f}", ha="center", va="bottom")
        reach = 0.04 * (high - low)
        for place, which in enumerate(order):
            rank = ranks[which]
            side = place < left
            depth = first + 0.42 * (place if side else many - 1 - place)
            margin = low - reach if side else high + reach
            axes.plot([rank, rank, margin], [0, depth, depth], **{**line, "linewidth": 0.7})
            words = f"{_plain(names[which])}  {rank:.2f}" if side else f"{rank:.2f}  {_plain(names[which])}"
            axes.text(
                margin + (-reach / 4 if side else reach / 4), depth, words, ha="right" if side else "left", va="center"
            )
        for level, (start, stop) in enumerate(bars):
            ends = [ranks[order[start]] - reach / 3, ranks[order[stop]] + reach / 3]
            depth = 0.3 + 0.22 * level
            axes.plot(ends, [depth, depth], color=COLOURS[1], linewidth=3.0, solid_capstyle="round", clip_on=False)
        ranked = ", ".join(f"{names[which]} {ranks[which]:.2f}" for which in order)
        return svg(figure, f"Mean ranks: {ranked}; critical difference {difference:.2f}")


def alike(ranks: ArrayLike, difference: float) -> list[tuple[int, int]]:
    """Return the first and the last of each longest run of ascending ranks that are within a difference.

    >>> alike([1.5, 2.0, 2.4, 4.0], 0.6)
    [(0, 1), (1, 2)]
    """
    sorted_ranks = np.asarray(ranks, np.float64)
    runs: list[tuple[int, int]] = []
    for start, rank in enumerate(sorted_ranks):
        stop = int(np.searchsorted(sorted_ranks, rank + difference, side="right")) - 1
        if stop > start and (not runs or stop > runs[-1][1]):
            runs.append((start, stop))
    return runs


def _axes(width: float, height: float) -> tuple[Any, Any]:
    """Return a figure of so many inches and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _plain(words: str) -> str:
    """Return text that matplotlib does not take for a formula."""
    return words.replace("$", r"\$")
