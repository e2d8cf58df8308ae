"""AODE: the mean of all super-parent networks."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers._base.parameter_checks import check_choice
from tanbark.counts import Counts, Rows
from tanbark.kernels.average.super_parent_joint import averaged_log_joint
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import pieces, run, thread_count
from tanbark.network import Network
from tanbark.network.network_arrays import log_prior, log_table
from tanbark.parameters import PARAMETERS, Smoothing, children_tables, joint_value_tables, value_tables
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.user_warnings import warn


class AODE(CountsClassifier):
    """Averaged one-dependence estimators: ``P(class, x) = mean_i P(class, x_i) prod_j P(x_j | class, x_i)``.

    Every attribute in turn is the parent of all others, beside the class, and the joint probabilities of these networks
    are averaged. No structure is searched for, so that learning is counting.

    Parameters
    ----------
    min_frequency : float
        A super-parent whose value was seen in fewer training rows, weights summed, does not vote (Webb et al. have 30,
        Weka 1). Naive Bayes answers where none votes. A missing super-parent does not vote either.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`. ``P(class, x_i)`` is estimated as one table.
    ess : float
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.

    Attributes
    ----------
    classes_ : array
    counts_ : Counts
    schema_ : Schema
    class_log_prior_ : array

    Notes
    -----
    Who votes depends on the row, so the mean is no joint distribution of rows: there are class probabilities, but no
    `score_samples` and no `sample`. Where training values are missing, ``P(x_j | class, x_i)`` comes from the rows that
    have both values, and in ``P(class, x_i)`` the rows of a class that lack `x_i` are shared out as the others are.

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

    _joint = False

    parameters: str

    def __init__(
        self,
        *,
        min_frequency: float = 1,
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("parameters", self.parameters, PARAMETERS)
        least = self.min_frequency
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= least <= 1e100:
            raise ValueError(f"min_frequency must be a number of at least 0, got {least!r}")

    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        parameters, ess = self.parameters, float(self.ess)
        learned, alone = value_tables(counts, parameters, ess)
        given = self._checked_prior(len(counts.class_counts))
        self._tables = {
            "own": joint_value_tables(counts, parameters, ess, given),
            "pairs": children_tables(counts, Smoothing.of(counts, parameters, ess)),
            "votes": counts.values.sum(axis=0) >= float(self.min_frequency),
            "log_prior": learned if given is None else given,
            "alone": alone,
        }
        self.class_log_prior_ = self._tables["log_prior"]
        if counts.values.any() and not self._tables["votes"].any():
            warn(
                f"no value of any column was seen min_frequency={self.min_frequency} times (weights count as rows), so "
                "that naive Bayes answers; lower min_frequency, or scale the weights up"
            )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the tables."""
        return self._tables

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts and tables."""
        classes, values = counts.values.shape
        self._tables = {
            "own": log_table(arrays, "own", (values, classes)),
            "pairs": log_table(arrays, "pairs", (values, classes, values)),
            "votes": arrays["votes"],
            "log_prior": log_prior(arrays, "log_prior", classes),
            "alone": log_table(arrays, "alone", (values, classes)),
        }
        if self._tables["votes"].shape != (values,) or self._tables["votes"].dtype != np.bool_:
            raise ValueError("its votes are of another shape than its schema, or neither true nor false")
        self.class_log_prior_ = self._tables["log_prior"]
        return super()._restore(counts, network, state, arrays)

    def _log_scores(self, codes: Codes) -> Array:
        rows = codes.shape[1]
        out = np.empty((rows, len(self.class_log_prior_)))
        threads = thread_count(self.n_jobs, rows)
        tables = (frozen(self._tables[name]) for name in ("own", "pairs", "votes", "log_prior", "alone"))
        call = partial(averaged_log_joint, codes, self.schema_.offset, *tables)
        steps = out.shape[1] * len(codes) ** 2
        run([partial(call, *span, out) for span in pieces(rows, threads, steps)], threads)
        return out
