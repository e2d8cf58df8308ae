"""BoostedTables: boosted tables of class scores over a few shared questions."""

from __future__ import annotations

from math import fsum
from numbers import Real
from typing import Any

import numpy as np

from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.validation import check_flag, check_number, check_positive, check_seed, seed_of
from tanbark.classifiers.base.weight_warnings import MIN_CROSS_VALIDATED_WEIGHT, warn_of_copies, warn_of_few_rows
from tanbark.classifiers.evidence_bn import log_class_prior
from tanbark.counts import Counts, Rows
from tanbark.evidence.boosted_folds import ClassTables, boost_folds, boosting_folds, default_settings
from tanbark.evidence.questions import FINE_ENCODING
from tanbark.models.boosted_class_tables import MAX_QUESTIONS, BoostedClassTables
from tanbark.models.network_model import prior_and_ratio
from tanbark.progress import progress_bar
from tanbark.schema import Encoder, Schema


class BoostedTables(CountsClassifier):
    """Boosted class tables: gradient boosting in which every row answers the same few questions.

    A table asks up to `max_depth` yes/no questions, such as "is the age above 40?" or "is the colour red?", and holds a
    score of each class for each combination of answers. Boosting adds tables to the log class prior: each takes a
    Newton step that decreases the log loss of the rows so far, as in gradient boosting with trees. Unlike the
    nodes of a tree, all cells of a table share their questions, which regularises, and makes predictions fast.

    Parameters
    ----------
    n_estimators : int, default=None
        The maximum number of tables of each of the five models. None means 2,000, or 500 if the rows have a total
        weight of less than 1,000.
    max_depth : int, default=6
        The maximum number of questions of a table, at most 8.
    learning_rate : float, default=0.1
        The factor by which each step is shortened.
    subsample : float, default=0.8
        The share of the rows from which each table is learned.
    patience : int or None, default=30
        Boosting stops when the log loss of the held-out rows has not decreased for this many tables. None holds no rows
        out: there is one model of `n_estimators` tables, learned from all rows.
    ess : float, default=1.0
        How strongly the scores of a cell are shrunk towards zero: the information that is added to that of its rows. It
        is tripled if the rows have a total weight of less than 1,000.
    {verbose}
    {class_prior_ratio}
    {class_weight}
    encoder : Encoder, Schema or None, default=None
        Converts the table to codes. None means ``Encoder(n_bins=64, missing="state")``; a Schema is used as it is.
    {n_jobs}
    random_state : int, RandomState or None, default=0
        The seed of the folds, and of the rows, attributes and classes that are sampled for each table.

    Attributes
    ----------
    n_tables_ : list of int
        The number of tables of each of the models that are averaged.
    {fitted}

    See Also
    --------
    EvidenceBN : One additive model that can be read.
    EnsembleBN : Combines boosted tables with other models for the best probabilities.

    Notes
    -----
    With ``g`` and ``h`` the first and second derivatives of a row's log loss by the score of a class, and ``G`` and
    ``H`` their sums over the rows of a cell, the questions of a table are chosen one after the other: each maximises
    the sum of ``G**2 / (H + ess)`` over all cells and classes. A question is chosen among 60 % of the attributes. If
    there are more than four classes, the questions of a table look at four of them, sampled by the sum of ``|g|``; if
    there are more than 20,000 distinct rows, they look at 20,000 of them. The score of a cell is ``-learning_rate G /
    (H + ess)``. A training row moves by the score that its cell would have without it, ``-learning_rate (G - g) /
    (H - h + ess)``, so that the next gradients are not those of memorised rows.

    The rows are divided into five folds, or fewer if there are fewer rows. Boosting without each fold stops where the
    log loss of the fold is least, and the scores of the five models are averaged. Rows with fewer than two units of
    weight in total, or a single class, get the class prior.

    By default missing values that occur in training are a level of their own, which comes after all numbers. Otherwise
    a missing number answers as the median does, and a missing or unseen category answers every question with no. The
    joint distribution of the attributes is not modelled, so there are class probabilities only.

    References
    ----------
    Friedman, J., Hastie, T. and Tibshirani, R. (2000). Additive logistic regression: a statistical view of boosting.
    Annals of Statistics 28(2), 337-407.

    Chen, T. and Guestrin, C. (2016). XGBoost: A scalable tree boosting system. KDD, 785-794.

    Examples
    --------
    >>> from tanbark import BoostedTables
    >>> from tanbark.datasets import iris
    >>> X, y = iris()
    >>> model = BoostedTables().fit(X, y)
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    model_type = BoostedClassTables
    model_: BoostedClassTables
    count_order = 1
    encoder_defaults = FINE_ENCODING

    def __init__(
        self,
        *,
        n_estimators: int | None = None,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        subsample: float = 0.8,
        patience: int | None = 30,
        ess: float = 1.0,
        verbose: bool = False,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.patience = patience
        self.ess = ess
        self.verbose = verbose
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
        if self.n_estimators is not None:
            check_number("n_estimators", self.n_estimators, 1)
        check_number("max_depth", self.max_depth, 1)
        if self.max_depth > MAX_QUESTIONS:
            raise ValueError(f"max_depth must be at most {MAX_QUESTIONS}, got {self.max_depth!r}")
        check_positive("learning_rate", self.learning_rate)
        if isinstance(self.subsample, bool) or not isinstance(self.subsample, Real) or not 0 < self.subsample <= 1:
            raise ValueError(f"subsample must be a number above 0 and at most 1, got {self.subsample!r}")
        if self.patience is not None:
            check_number("patience", self.patience, 1)
        check_flag("verbose", self.verbose)
        check_seed(self.random_state)

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: the tables are learned from rows."""
        return "BoostedTables learns its tables from rows; call fit with all rows"

    @property
    def n_tables_(self) -> list[int]:
        """The number of tables of each of the models that are averaged."""
        return [len(tables.attributes) for tables in self.model_.folds]

    def _check_rows(self, rows: Rows) -> None:
        warn_of_copies(rows.distinct)

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> BoostedClassTables:
        assert rows is not None
        warn_of_few_rows(rows.distinct)
        learned = log_class_prior(rows.distinct.class_weights)
        log_prior, ratio = prior_and_ratio(self._given_log_prior(counts.schema), learned)
        return BoostedClassTables(counts, learned, log_prior, ratio, self._boosted(rows.distinct, learned))

    def _boosted(self, rows: Rows, log_prior: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[ClassTables, ...]:
        """Return the tables of each fold, starting from the class prior."""
        if len(log_prior) < 2 or fsum(rows.each) < MIN_CROSS_VALIDATED_WEIGHT:
            return ()
        settings = default_settings(
            float(rows.each.sum()),
            None if self.n_estimators is None else int(self.n_estimators),
            int(self.max_depth),
            float(self.learning_rate),
            float(self.ess),
            float(self.subsample),
            30 if self.patience is None else int(self.patience),
        )
        seed = seed_of(self.random_state)
        folds = None if self.patience is None else boosting_folds(rows, rows.keys(seed))
        start = np.tile(log_prior, (len(rows.classes), 1))
        with progress_bar(self.verbose) as progress:
            return boost_folds(rows, start, folds, settings, seed, self.n_jobs, progress).tables
