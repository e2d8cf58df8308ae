"""Plots of results, each as an SVG string for an HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tanbark.drawing.html_page import COLOURS, INK, MARKERS, line_style, style, svg
from tanbark.evaluate.comparison import Comparison
from tanbark.evaluate.metrics import N_CONFIDENCE_BINS, by_confidence, calibration_error
from tanbark.evaluate.results import CrossValidation
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]

_FAINT = {"color": INK, "linewidth": 0.7, "alpha": 0.5}
_DOT = {"markersize": 4.5}


@insert_shared_docs
def roc(results: Mapping[str, CrossValidation]) -> str:
    """Plot the ROC curves of classifiers over the rows of all folds.

    With two classes the second is the positive one; with more the curve is the mean over each class against the rest.
    The legend shows the mean area over folds.

    {results_to_svg}
    """
    with style():
        figure, axes = _axes(4.2, 4.2)
        axes.plot([0.0, 1.0], [0.0, 1.0], **_FAINT)
        for at, (name, result) in enumerate(results.items()):
            label = f"{_plain(name)}  {result.mean('auc'):.3f}"
            axes.plot(*mean_curve(*result.pooled, result.pooled_weights), label=label, **line_style(at))
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        axes.set(xlabel="share of the others detected", ylabel="share of the class detected")
        axes.legend(loc="lower right", title="area")
        areas = ", ".join(f"{name} {result.mean('auc'):.3f}" for name, result in results.items())
        return svg(figure, f"ROC curves, areas: {areas}")


def mean_curve(truth: NDArray[np.int64], log_probabilities: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the false and true positive rates of a ROC curve.

    Parameters
    ----------
    truth : array of shape (rows,)
        The true class of each row, as an integer.
    log_probabilities : array of shape (rows, classes)
    weights : array of shape (rows,), default=None
        The weights of the rows; None gives each row weight 1.

    Returns
    -------
    false, true : array of shape (points,)
        Rates for the second of two classes; with more classes the mean over each class against the rest.
    """
    from sklearn.metrics import roc_curve

    classes = log_probabilities.shape[1]
    # scikit-learn does not accept minus infinity.
    scores = np.maximum(log_probabilities, np.finfo(np.float64).min)
    curves = [
        roc_curve(truth == k, scores[:, k], sample_weight=weights)[:2]
        for k in ([1] if classes == 2 else range(classes))
        if 0 < (truth == k).sum() < len(truth)
    ]
    if len(curves) == 1:
        [(false, true)] = curves
        return false, true
    across = np.linspace(0.0, 1.0, 1001)
    up = np.mean([np.interp(across, *curve) for curve in curves], axis=0)
    return np.r_[0.0, across], np.r_[0.0, up]


@insert_shared_docs
def reliability(results: Mapping[str, CrossValidation]) -> str:
    """Plot a reliability diagram: accuracy against confidence, over the rows of all folds.

    Confidence is the probability of the predicted class, in the intervals of `metrics.calibration_error`. Larger
    markers stand for more rows, and a histogram below shows their distribution. Below the diagonal a classifier is
    overconfident.

    {results_to_svg}
    """
    with style():
        figure, axes = _axes(4.2, 4.9)
        axes.remove()
        axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4.2, 1), gridspec_kw={"hspace": 0.1})
        lowest = min((1.0 / result.classes.size for result in results.values()), default=0.0)
        axes.plot([0.0, 1.0], [0.0, 1.0], **_FAINT)
        for at, (name, result) in enumerate(results.items()):
            found = by_confidence(*result.pooled, result.pooled_weights)
            label = f"{_plain(name)}  {calibration_error(*result.pooled, result.pooled_weights):.3f}"
            marker = MARKERS[at % len(MARKERS)]
            some = found.rows > 0
            share = found.rows[some] / found.rows.sum()
            look = line_style(at)
            across, up = found.confidence[some], found.accuracy[some]
            axes.plot(across, up, linewidth=1.0, **look)
            axes.plot([], [], label=label, marker=marker, **look)
            axes.scatter(across, up, 12.0 + 150.0 * share, color=look["color"], marker=marker, zorder=3)
            below.stairs(
                found.rows / found.rows.sum(), np.linspace(0.0, 1.0, N_CONFIDENCE_BINS + 1), linewidth=1.2, **look
            )
        left = np.floor(lowest * N_CONFIDENCE_BINS) / N_CONFIDENCE_BINS
        axes.set(xlim=(left - 0.01, 1.01), ylim=(-0.01, 1.01), ylabel="share that is right")
        below.set(xlabel="probability of the predicted class", ylabel="rows")
        below.yaxis.set_major_formatter("{x:.0%}")
        handles = axes.get_legend_handles_labels()
        figure.legend(*handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, title="calibration error")
        errors = ", ".join(
            f"{name} {calibration_error(*one.pooled, one.pooled_weights):.3f}" for name, one in results.items()
        )
        return svg(figure, f"Reliability diagram, calibration errors: {errors}")


@insert_shared_docs
def learning_curve(curve: Mapping[float, Comparison], metric: str = "log_loss") -> str:
    """Plot a metric against the number of training rows, with standard errors.

    Parameters
    ----------
    curve : mapping of float to Comparison
        Result of `tanbark.evaluate.learning_curve`.
    {ranking_metric}

    Returns
    -------
    str
        An SVG element.
    """
    with style():
        figure, axes = _axes(4.2, 3.6)
        names = draw_learning_curve(axes, curve, metric)
        return svg(figure, f"Learning curves of {', '.join(names)}")


def draw_learning_curve(axes: Any, curve: Mapping[float, Comparison], metric: str) -> list[str]:
    """Plot a metric against the number of training rows on matplotlib axes.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    curve : mapping of float to Comparison
    metric : str
        One of `tanbark.evaluate.METRICS`.

    Returns
    -------
    list of str
        The names of the classifiers.
    """
    shares = sorted(curve)
    names = list(dict.fromkeys(name for share in shares for name in curve[share]))
    ticks: dict[float, str] = {}
    for at, name in enumerate(names):
        known = [(share, curve[share][name]) for share in shares if name in curve[share]]
        rows = [result.learned_from for _, result in known]
        ticks |= {n_rows: f"{n_rows:,.0f}\n{share:.0%}" for n_rows, (share, _) in zip(rows, known, strict=True)}
        means = [result.mean(metric) for _, result in known]
        errors = [result.standard_error(metric) for _, result in known]
        marker = MARKERS[at % len(MARKERS)]
        axes.errorbar(rows, means, errors, label=_plain(name), marker=marker, capsize=3, **_DOT, **line_style(at))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set(xlabel="rows learned from", ylabel=metric.replace("_", " "))
    axes.legend()
    return names


def scatter(x: ArrayLike, y: ArrayLike, x_name: str, y_name: str, labels: Sequence[str]) -> str:
    """Plot the errors of two classifiers against each other, with one point per data set.

    Above the diagonal the classifier of `x` has the lower error. Each point has a tooltip with its label.

    Parameters
    ----------
    x, y : array of shape (data sets,)
        The errors.
    x_name, y_name : str
        The names of the classifiers.
    labels : sequence of str
        The names of the data sets.

    Returns
    -------
    str
        An SVG element.
    """
    across, up = np.asarray(x, np.float64), np.asarray(y, np.float64)
    with style():
        figure, axes = _axes(3.6, 3.6)
        most = max(1.08 * float(np.nanmax([across, up], initial=0.0)), 1e-9)
        axes.plot([0.0, most], [0.0, most], **_FAINT)
        for at, place in enumerate(zip(across, up, strict=True)):
            axes.plot(*place, "o", color=COLOURS[0], markersize=5.5, alpha=0.8, gid=f"point-{at}", clip_on=False)
        axes.set(xlim=(0.0, most), ylim=(0.0, most), aspect="equal")
        axes.set_xlabel(_plain(x_name))
        axes.set_ylabel(_plain(y_name))
        tooltips = {
            f"point-{at}": f"{label}: {x_name} {a:.3f}, {y_name} {b:.3f}"
            for at, (label, a, b) in enumerate(zip(labels, across, up, strict=True))
        }
        return svg(figure, f"{y_name} against {x_name} on {len(labels)} data sets", tooltips)


def critical_difference_diagram(names: Sequence[str], ranks: ArrayLike, difference: float) -> str:
    """Plot the critical-difference diagram of Demšar (2006): mean ranks on a line, the best on the left.

    Bars join classifiers whose ranks differ by no more than the critical difference, which is shown above.

    Parameters
    ----------
    names : sequence of str
        The names of the classifiers.
    ranks : array of shape (classifiers,)
        The mean rank of each classifier, 1 being the best; see `tanbark.evaluate.significance.friedman`.
    difference : float
        See `tanbark.evaluate.significance.critical_difference`.

    Returns
    -------
    str
        An SVG element.
    """
    ranks = np.asarray(ranks, np.float64)
    order = np.argsort(ranks, kind="stable")
    n_classifiers = len(order)
    low, high = 1, max(n_classifiers, 2)
    bars = alike(ranks[order], difference)
    n_left = (n_classifiers + 1) // 2
    first = 0.55 + 0.22 * len(bars)
    bottom = first + 0.42 * (n_left - 1)
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
            on_left = place < n_left
            depth = first + 0.42 * (place if on_left else n_classifiers - 1 - place)
            margin = low - reach if on_left else high + reach
            axes.plot([rank, rank, margin], [0, depth, depth], **{**line, "linewidth": 0.7})
            label = f"{_plain(names[which])}  {rank:.2f}" if on_left else f"{rank:.2f}  {_plain(names[which])}"
            across = margin + (-reach / 4 if on_left else reach / 4)
            axes.text(across, depth, label, ha="right" if on_left else "left", va="center")
        for level, (start, stop) in enumerate(bars):
            ends = [ranks[order[start]] - reach / 3, ranks[order[stop]] + reach / 3]
            depth = 0.3 + 0.22 * level
            axes.plot(ends, [depth, depth], color=COLOURS[1], linewidth=3.0, solid_capstyle="round", clip_on=False)
        ranked = ", ".join(f"{names[which]} {ranks[which]:.2f}" for which in order)
        return svg(figure, f"Mean ranks: {ranked}; critical difference {difference:.2f}")


def alike(ranks: ArrayLike, difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of ascending ranks that lie within a difference.

    Parameters
    ----------
    ranks : array of shape (classifiers,)
        In ascending order.
    difference : float

    Returns
    -------
    list of (int, int)
        First and last position of each run of at least two ranks that is not part of another.

    Examples
    --------
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
    """Return a figure of this size in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _plain(text: str) -> str:
    """Escape dollar signs, which matplotlib would parse as a formula."""
    return text.replace("$", r"\$")
