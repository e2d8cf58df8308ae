"""The performance of a classifier on given rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series
from numpy.typing import NDArray

from tanbark.datasets.dataset import Dataset
from tanbark.drawing.html_page import figure, table
from tanbark.evaluate import METRICS, BaselineComparison, CrossValidation, EvaluationAccumulator, plots
from tanbark.evaluate.model_evaluation import NO_CLASS, UNKNOWN_CLASS
from tanbark.evaluate.results import Fold
from tanbark.evaluate.training_rows import TRAINING_ROWS_NOTE, TrainingRowsCheck
from tanbark.messages import counted, percent
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.read.raw_columns import is_missing


@dataclass(frozen=True)
class GivenRows:
    """Encoded rows and the indices of their classes, -1 if a class is missing and -2 if the classifier lacks it."""

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
    truth = np.array([NO_CLASS if is_missing(label) else place.get(label, UNKNOWN_CLASS) for label in labels], np.int64)
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
    """The performance of a classifier on rows.

    Parameters
    ----------
    description : str
        The rows on which it was measured, or why it was not measured.
    result : CrossValidation or None
        Predictions and true classes of the rows, for the plots; None if no row has a class.
    figures : mapping of str to float
        The value of each metric.
    baseline : BaselineComparison or None
    notes : tuple of str
        Remarks for the user, for example that these are the training rows.
    """

    description: str
    result: CrossValidation | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    baseline: BaselineComparison | None = None
    notes: tuple[str, ...] = ()


def cross_validated_performance(
    result: CrossValidation, classes: Sequence[Any], weight: str | None = None
) -> Performance:
    """Return the performance over the folds of a cross-validation, with the classes in the order of a model.

    `weight` is the name of the column with the weights of the rows.
    """
    description = f"Measured on the held-out rows of {len(result.folds)}-fold cross-validation."
    if weight is not None:
        description += f" Rows are weighted by {weight!r}, except in the confusion matrix."
    baseline = BaselineComparison.of(result)
    figures = {metric: result.mean(metric) for metric in METRICS}
    return Performance(description, _with_class_order(result, classes), figures, baseline, baseline.notes)


def _with_class_order(result: CrossValidation, classes: Sequence[Any]) -> CrossValidation:
    """Return a result in which the given classes come first, in this order."""
    before = result.classes.tolist()
    order = [before.index(label) for label in classes] + [k for k, label in enumerate(before) if label not in classes]
    place = np.argsort(order)
    folds = (
        replace(fold, truth=place[fold.truth], log_probabilities=fold.log_probabilities[:, order])
        for fold in result.folds
    )
    return CrossValidation(result.classes[order], tuple(folds), result.repeats, result.shared)


def measure_performance(model: Any, rows: GivenRows) -> Performance:
    """Return the performance of a classifier on rows, which is not measured if no row has a class."""
    class_name = model.schema_.class_name
    if not (rows.truth >= 0).any():
        note = f"the rows have no known {class_name}, so the performance was not measured"
        return Performance(f"{note[0].upper()}{note[1:]}.", notes=(note,))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log_probabilities = model.model_.log_posterior(rows.codes, model.n_jobs)
    took = time.perf_counter() - began
    found = EvaluationAccumulator(model.classes_)
    found.add(log_probabilities, rows.truth)
    evaluation = found.result()
    training = TrainingRowsCheck(model)
    training.add(rows.codes, rows.truth)
    description = f"Measured on the {evaluation.rows:,} given rows that have a known {class_name}."
    if evaluation.unlabelled_rows:
        description += f" {counted(evaluation.unlabelled_rows, 'row')} without a {class_name} were left out."
    if evaluation.unknown_rows:
        unknown = counted(evaluation.unknown_rows, "row")
        description += f" {unknown} with a {class_name} that the model does not know count as wrong in the figures."
    if training.found:
        description += " These are the rows that the model learned from, so the figures are too optimistic."
    else:
        description += " The figures are too optimistic if the model learned from some of these rows."
    known = np.flatnonzero(rows.truth >= 0)
    learned = int(model.counts_.class_counts.sum())
    fold = Fold(known, rows.truth[known], log_probabilities[known], learned, 0.0, took)
    figures = {
        "error": 1.0 - evaluation.accuracy,
        "log_loss": evaluation.log_loss,
        "brier": evaluation.brier,
        "auc": evaluation.auc,
        "calibration_error": evaluation.calibration_error,
    }
    notes = (*([TRAINING_ROWS_NOTE] if training.found else []), *evaluation.baseline.notes)
    result = CrossValidation(model.classes_, (fold,), 1, 0)
    return Performance(description, result, figures, evaluation.baseline, notes)


def performance_section(performance: Performance, name: str) -> str:
    """Return the HTML of the figures, the reliability diagram and the confusion matrix."""
    description = f"<p>{escape(performance.description)}</p>"
    result, compared, figures = performance.result, performance.baseline, performance.figures
    if result is None or compared is None:
        return description
    shown = [
        ("accuracy", f"{1 - figures['error']:.1%}"),
        ("log loss", f"{figures['log_loss']:.3f} nats"),
        ("Brier score", f"{figures['brier']:.3f}"),
        ("area under ROC", f"{figures['auc']:.3f}".replace("nan", "–")),
        ("calibration error", f"{figures['calibration_error']:.1%}"),
    ]
    tiles = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in shown)
    baseline = compared.baseline
    beside = (
        f"For comparison: always predicting {baseline.commonest!r} has an accuracy of {percent(baseline.share)}, and "
        f"the class frequencies have a log loss of {baseline.log_loss:.3f} nats."
    )
    beside += "".join(f" {note[0].upper()}{note[1:]}." for note in compared.notes)
    drawing = figure(
        plots.reliability({name: result}),
        "The accuracy of the predictions as a function of their confidence, and the distribution of the rows. On the "
        "diagonal the probabilities are calibrated; below it the classifier is overconfident.",
    )
    return (
        f'{description}\n<dl class="tiles">{tiles}</dl>\n<p>{escape(beside)}</p>\n'
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
