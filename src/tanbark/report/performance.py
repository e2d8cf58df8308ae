"""The performance of a classifier on given rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series
from numpy.typing import NDArray

from tanbark.datasets.dataset import Dataset
from tanbark.drawing.html_page import figure, table
from tanbark.evaluate import METRICS, CrossValidation, plots
from tanbark.evaluate.metrics import calibration_error
from tanbark.evaluate.results import Fold
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.read.raw_columns import is_missing


@dataclass(frozen=True)
class GivenRows:
    """Encoded rows and the indices of their classes, -1 if a class is missing or unknown to the classifier."""

    codes: Codes
    truth: NDArray[np.int64]


def given_rows(model: Any, data: Any) -> GivenRows:
    """Encode rows for a classifier.

    Parameters
    ----------
    model : classifier
    data : table, or a tuple of a table and its classes
        A data frame or an Arrow table may contain the class, and columns that the classifier does not use.
    """
    if isinstance(data, Dataset):
        X, y = data
    elif isinstance(data, tuple):
        if len(data) != 2:
            raise ValueError(f"data must be a table, or a tuple of a table and its classes, got a tuple of {len(data)}")
        X, y = data
    else:
        X, y = _split(model.schema_, data)
    codes = model.encode(X)
    labels = [None] * codes.shape[1] if y is None else _labels(y)
    if len(labels) != codes.shape[1]:
        raise ValueError(f"data has {codes.shape[1]:,} rows, but {len(labels):,} classes")
    place = {label: k for k, label in enumerate(model.schema_.classes)}
    truth = np.array([place.get(label, -1) for label in labels], np.int64)
    known = [label for label in labels if not is_missing(label)]
    if known and not (truth >= 0).any():
        raise ValueError(f"data has no known class: {known[0]!r} is not one of {list(model.schema_.classes)}")
    return GivenRows(codes, truth)


def _split(schema: Schema, data: Any) -> tuple[Any, Any]:
    """Return the columns that a classifier uses, and the class column or `None`."""
    if isinstance(data, np.ndarray | list) or not is_into_dataframe(data):
        return data, None
    frame = nw.from_native(data, eager_only=True)
    y = frame.get_column(schema.class_name) if schema.class_name in frame.columns else None
    if set(schema.input_names) <= set(frame.columns):
        return frame.select(list(schema.input_names)).to_native(), y
    return (frame if y is None else frame.drop(schema.class_name)).to_native(), y


def _labels(y: Any) -> list[Any]:
    """Return a column of classes as plain values."""
    if isinstance(y, nw.Series):
        return y.to_list()
    if not isinstance(y, np.ndarray | list) and is_into_series(y):
        return list(nw.from_native(y, series_only=True).to_list())
    return list(np.asarray(y, object).ravel().tolist())


MAX_CONFUSION_CLASSES = 40
"""For more classes, no confusion matrix is shown."""


@dataclass(frozen=True)
class Performance:
    """The performance of a classifier on rows: predictions and true classes, and a description of the rows."""

    result: CrossValidation
    description: str


def measure_performance(model: Any, rows: GivenRows) -> Performance | None:
    """Return the performance of a classifier on rows, or `None` if no row has a known class."""
    known = np.flatnonzero(rows.truth >= 0)
    if not len(known):
        return None
    codes = np.ascontiguousarray(rows.codes[:, known])
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log_probabilities = model.model_.log_posterior(codes, model.n_jobs)
    took = time.perf_counter() - began
    learned = int(model.counts_.class_counts.sum())
    fold = Fold(known, rows.truth[known], log_probabilities, learned, 0.0, took)
    description = f"Measured on the {len(known):,} given rows that have a known {model.schema_.class_name}."
    left = len(rows.truth) - len(known)
    if left:
        description += f" {left:,} other rows have a missing or unknown {model.schema_.class_name}."
    description += " The figures are too optimistic if the classifier was trained on these rows."
    return Performance(CrossValidation(model.classes_, (fold,), 1, 0), description)


def performance_section(performance: Performance, name: str) -> str:
    """Return the HTML of the figures, the reliability diagram and the confusion matrix."""
    result = performance.result
    figures = {metric: result.mean(metric) for metric in METRICS}
    # The calibration error of a small fold is biased upwards; like the diagram, use the rows of all folds.
    figures["calibration_error"] = calibration_error(*result.pooled, result.pooled_weights)
    shown = [
        ("accuracy", f"{1 - figures['error']:.1%}"),
        ("log loss", f"{figures['log_loss']:.3f} nats"),
        ("Brier score", f"{figures['brier']:.3f}"),
        ("area under ROC", f"{figures['auc']:.3f}".replace("nan", "–")),
        ("calibration error", f"{figures['calibration_error']:.1%}"),
    ]
    tiles = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in shown)
    drawing = figure(
        plots.reliability({name: result}),
        "The accuracy of the predictions as a function of their confidence, and the distribution of the rows. On the "
        "diagonal the probabilities are calibrated; below it the classifier is overconfident.",
    )
    return (
        f'<p>{escape(performance.description)}</p>\n<dl class="tiles">{tiles}</dl>\n'
        f'<div class="plots">{drawing}\n{_confusion(result)}</div>'
    )


def _confusion(result: CrossValidation) -> str:
    """Return the confusion matrix, or the classes with the most errors if there are many classes."""
    truth, log_probabilities = result.pooled
    labels = [str(label) for label in result.classes]
    if len(labels) > MAX_CONFUSION_CLASSES:
        wrong = log_probabilities.argmax(axis=1) != truth
        total, missed = (np.bincount(some, minlength=len(labels)) for some in (truth, truth[wrong]))
        rows = [[labels[k], f"{total[k]:,}", f"{missed[k]:,}"] for k in np.argsort(-missed, kind="stable")[:20]]
        return f"<div><h3>Classes with the most errors</h3>{table(['class', 'rows', 'errors'], rows)}</div>"
    counts = np.zeros((len(labels), len(labels)), np.int64)
    np.add.at(counts, (truth, log_probabilities.argmax(axis=1)), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in labels)
    body = ""
    for k, label in enumerate(labels):
        cells = "".join(
            f'<td class="number heat" style="--p: {share:.4f}">{count:,}</td>'
            for count, share in zip(counts[k], shares[k], strict=True)
        )
        body += f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>'
    return (
        '<div><h3 id="confusion">Confusion matrix</h3><div class="wide">'
        '<table class="heatmap" aria-labelledby="confusion">'
        f"<thead><tr><th>true \\ predicted</th>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )
