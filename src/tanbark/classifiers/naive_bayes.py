"""Naive Bayes: attributes independent of each other given the class."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers._base.network_classifier import NetworkClassifier
from tanbark.counts import Counts, Rows
from tanbark.network import Network, Structure
from tanbark.parameters import tree_tables
from tanbark.schema import Encoder, Schema


class NaiveBayes(NetworkClassifier):
    """Naive Bayes over categories and binned numbers.

    Parameters
    ----------
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`.
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
    network_ : Network
    counts_ : Counts
    schema_ : Schema

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

    _order = 1

    def __init__(
        self,
        *,
        parameters: str = "dirichlet",
        ess: float = 1.0,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _network(self, counts: Counts, rows: Rows | None) -> Network:
        alone = (-1,) * len(counts.schema.columns)
        tables = tree_tables(counts, alone, self.parameters, float(self.ess))
        return Network(counts.schema, Structure.augmented(alone), tables)
