"""Classifiers for River, the library of learning from streams: one row at a time, each a dict."""

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
from tanbark.classifiers.base.parameter_checks import check_number
from tanbark.classifiers.stream import Stream
from tanbark.counts import Counts
from tanbark.schema.encode.columns import plain
from tanbark.schema.read.object_columns import is_missing
from tanbark.user_warnings import warn

try:
    from river.base import MiniBatchClassifier
except ImportError as error:
    raise ImportError("tanbark.river needs River: pip install 'tanbark[river]'") from error

if TYPE_CHECKING:
    import pandas as pd

MOST_WAITING = 1000
"""So many rows of which nothing is known wait for the first one of which something is."""

Features = Mapping[Hashable, Any]
Row = tuple[Features, Any, float]


class RiverClassifier(MiniBatchClassifier):
    """A classifier of tanbark's that learns as River's do.

    A row is a dict. A feature that it lacks, or that is None or NaN, is missing there. The first rows decide which
    features there are, which of them are categories, and where numbers are cut; until there are `warm_up` of them,
    the model is fitted anew to the rows so far. After that every row is one `partial_fit`, and no row is kept. New
    levels and classes may come at any time.

    A feature that first comes after the warm-up is ignored, with one warning: no row so far tells how it goes with the
    others, and a number would have no cut points. A longer `warm_up` meets it in time.

    Parameters
    ----------
    model : classifier
        One with `partial_fit`, or a `Stream` of one. It stays as it is; what learns is a copy of its settings, which
        begins anew also where the model is fitted.
    warm_up : int
        From how many rows the schema is learned.

    Attributes
    ----------
    model_ : classifier or None
        What was learned; None before the first row. After the warm-up the network of a classifier bears the features'
        names; in a `Stream` they are x0, x1, ..., in the order of `features_`.
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
            raise TypeError(f"model must be one of tanbark's classifiers, such as TAN(), or a Stream, got {model!r}")
        try:
            model.partial_fit  # noqa: B018 (where it is not there, the error says why)
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
        """Learn a row of class `y`, which counts `w` times; a row without a class teaches nothing."""
        if not isinstance(x, Mapping):
            raise TypeError(f"a row must be a dict of features, got {type(x).__name__!r}")
        self._learn([(dict(x), plain(y), _checked(w))])

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: Sequence[float] | None = None) -> None:
        """Learn the rows of a data frame, as `learn_one` would one after the other."""
        weights = [1.0] * len(X) if w is None else map(_checked, w)
        self._learn(list(zip(X.to_dict("records"), y.tolist(), weights)))

    def _learn(self, rows: list[Row]) -> None:
        rows = [row for row in rows if row[2] > 0 and not is_missing(row[1])]
        while self._first is not None and rows:
            room = max(self.warm_up - len(self._first), 1)
            self._begin(self._first, rows[:room])
            rows = rows[room:]
        if rows:
            self._warn_of_new(rows)
            values, classes, weights = _table(rows, self.features_)
            with _naming(self.features_):
                self.model_.partial_fit(values, classes, sample_weight=weights)

    def _begin(self, earlier: list[Row], rows: list[Row]) -> None:
        """Learn rows and those before them, all anew; where they are enough, these are the last to be learned so."""
        known = {name for x, _, _ in rows for name, value in x.items() if not is_missing(value)}
        features = tuple(sorted({*self.features_, *known}, key=str))
        first = [*earlier, *rows]
        enough = len(first) >= self.warm_up and bool(features)
        if features:
            values, classes, weights = _table(first, features)
            with warnings.catch_warnings(), _naming(features):
                if not enough:
                    # That a column looks like an identifier is no news while there are few rows.
                    warnings.simplefilter("ignore")
                model = clone(self.model).partial_fit(values, classes, sample_weight=weights)
            self.model_, self.features_ = _named(model, features) if enough else model, features
        # Rows of nothing known teach no schema, however many they are.
        self._first = None if enough else first[-max(self.warm_up, MOST_WAITING) :]

    def _warn_of_new(self, rows: Sequence[Row]) -> None:
        if self._warned:
            return
        known = set(self.features_)
        new = (name for x, _, _ in rows for name, value in x.items() if name not in known and not is_missing(value))
        strange = next(new, None)
        if strange is not None:
            self._warned = True
            warn(f"the feature {strange!r} first came after the warm-up of {self.warm_up} rows, and is ignored")

    # Predicting

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class so far; of none before the first row."""
        if self.model_ is None:
            return {}
        with _naming(self.features_):
            probabilities = self.model_.predict_proba(_values([x], self.features_))[0]
        return dict(zip(self.model_.classes_.tolist(), probabilities.tolist()))

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probability of each class so far for every row, one column per class."""
        import pandas as pd

        if self.model_ is None:
            return pd.DataFrame(index=X.index)
        with _naming(self.features_):
            probabilities = self.model_.predict_proba(_values(X.to_dict("records"), self.features_))
        return pd.DataFrame(probabilities, index=X.index, columns=self.model_.classes_.tolist())


@contextmanager
def _naming(features: tuple[Hashable, ...]) -> Iterator[None]:
    """Let errors about a column of a table without names name the feature."""
    try:
        yield
    except (ValueError, TypeError) as error:
        names = {f"column 'x{u}'": f"the feature {name!r}" for u, name in enumerate(features)}
        words = re.sub(r"column 'x\d+'", lambda found: names.get(found[0], found[0]), str(error))
        words = re.sub(r"^column ", "the feature ", words)
        raise type(error)(words) from error


def _checked(weight: Any) -> float:
    if not isinstance(weight, Real) or not 0 <= float(weight) < math.inf:
        raise ValueError(f"w must be a finite number of at least 0, got {weight!r}")
    return float(weight)


def _table(
    rows: Sequence[Row], features: tuple[Hashable, ...]
) -> tuple[NDArray[Any], list[Any], NDArray[np.float64] | None]:
    """Return the values of the features, the classes, and the weights where not all are one."""
    weights = np.array([w for _, _, w in rows])
    classes = [y for _, y, _ in rows]
    return _values([x for x, _, _ in rows], features), classes, None if (weights == 1).all() else weights


def _values(rows: Sequence[Features], features: tuple[Hashable, ...]) -> NDArray[Any]:
    """Return the values of the features as rows of objects."""
    values = np.empty((len(rows), len(features)), object)
    for i, x in enumerate(rows):
        values[i] = [x.get(name) for name in features]
    return values


def _named(model: Any, features: tuple[Hashable, ...]) -> Any:
    """Return a classifier whose columns bear the features' names, though its rows come without."""
    names = [str(name) for name in features]
    if not isinstance(model, CountsClassifier) or len(set(names)) < len(names):
        return model
    counts, class_name = model.counts_, "class"
    while class_name in names:
        class_name += "_"
    columns = tuple(replace(column, name=name) for column, name in zip(counts.schema.columns, names))
    schema = replace(counts.schema, columns=columns, class_name=class_name)
    return model.fit_counts(Counts(schema, counts.class_counts, counts.table))
