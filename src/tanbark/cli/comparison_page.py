"""The page of a comparison: the ranked table, what it says, and the plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tanbark.cli.recommendation import LEVEL, METRIC_WORDS, TEST, Recommendation, alike

if TYPE_CHECKING:
    from tanbark.evaluate import Comparison


@dataclass(frozen=True)
class Report:
    """All there is to say about a comparison.

    Parameters
    ----------
    data, title, target : str
        What the rows are called, at length and in a title, and which column is the class.
    facts : mapping of str
        What was done, by what it is called.
    by : str
        The metric that decides.
    found : Comparison
    curve : mapping of Comparisons by share
    shown : sequence of str
        Which classifiers are drawn.
    recommendation : Recommendation
    notes : sequence of str
    repeat, go_on : str
        The commands that repeat this and that learn the chosen classifier.
    """

    data: str
    title: str
    target: str
    facts: Mapping[str, str]
    by: str
    found: Comparison
    curve: Mapping[float, Comparison]
    shown: Sequence[str]
    recommendation: Recommendation
    notes: Sequence[str]
    repeat: str
    go_on: str | None

    @property
    def summary(self) -> str:
        """What the rows are, in a few words."""
        return f"{self.facts['rows']} rows, {self.facts['classes']} classes of {self.target}"

    @property
    def looks(self) -> list[str]:
        """How to show the classifiers, from best to worst: the best, those that cannot be told from it, the others."""
        ranking = self.found.ranking(self.by)
        good = alike(ranking)
        return ["best" if at == 0 else "" if rank.name in good else "faint" for at, rank in enumerate(ranking)]


HEADS = ("classifier", "error %", "log loss", "Brier", "AUC", "calibration %", "fit s", "predict s", "p")


def cells(found: Comparison, by: str, apart: str) -> list[list[str]]:
    """Return the rows of the ranked table, means and standard errors held apart by some letters."""
    import numpy as np

    lines: list[list[str]] = []
    for rank in found.ranking(by):
        one = found[rank.name]
        figures = [
            _figure(scale * one.mean(metric), scale * one.standard_error(metric), digits, apart)
            for metric, scale, digits in (
                ("error", 100, 1),
                ("log_loss", 1, 3),
                ("brier", 1, 3),
                ("auc", 1, 3),
                ("calibration_error", 100, 1),
            )
        ]
        times = [_seconds(float(np.median(some))) for some in (one.fit_seconds, one.predict_seconds)]
        near = f"{rank.p_value:.2f}" == f"{LEVEL:.2f}"
        chance = "<0.01" if rank.p_value < 0.01 else f"{rank.p_value:.{3 if near else 2}f}".replace("nan", "–")
        lines.append([rank.name, *figures, *times, chance if lines else ""])
    return lines


def _figure(mean: float, error: float, digits: int, apart: str) -> str:
    if mean != mean:
        return "–"
    return f"{mean:.{digits}f}" + (f"{apart}{error:.{digits}f}" if error == error else "")


def _seconds(seconds: float) -> str:
    """Return a time to three digits or so.

    >>> _seconds(0.0123), _seconds(12.34), _seconds(0.0002)
    ('0.012', '12.3', '0.000')
    """
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"


def comparison_page(report: Report) -> str:
    """Return the page."""
    from tanbark.drawing.html_page import figure, page, table
    from tanbark.evaluate import plots

    shown = {name: report.found[name] for name in report.shown}
    metric = METRIC_WORDS[report.by]
    classes = next(iter(shown.values())).classes.tolist()
    detected = f"the class {classes[1]!r}" if len(classes) == 2 else "each class against the rest, on average"
    drawings = [
        figure(plots.roc(shown), f"ROC: how many of a class are found, against false alarms; {detected}."),
        figure(
            plots.reliability(shown),
            "Reliability: how often a prediction is right against how sure it is, and where the rows are. On the line "
            "probabilities can be trusted; below it a classifier is too sure.",
        ),
    ]
    if len(report.curve) > 1:
        drawings.append(
            figure(plots.learning_curve(report.curve, report.by), f"Learning curve: {metric} by rows learned from.")
        )
    says = "".join(f"<p>{escape(words)}</p>\n" for words in report.recommendation.sentences)
    go_on = f"<pre>{escape(report.go_on)}</pre>" if report.go_on else ""
    explained = (
        f"Ranked by {metric}. Means over folds ± standard errors, enlarged since folds share rows. Error: share of "
        "rows predicted wrongly. Log loss, in nats, and the Brier score: how far the probabilities are from the truth; "
        "less is better. AUC: more is better. Calibration: how far confidence is from accuracy in a fold, which "
        "exaggerates where folds are small. Times are medians of a "
        "fold. "
        f"p: of the difference from the first, by the {TEST.split(' at ')[0]}; below {LEVEL} it is more than chance, "
        "for one classifier that is looked at alone."
    )
    ranking = table(HEADS, cells(report.found, report.by, " ± "), report.looks)
    failures = table(["classifier", "why"], report.found.failures.items()) if report.found.failures else ""
    notes = "".join(f"<li>{escape(note)}</li>\n" for note in report.notes)
    body = [
        f'<p class="faint">{escape(report.summary)}</p>',
        f"<h2>What to take</h2>\n{says}{go_on}",
        f"<h2>Ranking</h2>\n{ranking}\n<p><small>{escape(explained)}</small></p>",
        f"<h2>Those that failed</h2>\n{failures}" if failures else "",
        f'<h2>Plots</h2>\n<div class="plots">\n{"".join(drawings)}</div>',
        f"<h2>Notes</h2>\n<ul>\n{notes}</ul>" if notes else "",
        f"<h2>What was done</h2>\n{table(['', ''], report.facts.items())}\n<p>To repeat it:</p>",
        f"<pre>{escape(report.repeat)}</pre>",
    ]
    return page(f"Which classifier for {report.title}?", "\n".join(part for part in body if part))
