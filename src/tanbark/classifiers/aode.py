"""AODE: the average of all super-parent networks."""

from __future__ import annotations

from numbers import Real
from typing import Any

from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.validation import check_choice
from tanbark.counts import Counts, Rows
from tanbark.messages import warn
from tanbark.models import SuperParentAverage
from tanbark.parameters import PARAMETERS, Smoothing, children_tables, joint_value_tables, value_tables
from tanbark.schema import Encoder, Schema


class AODE(CountsClassifier):
    """Averaged one-dependence estimators: ``P(class, x) = mean_i P(class, x_i) prod_j P(x_j | class, x_i)``.

    Each attribute in turn is a parent of all others, besides the class, and the joint probabilities of these networks
    are averaged. There is no search for a structure, so that learning is counting.

    Parameters
    ----------
    min_frequency : float, default=1
        A super-parent takes part only if its value occurs in at least this many training rows, by weight (Webb et al.
        use 30, Weka 1). If none takes part, naive Bayes answers. A missing super-parent does not take part.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
        The estimator of the probability tables: see `tanbark.parameters.tree_tables`. ``P(class, x_i)`` is estimated as
        one table.
    {ess_10}
    {prior_encoder_n_jobs}

    Attributes
    ----------
    {fitted}

    Notes
    -----
    Which super-parents take part depends on the row, so that the average is not a joint distribution of rows: there are
    class probabilities, but no `score_samples` and no `sample`. If training values are missing, ``P(x_j | class, x_i)``
    is estimated from the rows that have both values, and for ``P(class, x_i)`` the rows of a class without `x_i` are
    distributed like the others.

    References
    ----------
    Webb, G. I., Boughton, J. R. and Wang, Z. (2005). Not so naive Bayes: aggregating one-dependence estimators. Machine
    Learning 58, 5-24.

    Examples
    --------
    >>> from tanbark import AODE
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = AODE().fit(X, y)
    >>> model.predict([["young", None, "no", "normal"]])
    array(['soft'], dtype=object)
    >>> model.predict_proba(X[:2]).round(3)
    array([[0.066, 0.797, 0.137],
           [0.153, 0.149, 0.698]])
    """

    model_type = SuperParentAverage
    model_: SuperParentAverage

    parameters: str

    def __init__(
        self,
        *,
        min_frequency: float = 1,
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_own_parameters(self) -> None:
        check_choice("parameters", self.parameters, PARAMETERS)
        least = self.min_frequency
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= least <= 1e100:
            raise ValueError(f"min_frequency must be a number of at least 0, got {least!r}")

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> SuperParentAverage:
        parameters, ess = self.parameters, float(self.ess)
        learned, alone = value_tables(counts, parameters, ess)
        given = self._given_log_prior(counts.schema)
        votes = counts.values.sum(axis=0) >= float(self.min_frequency)
        if counts.values.any() and not votes.any():
            warn(
                f"no value of any column occurs min_frequency={self.min_frequency} times (by weight), so that naive "
                "Bayes answers; lower min_frequency, or scale the weights up"
            )
        own = joint_value_tables(counts, parameters, ess, given)
        pairs = children_tables(counts, Smoothing.of(counts, parameters, ess))
        prior = learned if given is None else given
        return SuperParentAverage(counts, prior, own, pairs, votes, alone, (parameters, ess))
