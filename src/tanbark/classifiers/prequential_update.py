"""Updates of fitted classifiers: further rows are scored before they are learned.

Prequential scoring, which evaluates a model on rows before it learns them, is defined here once, for `Stream` and for
updates of model files alike.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers.evidence_bn import EvidenceBN
from tanbark.counts import Counts, Rows
from tanbark.models import Model
from tanbark.schema import Schema
from tanbark.schema.encode.schema_growth import codes_under_old_schema


@dataclass(frozen=True)
class PrequentialScores:
    """How well a model predicted rows before it learned them.

    `losses` are the negative log probabilities of the rows' classes, in nats. A class that the model had never seen, or
    had ruled out, has the probability ``1 / (1 + rows_before)``. `correct` marks the rows whose class was the most
    probable one, and `new_class` those whose class the model had never seen.
    """

    losses: Array
    correct: NDArray[np.bool_]
    new_class: NDArray[np.bool_]


def prequential_scores(model: Model, rows: Rows, rows_before: float, n_jobs: int | None = None) -> PrequentialScores:
    """Score rows under a model that has not learned them.

    Parameters
    ----------
    model : Model
    rows : Rows
        Under the schema of the model, or one that extends it.
    rows_before : float
        The number of rows that the model has learned.
    n_jobs : int, default=None

    Returns
    -------
    scores : PrequentialScores
    """
    log_posterior = model.log_posterior(codes_under_old_schema(rows.codes, rows.schema, model.schema), n_jobs)
    position = {label: i for i, label in enumerate(model.schema.classes)}
    known = np.array([position.get(label, -1) for label in rows.schema.classes])[rows.classes]
    losses = -log_posterior[np.arange(len(known)), known]
    losses = np.where((known < 0) | np.isinf(losses), np.log1p(rows_before), losses)
    return PrequentialScores(losses, log_posterior.argmax(axis=1) == known, known < 0)


def pending_update(classifier: CountsClassifier, half_life: float | None = None) -> PendingUpdate:
    """Return an update of a fitted classifier, to which rows can be added.

    Parameters
    ----------
    classifier : classifier
        A fitted classifier with `partial_fit`, or an `EvidenceBN`.
    half_life : float, default=None
        The weight of a row is halved every `half_life` rows that follow it; None gives all rows the same weight.

    Returns
    -------
    update : PendingUpdate

    Raises
    ------
    ValueError
        If the classifier cannot be updated, or not with a half-life.
    """
    classifier._check_incremental()
    if isinstance(classifier, EvidenceBN):
        if half_life is not None:
            raise ValueError(
                "EvidenceBN does not forget rows; leave out half_life, or use another classifier, for example TAN"
            )
        return PendingTables(classifier)
    reason = classifier.why_rows_needed()
    if reason is not None:
        raise ValueError(reason)
    return PendingCounts(classifier, half_life)


class PendingUpdate(ABC):
    """Further rows for a fitted classifier, scored before they are learned.

    The rows may come in several parts. All are scored under the same model, which `apply` then updates.

    Parameters
    ----------
    classifier : classifier

    Attributes
    ----------
    rows, rows_of_new_classes : int
        The number of rows so far, and of those whose class the model has never seen.
    """

    def __init__(self, classifier: CountsClassifier) -> None:
        self.classifier = classifier
        self.rows = self.rows_of_new_classes = 0
        self._model = classifier.model_
        self._weight = self._correct = self._loss = 0.0

    @property
    def accuracy(self) -> float:
        """The share of rows, by weight, whose class was the most probable one."""
        return self._correct / self._weight if self._weight else float("nan")

    @property
    def log_loss(self) -> float:
        """The mean negative log probability of the rows' classes, in nats; see `PrequentialScores`."""
        return self._loss / self._weight if self._weight else float("nan")

    @property
    def former_weight(self) -> float:
        """The factor by which the weight of the rows learned before is multiplied."""
        return 1.0

    def add(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Score further rows, and prepare to learn them.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
            Classes without missing values.
        sample_weight : array of shape (rows,), default=None
            A weight of three counts the row three times; a weight of zero leaves it out.
        """
        classifier, model = self.classifier, self._model
        rows = classifier._further_rows(self._schema, X, y, sample_weight)
        if not len(rows.classes):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = prequential_scores(model, rows, model.counts.class_counts.sum(), classifier.n_jobs)
        self.rows += len(scores.losses)
        self.rows_of_new_classes += int(scores.new_class.sum())
        self._weight += float(rows.each.sum())
        self._correct += float(rows.each @ scores.correct)
        self._loss += float(rows.each @ scores.losses)
        self._prepare(rows)

    @property
    def _schema(self) -> Schema:
        """The schema after the rows so far."""
        return self._model.schema

    @abstractmethod
    def _prepare(self, rows: Rows) -> None:
        """Prepare to learn rows."""

    @abstractmethod
    def apply(self) -> None:
        """Let the classifier learn the rows."""


class PendingCounts(PendingUpdate):
    """An update of a classifier that learns from counts; the rows may extend its schema."""

    def __init__(self, classifier: CountsClassifier, half_life: float | None) -> None:
        super().__init__(classifier)
        self._half_life = half_life
        self._counts: Counts | None = None

    @property
    def former_weight(self) -> float:
        """The factor by which the weight of the rows learned before is multiplied."""
        return 1.0 if self._half_life is None else float(0.5 ** (self.rows / self._half_life))

    @property
    def _schema(self) -> Schema:
        return self._model.schema if self._counts is None else self._counts.schema

    def _prepare(self, rows: Rows) -> None:
        so_far = self._counts or Counts.zero(rows.schema, self._model.counts.order)
        if self._half_life is None:
            self._counts = so_far + self.classifier._count(rows)
        else:
            self._counts = self.classifier._faded(so_far, rows, self._half_life)

    def apply(self) -> None:
        """Let the classifier learn the rows."""
        if self._counts is not None:
            self.classifier.add_counts(self._counts, self.former_weight)


class PendingTables(PendingUpdate):
    """An update of the tables of an `EvidenceBN`, which keeps its schema, structure and weights."""

    def __init__(self, classifier: EvidenceBN) -> None:
        super().__init__(classifier)
        self._draft = copy(classifier)

    def _prepare(self, rows: Rows) -> None:
        self._draft.update_encoded(rows)

    def apply(self) -> None:
        """Let the classifier learn the rows."""
        self.classifier._set_learned(self._draft.model_)
