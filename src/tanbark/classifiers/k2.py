"""K2: a network found greedily along an order of the attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.base.structure_search import scored_network, why_search_needs_rows
from tanbark.classifiers.base.validation import check_number
from tanbark.counts import Counts, Rows
from tanbark.messages import suggestion
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema
from tanbark.scores import Cases, K2Score
from tanbark.structure import attributes_by_information, k2_search


class K2(NetworkClassifier):
    """The network that the K2 algorithm finds.

    The class and the attributes are taken in a given order. Each adds parents from those before it, one at a time, as
    long as this raises its K2 score: the marginal likelihood of its table under uniform priors. If the class comes
    first, it has no parents, and an attribute depends on it only if that raises the score.

    Parameters
    ----------
    order : list of str, default=None
        The names of all attributes; the class comes first unless it is named too. None means the class, then the
        attributes in descending order of their mutual information with it.
    max_parents : int, default=4
        The maximum number of parents of the class or an attribute.
    {family_parameters}
    {ess_1}
    {prior_encoder_n_jobs_seed}

    Attributes
    ----------
    {network}
    log_score_ : float
        The K2 score of the structure: its log marginal likelihood. Missing values count as a level.
    {fitted}

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

    required_findings = ("log_score",)

    def __init__(
        self,
        *,
        order: Sequence[str] | None = None,
        max_parents: int = 4,
        parameters: str = "dirichlet",
        ess: float = 1.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.order = order
        self.max_parents = max_parents
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
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

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: families are counted from the rows."""
        return why_search_needs_rows(self)

    def _check_schema(self, schema: Schema) -> None:
        if self.order is not None:
            _nodes(self.order, schema)

    @property
    def log_score_(self) -> float:
        """The K2 score of the structure."""
        return self._known(self.model_.findings.log_score, "log_score_")

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        assert rows is not None
        cases = Cases.of(rows)
        names = (
            [counts.schema.names[u] for u in attributes_by_information(counts)] if self.order is None else self.order
        )
        score = K2Score()
        structure = k2_search(cases, score, _nodes(names, counts.schema), int(self.max_parents), self.n_jobs)
        return scored_network(self, counts, rows, structure, score.total(cases, structure))


def _nodes(order: Sequence[str], schema: Schema) -> list[int]:
    """Return the nodes in the given order of names; the class comes first unless it is named."""
    names = (*schema.names, schema.class_name)
    for name in order:
        if name not in names:
            raise ValueError(
                f"order names {name!r}, which is not a column; "
                + suggestion(name, names, f"the columns are {', '.join(map(repr, names))}")
            )
    for name in schema.names:
        if name not in order:
            raise ValueError(f"order leaves {name!r} out; it must name every column once")
    nodes = [names.index(name) for name in order]
    return nodes if len(nodes) == len(names) else [len(schema.names), *nodes]
