"""Learn from a stream: score each chunk before it is learned, forget old rows, and detect drift."""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier, raising_interrupts
from tanbark.classifiers.base.validation import check_number, has_no_rows, report_unfitted
from tanbark.classifiers.prequential_update import prequential_scores
from tanbark.counts import Counts, Rows
from tanbark.models import Model, StoredModel
from tanbark.schema import Schema
from tanbark.shared_docs import insert_shared_docs

MIN_ROWS_PER_TEST = 100
"""At least this many rows are compared with those before: the mean loss of fewer is far from normal."""
DEFAULT_MEMORY_ROWS = 10_000
"""The number of rows over which log losses are compared if nothing is forgotten."""


@dataclass(frozen=True)
class DriftStatistic:
    """The losses of the last rows, compared with the mean and the variance of those before.

    The weight of an earlier loss is halved every `half_life` rows.
    """

    half_life: float
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    last: tuple[Array, Array] = (np.empty(0), np.empty(0))
    """The losses and the weights of the last rows."""

    @property
    def excess(self) -> float:
        """The difference between the mean of the last losses and the mean before, in standard errors.

        NaN if there is nothing to compare.
        """
        losses, weights = self.last
        total = float(weights.sum())
        if not self.weight or not total:
            return float("nan")
        difference = float(losses @ weights) / total - self.mean
        error = float(np.sqrt(self.squares / self.weight * (1.0 / total + 1.0 / self.weight)))
        return difference / error if error > 0 else float(np.sign(difference)) * np.inf if difference else 0.0

    def followed_by(self, losses: Array, weights: Array) -> DriftStatistic:
        """Return the statistic after a further chunk, which is tested together with rows before it if it is small."""
        kept = max(MIN_ROWS_PER_TEST - len(losses), 0)
        cut = max(len(self.last[0]) - kept, 0)
        settled = self._settling(self.last[0][:cut], self.last[1][:cut])
        last = np.concatenate([self.last[0][cut:], losses]), np.concatenate([self.last[1][cut:], weights])
        return DriftStatistic(self.half_life, settled.weight, settled.mean, settled.squares, last)

    def _settling(self, losses: Array, weights: Array) -> DriftStatistic:
        """Return the statistic with losses added to the mean and the variance."""
        total = float(weights.sum())
        if not total:
            return self
        fade = 0.5 ** (total / self.half_life)
        before, mean = self.weight * fade, float(losses @ weights) / total
        weight = before + total
        squares = self.squares * fade + float(weights @ (losses - mean) ** 2)
        squares += (mean - self.mean) ** 2 * before * total / weight
        return DriftStatistic(self.half_life, weight, self.mean + (mean - self.mean) * total / weight, squares)


@insert_shared_docs
class Stream(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that learns from chunks of rows as they arrive, forgets old rows, and detects drift.

    Every chunk is predicted before it is learned. The log loss and the accuracy of these predictions are reported, and
    how much the log loss differs from before.

    Parameters
    ----------
    model : classifier
        A classifier of tanbark that learns from counts (one with `partial_fit`). It is not changed; a copy learns. If
        it is fitted, `partial_fit` continues from it (not with a window), and `fit` starts anew.
    window : int, default=None
        The number of most recent rows that are remembered, whatever their weights: the counts of older rows are
        subtracted. If rows have weights, the remembered rows are counted again.
    half_life : float, default=None
        The number of further rows after which a row has half its weight. The result does not depend on how the rows are
        split into chunks.

    Attributes
    ----------
    model_ : classifier
        The fitted classifier, which can also be saved alone.
    classes_ : array of shape (classes,)
        The classes so far.
    rows_ : int
        The number of rows learned so far, including forgotten ones.
    log_loss_, accuracy_ : float
        The mean negative log probability of the classes of the last chunk, in nats, and the share of its rows whose
        class was the most probable one, both under the model before the chunk was learned and without `class_weight`.
        NaN for the first chunk. A class that is new, or that the model ruled out, has the probability
        ``1 / (1 + rows before)``.
    drift_ : float
        The difference between the log loss of the last chunk, extended to at least 100 rows, and the mean log loss
        before (over `window` or `half_life` rows, otherwise 10,000), in standard errors. NaN while there is nothing to
        compare with. Without drift it is approximately standard normal, with a longer tail the rarer errors are; a
        value above 6, or high values for several chunks, indicate drift.
    {columns_seen}

    Examples
    --------
    >>> import numpy as np
    >>> from tanbark import NaiveBayes, Stream
    >>> rng = np.random.default_rng(0)
    >>> stream = Stream(NaiveBayes(), window=500)
    >>> for chunk in range(20):
    ...     y = rng.integers(0, 2, 100)
    ...     x = np.where(rng.random(100) < 0.9, y, 1 - y) if chunk < 19 else 1 - y
    ...     stream = stream.partial_fit(x.reshape(-1, 1), y)
    >>> int(stream.model_.counts_.class_counts.sum()), stream.drift_ > 6
    (500, True)
    """

    model_: CountsClassifier
    _losses: DriftStatistic
    _remembered_rows: deque[Rows] | None

    if not TYPE_CHECKING:  # Otherwise mypy would accept any attribute.
        __getattr__ = report_unfitted

    def __init__(self, model: CountsClassifier, *, window: int | None = None, half_life: float | None = None) -> None:
        self.model = model
        self.window = window
        self.half_life = half_life

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, and learn from a table whose rows are in the order of their arrival.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
        sample_weight : array of shape (rows,), default=None
            A weight of three counts the row three times; a weight of zero leaves it out.

        Returns
        -------
        self
        """
        with raising_interrupts():
            self._check_parameters()
            self._become(self._started(X, y, None, sample_weight))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Predict a chunk of further rows, then learn it and forget old rows.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
        classes : array, default=None
            All classes that may occur.
        sample_weight : array of shape (rows,), default=None

        Returns
        -------
        self
        """
        with raising_interrupts():
            self._check_parameters()
            if has_no_rows(X) and has_no_rows(y):
                return self
            if hasattr(self, "model_"):
                draft = copy(self)
            elif hasattr(self.model, "model_"):
                draft = self._continued()
            else:
                self._become(self._started(X, y, classes, sample_weight))
                return self
            classifier = draft.model_ = copy(draft.model_)
            former = classifier.model_
            classifier._check_classes(former.schema, classes)
            rows = classifier._further_rows(former.schema, X, y, sample_weight)
            if len(rows.classes):
                draft._score(rows)
                draft._learn(former.counts, rows, former)
            self._become(draft)
        return self

    def _become(self, draft: Stream) -> None:
        """Take over the state of a draft as a whole, so that an error before it changes nothing."""
        kept = {name: value for name, value in self.__dict__.items() if name != "feature_names_in_"}
        self.__dict__ = kept | draft.__dict__

    def _check_parameters(self) -> None:
        if not isinstance(self.model, CountsClassifier):
            raise TypeError(f"model must be one of tanbark's classifiers, got {type(self.model).__name__!r}")
        reason = self.model.why_rows_needed()
        if reason is not None:
            raise TypeError(reason)
        self.model._check_incremental()
        if self.window is not None:
            check_number("window", self.window, 1)
        life = self.half_life
        if life is not None and (isinstance(life, bool) or not isinstance(life, Real) or not 0 < life < np.inf):
            raise ValueError(f"half_life must be a positive number of rows, got {life!r}")
        if self.window is not None and life is not None:
            raise ValueError("give window or half_life, not both")

    def _started(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Stream:
        """Return a stream that has learned its first chunk, and from it the schema."""
        classifier = clone(self.model)
        classifier.validate_parameters()
        rows, columns = classifier._first_rows(X, y, sample_weight, classes, growing=True)
        classifier.classes_listed_ = classes is not None
        classifier.__dict__.update(columns)
        draft = self._watching(classifier)
        draft._learn(Counts.zero(rows.schema, classifier.count_order), rows, None)
        return draft

    def _continued(self) -> Stream:
        """Return a stream that continues from a fitted model."""
        if self.window is not None:
            raise ValueError(
                "a window needs the rows that were learned, but a fitted model has their counts only; use half_life, "
                "or give a model that is not fitted"
            )
        draft = self._watching(copy(self.model))
        draft.rows_ = int(draft.model_.counts_.class_counts.sum())
        return draft

    def _watching(self, classifier: CountsClassifier) -> Stream:
        """Return a stream with a classifier whose predictions have not been scored yet."""
        draft: Stream = clone(self)
        draft.model = self.model
        draft.model_ = classifier
        draft.rows_ = 0
        draft.log_loss_ = draft.accuracy_ = draft.drift_ = float("nan")
        draft._losses = DriftStatistic(float(self.window or self.half_life or DEFAULT_MEMORY_ROWS))
        draft._remembered_rows = None if self.window is None else deque()
        return draft

    def _learn(self, counts: Counts, rows: Rows, former: Model | None) -> None:
        """Learn from the counts so far and further rows."""
        classifier = self.model_
        classifier.model_ = classifier._learn(self._remembered(counts, classifier._reweighted(rows)), None, former)
        self.rows_ += len(rows.classes)
        self._show_columns()

    def _show_columns(self) -> None:
        """Take over the classes and the columns of the fitted classifier."""
        classifier = self.model_
        self.classes_ = classifier.classes_
        self.n_features_in_ = classifier.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(classifier, "feature_names_in_"):
            self.feature_names_in_ = classifier.feature_names_in_

    def _score(self, rows: Rows) -> None:
        """Compare a chunk with the predictions of the model before it learns the chunk."""
        classifier = self.model_
        scores = prequential_scores(classifier.model_, rows, self.rows_, classifier.n_jobs)
        self.log_loss_ = float(np.average(scores.losses, weights=rows.each))
        self.accuracy_ = float(np.average(scores.correct, weights=rows.each))
        self._losses = self._losses.followed_by(scores.losses, rows.each)
        self.drift_ = self._losses.excess

    def _remembered(self, counts: Counts, rows: Rows) -> Counts:
        """Return counts with further rows, and without those to forget."""
        classifier = self.model_
        if self.half_life is not None:
            return classifier._faded(counts, rows, float(self.half_life))
        counts = classifier._with_rows(counts, rows)
        if self.window is None:
            self._remembered_rows = None
            return counts
        if self._remembered_rows is None:
            raise ValueError("window was set after rows had been learned without one; fit anew, or use half_life")
        remembered = deque([*self._remembered_rows, rows])
        weighted = any(some.weights is not None for some in remembered)
        excess = sum(len(some.classes) for some in remembered) - self.window
        while excess > 0:
            oldest = remembered.popleft()
            gone = min(excess, len(oldest.classes))
            if not weighted:
                counts = counts - classifier._count(oldest.take(slice(0, gone)))
            if gone < len(oldest.classes):
                remembered.appendleft(oldest.take(slice(gone, None)))
            excess -= gone
        self._remembered_rows = remembered
        if not weighted:
            return counts
        # A difference of sums of weights would keep the rounding error of the largest of them.
        each = (classifier._count(some).under(rows.schema) for some in remembered)
        return sum(each, Counts.zero(rows.schema, classifier.count_order))

    # Files

    def to_arrays(self) -> StoredModel:
        """Return everything except the parameters and `model_` as plain values and arrays, for files."""
        losses, schema = self._losses, self.model_.schema_
        state: dict[str, Any] = {
            "rows": self.rows_,
            "log_loss": self.log_loss_,
            "accuracy": self.accuracy_,
            "drift": self.drift_,
            "losses": [losses.half_life, losses.weight, losses.mean, losses.squares],
        }
        arrays: dict[str, NDArray[Any]] = dict(zip(("losses", "loss_weights"), losses.last, strict=True))
        if self._remembered_rows is not None:
            # Chunks stay apart, since sums of weights depend on their order.
            chunks = [rows.under(schema) for rows in self._remembered_rows]
            state["chunks"] = [[len(rows.classes), rows.weights is not None] for rows in chunks]
            none = np.empty((len(schema.columns), 0), schema.dtype)
            arrays["codes"] = np.concatenate([none, *(rows.codes for rows in chunks)], axis=1)
            arrays["classes"] = np.concatenate([np.empty(0, np.int64), *(rows.classes for rows in chunks)])
            weights = [rows.weights for rows in chunks if rows.weights is not None]
            arrays["weights"] = np.concatenate([np.empty(0), *weights])
        return StoredModel(state, arrays)

    def from_arrays(self, classifier: CountsClassifier, stored: StoredModel) -> Stream:
        """Return a stream with these parameters that goes on where the stream that was stored had stopped.

        Parameters
        ----------
        classifier : classifier
            The fitted classifier, `model_`.
        stored : StoredModel
            As returned by `to_arrays`.

        Returns
        -------
        stream : Stream

        Raises
        ------
        ValueError
            If the values do not describe a stream, for example because a file was changed.
        """
        self._check_parameters()
        if classifier.why_rows_needed() is not None:
            raise ValueError("the classifier of its stream does not learn from counts")
        state, arrays = stored.state, stored.arrays
        draft = self._watching(classifier)
        if type(state["rows"]) is not int or state["rows"] < 0:
            raise ValueError(f"the number of rows of its stream must be a whole number, got {state['rows']!r}")
        draft.rows_ = state["rows"]
        draft.log_loss_, draft.accuracy_, draft.drift_ = (
            _stored_float(state, name) for name in ("log_loss", "accuracy", "drift")
        )
        half_life, weight, mean, squares = map(float, state["losses"])
        last = arrays["losses"], arrays["loss_weights"]
        valid = half_life > 0 and weight >= 0 and squares >= 0 and np.isfinite([half_life, weight, mean, squares]).all()
        if not valid or any(array.dtype != np.float64 or array.ndim != 1 for array in last):
            raise ValueError("the losses of its stream are invalid")
        if len(last[0]) != len(last[1]) or not np.isfinite(last).all() or (last[1] < 0).any():
            raise ValueError("the losses of its stream are invalid")
        draft._losses = DriftStatistic(half_life, weight, mean, squares, last)
        draft._remembered_rows = _stored_chunks(classifier.schema_, stored) if "chunks" in state else None
        draft._show_columns()
        return draft

    # Predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        classes : array of shape (rows,)
        """
        return self._fitted().predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of each class.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        probabilities : array of shape (rows, classes)
            In the order of `classes_`.
        """
        return self._fitted().predict_proba(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log posterior probability of each class.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        log_probabilities : array of shape (rows, classes)
            In the order of `classes_`.
        """
        return self._fitted().predict_log_proba(X)

    def _fitted(self) -> CountsClassifier:
        check_is_fitted(self)
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.model.__sklearn_tags__().input_tags
        return tags


def _stored_float(state: dict[str, Any], name: str) -> float:
    """Return a number in a file, which may be infinite or NaN."""
    if type(state[name]) is not float:
        raise ValueError(f"the {name} of its stream must be a number, got {state[name]!r}")
    return float(state[name])


def _stored_chunks(schema: Schema, stored: StoredModel) -> deque[Rows]:
    """Return the remembered rows in a file, or raise ValueError if they do not fit the schema."""
    chunks, arrays = stored.state["chunks"], stored.arrays
    codes, classes, weights = arrays["codes"], arrays["classes"], arrays["weights"]
    if not all(type(size) is int and size >= 0 and type(weighted) is bool for size, weighted in chunks):
        raise ValueError("the chunks of its stream are invalid")
    total, of_weights = sum(size for size, _ in chunks), sum(size for size, weighted in chunks if weighted)
    schema.check_codes(codes)
    if codes.shape[1] != total or classes.shape != (total,) or weights.shape != (of_weights,):
        raise ValueError("the numbers of rows in the window of its stream differ")
    if classes.dtype != np.int64 or not ((classes >= 0) & (classes < len(schema.classes))).all():
        raise ValueError("the classes in the window of its stream are invalid")
    if weights.dtype != np.float64 or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("the weights in the window of its stream are invalid")
    remembered: deque[Rows] = deque()
    start = start_of_weights = 0
    for size, weighted in chunks:
        place, place_of_weights = slice(start, start + size), slice(start_of_weights, start_of_weights + size)
        own = weights[place_of_weights] if weighted else None
        remembered.append(Rows(schema, np.ascontiguousarray(codes[:, place]), classes[place], own))
        start += size
        start_of_weights += size if weighted else 0
    return remembered
