"""The base of all classifiers: from tables to counts and a model, and from the model to predictions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numba  # noqa: F401 (below many nested imports, its own import can take 0.1 s longer in Python 3.11)
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.class_weights import (
    check_class_weight,
    check_weighted_classes,
    factors_of_classes,
    is_balanced,
    log_prior_of,
)
from tanbark.classifiers.base.validation import (
    available_unless,
    check_encoder,
    check_jobs,
    check_positive,
    has_no_rows,
    read_known_table,
    report_unfitted,
    with_encoder,
)
from tanbark.counts import Counts, Rows
from tanbark.kernels.infer.posterior import log_evidence
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.models import Model
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.encode.schema_growth import encode_growing, with_classes
from tanbark.schema.read.class_column import (
    ContinuousClassError,
    Target,
    read_known_target,
    read_target,
    usable_rows,
)
from tanbark.schema.read.table_reader import Table, read_new_table
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]


def _without_partial_fit(classifier: CountsClassifier) -> str | None:
    return classifier.why_rows_needed()


def _without_joint(classifier: CountsClassifier) -> str | None:
    if classifier.model_type.has_joint:
        return None
    name = type(classifier).__name__
    return f"{name} has class probabilities, but no joint distribution of rows; use another classifier, for example TAN"


@insert_shared_docs
class CountsClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier that learns a model from counts, and from rows if counts of pairs do not suffice.

    A subclass declares the type of its model (`model_type`) and the order of the counts it needs (`count_order`), and
    implements `_learn`. It overrides `why_rows_needed` if counts do not suffice, and `_check_own_parameters` if it has
    parameters of its own. Everything that was learned is in `model_`, which is replaced as a whole: a method that reads
    it once gives consistent answers, even while another thread fits the classifier.
    """

    model_type: ClassVar[type[Model]]
    """The type of `model_`."""

    count_order: ClassVar[int] = 2
    """1 if the classifier learns from counts of single values, 2 if it needs counts of pairs."""

    encoder_defaults: ClassVar[Mapping[str, Any]] = {}
    """Parameters of the encoder that suit the classifier, where the user left them "auto"."""

    ess: float
    class_prior: Any
    class_weight: Any
    encoder: Encoder | Schema | None
    n_jobs: int | None

    model_: Model
    classes_listed_: bool = False
    """Whether `partial_fit` was given all classes at its first call."""
    chunk_ids_: tuple[str, ...] = ()
    """The names of the chunks that were learned, so that none is learned twice. `fit` clears them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        insert_shared_docs(cls)

    @abstractmethod
    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> Model:
        """Return the model that counts and rows give.

        Parameters
        ----------
        counts : Counts
        rows : Rows or None
            None if the classifier learns from counts alone.
        former : Model or None
            The model that is updated by further rows; None if learning starts anew.
        """

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice to learn this model, or None if they do."""
        return None

    def validate_parameters(self) -> None:
        """Raise an error that names the first invalid parameter."""
        self._check_common_parameters()
        self._check_own_parameters()

    def _check_common_parameters(self) -> None:
        """Raise an error if a parameter that all classifiers have is invalid."""
        check_positive("ess", self.ess)
        if self.class_weight is not None:
            check_class_weight(self.class_weight)
        check_encoder(self.encoder)
        check_jobs(self.n_jobs)

    def _check_own_parameters(self) -> None:
        """Raise an error if a parameter that only this classifier has is invalid."""

    def _check_schema(self, schema: Schema) -> None:
        """Raise an error if a parameter does not fit the columns or the class."""

    def _check_rows(self, rows: Rows) -> None:
        """Warn if rows look unusual, before classes are reweighted."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``encoder__...`` creates an `Encoder` if there is none.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        super().set_params(**with_encoder(self, params))
        return self

    def usable_encoder(self) -> Encoder | Schema:
        """Return the encoder that `fit` uses, with the defaults of this classifier."""
        if isinstance(self.encoder, Schema):
            return self.encoder
        return (self.encoder or Encoder()).with_defaults(**self.encoder_defaults)

    # Views of the model

    if not TYPE_CHECKING:  # Otherwise mypy would accept any attribute.
        __getattr__ = report_unfitted

    @property
    def counts_(self) -> Counts:
        """The counts that the model was learned from."""
        return self.model_.counts

    @property
    def schema_(self) -> Schema:
        """The schema of the table."""
        return self.model_.schema

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the columns of `predict_proba`."""
        return self.model_.schema.class_labels.copy()

    @property
    def class_log_prior_(self) -> Array:
        """The log prior probability of each class."""
        return self.model_.class_log_prior

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table and its classes.

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
            self.validate_parameters()
            self._start(X, y, sample_weight, classes=None, chunk_ids_=())
        return self

    @available_unless(_without_partial_fit)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows by adding their counts.

        The first call learns the schema, including cut points of numbers, or takes the one given as `encoder`. New
        levels and classes extend it later, and no count is lost; but listed `classes` are final, and a Schema given as
        `encoder` does not change. Labels beyond `max_levels` share one further level; the levels seen first are kept.
        A chunk without rows changes nothing.

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
            self.validate_parameters()
            self._check_incremental()
            if has_no_rows(X) and has_no_rows(y):
                return self
            if not hasattr(self, "model_"):
                self._start(X, y, sample_weight, classes, growing=True)
                return self
            model = self.model_
            self._check_classes(model.schema, classes)
            rows = self._reweighted(self._further_rows(model.schema, X, y, sample_weight))
            if len(rows.classes):
                self._set_learned(self._learn(self._with_rows(model.counts, rows), None, model))
        return self

    @available_unless(_without_partial_fit)
    def fit_counts(self, counts: Counts) -> Self:
        """Learn from counts.

        Parameters
        ----------
        counts : Counts
            Counts of pairs, wherever they were counted. `class_weight` multiplies them; `counts_` of another classifier
            already include its class weights.

        Returns
        -------
        self
        """
        with raising_interrupts():
            self.validate_parameters()
            if not isinstance(counts, Counts):
                raise TypeError(f"counts must be Counts, got {type(counts).__name__!r}")
            if counts.order < self.count_order:
                raise ValueError(f"{type(self).__name__} learns from counts of pairs; count with order=2")
            if not counts.class_counts.sum() > 0:
                raise ValueError("the counts are all zero; there is nothing to learn")
            self._learn_encoded(counts, None)
        return self

    def fit_encoded(self, rows: Rows, counts: Counts | None = None) -> Self:
        """Learn from encoded rows.

        Parameters
        ----------
        rows : Rows
            `class_weight` multiplies their weights.
        counts : Counts, default=None
            The counts of the rows, if they are known already; likewise without class weights.

        Returns
        -------
        self
        """
        with raising_interrupts():
            self.validate_parameters()
            counts = self._count(rows) if counts is None else counts
            if counts.order < self.count_order and self.why_rows_needed() is None:
                raise ValueError(f"{type(self).__name__} learns from counts of pairs; count with order=2")
            self._learn_encoded(counts, rows)
        return self

    @available_unless(_without_partial_fit)
    def add_counts(self, counts: Counts, former_weight: float = 1.0) -> Self:
        """Learn from counts of further rows.

        Parameters
        ----------
        counts : Counts
            Under the schema of the model, or one that extends it. `class_weight` multiplies them.
        former_weight : float, default=1.0
            The factor by which the counts so far are multiplied.

        Returns
        -------
        self
        """
        with raising_interrupts():
            self.validate_parameters()
            self._check_incremental()
            model = self._fitted_model()
            former = model.counts if former_weight == 1.0 else model.counts * former_weight
            factors = self._class_factors(counts.schema, counts.class_counts)
            added = counts if factors is None else counts.reweighted(factors)
            self._set_learned(self._learn(former + added, None, model))
        return self

    def set_model(self, model: Model) -> Self:
        """Become fitted with a model, such as one that was read from a file.

        Parameters
        ----------
        model : Model
            A model of the type that this classifier learns.

        Returns
        -------
        self
        """
        if not isinstance(model, self.model_type):
            raise TypeError(f"model must be a {self.model_type.__name__}, got {type(model).__name__!r}")
        if model.counts.order < self.count_order and self.why_rows_needed() is None:
            raise ValueError("its counts are of single values, but it learns from counts of pairs")
        self._set_learned(model, classes_listed_=False, chunk_ids_=(), **_columns_of(model.schema))
        return self

    def _set_learned(self, model: Model, **attributes: Any) -> None:
        """Replace everything that was learned in one step, so that other threads never see a part of it.

        `attributes` with the columns of a new table replace those of the former one.
        """
        former = dict(self.__dict__)
        if "n_features_in_" in attributes:
            former.pop("feature_names_in_", None)
        self.__dict__ = former | attributes | {"model_": model}

    def _start(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, growing: bool = False, **attributes: Any
    ) -> None:
        """Learn from a first table; no column is left out if further tables follow (`growing`)."""
        rows, columns = self._first_rows(X, y, sample_weight, classes, growing)
        model = self._learn_reweighted(self._count(rows), rows)
        self._set_learned(model, classes_listed_=classes is not None, **columns, **attributes)

    def _learn_encoded(self, counts: Counts, rows: Rows | None) -> None:
        """Learn from counts, which may be of a higher order than is needed, and encoded rows."""
        if counts.order > self.count_order:
            counts = Counts(counts.schema, counts.class_counts, counts.values.copy())
        self._check_schema(counts.schema)
        self._check_weighted_classes(counts.schema)
        model = self._learn_reweighted(counts, rows)
        self._set_learned(model, classes_listed_=False, chunk_ids_=(), **_columns_of(counts.schema))

    def _learn_reweighted(self, counts: Counts, rows: Rows | None) -> Model:
        """Learn from counts and rows whose classes are multiplied by `class_weight`."""
        if rows is not None:
            self._check_rows(rows)
        factors = self._class_factors(counts.schema, counts.class_counts)
        if factors is None:
            return self._learn(counts, rows, None)
        return self._learn(counts.reweighted(factors), None if rows is None else rows.reweighted(factors), None)

    def _class_factors(self, schema: Schema, class_counts: NDArray[np.number[Any]]) -> Array | None:
        """Return by what `class_weight` multiplies each class, or None."""
        if self.class_weight is None:
            return None
        return factors_of_classes(self.class_weight, schema.classes, class_counts)

    def _check_weighted_classes(self, schema: Schema) -> None:
        """Raise ValueError if `class_weight` names a label that is not a class."""
        if self.class_weight is not None:
            check_weighted_classes(self.class_weight, schema.classes)

    def _reweighted(self, rows: Rows) -> Rows:
        """Return further rows whose classes are multiplied by `class_weight`."""
        factors = self._class_factors(rows.schema, rows.class_weights)
        return rows if factors is None else rows.reweighted(factors)

    def _check_incremental(self) -> None:
        """Raise ValueError if further rows would change the weights of classes."""
        if is_balanced(self.class_weight):
            raise ValueError(
                "class_weight='balanced' depends on all rows, so that rows cannot be added; give a dict of weights by "
                "class, or fit again with all rows"
            )

    def _first_rows(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, growing: bool = False
    ) -> tuple[Rows, dict[str, Any]]:
        """Return rows under the schema that is given or that they define, and the columns that scikit-learn saw."""
        table, columns = read_new_table(X, self.n_jobs)
        target = read_target(y)
        table, target, weights = usable_rows(table, target, sample_weight)
        if classes is not None:
            target = target.among(classes)
        encoder = self.usable_encoder()
        if isinstance(encoder, Schema):
            schema = encoder
            schema.check_table(table)
            target.name_beside(schema.input_names)
        else:
            encoder = encoder.for_first_chunk() if growing else encoder
            schema = encoder.learn(table, target, self._weights_with_classes(target, weights))
        if not growing or classes is not None or schema is encoder:
            self._check_weighted_classes(schema)
        self._given_log_prior(schema)
        self._check_schema(schema)
        if schema.recipe is None or isinstance(encoder, Schema):
            return self._encoded_rows(schema, table, target, weights), columns
        # The encoder has already warned of values that cannot be read.
        with collecting(UnreadableValues()):
            return self._encoded_rows(schema, table, target, weights), columns

    def _weights_with_classes(self, target: Target, weights: Array | None) -> Array | None:
        """Return the weights of rows, multiplied by `class_weight`."""
        if self.class_weight is None:
            return weights
        totals = np.bincount(target.codes, weights, len(target.labels))
        factors = factors_of_classes(self.class_weight, target.labels.tolist(), totals)
        return factors[target.codes] if weights is None else weights * factors[target.codes]

    def _further_rows(self, schema: Schema, X: Any, y: Any, sample_weight: Any = None) -> Rows:
        """Return further rows under the schema, or under one that extends it with new levels and classes."""
        table = read_known_table(self, X, self.n_jobs)
        target = known_target(schema, y)
        target.name_beside(schema.input_names)
        table, target, weights = usable_rows(table, target, sample_weight, some=False)
        encoder = self.usable_encoder()
        if isinstance(encoder, Schema):
            return self._encoded_rows(schema, table, target, weights)
        known = schema
        if not self.classes_listed_:
            schema = with_classes(schema, target)
        labels = target.codes_under(schema.classes)
        schema, codes = encode_growing(schema, table, encoder, self.n_jobs)
        if schema != known:
            self._given_log_prior(schema)
            self._check_schema(schema)
        return Rows(schema, codes, labels, weights)

    def _encoded_rows(self, schema: Schema, table: Table, target: Target, weights: Array | None) -> Rows:
        codes = schema.encode_table(table, self.n_jobs)
        return Rows(schema, codes, target.codes_under(schema.classes), weights)

    @staticmethod
    def _check_classes(schema: Schema, classes: Any) -> None:
        """Raise ValueError if `classes` names one that the schema does not have."""
        known = set(schema.classes)
        unknown = [c for c in np.asarray([] if classes is None else list(classes)).tolist() if c not in known]
        if unknown:
            raise ValueError(f"classes names {unknown[0]!r}, which is not among {list(schema.classes)}")

    def _count(self, rows: Rows) -> Counts:
        return Counts.of(rows.schema, rows.codes, rows.classes, rows.weights, self.count_order, self.n_jobs)

    def _with_rows(self, counts: Counts, rows: Rows) -> Counts:
        """Return counts to which those of further rows are added."""
        so_far = counts.under(rows.schema)
        if rows.weights is None:
            return so_far.plus(rows.codes, rows.classes, self.n_jobs)
        return so_far + self._count(rows)

    def _faded(self, counts: Counts, rows: Rows, half_life: float) -> Counts:
        """Return counts with further rows; the weight of a row is halved every `half_life` rows that follow it."""
        following = len(rows.classes)
        with np.errstate(over="ignore"):
            age = np.arange(following - 1, -1, -1, dtype=np.float64) / half_life
        aged = Rows(rows.schema, rows.codes, rows.classes, rows.each * 0.5**age)
        faded: Counts = counts.under(rows.schema) * float(0.5 ** (following / half_life))
        return faded + self._count(aged)

    def _given_log_prior(self, schema: Schema) -> Array | None:
        """Return the logarithm of the given class prior, or None if there is none."""
        return None if self.class_prior is None else log_prior_of(self.class_prior, schema.classes)

    # Predicting

    def _fitted_model(self) -> Model:
        check_is_fitted(self)
        return self.model_

    def _model_and_codes(self, X: Any) -> tuple[Model, Codes]:
        """Return the model, and the codes of a table that has the columns of the model."""
        check_is_fitted(self)
        # A fit replaces the whole dictionary, so that the model and the columns in it belong together.
        fitted = self.__dict__
        model: Model = fitted["model_"]
        return model, model.schema.encode_new_table(read_known_table(self, X, self.n_jobs, fitted), self.n_jobs)

    def encode(self, X: Any) -> Codes:
        """Return the codes of a table under the schema of the model.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        codes : array of unsigned int of shape (attributes, rows)
        """
        return self._model_and_codes(X)[1]

    @available_unless(_without_joint)
    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return ``log P(row, class)``, with missing and unseen values marginalised.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        log_joint : array of shape (rows, classes)
        """
        model, codes = self._model_and_codes(X)
        return model.log_scores(codes, self.n_jobs)

    @available_unless(_without_joint)
    def score_samples(self, X: Any) -> Array:
        """Return ``log P(row)`` over the levels and intervals of the schema, -inf for impossible rows.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        log_probability : array of shape (rows,)
        """
        joint = self.predict_joint_log_proba(X)
        out = np.empty(len(joint))
        run_over_rows(partial(log_evidence, joint, out=out), len(joint), self.n_jobs)
        return out

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of each class; rows that are impossible in every class get the prior.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        probabilities : array of shape (rows, classes)
            In the order of `classes_`.
        """
        model, codes = self._model_and_codes(X)
        return model.posterior(codes, self.n_jobs)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log posterior probability of each class, accurate also where the probability underflows.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        log_probabilities : array of shape (rows, classes)
            In the order of `classes_`.
        """
        model, codes = self._model_and_codes(X)
        return model.log_posterior(codes, self.n_jobs)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        classes : array of shape (rows,)
        """
        model, codes = self._model_and_codes(X)
        best = model.posterior(codes, self.n_jobs).argmax(axis=1)
        predicted: NDArray[Any] = model.schema.class_labels[best]
        return predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = False
        tags.input_tags.categorical = False
        # Among checks of scores, this tag leaves out one with class weights of 1000 and 0.0001, which expects that the
        # second class is hardly ever predicted. Where no row was seen, smoothed probabilities do not depend on weights.
        tags.classifier_tags.poor_score = True
        return tags


@contextmanager
def raising_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt where numba turned it into a SystemError.

    This happens when Ctrl-C arrives while a kernel unpacks its arguments.
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise


def _columns_of(schema: Schema) -> dict[str, Any]:
    """Return the attributes that scikit-learn would set for a table with the columns of a schema."""
    columns: dict[str, Any] = {"n_features_in_": len(schema.input_names)}
    if schema.named:
        columns["feature_names_in_"] = np.array(schema.input_names, object)
    return columns


def known_target(schema: Schema, y: Any) -> Target:
    """Return the target of further rows; raise ValueError if the classes are intervals, but `y` holds numbers."""
    try:
        return read_known_target(y, schema.class_labels)
    except ContinuousClassError:
        if schema.recipe is None or not schema.recipe.class_cuts:
            raise
        raise ValueError(
            "the classes are intervals of a number, but y holds other values; pass schema_.recipe.intervals_of(y)"
        ) from None


def settings_of(classifier: CountsClassifier) -> dict[str, Any]:
    """Return the parameters of a classifier and its encoder as plain values; other values become ``"given"``.

    >>> from tanbark import NaiveBayes
    >>> settings_of(NaiveBayes(class_prior=[0.5, 0.5]))
    {'class_prior': [0.5, 0.5], 'class_weight': None, 'ess': 1.0, 'parameters': 'dirichlet'}
    """
    params = classifier.get_params(deep=False)
    given = {name: value for name, value in params.items() if name not in ("encoder", "n_jobs")}
    if isinstance(classifier.encoder, Encoder):
        given |= classifier.encoder.get_params()
    return {name: _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {str(name): _plain(one) for name, one in value.items()} if isinstance(value, Mapping) else "given"
