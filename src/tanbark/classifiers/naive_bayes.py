"""Naive Bayes: attributes that are independent of each other given the class."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier, tree_network
from tanbark.counts import Counts, Rows
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema


class NaiveBayes(NetworkClassifier):
    """Naive Bayes over categories and binned numbers.

    Parameters
    ----------
    {parameters}
    {ess_1}
    {prior_encoder_n_jobs}

    Attributes
    ----------
    {network}
    {fitted}

    References
    ----------
    Langley, P., Iba, W. and Thompson, K. (1992). An analysis of Bayesian classifiers. AAAI, 223-228.

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict(X[:2]).tolist()
    ['none', 'soft']
    >>> model.predict_proba([[None, None, None, "reduced"]]).round(3)
    array([[0.013, 0.973, 0.013]])
    """

    count_order = 1

    def __init__(
        self,
        *,
        parameters: str = "dirichlet",
        ess: float = 1.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        return tree_network(counts, [], range(len(counts.schema.columns)), self.parameters, float(self.ess)), Findings()
