"""EnsembleBN: a pool of boosted tables and networks around weighted evidence, for the best probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers.base.validation import check_flag, check_seed, report_unfitted, seed_of
from tanbark.classifiers.base.weight_warnings import warn_of_copies, warn_of_few_rows
from tanbark.classifiers.evidence_bn import EvidenceBN, log_class_prior
from tanbark.counts import Counts, Rows
from tanbark.evidence.boosted_folds import boost_folds, boosting_folds, default_settings
from tanbark.evidence.log_linear_pool import pool_weights
from tanbark.evidence.penalty_path import Selected
from tanbark.evidence.questions import FINE_ENCODING
from tanbark.evidence.selective_networks import learn_networks
from tanbark.models.boosted_class_tables import BoostedClassTables
from tanbark.models.ensemble import MEMBERS, Ensemble
from tanbark.models.network_mixture import NetworkMixture
from tanbark.models.network_model import prior_and_ratio
from tanbark.progress import Progress, progress_bar
from tanbark.schema import Encoder, Schema

NETWORKS_PER_FOLD = 2
OF_ADDITIVE_MODEL = ("explain", "shape", "edges_", "edge_strengths_")
"""Attributes of `EvidenceBN` that an ensemble does not have."""


class EnsembleBN(CountsClassifier):
    """An ensemble of boosted tables and networks, for the best class probabilities.

    Three members predict each row, and their log probabilities are added up with weights that are not negative:

    - boosted class tables (`BoostedTables`);
    - boosted class tables that start from the scores of an `EvidenceBN` instead of the class prior;
    - ten k-dependence networks, each on a random grid of the numbers and in a random order of the attributes, with the
      attributes, parents and weights that predict held-out rows best.

    The weights of the pool maximise the likelihood of rows that the members have not seen.

    Parameters
    ----------
    ess : float, default=2.0
        As in `EvidenceBN`: the number of rows by which the distribution of an attribute over all classes is pulled
        towards a uniform one.
    {verbose}
    {class_prior_ratio}
    {class_weight}
    encoder : Encoder, Schema or None, default=None
        Converts the table to codes. None means ``Encoder(n_bins=64, missing="state")``; a Schema is used as it is.
    {n_jobs}
    random_state : int, RandomState or None, default=0
        The seed of the folds, and of everything that is sampled.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each member in the pool. That of "evidence" is 0 unless there are too few rows for the others,
        since "tables from evidence" already contains its scores.
    evidence_ : EvidenceBN
        The additive model inside. It explains itself; its probabilities are a little worse than those of the ensemble.
    {fitted}

    See Also
    --------
    EvidenceBN : One additive model that can be read, and that predicts almost as well.
    BoostedTables : The boosted tables alone.

    Notes
    -----
    Rows are divided into folds. Each member predicts each row by models that were learned without its fold; for
    `EvidenceBN` these are its cross-validated leave-one-out scores. From these predictions the weights of the pool are
    learned, with a ridge penalty towards equal weights. Probabilities of members below 1e-6 are raised to that. Rows
    with fewer than two units of weight in total, or a single class, are predicted by the `EvidenceBN` alone.

    References
    ----------
    Chen, T. and Guestrin, C. (2016). XGBoost: A scalable tree boosting system. KDD, 785-794.

    Examples
    --------
    >>> from tanbark import EnsembleBN
    >>> from tanbark.datasets import iris
    >>> X, y = iris()
    >>> model = EnsembleBN().fit(X, y)
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    >>> model.evidence_.explain(X[:1]).shape
    (1, 5, 3)
    """

    model_type = Ensemble
    model_: Ensemble
    count_order = 1
    encoder_defaults = FINE_ENCODING

    def __init__(
        self,
        *,
        ess: float = 2.0,
        verbose: bool = False,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.ess = ess
        self.verbose = verbose
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
        check_flag("verbose", self.verbose)
        check_seed(self.random_state)

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: the members are learned from rows."""
        return "EnsembleBN learns its members from rows; call fit with all rows, or use EvidenceBN, which has update"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in OF_ADDITIVE_MODEL:
                raise AttributeError(
                    f"EnsembleBN has no {name!r}; the additive model inside, the attribute evidence_, has it"
                )
            if name == "update":
                raise AttributeError("EnsembleBN cannot be updated; fit it again with all rows, or use EvidenceBN")
            return report_unfitted(self, name)

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each member in the pool."""
        return dict(zip(MEMBERS, self.model_.weights.tolist(), strict=True))

    @property
    def evidence_(self) -> EvidenceBN:
        """The additive model inside."""
        model = self.model_
        inside = EvidenceBN(
            ess=self.ess,
            class_prior=self.class_prior,
            class_weight=self.class_weight,
            encoder=self.encoder,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        prior, ratio = model.class_log_prior, model.prior_ratio
        return inside.set_model(replace(model.evidence_model, class_log_prior=prior, prior_ratio=ratio))

    def _check_rows(self, rows: Rows) -> None:
        warn_of_copies(rows.distinct)

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> Ensemble:
        assert rows is not None
        rows = rows.distinct
        learned = log_class_prior(rows.class_weights)
        warn_of_few_rows(rows)
        log_prior, ratio = prior_and_ratio(self._given_log_prior(counts.schema), learned)
        seed = seed_of(self.random_state)
        inside = EvidenceBN(ess=self.ess, n_jobs=self.n_jobs, random_state=seed)
        with progress_bar(self.verbose) as progress:
            evidence, selected = inside._learned(counts, rows, progress)
            tables, from_evidence, networks, weights = self._members(rows, learned, selected, seed, progress)
        nothing = np.zeros_like(learned)
        return Ensemble(
            counts,
            evidence,
            BoostedClassTables(counts, learned, learned, nothing, tables),
            BoostedClassTables(counts, learned, learned, nothing, from_evidence),
            NetworkMixture(counts, networks, learned),
            weights,
            log_prior,
            ratio,
        )

    def _members(
        self, rows: Rows, log_prior: Array, selected: Selected, seed: int, progress: Progress
    ) -> tuple[Any, Any, Any, Array]:
        """Return the members other than the evidence, and the weights of the pool."""
        if not selected.folds:
            return (), (), (), np.array([1.0, 0.0, 0.0, 0.0])
        folds = boosting_folds(rows, rows.keys(seed))
        settings = default_settings(float(rows.each.sum()))
        prior = np.tile(log_prior, (len(rows.classes), 1))
        tables = boost_folds(rows, prior, folds, settings, seed, self.n_jobs, progress)
        held_out = selected.held_out_scores(rows, self.n_jobs)
        from_evidence = boost_folds(rows, held_out, folds, settings, seed + 1, self.n_jobs, progress)
        progress("learning networks", 0, None)
        networks, mixed = learn_networks(rows, folds, log_prior, NETWORKS_PER_FOLD, seed, self.n_jobs)
        assert tables.held_out_scores is not None
        assert from_evidence.held_out_scores is not None
        scores = [tables.held_out_scores, from_evidence.held_out_scores, np.log(np.maximum(mixed, 1e-300))]
        weights = pool_weights(scores, rows.classes.astype(np.int64), rows.each)
        return tables.tables, from_evidence.tables, networks, np.concatenate([[0.0], weights])
