"""Convert additive models to scorecards: points for each interval and level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.validation import check_number
from tanbark.classifiers.evidence_bn import EvidenceBN
from tanbark.export.interval_merging import merge_intervals
from tanbark.export.network_description import PathLike
from tanbark.export.scorecard_losses import (
    CardComparison,
    ScorecardLosses,
    code_counts,
    compared_on_rows,
    estimated_change,
)
from tanbark.export.scorecard_points import Scaling, Scorecard, ScorecardRow, summed_entries
from tanbark.models import EvidenceModel
from tanbark.schema import Category, Number, Schema
from tanbark.schema.encode.columns import MISSING_LABEL, Column, plain
from tanbark.schema.read.class_column import warn_of_dropped

Array = NDArray[np.float64]

ENDINGS = (".csv", ".html")
"""The endings of files that a scorecard can be written to."""


def scorecard(
    model: EvidenceBN,
    path: PathLike | None = None,
    *,
    X: Any = None,
    y: Any = None,
    positive: Any = None,
    max_intervals: int | None = 8,
    points_to_double: float = 20,
    base_points: float = 600,
    base_odds: float = 50,
    digits: int | None = 0,
) -> Scorecard:
    """Convert an `EvidenceBN` with two classes and no edges to a scorecard, as used for credit decisions.

    The fine intervals of each numeric attribute are merged to at most `max_intervals`: to as few as change the evidence
    by less than half a unit of the last digit of the points (root mean square over the training rows). The cuts are
    optimal, and each interval has the mean evidence of its training rows. Categories keep their levels. A missing or
    unseen value has 0 points, unless missing values are a level of their own.

    Parameters
    ----------
    model : EvidenceBN
        Fitted with ``depth=0`` to two classes.
    path : path-like, default=None
        The file to write, which must end in .csv or .html. If None, no file is written.
    X : array, data frame or Arrow table of shape (rows, attributes), default=None
        Rows on which the scorecard is compared with the model.
    y : array or series of shape (rows,), default=None
        Their classes, for the log loss, the accuracy and the area under the ROC curve before and after. Rows without a
        class are left out with a warning.
    positive : str, int, float or bool, default=None
        The class whose odds are scored; None means the last one.
    max_intervals : int or None, default=8
        The maximum number of intervals of a numeric attribute; None merges only intervals with the same points.
    points_to_double : float, default=20
        The points that double the odds.
    base_points, base_odds : float, default=600 and 50
        The points that mean odds of `base_odds` to 1 for the positive class.
    digits : int or None, default=0
        The number of decimals of the points; None does not round.

    Returns
    -------
    Scorecard
        The points, the scaling and the losses by merging and rounding.

    Raises
    ------
    TypeError
        If `model` is not an `EvidenceBN`.
    ValueError
        If the model has edges or another number of classes than two, or a setting is invalid.

    Examples
    --------
    >>> from tanbark import EvidenceBN, export
    >>> from tanbark.datasets import iris
    >>> X, y = iris()
    >>> model = EvidenceBN(depth=0).fit(X, y == "virginica")
    >>> card = export.scorecard(model, X=X, y=y == "virginica")
    >>> card.rows[0].attribute, card.rows[0].kind
    ('x0', 'interval')
    >>> bool(card.points(X[100:]).mean() > card.points(X[:100]).mean())
    True
    """
    if path is not None and Path(path).suffix.lower() not in ENDINGS:
        raise ValueError(f"the file of a scorecard must end in {' or '.join(ENDINGS)}, got {str(path)!r}")
    fitted = _scorable_model(model)
    if max_intervals is not None:
        check_number("max_intervals", max_intervals, 1)
    scaling = Scaling(points_to_double, base_points, base_odds, digits)
    if X is None and y is not None:
        raise ValueError("y was given without X; give the rows of the classes, too")
    sign = _signs(fitted.schema, positive)
    card = _unmeasured_card(fitted, sign, max_intervals, scaling)
    if X is not None:
        card = replace(card, losses=replace(card.losses, on_data=_comparison(card, fitted, sign, X, y)))
    if path is not None:
        (card.to_csv if Path(path).suffix.lower() == ".csv" else card.to_html)(path)
    return card


def _scorable_model(model: Any) -> EvidenceModel:
    """Return the fitted model, or raise an error if a scorecard cannot express it."""
    if not isinstance(model, EvidenceBN):
        raise TypeError(
            f"a scorecard needs an EvidenceBN with depth=0, got {type(model).__name__}; fit EvidenceBN(depth=0) "
            "(on the command line: --model evidence-bn --set depth=0)"
        )
    check_is_fitted(model)
    fitted = model.model_
    if any(fitted.parents):
        raise ValueError(
            "this EvidenceBN has edges between attributes, which a scorecard cannot express; fit it with depth=0 "
            "(on the command line: --set depth=0)"
        )
    n_classes = len(fitted.schema.classes)
    if n_classes != 2:
        raise ValueError(
            f"a scorecard needs two classes, but the model has {n_classes}; fit one class against the rest"
        )
    if not np.isfinite(fitted.base_scores).all():
        raise ValueError(
            "class_prior gives a class the probability 0, so its odds have no points; fit with another one"
        )
    return fitted


def _signs(schema: Schema, positive: Any) -> Array:
    """Return 1 for the positive class and -1 for the other."""
    if positive is None:
        positive = schema.classes[-1]
    positive = plain(positive)
    if not isinstance(positive, str | int | float) or positive not in schema.classes:
        first, second = schema.classes
        raise ValueError(f"positive must be one of the classes {first!r} and {second!r}, got {positive!r}")
    return np.array([1.0 if label == positive else -1.0 for label in schema.classes])


@dataclass(frozen=True)
class _Part:
    """Codes of a column that share a row of the card."""

    kind: str
    label: str
    codes: slice
    above: float | None = None
    up_to: float | None = None


def _unmeasured_card(model: EvidenceModel, sign: Array, max_intervals: int | None, scaling: Scaling) -> Scorecard:
    """Return the scorecard of a model that has not been compared with it on rows."""
    schema, counts, factor = model.schema, model.counts, scaling.factor
    base = float(model.base_scores @ sign)
    start = float(scaling.rounded(np.array(scaling.offset + factor * base)))
    rows: list[ScorecardRow] = []
    code_points, by_merging, by_both = [], [], []
    for u, (column, table) in enumerate(zip(schema.columns, model.compiled.tables, strict=True)):
        evidence, weights = table @ sign, code_counts(counts, u)
        merged = evidence.copy()
        if isinstance(column, Number):
            n = len(column.cuts) + 1
            merging = merge_intervals(evidence[:n], weights[:, :n].sum(axis=0), max_intervals, scaling.resolution)
            merged[:n] = np.array(merging.means)[merging.group_of(n)]
        points = scaling.rounded(factor * merged)
        code_points.append(points)
        by_merging.append(merged - evidence)
        by_both.append(points / factor - evidence)
        rows += _rows(column, schema.unseen, points, weights, sign)
    losses = ScorecardLosses(
        estimated_change(counts, 0.0, by_merging),
        estimated_change(counts, (start - scaling.offset) / factor - base, by_both),
        None,
    )
    positive = schema.classes[int(sign.argmax())]
    return Scorecard(schema, positive, tuple(rows), start, scaling, tuple(code_points), losses)


def _rows(column: Column, unseen: str, points: Array, weights: Array, sign: Array) -> Iterator[ScorecardRow]:
    """Yield the rows of a column, given the points and the counts of its codes."""
    parts = _intervals(column, points) if isinstance(column, Number) else _levels(column, unseen)
    total = weights.sum()
    for part in parts:
        inside = weights[:, part.codes].sum(axis=1)
        rate = float(inside[sign > 0].sum() / inside.sum()) if inside.sum() > 0 else None
        share = float(inside.sum() / total)
        first = float(points[part.codes.start])
        yield ScorecardRow(column.name, part.kind, part.label, first, share, rate, part.above, part.up_to)


def _intervals(column: Number, points: Array) -> Iterator[_Part]:
    """Yield the intervals of a number, where neighbours with the same points are one; then missing values."""
    n = len(column.cuts) + 1
    starts = [0, *(code for code in range(1, n) if points[code] != points[code - 1])]
    cuts = [column.cuts[code - 1] for code in starts[1:]]
    labels = replace(column, cuts=tuple(cuts), missing=False).labels
    places, limits = pairwise([*starts, n]), pairwise([None, *cuts, None])
    for label, (start, end), (above, up_to) in zip(labels, places, limits, strict=True):
        yield _Part("interval", label, slice(start, end), above, up_to)
    # Without a level of their own, missing values have the code after all others.
    yield _Part("missing", MISSING_LABEL, slice(n, n + 1))


def _levels(column: Category, unseen: str) -> Iterator[_Part]:
    """Yield the levels of a category, then missing and unseen values."""
    levels, arity, labels = len(column.levels), column.arity, column.labels
    for code, label in enumerate(labels[:levels]):
        yield _Part("level", label, slice(code, code + 1))
    if column.other:
        yield _Part("other", labels[levels], slice(levels, levels + 1))
    if column.missing:
        yield _Part("missing", labels[-1], slice(arity - 1, arity))
    left = [] if column.missing else ["missing"]
    left += [] if column.other or unseen == "error" else ["unseen"]
    if left:
        kind = " or ".join(left)
        yield _Part(kind, f"({kind})", slice(arity, arity + 1))


def _comparison(card: Scorecard, model: EvidenceModel, sign: Array, X: Any, y: Any) -> CardComparison:
    """Compare a scorecard with its model on rows."""
    codes = card.schema.encode(X)
    is_positive: NDArray[np.bool_] | None = None
    if y is not None:
        classes = card.schema.encode_target(y)
        if len(classes) != codes.shape[1]:
            raise ValueError(f"X has {codes.shape[1]:,} rows, but y has {len(classes):,}; give a class for each row")
        known = classes >= 0
        warn_of_dropped(int((~known).sum()))
        codes, is_positive = codes[:, known], sign[classes[known]] > 0
    if not codes.shape[1]:
        raise ValueError("X has no rows on which the scorecard could be compared with the model; give some, or None")
    before = model.log_scores(codes) @ sign
    score = card.start + summed_entries(card.code_points, codes)
    return compared_on_rows(before, (score - card.offset) / card.factor, is_positive)
