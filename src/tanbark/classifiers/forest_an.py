"""Forest-augmented naive Bayes: a tree without the edges that do not pay."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers._base.parameter_checks import check_choice
from tanbark.classifiers.tree_classifier import TreeClassifier
from tanbark.counts import Counts
from tanbark.schema import Encoder, Schema
from tanbark.structure import EDGE_GAINS, maximum_forest


class ForestAN(TreeClassifier):
    """Forest-augmented naive Bayes.

    Every attribute depends on the class and on at most one other attribute, as in TAN, but an edge is there only where
    it gains: naive Bayes where none does, TAN where all of a tree's edges do. Each part of the forest hangs from its
    attribute that says most of the class.

    Parameters
    ----------
    criterion : {"bdeu", "cmi"}
        What an edge gains: the log Bayes factor of the edge against none under a BDeu prior of `ess` rows, or the log
        likelihood (rows times conditional mutual information given the class) less half a log of the rows for each
        parameter that the edge adds (MDL).
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
    tree_edges_ : list of (int, int, float)
        The edges with what they gain, in nats, in the order in which Prim's algorithm added them.

    References
    ----------
    Lucas, P. J. F. (2004). Restricted Bayesian network structure learning. Advances in Bayesian Networks, 217-234.
    Cerquides, J. and Lopez de Mantaras, R. (2003). Tractable Bayesian learning of tree augmented naive Bayes models.
    ICML, 75-82: eq 22, to which the class term is added that makes it a Bayes factor.

    Examples
    --------
    >>> from tanbark import ForestAN
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> print(ForestAN().fit(X, y).network_)
    class
    ├─ x0
    ├─ x1
    └─ x3
       └─ x2
    """

    def __init__(
        self,
        *,
        criterion: str = "bdeu",
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("criterion", self.criterion, EDGE_GAINS)

    def _edges(self, counts: Counts) -> list[tuple[int, int, float]]:
        gains = EDGE_GAINS[self.criterion](counts, float(self.ess))
        return [(u, v, float(gains[u, v])) for u, v in maximum_forest(gains)]
