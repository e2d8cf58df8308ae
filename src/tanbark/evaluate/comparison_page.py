"""The HTML page of a comparison: the recommendation, the ranking and the plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from tanbark.drawing.html_page import figure, page, table
from tanbark.evaluate import plots
from tanbark.evaluate.baseline import BASELINE_NAME, constant_predictions
from tanbark.evaluate.comparison import Comparison, Rank
from tanbark.evaluate.recommendation import METRIC_LABELS, SIGNIFICANCE_LEVEL, TEST, not_distinguishable
from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.selection import Selection

RANKING_COLUMNS = ("classifier", "error %", "log loss", "Brier", "AUC", "calibration %", "fit s", "predict s", "p")

_METRIC_FORMATS = (
    ("error", 100, 1),
    ("log_loss", 1, 3),
    ("brier", 1, 3),
    ("auc", 1, 3),
    ("calibration_error", 100, 1),
)
"""Metric, factor and number of decimals."""


def comparison_html(
    selection: Selection,
    title: str,
    *,
    summary: str = "",
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] | None = None,
    fit_command: str | None = None,
    repeat_command: str | None = None,
) -> str:
    """Return a self-contained HTML page with the recommendation, the ranking and plots of a comparison.

    Parameters
    ----------
    selection : Selection
        Result of `select_model`.
    title : str
        The heading of the page.
    summary : str, default=""
        A line about the table, below the heading.
    facts : mapping of str to str, default=None
        The settings of the comparison, by name.
    notes : sequence of str, default=None
        Remarks to list; by default those of the selection.
    fit_command, repeat_command : str, default=None
        The shell commands that fit the recommended classifier and that repeat the comparison.

    Returns
    -------
    str

    Examples
    --------
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate import comparison_html, select_model
    >>> X, y = lenses()
    >>> page = comparison_html(select_model(X, y, models=["naive-bayes", "tan"], folds=4), "Contact lenses")
    >>> page.count("<svg ")
    3
    """
    comparison, by = selection.comparison, selection.by
    sentences = "".join(f"<p>{escape(text)}</p>\n" for text in selection.recommendation.sentences)
    fit = f"<pre>{escape(fit_command)}</pre>" if fit_command else ""
    cells = [*ranking_cells(comparison, by, " ± "), baseline_cells(comparison, " ± ")]
    ranking = table(RANKING_COLUMNS, cells, [*row_styles(comparison, by), "faint"])
    failures = table(["classifier", "reason"], comparison.failures.items()) if comparison.failures else ""
    listed = "".join(f"<li>{escape(note)}</li>\n" for note in (selection.notes if notes is None else notes))
    settings = table(["", ""], facts.items()) if facts else ""
    repeat = f"<p>To repeat it:</p>\n<pre>{escape(repeat_command)}</pre>" if repeat_command else ""
    body = [
        f'<p class="faint">{escape(summary)}</p>' if summary else "",
        f"<h2>Recommendation</h2>\n{sentences}{fit}",
        f"<h2>Ranking</h2>\n{ranking}\n<p><small>{escape(_ranking_caption(by))}</small></p>",
        f"<h2>Failures</h2>\n{failures}" if failures else "",
        f'<h2>Plots</h2>\n<div class="plots">\n{"".join(_figures(selection))}</div>',
        f"<h2>Notes</h2>\n<ul>\n{listed}</ul>" if listed else "",
        f"<h2>Settings</h2>\n{settings}\n{repeat}" if settings or repeat else "",
    ]
    return page(title, "\n".join(part for part in body if part))


def _figures(selection: Selection) -> list[str]:
    """Return the ROC curves, the reliability diagram and the learning curve as HTML."""
    shown = selection.curve[1.0]
    classes = next(iter(shown.values())).classes.tolist()
    positive = f"the class {classes[1]!r}" if len(classes) == 2 else "each class against the rest, averaged"
    label = METRIC_LABELS[selection.by]
    return [
        figure(plots.roc(shown), f"ROC: true positive rate against false positive rate of {positive}."),
        figure(
            plots.reliability(shown),
            "Reliability: accuracy against confidence, and the distribution of the rows. On the diagonal probabilities "
            "can be trusted; below it a classifier is overconfident.",
        ),
        figure(
            plots.learning_curve(selection.curve, selection.by), f"Learning curve: {label} by number of training rows."
        ),
    ]


def _ranking_caption(by: str) -> str:
    return (
        f"Ranked by {METRIC_LABELS[by]}. The last row, {BASELINE_NAME}, is the baseline: always predicting the most "
        "frequent class, with the class frequencies as probabilities. Means over folds ± standard errors, corrected "
        "for folds that share training rows. Error: proportion of misclassified rows. Log loss (in nats) and Brier "
        "score: distance of the probabilities from the true class; lower is better. AUC: higher is better. "
        "Calibration: mean distance between confidence and accuracy over the rows of all folds. Times are medians over "
        f"folds. p: p-value of the difference from the best, by the {TEST.split(' at ')[0]}; below "
        f"{SIGNIFICANCE_LEVEL} the difference is significant, without adjustment for several classifiers."
    )


def ranking_cells(comparison: Comparison, by: str, separator: str) -> list[list[str]]:
    """Return the rows of the ranking as text, with a separator between means and standard errors."""
    return [
        _ranking_row(comparison, rank, separator, is_best=at == 0) for at, rank in enumerate(comparison.ranking(by))
    ]


def baseline_cells(comparison: Comparison, separator: str) -> list[str]:
    """Return the row of the class frequencies, which are not ranked, as text."""
    constant = constant_predictions(next(iter(comparison.values())))
    return [BASELINE_NAME, *_figures_text(constant, separator), "", "", ""]


def _ranking_row(comparison: Comparison, rank: Rank, separator: str, is_best: bool) -> list[str]:
    result = comparison[rank.name]
    times = [_seconds_text(float(np.median(seconds))) for seconds in (result.fit_seconds, result.predict_seconds)]
    return [rank.name, *_figures_text(result, separator), *times, "" if is_best else _p_value_text(rank.p_value)]


def _figures_text(result: CrossValidation, separator: str) -> list[str]:
    """Return the mean and the standard error of each metric as text."""
    return [
        _mean_text(factor * result.mean(metric), factor * result.standard_error(metric), decimals, separator)
        for metric, factor, decimals in _METRIC_FORMATS
    ]


def row_styles(comparison: Comparison, by: str) -> list[str]:
    """Return the style of each row of the ranking: ``best``, ``faint`` if significantly worse, otherwise empty."""
    ranking = comparison.ranking(by)
    alike = not_distinguishable(ranking)
    return ["best" if at == 0 else "" if rank.name in alike else "faint" for at, rank in enumerate(ranking)]


def _mean_text(mean: float, error: float, decimals: int, separator: str) -> str:
    if np.isnan(mean):
        return "–"
    return f"{mean:.{decimals}f}" + ("" if np.isnan(error) else f"{separator}{error:.{decimals}f}")


def _p_value_text(p_value: float) -> str:
    """Return a p-value with two decimals, or three if two would hide on which side of the level it is.

    >>> _p_value_text(0.001), _p_value_text(0.0512), _p_value_text(0.3), _p_value_text(float("nan"))
    ('<0.01', '0.051', '0.30', '–')
    """
    if np.isnan(p_value):
        return "–"
    if p_value < 0.01:
        return "<0.01"
    near_level = f"{p_value:.2f}" == f"{SIGNIFICANCE_LEVEL:.2f}"
    return f"{p_value:.{3 if near_level else 2}f}"


def _seconds_text(seconds: float) -> str:
    """Return a time with about three significant digits.

    >>> _seconds_text(0.0123), _seconds_text(12.34), _seconds_text(0.0002)
    ('0.012', '12.3', '0.000')
    """
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"
