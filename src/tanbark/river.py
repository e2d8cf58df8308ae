"""An adapter for River, the library for online learning: rows are dicts and come one at a time."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.validation import check_number
from tanbark.classifiers.stream import Stream
from tanbark.counts import Counts
from tanbark.messages import warn
from tanbark.schema.encode.columns import plain
from tanbark.schema.read.raw_columns import is_missing

try:
    from river.base import MiniBatchClassifier
except ImportError as error:
    raise ImportError("tanbark.river needs River: pip install 'tanbark[river]'") from error

if TYPE_CHECKING:
    import pandas as pd

MAX_BUFFERED_ROWS = 1000
"""The maximum number of rows without known features that are kept until the first row with a known feature."""

Features = Mapping[Hashable, Any]
Row = tuple[Features, Any, float]


class RiverClassifier(MiniBatchClassifier):
    """A tanbark classifier with the interface of River.

    A row is a dict. A feature that is absent, None or NaN is missing. The first `warm_up` rows determine the features,
    which of them are categories, and the cut points of numbers. During this warm-up, the model is refitted to all rows
    so far. After it, every row is one `partial_fit`, and no row is kept. New levels and classes may appear at any time.

    A feature that first appears after the warm-up is ignored, with one warning: it was not counted together with the
    other features, and a number would have no cut points. Increase `warm_up` to include it.

    Parameters
    ----------
    model : classifier or Stream
        A classifier with `partial_fit`, or a `Stream` of one. It is not modified: an unfitted clone learns.
    warm_up : int, default=200
        The number of rows from which the schema is learned.

    Attributes
    ----------
    model_ : classifier, Stream or None
        The fitted model; None before the first row. After the warm-up, the network of a classifier has the names of the
        features; in a `Stream` they are x0, x1, ..., in the order of `features_`.
    features_ : tuple
        The features in the order of the model's columns.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from tanbark import TAN
    >>> from tanbark.river import RiverClassifier
    >>> stream = datasets.Phishing().take(400)
    >>> evaluate.progressive_val_score(stream, RiverClassifier(TAN(), warm_up=50), metrics.Accuracy())
    Accuracy: 88.22%
    """

    def __init__(self, model: Any, *, warm_up: int = 200) -> None:
        check_number("warm_up", warm_up, 1)
        if not isinstance(model, CountsClassifier | Stream):
            raise TypeError(f"model must be a tanbark classifier, such as TAN(), or a Stream, got {model!r}")
        try:
            model.partial_fit  # noqa: B018 (the error of a missing method says why)
        except AttributeError as error:
            raise TypeError(f"{type(model).__name__} cannot learn row by row: {error}") from error
        self.model = model
        self.warm_up = warm_up
        self.model_: Any = None
        self.features_: tuple[Hashable, ...] = ()
        self._first: list[Row] | None = []
        self._warned = False

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from tanbark.classifiers.naive_bayes import NaiveBayes

        yield {"model": NaiveBayes()}

    # Learning

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn from one row; a row without a class is ignored.

        Parameters
        ----------
        x : dict
            The features.
        y : object
            The class.
        w : float, default=1.0
            The weight of the row.
        """
        if not isinstance(x, Mapping):
            raise TypeError(f"a row must be a dict of features, got {type(x).__name__!r}")
        self._learn([(dict(x), plain(y), _checked(w))])

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: Sequence[float] | None = None) -> None:
        """Learn from the rows of a data frame, as `learn_one` would one after the other.

        Parameters
        ----------
        X : pandas.DataFrame
        y : pandas.Series
            The classes.
        w : sequence of float, default=None
            The weights of the rows; `None` for 1.
        """
        weights = [1.0] * len(X) if w is None else map(_checked, w)
        self._learn(list(zip(X.to_dict("records"), y.tolist(), weights, strict=True)))

    def _learn(self, rows: list[Row]) -> None:
        rows = [row for row in rows if row[2] > 0 and not is_missing(row[1])]
        while self._first is not None and rows:
            n_next = max(self.warm_up - len(self._first), 1)
            self._warm_up_with(self._first, rows[:n_next])
            rows = rows[n_next:]
        if rows:
            self._warn_of_new(rows)
            values, classes, weights = _table(rows, self.features_)
            with _naming(self.features_):
                self.model_.partial_fit(values, classes, sample_weight=weights)

    def _warm_up_with(self, earlier: list[Row], rows: list[Row]) -> None:
        """Refit the model to the earlier rows and further ones; end the warm-up if there are enough."""
        known = {name for x, _, _ in rows for name, value in x.items() if not is_missing(value)}
        features = tuple(sorted({*self.features_, *known}, key=str))
        first = [*earlier, *rows]
        enough = len(first) >= self.warm_up and bool(features)
        if features:
            values, classes, weights = _table(first, features)
            with warnings.catch_warnings(), _naming(features):
                if not enough:
                    # Warnings, such as of a column that looks like an identifier, are premature with few rows.
                    warnings.simplefilter("ignore")
                model = clone(self.model).partial_fit(values, classes, sample_weight=weights)
            self.model_, self.features_ = _named(model, features) if enough else model, features
        # A schema cannot be learned from rows without known features, however many there are.
        self._first = None if enough else first[-max(self.warm_up, MAX_BUFFERED_ROWS) :]

    def _warn_of_new(self, rows: Sequence[Row]) -> None:
        if self._warned:
            return
        known = set(self.features_)
        new = (name for x, _, _ in rows for name, value in x.items() if name not in known and not is_missing(value))
        feature = next(new, None)
        if feature is not None:
            self._warned = True
            warn(f"ignoring the feature {feature!r}, which first appeared after the warm-up of {self.warm_up:,} rows")

    # Predicting

    def predict_proba_one(self, x: Features, **_kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class seen so far; an empty dict before the first row."""
        if self.model_ is None:
            return {}
        with _naming(self.features_):
            probabilities = self.model_.predict_proba(_values([x], self.features_))[0]
        return dict(zip(self.model_.classes_.tolist(), probabilities.tolist(), strict=True))

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a data frame with the probability of each class seen so far, one column per class."""
        import pandas as pd

        if self.model_ is None:
            return pd.DataFrame(index=X.index)
        with _naming(self.features_):
            probabilities = self.model_.predict_proba(_values(X.to_dict("records"), self.features_))
        return pd.DataFrame(probabilities, index=X.index, columns=self.model_.classes_.tolist())


@contextmanager
def _naming(features: tuple[Hashable, ...]) -> Iterator[None]:
    """Replace the column numbers in error messages by the names of the features."""
    try:
        yield
    except (ValueError, TypeError) as error:
        names = {f"column 'x{u}'": f"the feature {name!r}" for u, name in enumerate(features)}
        message = re.sub(r"column 'x\d+'", lambda match: names.get(match[0], match[0]), str(error))
        message = re.sub(r"^column ", "the feature ", message)
        raise type(error)(message) from error


def _checked(weight: Any) -> float:
    if not isinstance(weight, Real) or not 0 <= float(weight) < math.inf:
        raise ValueError(f"w must be a finite number of at least 0, got {weight!r}")
    return float(weight)


def _table(
    rows: Sequence[Row], features: tuple[Hashable, ...]
) -> tuple[NDArray[Any], list[Any], NDArray[np.float64] | None]:
    """Return the values of the features, the classes, and the weights, or `None` if all weights are one."""
    weights = np.array([w for _, _, w in rows])
    classes = [y for _, y, _ in rows]
    return _values([x for x, _, _ in rows], features), classes, None if (weights == 1).all() else weights


def _values(rows: Sequence[Features], features: tuple[Hashable, ...]) -> NDArray[Any]:
    """Return the values of the features as an array of objects, one row per dict."""
    values = np.empty((len(rows), len(features)), object)
    for i, x in enumerate(rows):
        values[i] = [x.get(name) for name in features]
    return values


def _named(model: Any, features: tuple[Hashable, ...]) -> Any:
    """Return a classifier whose columns have the names of the features, although it was fitted without names."""
    names = [str(name) for name in features]
    if not isinstance(model, CountsClassifier) or len(set(names)) < len(names):
        return model
    counts, class_name = model.counts_, "class"
    while class_name in names:
        class_name += "_"
    columns = tuple(replace(column, name=name) for column, name in zip(counts.schema.columns, names, strict=True))
    schema = replace(counts.schema, columns=columns, class_name=class_name)
    # The counts already include the class weights.
    class_weight = model.class_weight
    renamed = model.set_params(class_weight=None).fit_counts(Counts(schema, counts.class_counts, counts.table))
    return renamed.set_params(class_weight=class_weight)
