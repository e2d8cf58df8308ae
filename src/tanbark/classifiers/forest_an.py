"""Forest-augmented naive Bayes: TAN with only the edges that improve the score."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier, tree_network
from tanbark.classifiers.base.validation import check_choice
from tanbark.classifiers.base.weight_warnings import warn_of_tiny_weights_for_search
from tanbark.counts import Counts, Rows
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema
from tanbark.structure import EDGE_GAINS, attributes_by_information, maximum_forest


class ForestAN(NetworkClassifier):
    """Forest-augmented naive Bayes.

    Every attribute depends on the class and on at most one other attribute, as in TAN, but only edges with a positive
    gain are included. The result ranges from naive Bayes, if no edge has one, to TAN, if all edges of a tree do. Each
    tree of the forest is rooted at its attribute with the highest mutual information with the class.

    Parameters
    ----------
    criterion : {"bdeu", "cmi"}, default="bdeu"
        The gain of an edge: its log Bayes factor under a BDeu prior of `ess` rows, or its gain in log likelihood (rows
        times conditional mutual information given the class) minus half the log of the number of rows for each
        parameter that the edge adds (MDL).
    {tree_parameters}

    Attributes
    ----------
    {network}
    tree_edges_ : list of (int, int, float)
        The edges with their gains in nats, in the order in which Prim's algorithm added them.
    {fitted}

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

    required_findings = ("tree_edges",)

    def __init__(
        self,
        *,
        criterion: str = "bdeu",
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_own_parameters(self) -> None:
        check_choice("criterion", self.criterion, EDGE_GAINS)

    @property
    def tree_edges_(self) -> list[tuple[int, int, float]]:
        """The edges with their gains in nats."""
        return list(self._known(self.model_.findings.tree_edges, "tree_edges_"))

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        if rows is not None:
            warn_of_tiny_weights_for_search(rows)
        gains = EDGE_GAINS[self.criterion](counts, float(self.ess))
        edges = maximum_forest(gains)
        network = tree_network(counts, edges, attributes_by_information(counts), self.parameters, float(self.ess))
        return network, Findings(tree_edges=tuple((u, v, float(gains[u, v])) for u, v in edges))
