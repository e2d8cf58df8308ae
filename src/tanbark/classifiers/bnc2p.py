"""BNC-2P: the network that maximises the conditional likelihood of the class, with at most two parents per node."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.base.structure_search import scored_network, why_search_needs_rows
from tanbark.counts import Counts, Rows
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema
from tanbark.scores import Cases, ConditionalLogLikelihood
from tanbark.structure import Restrictions, hill_climb

MAX_PARENTS = 2


class BNC2P(NetworkClassifier):
    """The Bayesian network classifier BNC-2P.

    Hill climbing from the empty graph maximises the conditional log likelihood of the class; the probability tables are
    estimated as those of any network. The class and the attributes have at most two parents each, the class included.
    This limit is the only protection against overfitting.

    Parameters
    ----------
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
        The estimator of the probability tables of the final network: see `tanbark.parameters.tree_tables`. The search
        itself uses Dirichlet tables. A table is estimated from the rows without missing values in its family, except
        for Dirichlet parameters given the class and at most one attribute, which are estimated as in `TAN`.
    ess : float, default=1.0
        Equivalent sample size of the Dirichlet prior, also in the search; also N0 of "softened" and m of "m".
    {prior_encoder_n_jobs_seed}

    Attributes
    ----------
    {network}
    log_score_ : float
        The conditional log likelihood of the training classes. Missing values count as a level.
    {fitted}

    References
    ----------
    Grossman, D. and Domingos, P. (2004). Learning Bayesian network classifiers by maximizing conditional likelihood.
    ICML, 361-368.

    Examples
    --------
    >>> from tanbark import BNC2P
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = BNC2P().fit(X, y)
    >>> print(model.network_)
    class
    └─ x0
       ├─ x1
       └─ x3
          └─ x2
    >>> round(model.log_score_, 2)
    -2.34
    """

    required_findings = ("log_score",)

    def __init__(
        self,
        *,
        parameters: str = "dirichlet",
        ess: float = 1.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: families are counted from the rows."""
        return why_search_needs_rows(self)

    @property
    def log_score_(self) -> float:
        """The conditional log likelihood of the training classes."""
        return self._known(self.model_.findings.log_score, "log_score_")

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        assert rows is not None
        cases, score = Cases.of(rows), ConditionalLogLikelihood(float(self.ess))
        restrictions = Restrictions.of((*counts.schema.names, counts.schema.class_name), max_parents=MAX_PARENTS)
        structure = hill_climb(cases, score, restrictions, tabu=0, n_jobs=self.n_jobs)
        return scored_network(self, counts, rows, structure, score.total(cases, structure))
