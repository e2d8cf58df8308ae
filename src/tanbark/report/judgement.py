"""How good a classifier is on rows whose classes are known."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tanbark.evaluate import METRICS, CrossValidation, plots
from tanbark.evaluate.metrics import calibration_error
from tanbark.evaluate.page import figure, table
from tanbark.evaluate.results import Fold
from tanbark.report.rows import GivenRows

MOST_CLASSES = 40
"""A confusion matrix of more classes is not shown."""


@dataclass(frozen=True)
class Judgement:
    """What a classifier said of rows, what they are, and where the rows came from, in words.

    Parameters
    ----------
    result : CrossValidation
    where : str
        A sentence.
    """

    result: CrossValidation
    where: str


def judged(model: Any, rows: GivenRows) -> Judgement | None:
    """Return how good a classifier is on rows, None where none of them has a class that it knows."""
    known = np.flatnonzero(rows.truth >= 0)
    if not len(known):
        return None
    codes = np.ascontiguousarray(rows.codes[:, known])
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log_probabilities = model._log_posteriors(codes)
    took = time.perf_counter() - began
    learned = int(model.counts_.class_counts.sum())
    fold = Fold(known, rows.truth[known], log_probabilities, learned, 0.0, took)
    where = f"On the {len(known):,} rows given that have a known {model.schema_.class_name}."
    left = len(rows.truth) - len(known)
    if left:
        where += f" {left:,} further rows have none that the classifier knows."
    where += " If the classifier learned from these very rows, this flatters it."
    return Judgement(CrossValidation(model.classes_, (fold,), 1, 0), where)


def judgement_section(judgement: Judgement, name: str) -> str:
    """Return the part of a page that shows the figures, the reliability diagram and the confusion matrix."""
    result = judgement.result
    figures = {metric: result.mean(metric) for metric in METRICS}
    # That of a fold exaggerates where folds are small, and the diagram shows the rows of all.
    figures["calibration_error"] = calibration_error(*result.pooled)
    shown = [
        ("accuracy", f"{1 - figures['error']:.1%}"),
        ("log loss", f"{figures['log_loss']:.3f} nats"),
        ("Brier score", f"{figures['brier']:.3f}"),
        ("area under ROC", f"{figures['auc']:.3f}".replace("nan", "–")),
        ("calibration error", f"{figures['calibration_error']:.1%}"),
    ]
    tiles = "".join(f"<div><dt>{what}</dt><dd>{value}</dd></div>" for what, value in shown)
    drawing = figure(
        plots.reliability({name: result}),
        "How often a prediction is right against how sure it is, and where the rows are. On the line probabilities can "
        "be trusted; below it the classifier is too sure.",
    )
    return (
        f'<p>{escape(judgement.where)}</p>\n<dl class="tiles">{tiles}</dl>\n'
        f'<div class="plots">{drawing}\n{_confusion(result)}</div>'
    )


def _confusion(result: CrossValidation) -> str:
    """Return the table of true classes against predicted ones."""
    truth, log_probabilities = result.pooled
    labels = [str(label) for label in result.classes]
    if len(labels) > MOST_CLASSES:
        wrong = log_probabilities.argmax(axis=1) != truth
        many, missed = (np.bincount(some, minlength=len(labels)) for some in (truth, truth[wrong]))
        rows = [[labels[k], f"{many[k]:,}", f"{missed[k]:,}"] for k in np.argsort(-missed, kind="stable")[:20]]
        return f"<div><h3>Classes that are missed most</h3>{table(['class', 'rows', 'missed'], rows)}</div>"
    counts = np.zeros((len(labels), len(labels)), np.int64)
    np.add.at(counts, (truth, log_probabilities.argmax(axis=1)), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in labels)
    body = ""
    for k, label in enumerate(labels):
        cells = "".join(
            f'<td class="number heat" style="--p: {share:.4f}">{many:,}</td>'
            for many, share in zip(counts[k], shares[k])
        )
        body += f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>'
    return (
        '<div><h3 id="confusion">Confusion</h3><div class="wide"><table class="heatmap" aria-labelledby="confusion">'
        f"<thead><tr><th>true, down; predicted, across</th>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )
