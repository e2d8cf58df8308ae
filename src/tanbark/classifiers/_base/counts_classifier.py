"""The base of all classifiers: from tables to counts and models, and from models to predictions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers._base.parameter_checks import check_jobs, offered_unless
from tanbark.classifiers._base.table_estimator import EncodingEstimator
from tanbark.classifiers.state import learning, of_one_state
from tanbark.counts import Counts, Rows
from tanbark.kernels.infer.posterior import log_evidence, log_posterior, posterior
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import run, spans, thread_count
from tanbark.network import Network
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.encode.growth import encode_growing, with_classes
from tanbark.schema.read.class_column import Target, read_known_target, read_target, usable_rows
from tanbark.schema.read.table_reader import Table

Array = NDArray[np.float64]


def _needs_rows(model: CountsClassifier) -> str | None:
    return model._why_rows()


def _lacks_joint(model: CountsClassifier) -> str | None:
    if model._joint:
        return None
    return f"{type(model).__name__} has class probabilities, but no joint distribution of rows"


class CountsClassifier(ClassifierMixin, EncodingEstimator, metaclass=ABCMeta):
    """A classifier that is learned from counts, and from the rows where counts of pairs do not suffice.

    A subclass says which counts it needs (`_order`), whether it needs more (`_why_rows`), what it learns from them
    (`_learn`), the scores that follow (`_log_scores`) and whether these are a joint distribution (`_joint`); the rest
    is here.
    """

    _order = 2
    _joint = True

    ess: float
    class_prior: Any
    n_jobs: int | None
    class_log_prior_: Array
    _classes_listed = False
    """Whether `partial_fit` was told all classes when learning began."""

    chunk_ids_: tuple[str, ...] = ()
    """The chunks that were learned under a name, so that none is learned twice; a new start forgets them."""

    @abstractmethod
    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        """Keep on the estimator what the counts and the rows teach, `class_log_prior_` included."""

    @abstractmethod
    def _log_scores(self, codes: Codes) -> Array:
        """Return ``log P(row, class)`` of encoded rows, what is missing being summed out.

        Where no joint exists it is the log posterior, or that and something that is the same for all classes.
        """

    def _start_over(self) -> None:
        """Drop what learning from further rows would start from, since learning begins anew."""

    def _why_rows(self) -> str | None:
        """Return why counts alone do not suffice to learn this model, None where they do."""
        return None

    def _check_parameters(self) -> None:
        """Raise a sentence that names the parameter whose value cannot be."""
        ess = self.ess
        if isinstance(ess, bool) or not isinstance(ess, Real) or not 1e-100 <= ess <= 1e100:
            raise ValueError(f"ess must be a positive number (from 1e-100 to 1e100), got {ess!r}")
        self._check_encoder()
        check_jobs(self.n_jobs)

    def _check_schema(self, schema: Schema) -> None:
        """Raise a sentence where a parameter does not fit the columns of the table or the class."""

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table and its classes.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
        sample_weight : array of shape (rows,), optional
            A weight of three is the row three times; a weight of zero is no row.
        """
        with learning(self) as draft:
            draft._check_parameters()
            draft._start(X, y, sample_weight, classes=None)
            draft.chunk_ids_ = ()
        return self

    @offered_unless(_needs_rows)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: their counts are added to those so far.

        The first call learns the schema, cut points of numbers included (or takes the one given as `encoder`). Levels
        and classes that come later extend it, and no count is lost; but where `classes` were listed they are all there
        are, and a Schema given as `encoder` stays as it is. Labels beyond `max_levels` share one further level, those
        that come first being kept. A chunk of no rows changes nothing.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
        classes : array, optional
            All classes that there may be.
        sample_weight : array of shape (rows,), optional
        """
        with learning(self) as draft:
            draft._check_parameters()
            if has_no_rows(X) and has_no_rows(y):
                return self
            if not hasattr(draft, "counts_"):
                draft._start(X, y, sample_weight, classes)
                return self
            draft._check_classes(classes)
            rows = draft._further_rows(X, y, sample_weight)
            if len(rows.classes):
                draft._set(draft._with_rows(draft.counts_, rows), None)
        return self

    def _check_classes(self, classes: Any) -> None:
        """Raise where classes are listed that were not when learning began."""
        known = set(self.schema_.classes)
        strange = [c for c in np.asarray([] if classes is None else list(classes)).tolist() if c not in known]
        if strange:
            raise ValueError(f"classes names {strange[0]!r}, which is not among {list(self.schema_.classes)}")

    def _further_rows(self, X: Any, y: Any, sample_weight: Any = None, known: Schema | None = None) -> Rows:
        """Return further rows under the schema, or another that is known, or under one that has what it lacks."""
        schema = known = known or self.schema_
        table = self._read(X, reset=False)
        target = read_known_target(y, schema.class_labels)
        target.name_beside(schema.names)
        table, target, weights = usable_rows(table, target, sample_weight, some=False)
        if isinstance(self.encoder, Schema):
            return self._rows(schema, table, target, weights)
        if not self._classes_listed:
            schema = with_classes(schema, target)
        labels = target.codes_under(schema.classes)
        schema, codes = encode_growing(schema, table, self.encoder or Encoder(), self.n_jobs)
        if schema != known:
            self._checked_prior(len(schema.classes))
            self._check_schema(schema)
        return Rows(schema, codes, labels, weights)

    def _with_rows(self, counts: Counts, rows: Rows) -> Counts:
        """Return counts with those of further rows."""
        so_far = counts.under(rows.schema)
        if rows.weights is None:
            return so_far.plus(rows.codes, rows.classes, self.n_jobs)
        return so_far + self._count(rows)

    def _faded(self, counts: Counts, rows: Rows, half_life: float) -> Counts:
        """Return counts with further rows, each row's share of them halved by every `half_life` rows that follow it."""
        many = len(rows.classes)
        with np.errstate(over="ignore"):
            age = np.arange(many - 1, -1, -1, dtype=np.float64) / half_life
        aged = Rows(rows.schema, rows.codes, rows.classes, rows.each * 0.5**age)
        faded: Counts = counts.under(rows.schema) * float(0.5 ** (many / half_life))
        return faded + self._count(aged)

    def _learn_further(self, counts: Counts, kept: float = 1.0) -> None:
        """Learn from the counts of further rows and those so far, of which a share may be kept only."""
        with learning(self) as draft:
            draft._check_parameters()
            so_far = draft.counts_ if kept == 1.0 else draft.counts_ * kept
            draft._set(so_far + counts, None)

    @offered_unless(_needs_rows)
    def fit_counts(self, counts: Counts) -> Self:
        """Learn from counts, wherever they were counted."""
        with learning(self) as draft:
            draft._check_parameters()
            if not isinstance(counts, Counts):
                raise TypeError(f"counts must be Counts, got {type(counts).__name__!r}")
            if counts.order < draft._order:
                raise ValueError(f"{type(self).__name__} learns from counts of pairs; count with order=2")
            if not counts.class_counts.sum() > 0:
                raise ValueError("the counts are all zero; there is nothing to learn")
            draft._fit_rows(counts, None)
            draft.chunk_ids_ = ()
        return self

    def _fit_rows(self, counts: Counts, rows: Rows | None) -> Self:
        """Learn from encoded rows and their counts, which may be of a higher order than is needed."""
        if counts.order > self._order:
            counts = Counts(counts.schema, counts.class_counts, counts.values.copy())
        self._classes_listed = False
        self._start_over()
        self._set(counts, rows)
        self._take_names(counts.schema)
        return self

    def _take_names(self, schema: Schema) -> None:
        self.n_features_in_ = len(schema.columns)
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, object)

    def _state(self) -> dict[str, Any]:
        """Return what was learned beside the counts and the network, as plain values."""
        return {}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learned beside the counts and the network, as arrays."""
        return {}

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, this network (if it has one), this state and arrays."""
        if counts.order < self._order and self._why_rows() is None:
            raise ValueError("its counts are of single values, and it learns from those of pairs")
        self._take(counts)
        self._take_names(counts.schema)
        return self

    def _start(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> None:
        rows = self._first_rows(X, y, sample_weight, classes)
        self._start_over()
        self._set(self._count(rows), rows)

    def _first_rows(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Rows:
        """Return rows under the schema that is given or that they teach."""
        table = self._read(X, reset=True)
        target = read_target(y)
        table, target, weights = usable_rows(table, target, sample_weight)
        if classes is not None:
            target = target.among(classes)
        if isinstance(self.encoder, Schema):
            schema = self.encoder
            schema.check_table(table)
            target.name_beside(schema.names)
        else:
            schema = (self.encoder or Encoder()).learn(table, target, weights)
        self._checked_prior(len(schema.classes))
        self._check_schema(schema)
        self._classes_listed = classes is not None
        return self._rows(schema, table, target, weights)

    def _rows(self, schema: Schema, table: Table, target: Target, weights: Array | None) -> Rows:
        codes = schema.encode_table(table, self.n_jobs)
        return Rows(schema, codes, target.codes_under(schema.classes), weights)

    def _count(self, rows: Rows) -> Counts:
        return Counts.of(rows.schema, rows.codes, rows.classes, rows.weights, self._order, self.n_jobs)

    def _set(self, counts: Counts, rows: Rows | None) -> None:
        self._learn(counts, rows)
        self._take(counts)

    def _checked_prior(self, classes: int) -> Array | None:
        """Return the logarithm of the class prior that was given, or None."""
        if self.class_prior is None:
            return None
        try:
            prior = np.asarray(self.class_prior, np.float64)
        except (TypeError, ValueError, OverflowError):
            prior = np.empty(0)
        if prior.shape != (classes,) or not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ValueError(
                f"class_prior must be {classes} probabilities that sum to 1, in the order of classes_, got "
                f"{self.class_prior!r}"
            )
        with np.errstate(divide="ignore"):
            log_prior: Array = np.log(prior / prior.sum())
        return log_prior

    def _prior_and_ratio(self, learned: Array) -> tuple[Array, Array]:
        """Return the log class prior to use, and the log of what posteriors under the learned one are multiplied by."""
        given = self._checked_prior(len(learned))
        if given is None:
            return learned, np.zeros_like(learned)
        # A class that was never seen has no learned prior to divide by.
        return given, given - np.where(np.isneginf(learned), 0.0, learned)

    def _take(self, counts: Counts) -> None:
        self.schema_ = counts.schema
        self.classes_ = counts.schema.class_labels.copy()
        self.counts_ = counts

    # Predicting

    def _encode(self, X: Any) -> Codes:
        check_is_fitted(self)
        return self.schema_.encode_table(self._read(X, reset=False), self.n_jobs)

    @offered_unless(_lacks_joint)
    @of_one_state
    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return ``log P(row, class)``, one column per class; what is missing or was never seen is summed out."""
        return self._log_scores(self._encode(X))

    @offered_unless(_lacks_joint)
    @of_one_state
    def score_samples(self, X: Any) -> Array:
        """Return ``log P(row)`` over the levels and intervals of the schema, -inf for a row that cannot be."""
        joint = self.predict_joint_log_proba(X)
        out = np.empty(len(joint))
        threads = thread_count(self.n_jobs, len(joint))
        run([partial(log_evidence, joint, *span, out) for span in spans(len(joint), threads)], threads)
        return out

    @of_one_state
    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of each class, one column per class in the order of `classes_`.

        A row that no class can have made gets the class prior.
        """
        joint = self._log_scores(self._encode(X))
        prior = np.exp(self.class_log_prior_)
        threads = thread_count(self.n_jobs, len(joint))
        run([partial(posterior, joint, prior, *span, joint) for span in spans(len(joint), threads)], threads)
        return joint

    @of_one_state
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the posterior probability of each class, exact where the probability underflows."""
        return self._log_posteriors(self._encode(X))

    def _log_posteriors(self, codes: Codes) -> Array:
        joint = self._log_scores(codes)
        threads = thread_count(self.n_jobs, len(joint))
        prior = frozen(self.class_log_prior_)
        run([partial(log_posterior, joint, prior, *span, joint) for span in spans(len(joint), threads)], threads)
        return joint

    @of_one_state
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[best]
        return predicted

    # scikit-learn

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = False
        tags.input_tags.categorical = False
        return tags


def has_no_rows(X: Any) -> bool:
    """Return whether a table has no rows, whatever its columns, or a column no values."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return bool(shape) and not shape[0]
    return hasattr(X, "__len__") and not len(X)


def settings_of(model: CountsClassifier) -> dict[str, Any]:
    """Return the settings of a model and of its encoder; of what is no plain value only that it was given.

    >>> from tanbark import NaiveBayes
    >>> settings_of(NaiveBayes(class_prior=[0.5, 0.5]))
    {'class_prior': [0.5, 0.5], 'ess': 1.0, 'parameters': 'dirichlet'}
    """
    given = {name: value for name, value in model.get_params(deep=False).items() if name not in ("encoder", "n_jobs")}
    if isinstance(model.encoder, Encoder):
        given |= model.encoder.get_params()
    return {name: _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {str(name): _plain(one) for name, one in value.items()} if isinstance(value, Mapping) else "given"
