"""Scorecards: points whose sum gives the log odds of a class."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.atomic_write import replacing
from tanbark.classifiers.base.validation import check_number, check_positive
from tanbark.export.network_description import PathLike
from tanbark.export.scorecard_losses import ScorecardLosses
from tanbark.export.scorecard_page import scorecard_html
from tanbark.immutable import Immutable
from tanbark.messages import counted
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes, Label

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """How log odds become points.

    Parameters
    ----------
    points_to_double : float
        The points that double the odds.
    base_points, base_odds : float
        The points that mean odds of `base_odds` to 1.
    digits : int or None
        The number of decimals of the points; None does not round.
    """

    points_to_double: float
    base_points: float
    base_odds: float
    digits: int | None

    def __post_init__(self) -> None:
        check_positive("points_to_double", self.points_to_double)
        check_positive("base_odds", self.base_odds)
        base = self.base_points
        if isinstance(base, bool) or not isinstance(base, Real) or not math.isfinite(base):
            raise ValueError(f"base_points must be a finite number, got {base!r}")
        if self.digits is not None:
            check_number("digits", self.digits, 0)

    @property
    def factor(self) -> float:
        """The points of one unit of log odds."""
        return float(self.points_to_double) / math.log(2)

    @property
    def offset(self) -> float:
        """The score at even odds."""
        return float(self.base_points) - self.factor * math.log(self.base_odds)

    @property
    def resolution(self) -> float:
        """Half a unit of the last digit of the points, in units of log odds."""
        return 0.0 if self.digits is None else 0.5 * 10.0**-self.digits / self.factor

    def sentence(self) -> str:
        """Return the scaling in words."""
        return (
            f"{self.base_points:g} points mean odds of {self.base_odds:g} to 1, and every {self.points_to_double:g} "
            "points more double the odds."
        )

    def rounded(self, points: Array) -> Array:
        """Return points with the decimals of the card, without negative zeros."""
        return points if self.digits is None else np.round(points, int(self.digits)) + 0.0


@dataclass(frozen=True)
class ScorecardRow:
    """The points of an interval or a level.

    Attributes
    ----------
    attribute : str
        The name of the column.
    kind : {"interval", "level", "other", "missing", "unseen", "missing or unseen"}
        What the row stands for: "other" are all rare levels, "unseen" are levels that did not occur in training.
    label : str
        The interval, with at least six significant digits, or the level.
    points : float
    share : float
        The share of the training rows.
    rate : float or None
        The share of the positive class among them; None if there are none.
    above, up_to : float or None
        The exact limits of an interval, which contains the upper one; None if there is no limit.
    """

    attribute: str
    kind: str
    label: str
    points: float
    share: float
    rate: float | None
    above: float | None = None
    up_to: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Immutable):
    """Points whose sum gives the log odds of a class.

    The score of a row is `start` plus the points of each of its values. Its log odds are
    ``(score - offset) / factor``. Printing it shows the points.

    Attributes
    ----------
    schema : Schema
        The columns and the two classes.
    positive : str, int, float or bool
        The class whose odds are scored.
    rows : tuple of ScorecardRow
        The points of each interval and level, in the order of the columns.
    start : float
        The points of every row before those of its values.
    scaling : Scaling
        How log odds become points.
    code_points : tuple of arrays of shape (arity + 1,)
        The points of each code of each column; the last code stands for missing and unseen values.
    losses : ScorecardLosses
        How much merging and rounding change.
    """

    schema: Schema
    positive: Label
    rows: tuple[ScorecardRow, ...]
    start: float
    scaling: Scaling
    code_points: tuple[Array, ...]
    losses: ScorecardLosses

    @property
    def factor(self) -> float:
        """The points of one unit of log odds."""
        return self.scaling.factor

    @property
    def offset(self) -> float:
        """The score at even odds."""
        return self.scaling.offset

    def __repr__(self) -> str:
        attributes = counted(len(self.schema.columns), "attribute")
        return f"<Scorecard for {self.schema.class_name} = {self.positive}: {attributes}>"

    def __str__(self) -> str:
        lines, last = [("starting points", "", f"{self.start:.10g}")], None
        for row in self.rows:
            lines.append(("" if row.attribute == last else row.attribute, row.label, f"{row.points:.10g}"))
            last = row.attribute
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [f"  {name:{widths[0]}}  {label:{widths[1]}}  {points:>{widths[2]}}" for name, label, points in lines]
        head = f"Scorecard for {self.schema.class_name} = {self.positive}"
        return "\n".join([head, *table, self.scaling.sentence()])

    def points(self, X: Any) -> Array:
        """Return the score of each row: `start` plus the points of its values.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        score : array of shape (rows,)
        """
        return self.scaling.rounded(self.start + summed_entries(self.code_points, self.schema.encode(X)))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, computed from the points.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        probability : array of shape (rows, 2)
            In the order of ``schema.classes``.
        """
        log_odds = (self.points(X) - self.offset) / self.factor
        signs = np.array([1.0 if label == self.positive else -1.0 for label in self.schema.classes])
        probability: Array = np.exp(-np.logaddexp(0.0, -log_odds[:, None] * signs))
        return probability

    def formula(self) -> str:
        """Return how the score becomes a probability, as a sentence.

        Returns
        -------
        sentence : str
        """
        sign, offset = ("-", self.offset) if self.offset >= 0 else ("+", -self.offset)
        return (
            f"The log odds of {self.schema.class_name} = {self.positive} are "
            f"(score {sign} {offset!r}) / {self.factor!r}, where the score is the starting points plus the points of "
            "each value; the probability is 1 / (1 + exp(-log odds))."
        )

    def to_csv(self, path: PathLike) -> None:
        """Write the scorecard as a CSV file that Excel opens: separated by commas, in UTF-8 with a byte order mark.

        The first row has the starting points, and the last ones have notes: the formula, the scaling and the losses.
        Text that Excel would take for a formula, and text that begins with an apostrophe, gets an apostrophe before it.

        Parameters
        ----------
        path : path-like
        """
        digits = self.scaling.digits
        lines: list[list[str | float | None]] = [
            ["attribute", "kind", "value", "above", "up to", "points", "share of rows", f"rate of {self.positive}"],
            ["", "start", "starting points", None, None, as_number(self.start, digits), None, None],
        ]
        for row in self.rows:
            texts = map(_safe_text, (row.attribute, row.kind, row.label))
            lines.append([*texts, row.above, row.up_to, as_number(row.points, digits), row.share, row.rate])
        notes = [self.formula(), self.scaling.sentence(), *self.losses.sentences()]
        for name, before, after in self.losses.performance():
            notes.append(f"On the given data, the {name} is {before} for the model and {after} for the scorecard.")
        lines += [["", "note", note, None, None, None, None, None] for note in notes]
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerows(lines)
        with replacing(Path(path)) as file:
            file.write(text.getvalue().encode("utf-8-sig", "backslashreplace"))

    def to_html(self, path: PathLike) -> None:
        """Write the scorecard as an HTML page that needs no other files.

        Parameters
        ----------
        path : path-like
        """
        with replacing(Path(path)) as file:
            file.write(scorecard_html(self).encode("utf-8", "backslashreplace"))


def summed_entries(tables: tuple[Array, ...], codes: Codes) -> Array:
    """Return for each encoded row the sum of the entries of its codes, one for each attribute."""
    total = np.zeros(codes.shape[1])
    for table, code in zip(tables, codes, strict=True):
        total += table[np.minimum(code, len(table) - 1)]
    return total


def as_number(points: float, digits: int | None) -> float:
    """Return points as a whole number if they have no decimals."""
    return int(points) if digits == 0 else points


def _safe_text(text: str) -> str:
    """Return text that spreadsheet programs do not take for a formula; the first apostrophe of any text was added.

    >>> _safe_text("=1+1"), _safe_text("<= 30"), _safe_text("'tis")
    ("'=1+1", '<= 30', "''tis")
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "'", "\t", "\r", "\n")) else text
