"""KDB: naive Bayes whose attributes each depend on up to k others."""

from __future__ import annotations

import math
from typing import Any

from tanbark.classifiers._base.parameter_checks import check_number
from tanbark.classifiers.any_network import AnyNetworkClassifier
from tanbark.counts import Counts, Rows
from tanbark.counts.family_counts import ROOM
from tanbark.network import Network, Structure
from tanbark.parameters import estimated_networks
from tanbark.schema import Encoder, Schema
from tanbark.structure import k_dependence


class KDB(AnyNetworkClassifier):
    """The k-dependence Bayesian classifier.

    Attributes are taken in the order in which they say most of the class. Each depends on the class and on the `k`
    attributes before it that it shares most information with, given the class: 0 is naive Bayes, and more than there
    are attributes makes every attribute depend on all before it.

    Parameters
    ----------
    k : int
        How many attributes another may depend on.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`. A table comes from the rows that have the whole
        family, except with Dirichlet parameters under at most one attribute, as in `TAN`.
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

    Notes
    -----
    With `k` of 2 or more the tables need counts of more than two attributes at a time, which are counted from the rows:
    `partial_fit` and `fit_counts` exist for `k` of 0 and 1 only.

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
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("k", self.k, 0)

    def _why_rows(self) -> str | None:
        if self.k <= 1:
            return None
        return f"KDB with k={self.k} counts families of more than two attributes from the rows; call fit, or set k to 1"

    def _network(self, counts: Counts, rows: Rows | None) -> Network:
        structure = k_dependence(counts, int(self.k))
        self._check_families(counts.schema, structure)
        return estimated_networks(counts, rows, [structure], self.parameters, float(self.ess), self.n_jobs)[0]

    def _check_families(self, schema: Schema, structure: Structure) -> None:
        """Raise a sentence where a family has more cells than can be numbered."""
        arity = [*schema.arity.tolist(), len(schema.classes)]
        for u in range(structure.of_class):
            family = (u, *structure.parents[u])
            if math.prod(arity[v] for v in family) >= ROOM:
                raise ValueError(
                    f"k={self.k} gives {schema.names[u]!r} {len(family) - 2} attributes to depend on, whose values "
                    "have more combinations than can be numbered; lower k"
                )
