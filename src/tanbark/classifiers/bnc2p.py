"""BNC-2P: the network that makes the classes most probable, with at most two parents each."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers.searched_network import SearchedNetworkClassifier
from tanbark.counts import Counts
from tanbark.network import Structure
from tanbark.schema import Encoder, Schema
from tanbark.scores import Cases, ConditionalLogLikelihood
from tanbark.structure import Restrictions, hill_climb

MOST_PARENTS = 2


class BNC2P(SearchedNetworkClassifier):
    """The Bayesian network classifier BNC-2P.

    Its structure is climbed to from no edges by the conditional log likelihood of the classes, while its tables are
    estimated as those of any network. Neither the class nor an attribute has more than two parents, the class among
    them: that is all that keeps it from fitting noise.

    Parameters
    ----------
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How the tables of the network found are estimated: see `tanbark.parameters.conditional`. The search itself uses
        Dirichlet tables. A table comes from the rows that have the whole family, except with Dirichlet parameters under
        the class and at most one attribute, as in `TAN`.
    ess : float
        Equivalent sample size of the Dirichlet prior, in the search too; also N0 of "softened" and m of "m".
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.
    random_state : int, RandomState or None
        Of the values drawn for rows that lack too much to be summed out; drawn once, so a row's answer is always the
        same.

    Attributes
    ----------
    classes_ : array
    network_ : Network
    counts_ : Counts
    schema_ : Schema
    log_score_ : float
        The conditional log likelihood of the training classes, where what is missing counts as a level.

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

    def __init__(
        self,
        *,
        parameters: str = "dirichlet",
        ess: float = 1.0,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _found(self, counts: Counts, cases: Cases) -> tuple[Structure, float]:
        score = ConditionalLogLikelihood(float(self.ess))
        names = (*counts.schema.names, counts.schema.class_name)
        restrictions = Restrictions.of(names, max_parents=MOST_PARENTS)
        structure = hill_climb(cases, score, restrictions, tabu=0, n_jobs=self.n_jobs)
        return structure, score.total(cases, structure)
