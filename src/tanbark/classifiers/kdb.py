"""KDB: naive Bayes whose attributes each depend on up to k other attributes."""

from __future__ import annotations

import math
from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.base.validation import check_number
from tanbark.counts import Counts, Rows
from tanbark.counts.family_counts import MAX_CELL_KEYS
from tanbark.models import Findings
from tanbark.network import Network, Structure
from tanbark.parameters import estimated_networks
from tanbark.schema import Encoder, Schema
from tanbark.structure import k_dependence


class KDB(NetworkClassifier):
    """The k-dependence Bayesian classifier.

    Attributes are taken in descending order of their mutual information with the class. Each depends on the class and
    on the `k` attributes before it with which it has the highest mutual information given the class. ``k=0`` is naive
    Bayes; with `k` at least the number of attributes, every attribute depends on all before it.

    Parameters
    ----------
    k : int, default=2
        The maximum number of attributes that another attribute depends on.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
        The estimator of the probability tables: see `tanbark.parameters.tree_tables`. A table is estimated from the
        rows without missing values in its family, except for Dirichlet parameters with at most one attribute as parent,
        which are estimated as in `TAN`.
    {ess_10}
    {prior_encoder_n_jobs_seed}

    Attributes
    ----------
    {network}
    {fitted}

    Notes
    -----
    With `k` of 2 or more, the tables need counts of more than two attributes at a time, which are counted from the
    rows: `partial_fit` and `fit_counts` are available for `k` of 0 and 1 only.

    References
    ----------
    Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD, 335-338.

    Examples
    --------
    >>> from tanbark import KDB
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = KDB(k=2).fit(X, y)
    >>> print(model.network_)
    class
    └─ x3
       └─ x2
          └─ x1  (and x3)
             └─ x0  (and x3)
    >>> model.predict([["young", None, "no", "normal"]])
    array(['soft'], dtype=object)
    """

    def __init__(
        self,
        *,
        k: int = 2,
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
        check_number("k", self.k, 0)

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: families of more than two attributes are counted from the rows."""
        if self.k <= 1:
            return None
        return f"KDB with k={self.k} counts families of more than two attributes from the rows; call fit, or set k to 1"

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        structure = k_dependence(counts, int(self.k))
        self._check_families(counts.schema, structure)
        network = estimated_networks(counts, rows, [structure], self.parameters, float(self.ess), self.n_jobs)[0]
        return network, Findings()

    def _check_families(self, schema: Schema, structure: Structure) -> None:
        """Raise ValueError if a family has too many configurations to number."""
        arity = [*schema.arity.tolist(), len(schema.classes)]
        for u in range(structure.of_class):
            family = (u, *structure.parents[u])
            if math.prod(arity[v] for v in family) >= MAX_CELL_KEYS:
                raise ValueError(
                    f"k={self.k} gives {schema.names[u]!r} {len(family) - 2} attributes to depend on, whose values "
                    "have more combinations than can be numbered; lower k"
                )
