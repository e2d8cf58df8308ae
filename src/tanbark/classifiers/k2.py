"""K2: a network found greedily along an order of the attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from tanbark.classifiers._base.parameter_checks import check_number
from tanbark.classifiers.searched_network import SearchedNetworkClassifier
from tanbark.counts import Counts
from tanbark.network import Structure
from tanbark.schema import Encoder, Schema
from tanbark.scores import Cases, K2Score
from tanbark.structure import k2_search, most_telling


class K2(SearchedNetworkClassifier):
    """The network that K2 finds.

    The class and the attributes are taken in a given order. Each takes as parents, one at a time, those before it that
    raise its K2 score most: the marginal likelihood of its table under uniform priors. Where the class is first it has
    no parents, and an attribute depends on it only where that pays.

    Parameters
    ----------
    order : list of str, optional
        The names of all attributes; the class comes first unless it is named too. None is the class, then the
        attributes in the order in which they say most of it.
    max_parents : int
        How many parents the class or an attribute may have.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`. A table comes from the rows that have the whole
        family, except with Dirichlet parameters under the class and at most one attribute, as in `TAN`.
    ess : float
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
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
        The K2 score of the structure: its log marginal likelihood. What is missing counts as a level there.

    References
    ----------
    Cooper, G. F. and Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from data.
    Machine Learning 9, 309-347.

    Examples
    --------
    >>> from tanbark import K2
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = K2().fit(X, y)
    >>> print(model.network_)
    class
    ├─ x2
    └─ x3
    x0
    x1
    >>> round(model.log_score_, 2)
    -98.73
    """

    def __init__(
        self,
        *,
        order: Sequence[str] | None = None,
        max_parents: int = 4,
        parameters: str = "dirichlet",
        ess: float = 1.0,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.order = order
        self.max_parents = max_parents
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("max_parents", self.max_parents, 0)
        if self.order is None:
            return
        if isinstance(self.order, str | Set | Mapping) or not isinstance(self.order, Collection):
            raise TypeError(f"order must be a list of the names of all attributes, or None, got {self.order!r}")
        seen = set()
        for name in self.order:
            if not isinstance(name, str):
                raise TypeError(f"order must be a list of the names of all attributes, it has {name!r}")
            if name in seen:
                raise ValueError(f"order names {name!r} twice")
            seen.add(name)

    def _check_schema(self, schema: Schema) -> None:
        if self.order is not None:
            _nodes(self.order, schema)

    def _found(self, counts: Counts, cases: Cases) -> tuple[Structure, float]:
        names = [counts.schema.names[u] for u in most_telling(counts)] if self.order is None else self.order
        score = K2Score()
        structure = k2_search(cases, score, _nodes(names, counts.schema), int(self.max_parents), self.n_jobs)
        return structure, score.total(cases, structure)


def _nodes(order: Sequence[str], schema: Schema) -> list[int]:
    """Return the nodes in the order of their names, the class first where it is not named."""
    names = (*schema.names, schema.class_name)
    for name in order:
        if name not in names:
            raise ValueError(f"order names {name!r}, which is no column; the columns are {', '.join(map(repr, names))}")
    for name in schema.names:
        if name not in order:
            raise ValueError(f"order leaves {name!r} out; it must name every column once")
    nodes = [names.index(name) for name in order]
    return nodes if len(nodes) == len(names) else [len(schema.names), *nodes]
