"""AugmentedNaiveBayes: the best network in which every attribute depends on the class."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.base.structure_search import (
    check_required_families,
    restrictions_of,
    search_network,
    validate_search,
    why_search_needs_rows,
)
from tanbark.counts import Counts, Rows
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema


class AugmentedNaiveBayes(NetworkClassifier):
    """The augmented naive Bayes of maximum score.

    The class is a parent of every attribute and has no parents; any edges may join the attributes. With
    ``search="exact"`` and the BDeu score it is ANB-BDeu of Sugahara, Uto and Ueno (2018); after a
    `MarkovBlanketSelector` it is their MANB-BDeu.

    Parameters
    ----------
    search : {"auto", "exact", "greedy"}, default="auto"
        "exact" finds the structure of maximum score; "greedy" climbs to one that no single change of an edge improves.
        "auto" is exact up to 20 nodes, not counting the class, and greedy with a warning beyond.
    {search_parameters}

    Attributes
    ----------
    {searched_network}

    References
    ----------
    Silander, T. and Myllymaki, P. (2006). A simple approach for finding the globally optimal Bayesian network
    structure. UAI, 445-452.
    Sugahara, S., Uto, M. and Ueno, M. (2018). Exact learning augmented naive Bayes classifier. PGM, 439-450.

    Examples
    --------
    >>> from tanbark import AugmentedNaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = AugmentedNaiveBayes().fit(X, y)
    >>> model.network_.edges
    [('x2', 'x3')]
    >>> model.search_, round(model.log_score_, 2)
    ('exact', -100.25)
    """

    required_findings = ("log_score", "search")

    def __init__(
        self,
        *,
        search: str = "auto",
        criterion: str = "bdeu",
        parameters: str = "dirichlet",
        ess: float = 10.0,
        max_parents: int | None = None,
        forbidden: Any = (),
        required: Any = (),
        max_memory: float | None = None,
        tabu: int = 10,
        restarts: int = 0,
        verbose: bool = False,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.search = search
        self.criterion = criterion
        self.parameters = parameters
        self.ess = ess
        self.max_parents = max_parents
        self.forbidden = forbidden
        self.required = required
        self.max_memory = max_memory
        self.tabu = tabu
        self.restarts = restarts
        self.verbose = verbose
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
        validate_search(self)

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: families are counted from the rows."""
        return why_search_needs_rows(self)

    def _check_schema(self, schema: Schema) -> None:
        check_required_families(restrictions_of(self, schema, class_above_all=True), schema)

    @property
    def log_score_(self) -> float:
        """The score of the structure."""
        return self._known(self.model_.findings.log_score, "log_score_")

    @property
    def search_(self) -> str:
        """The search that was used."""
        return self._known(self.model_.findings.search, "search_")

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        assert rows is not None
        return search_network(self, counts, rows, class_above_all=True)
