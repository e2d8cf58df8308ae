"""EvidenceBN: weighted evidence of single attributes in their contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import fsum
from types import NoneType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier, known_target, raising_interrupts
from tanbark.classifiers.base.validation import (
    check_flag,
    check_number,
    check_positive,
    check_seed,
    has_no_rows,
    read_known_table,
    report_unfitted,
    seed_of,
)
from tanbark.classifiers.base.weight_warnings import MIN_CROSS_VALIDATED_WEIGHT, warn_of_copies, warn_of_few_rows
from tanbark.counts import Counts, Rows
from tanbark.evidence.design import LearnedDesign, learn_design
from tanbark.evidence.parent_selection import (
    Parents,
    check_table_cells,
    corrected_information,
    given_parents,
    k_dependence_parents,
)
from tanbark.evidence.penalised_weights import Setting, split_parameters
from tanbark.evidence.penalty_path import (
    CORRECTION_PENALTIES,
    EDGE_PENALTIES,
    WEIGHT_PENALTIES,
    Selected,
    fixed_weights,
    learn_folds,
    select_weights,
)
from tanbark.evidence.questions import FINE_ENCODING, Questions, code_weights
from tanbark.evidence.shapes import Shape
from tanbark.models.evidence_model import EvidenceModel
from tanbark.models.network_model import prior_and_ratio
from tanbark.progress import Progress, progress_bar
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Column, Number
from tanbark.schema.read.class_column import usable_rows
from tanbark.schema.read.raw_columns import is_missing
from tanbark.schema.recipe.date_text import days_of

OF_JOINT_MODELS = ("sample", "network_")
"""Attributes of other classifiers that an evidence model cannot have."""


class EvidenceBN(CountsClassifier):
    """Weighted evidence: one additive model that predicts about as well as an ensemble.

    The score of a class is the log prior, plus for each attribute a weight times the evidence of its value, plus
    corrections. The evidence is the log probability of the value given the class and up to `depth` parents, as in a
    k-dependence network. Weights and corrections maximise the conditional likelihood of the training classes, where
    each row is evaluated by tables that were learned without it. This carries the idea of `AdditiveBN`, a generalised
    additive model of Bayesian networks fitted by conditional likelihood, from whole networks to single tables.

    Parameters
    ----------
    depth : int, default=2
        The maximum number of parents of an attribute, beside the class. How deep the evidence of the contexts is used,
        from none to `depth` parents, is chosen by cross-validation.
    structure : list of pairs (parent, child) of column names, default=None
        The edges between attributes, instead of those of the k-dependence algorithm. The parent that is listed
        first is the first to be used.
    weight_penalty : float, default=None
        How strongly the weights of the attributes are pulled towards a common one. None chooses by cross-validation.
    correction_penalty : float, default=None
        How strongly the corrections of single attributes are pulled towards zero: a line in the value and the rank of
        a number, and a term for each bin or level. None chooses by cross-validation, which may leave them out.
    edge_penalty : float, default=None
        How strongly the corrections of pairs of bins or levels of an attribute and its first parent are pulled towards
        zero. None chooses by cross-validation, which may leave them out. If all three penalties are given, there is no
        cross-validation: fitting is several times faster, but settings are not averaged and there is no temperature, so
        that probabilities are usually worse.
    ess : float, default=2.0
        The number of rows by which the distribution of an attribute over all classes is pulled towards a uniform one.
    {verbose}
    {class_prior_ratio}
    {class_weight}
    encoder : Encoder, Schema or None, default=None
        Converts the table to codes. None means ``Encoder(n_bins=64, missing="state")``; a Schema is used as it is.
    {n_jobs}
    random_state : int, RandomState or None, default=0
        The seed of the folds, and of the choice of the rows for cross-validation if there are more than 20,000.

    Attributes
    ----------
    weights_ : array of shape (depths, attributes)
        The weight of the evidence of each attribute without parents, and of what each further parent adds to it; 0 for
        parents that it does not have. An attribute with a low weight can still matter through its corrections, which
        `explain` and `shape` include.
    edges_ : list of pairs (parent, child) of column names
        The edges between attributes.
    edge_strengths_ : dict of (parent, child) to float
        For each edge, by how many nats the evidence of the child changes if the parent becomes unknown, averaged over
        training rows and classes.
    {fitted}

    See Also
    --------
    EnsembleBN : Combines this model with others for the best probabilities.
    AdditiveBN : A pool of whole networks.

    Notes
    -----
    The probability of a value backs off from each context to the one with one parent fewer: ``theta_d = (n_d + m_d
    theta_(d-1)) / (N_d + m_d)`` given ``d`` parents, down to the distribution whatever the class. The strengths ``m_d``
    maximise the leave-one-out likelihood of the attribute. The distribution of a number is a Polya tree: its range is
    halved at quantiles five times, and each half has a back-off table of its own, which shrinks the more the deeper it
    lies. Three grids of quantiles are averaged. As a parent, a number has four intervals, and a category its 15 most
    frequent levels and one for the rest.

    Weights are not negative, because the leave-one-out evidence of a row is a little lower for its own class: with a
    negative weight the fit could read the class from it. The depth and the penalties are chosen by four-fold
    cross-validation over a short path, in which the structure and the tables are learned without the held-out rows. The
    coefficients of good settings are averaged, which stays additive, and multiplied by one temperature. Rows with fewer
    than two units of weight in total, or a single class, have no cross-validation: weights are near 1 and corrections
    near 0.

    Equal rows count as independent ones, and so does a weight of 2. Weights that express something else, such as how
    many people a row of a survey stands for, should be divided by their mean.

    By default missing values that occur in training are a level of their own. With ``Encoder(missing="marginalize")``
    a missing value gives no evidence, and a missing parent makes its children fall back to the context without it and
    the parents after it; unseen levels always do so. The joint distribution of the attributes is not modelled, so there
    are class probabilities only.

    References
    ----------
    Li, J., Zhang, C., Wang, T. and Zhang, Y. (2007). Generalized additive Bayesian network classifiers. IJCAI, 913-918.
    Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD, 335-338.

    Examples
    --------
    >>> from tanbark import EvidenceBN
    >>> from tanbark.datasets import iris
    >>> X, y = iris()
    >>> model = EvidenceBN().fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[1., 0., 0.]])
    >>> model.explain(X[:1]).shape
    (1, 5, 3)
    """

    model_type = EvidenceModel
    model_: EvidenceModel
    count_order = 1
    encoder_defaults = FINE_ENCODING

    def __init__(
        self,
        *,
        depth: int = 2,
        structure: Sequence[tuple[str, str]] | None = None,
        weight_penalty: float | None = None,
        correction_penalty: float | None = None,
        edge_penalty: float | None = None,
        ess: float = 2.0,
        verbose: bool = False,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.depth = depth
        self.structure = structure
        self.weight_penalty = weight_penalty
        self.correction_penalty = correction_penalty
        self.edge_penalty = edge_penalty
        self.ess = ess
        self.verbose = verbose
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
        check_number("depth", self.depth, 0)
        for name in ("weight_penalty", "correction_penalty", "edge_penalty"):
            penalty = getattr(self, name)
            if penalty is not None:
                check_positive(name, penalty)
        check_flag("verbose", self.verbose)
        check_seed(self.random_state)

    def _check_schema(self, schema: Schema) -> None:
        given_parents(self.structure, schema.names, self.depth)

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: the weights are learned from rows."""
        return (
            "EvidenceBN learns its weights from rows; call fit with all rows, or update, which keeps the weights, or "
            "use another classifier, for example TAN"
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in OF_JOINT_MODELS:
                raise AttributeError(f"EvidenceBN has no {name!r}, since it has no joint distribution of rows; use TAN")
            return report_unfitted(self, name)

    @property
    def weights_(self) -> Array:
        """The weight of the evidence of each attribute at each depth."""
        return self.model_.weights

    @property
    def edges_(self) -> list[tuple[str, str]]:
        """The edges between attributes, as pairs of names (parent, child)."""
        model = self.model_
        names = model.schema.names
        return [(names[p], names[u]) for u, above in enumerate(model.parents) for p in above]

    @property
    def edge_strengths_(self) -> dict[tuple[str, str], float]:
        """The strength of each edge in nats, by the names of parent and child."""
        model = self.model_
        names = model.schema.names
        return {(names[p], names[u]): strength for (p, u), strength in model.edge_strengths().items()}

    # Learning

    def _check_rows(self, rows: Rows) -> None:
        warn_of_copies(rows.distinct)

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> EvidenceModel:
        assert rows is not None
        warn_of_few_rows(rows.distinct)
        with progress_bar(self.verbose) as progress:
            return self._learned(counts, rows.distinct, progress)[0]

    def _learned(self, counts: Counts, rows: Rows, progress: Progress) -> tuple[EvidenceModel, Selected]:
        """Return the model of distinct rows, and how its parameters were found."""
        learned_prior = log_class_prior(rows.class_weights)
        log_prior, ratio = prior_and_ratio(self._given_log_prior(counts.schema), learned_prior)
        progress("leaving each row out", 0, None)
        learned = self._designed(rows, learned_prior, self.n_jobs)
        selected = self._selected(learned, rows, progress)
        coefficients = split_parameters(learned.design, selected.parameters)
        model = EvidenceModel(
            counts,
            learned_prior,
            log_prior,
            ratio,
            learned.parents,
            learned.questions,
            tuple(table.joint for table in learned.tables),
            tuple(table.strengths for table in learned.tables),
            learned.ess,
            coefficients.weights * _has_depth(learned.parents, len(coefficients.weights)),
            coefficients.bias,
            learned.design.corrections,
            coefficients.corrections,
            selected.settings,
            selected.temperature,
            selected.gap,
        )
        return model, selected

    def _designed(self, rows: Rows, log_prior: Array, n_jobs: int | None) -> LearnedDesign:
        """Return the structure of rows, and their leave-one-out design under it."""
        questions = Questions.learn(rows.schema, code_weights(rows))
        parents = self._parents(rows, questions, n_jobs)
        return learn_design(rows, questions, parents, log_prior, float(self.ess), n_jobs)

    def _selected(self, learned: LearnedDesign, rows: Rows, progress: Progress) -> Selected:
        """Return the parameters of the design, by cross-validation unless all penalties are given."""
        design = learned.design
        given = self.weight_penalty, self.correction_penalty, self.edge_penalty
        enough = fsum(rows.each) >= MIN_CROSS_VALIDATED_WEIGHT and len(design.log_prior) > 1
        if None not in given or not enough:
            weight, correction, edge = given
            setting = Setting(
                int(self.depth), weight or WEIGHT_PENALTIES[0], correction or CORRECTION_PENALTIES[0], edge
            )
            return fixed_weights(design, setting)
        learn = partial(self._designed, log_prior=design.log_prior, n_jobs=1)
        return select_weights(
            design,
            learn_folds(rows, rows.keys(seed_of(self.random_state)), learn, self.n_jobs),
            WEIGHT_PENALTIES if self.weight_penalty is None else (float(self.weight_penalty),),
            (*CORRECTION_PENALTIES, None) if self.correction_penalty is None else (float(self.correction_penalty),),
            (None, *EDGE_PENALTIES) if self.edge_penalty is None else (float(self.edge_penalty),),
            self.n_jobs,
            progress,
        )

    def _parents(self, rows: Rows, questions: Questions, n_jobs: int | None) -> Parents:
        """Return the parents of each attribute: the given ones, or those of the k-dependence algorithm."""
        schema = rows.schema
        sizes, classes = questions.sizes, len(schema.classes)
        given = given_parents(self.structure, schema.names, self.depth)
        if given is not None:
            for above, column in zip(given, schema.columns, strict=True):
                check_table_cells((*sizes[list(above)].tolist(), column.arity, classes), column.name)
            return given
        digits = questions.digits_of(rows.codes)
        information = corrected_information(digits, sizes, rows.classes.astype(np.int64), rows.each, classes, n_jobs)
        return k_dependence_parents(information, int(self.depth), sizes, schema.arity.tolist(), classes)[0]

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from further rows without fitting the weights again.

        The tables and the class prior learn from the rows. The schema, the structure, the strengths of back-off, the
        weights and the corrections stay as they are until the next `fit`.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
            Levels that `fit` did not see are treated as missing.
        y : array or series of shape (rows,)
            Classes that `fit` has seen.
        sample_weight : array of shape (rows,), default=None

        Returns
        -------
        self
        """
        with raising_interrupts():
            self.validate_parameters()
            self._check_incremental()
            model = self._fitted_model()
            if has_no_rows(X) and has_no_rows(y):
                return self
            rows = self._further_rows(model.schema, X, y, sample_weight)
            if len(rows.classes):
                self.update_encoded(rows)
        return self

    def update_encoded(self, rows: Rows) -> Self:
        """Learn from further encoded rows; see `update`.

        Parameters
        ----------
        rows : Rows
            Under the schema of the model.

        Returns
        -------
        self
        """
        self._check_incremental()
        model = self.model_
        rows = self._reweighted(rows)
        counts = model.counts + self._count(rows)
        learned = log_class_prior(counts.class_counts)
        log_prior, ratio = prior_and_ratio(self._given_log_prior(counts.schema), learned)
        self._set_learned(model.with_rows(rows, counts, learned, log_prior, ratio))
        return self

    def _further_rows(self, schema: Schema, X: Any, y: Any, sample_weight: Any = None) -> Rows:
        """Return further rows under the schema, which stays as it is: new levels are missing, new classes refused."""
        table = read_known_table(self, X, self.n_jobs)
        target = known_target(schema, y)
        table, target, weights = usable_rows(table, target, sample_weight, some=False)
        new = [label for label in target.labels.tolist() if label not in schema.classes]
        if new:
            raise ValueError(f"an update cannot add the new class {new[0]!r} to EvidenceBN; fit again with all rows")
        return self._encoded_rows(schema, table, target, weights)

    # Reading

    def shape(self, attribute: str | int, given: Mapping[str, Any] | None = None) -> Shape:
        """Return the mean evidence of each value of an attribute, with standard errors.

        Parameters
        ----------
        attribute : str or int
            The name of a column, or its position.
        given : mapping of str to value, default=None
            Values of parents of the attribute, by name. The evidence is averaged over the training rows in which these
            parents fall into the same interval or level; a missing value is None, NaN or pandas' NA. By default it is
            averaged over all training rows with each value.

        Returns
        -------
        Shape
            With the attributes `labels`, `evidence`, `standard_errors` and `rows`. Corrections of the edge between the
            attribute and its first parent are part of it. The standard errors are those of the tables; weights and
            corrections are taken as known, so that the true errors are larger. Printing it shows a table.

        Examples
        --------
        >>> from tanbark import EvidenceBN
        >>> from tanbark.datasets import lenses
        >>> X, y = lenses()
        >>> shape = EvidenceBN(depth=0).fit(X, y).shape(3)
        >>> shape.labels
        ('normal', 'reduced')
        >>> shape.rows
        array([12., 12.])
        """
        check_is_fitted(self)
        model = self.model_
        names = model.schema.names
        if isinstance(attribute, bool) or not isinstance(attribute, str | int | np.integer):
            raise ValueError(f"attribute must be a column name or a position, got {attribute!r}")
        u = model.schema.index(attribute) if isinstance(attribute, str) else int(attribute)
        if not 0 <= u < len(names):
            raise ValueError(f"attribute must be a column name or a position from 0 to {len(names) - 1}, got {u}")
        if not isinstance(given, Mapping | NoneType):
            raise ValueError(f"given must map names of parents to values, got {given!r}")
        codes = {}
        for name, value in (given or {}).items():
            p = model.schema.index(name)
            if p not in model.parents[u]:
                known = ", ".join(repr(names[q]) for q in model.parents[u]) or "none"
                raise ValueError(f"{name!r} is not a parent of {names[u]!r}; its parents are: {known}")
            codes[p] = _code_of(model.schema.columns[p], value)
        return model.shape(u, codes)

    # Predicting

    def explain(self, X: Any) -> Array:
        """Return the weight of evidence of each attribute for each class, in nats.

        The weights are centred over the classes. Their sum over the middle axis gives `predict_proba` by softmax.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        weights : array of shape (rows, 1 + attributes, classes)
            The prior comes first.
        """
        model, codes = self._model_and_codes(X)
        weights = model.evidence(codes, self.n_jobs)
        assert weights is not None
        return weights


def _has_depth(parents: Parents, depths: int) -> NDArray[np.bool_]:
    """Return whether each attribute has as many parents as each depth, of shape (depths, attributes)."""
    n_parents = np.array([len(above) for above in parents])
    found: NDArray[np.bool_] = np.arange(depths)[:, None] <= n_parents
    return found


def _code_of(column: Column, value: Any) -> int:
    """Return the code of a value; missing values without a level and unseen levels have the code beyond all others."""
    if is_missing(value):
        return column.arity - 1 if column.missing else column.arity
    if isinstance(column, Number) and column.is_date:
        value = days_of(value, column.name)
    if not np.isscalar(value):
        raise ValueError(f"given must map {column.name!r} to a single value, got {value!r}")
    code = int(column.codes_of([value])[0])
    return code if code >= 0 else column.arity


def log_class_prior(class_weights: NDArray[np.number[Any]]) -> Array:
    """Return the log class prior with one more row for each class."""
    weights = class_weights.astype(np.float64) + 1
    log_prior: Array = np.log(weights / weights.sum())
    return log_prior
