"""Learn from a stream: forget old rows and detect drift."""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier, has_no_rows
from tanbark.classifiers._base.parameter_checks import check_number
from tanbark.classifiers.state import learning
from tanbark.counts import Counts, Rows
from tanbark.schema.encode.growth import codes_before

FEWEST = 100
"""So many rows at least are judged together: the loss of a few is anything but normal."""


@dataclass(frozen=True)
class Surprise:
    """The losses of the last rows, and the mean and the variance of those before.

    Of these older ones count less: half after `half_life` rows.
    """

    half_life: float
    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    last: tuple[Array, Array] = (np.empty(0), np.empty(0))
    """The losses and the weights of the last rows."""

    @property
    def excess(self) -> float:
        """By how many standard errors the mean of the last losses is above that of those before.

        NaN where there is nothing to compare with.
        """
        losses, weights = self.last
        many = float(weights.sum())
        if not self.weight or not many:
            return float("nan")
        above = float(losses @ weights) / many - self.mean
        error = float(np.sqrt(self.squares / self.weight * (1.0 / many + 1.0 / self.weight)))
        return above / error if error > 0 else float(np.sign(above)) * np.inf if above else 0.0

    def followed_by(self, losses: Array, weights: Array) -> Surprise:
        """Return it with the losses of a further chunk, judged with as many before it as make up 100 rows."""
        kept = max(FEWEST - len(losses), 0)
        cut = max(len(self.last[0]) - kept, 0)
        settled = self._settling(self.last[0][:cut], self.last[1][:cut])
        last = np.concatenate([self.last[0][cut:], losses]), np.concatenate([self.last[1][cut:], weights])
        return Surprise(self.half_life, settled.weight, settled.mean, settled.squares, last)

    def _settling(self, losses: Array, weights: Array) -> Surprise:
        """Return it with losses that are no longer among the last taken into the mean and the variance."""
        many = float(weights.sum())
        if not many:
            return self
        fade = 0.5 ** (many / self.half_life)
        before, mean = self.weight * fade, float(losses @ weights) / many
        total = before + many
        squares = self.squares * fade + float(weights @ (losses - mean) ** 2)
        squares += (mean - self.mean) ** 2 * before * many / total
        return Surprise(self.half_life, total, self.mean + (mean - self.mean) * many / total, squares)


USUAL_MEMORY = 10_000
"""Over how many rows log losses are compared where nothing is forgotten."""


class Stream(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that learns from chunks of rows as they come, forgets old ones, and watches for drift.

    Every chunk is foreseen before it is learned: its log loss and accuracy under the model so far are kept, and by how
    much the log loss differs from what it was.

    Parameters
    ----------
    model : classifier
        Any of tanbark's that learns from counts (those with `partial_fit`). It stays as it is; what learns is a copy.
        From one that is fitted already, `partial_fit` goes on (but not with a window), and `fit` begins anew.
    window : int, optional
        Only so many of the last rows, whatever they weigh, are remembered: counts of older ones are subtracted, and
        where rows have weights, those remembered are counted anew.
    half_life : float, optional
        A row counts half after so many further ones. How the rows are cut into chunks makes no difference.

    Attributes
    ----------
    model_ : classifier
        The fitted classifier, for all that it can be asked. It can be saved; a `Stream` cannot.
    classes_ : array
    rows_ : int
        How many rows have been learned from, forgotten ones included.
    log_loss_, accuracy_ : float
        Of the last chunk under the model before it: the mean of minus the log probability of its classes in nats, and
        the share of rows whose class was the most probable. NaN for the first chunk, `drift_` also while there is
        nothing to compare with. A class that had never come, or
        that the model ruled out, has the probability ``1 / (1 + rows before)`` here.
    drift_ : float
        By how many standard errors the log loss of the last chunk, and of as many rows before it as make up 100, is
        above the mean of those before (over `window` or `half_life` rows, else 10,000). While nothing changes it is
        about a standard normal number, with a longer tail the rarer errors are; beyond 6, or high for several chunks,
        what comes is not what came.

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

    def __init__(self, model: CountsClassifier, *, window: int | None = None, half_life: float | None = None) -> None:
        self.model = model
        self.window = window
        self.half_life = half_life

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, and learn from a table whose rows are in the order in which they came."""
        with learning(self) as draft:
            draft._check_parameters()
            draft._begin(X, y, None, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Foresee a chunk of further rows, then learn from it and forget what is due.

        The parameters are those of the classifier's own `partial_fit`.
        """
        with learning(self) as draft:
            draft._check_parameters()
            if has_no_rows(X) and has_no_rows(y):
                return self
            if not hasattr(draft, "model_"):
                if not hasattr(draft.model, "counts_"):
                    draft._begin(X, y, classes, sample_weight)
                    return self
                draft._go_on()
            model = draft.model_ = copy(draft.model_)
            model._check_classes(classes)
            rows = model._further_rows(X, y, sample_weight)
            if len(rows.classes):
                draft._foresee(rows)
                draft._learn(model.counts_, rows)
        return self

    def _check_parameters(self) -> None:
        if not isinstance(self.model, CountsClassifier):
            raise TypeError(f"model must be one of tanbark's classifiers, got {type(self.model).__name__!r}")
        reason = self.model._why_rows()
        if reason is not None:
            raise TypeError(reason)
        if self.window is not None:
            check_number("window", self.window, 1)
        life = self.half_life
        if life is not None and (isinstance(life, bool) or not isinstance(life, Real) or not 0 < life < np.inf):
            raise ValueError(f"half_life must be a positive number of rows, got {life!r}")
        if self.window is not None and life is not None:
            raise ValueError("give window or half_life, not both")

    def _begin(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Learn the first chunk, and from it the schema."""
        model = clone(self.model)
        model._check_parameters()
        rows = model._first_rows(X, y, sample_weight, classes)
        self._watch(model)
        model._start_over()
        self._learn(Counts.zero(rows.schema, model._order), rows)

    def _go_on(self) -> None:
        """Take a copy of a model that has been fitted already."""
        if self.window is not None:
            raise ValueError(
                "a window needs the rows that were learned, but a fitted model has their counts only; use half_life, "
                "or give a model that is not fitted"
            )
        self._watch(copy(self.model))
        self.rows_ = int(self.model_.counts_.class_counts.sum())

    def _watch(self, model: CountsClassifier) -> None:
        """Begin with a model, of whose foresight nothing is known yet."""
        self.model_ = model
        self.rows_ = 0
        self.log_loss_ = self.accuracy_ = self.drift_ = float("nan")
        self._surprise = Surprise(float(self.window or self.half_life or USUAL_MEMORY))
        self._kept: deque[Rows] | None = None if self.window is None else deque()

    def _learn(self, counts: Counts, rows: Rows) -> None:
        """Learn from the counts so far and further rows."""
        self.model_._set(self._remembered(counts, rows), None)
        self.rows_ += len(rows.classes)
        self.classes_ = self.model_.classes_
        self.n_features_in_ = self.model_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.model_, "feature_names_in_"):
            self.feature_names_in_ = self.model_.feature_names_in_

    def _foresee(self, rows: Rows) -> None:
        """Compare a chunk with what the model says of it before learning it."""
        model = self.model_
        log_posterior = model._log_posteriors(codes_before(rows.codes, rows.schema, model.schema_))
        at = {label: i for i, label in enumerate(model.schema_.classes)}
        known = np.array([at.get(label, -1) for label in rows.schema.classes])[rows.classes]
        unforeseen = np.log1p(self.rows_)
        losses = -log_posterior[np.arange(len(known)), known]
        losses = np.where((known < 0) | np.isinf(losses), unforeseen, losses)
        self.log_loss_ = float(np.average(losses, weights=rows.each))
        self.accuracy_ = float(np.average(log_posterior.argmax(axis=1) == known, weights=rows.each))
        self._surprise = self._surprise.followed_by(losses, rows.each)
        self.drift_ = self._surprise.excess

    def _remembered(self, counts: Counts, rows: Rows) -> Counts:
        """Return counts with further rows, and without what is to be forgotten."""
        model = self.model_
        if self.half_life is not None:
            return model._faded(counts, rows, float(self.half_life))
        counts = model._with_rows(counts, rows)
        if self.window is None:
            self._kept = None
            return counts
        if self._kept is None:
            raise ValueError("window was set after rows had been learned without one; fit anew, or use half_life")
        kept = deque([*self._kept, rows])
        weighed = any(some.weights is not None for some in kept)
        excess = sum(len(some.classes) for some in kept) - self.window
        while excess > 0:
            oldest = kept.popleft()
            gone = min(excess, len(oldest.classes))
            if not weighed:
                counts = counts - model._count(oldest.take(slice(0, gone)))
            if gone < len(oldest.classes):
                kept.appendleft(oldest.take(slice(gone, None)))
            excess -= gone
        self._kept = kept
        if not weighed:
            return counts
        # A difference of sums of weights would keep what the largest of them was rounded by.
        each = (model._count(some).under(rows.schema) for some in kept)
        return sum(each, Counts.zero(rows.schema, model._order))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return self._fitted().predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of each class, one column per class in the order of `classes_`."""
        return self._fitted().predict_proba(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the posterior probability of each class."""
        return self._fitted().predict_log_proba(X)

    def _fitted(self) -> CountsClassifier:
        check_is_fitted(self)
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.model.__sklearn_tags__().input_tags
        return tags
