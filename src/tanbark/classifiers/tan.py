"""TAN: naive Bayes whose attributes also depend on each other along a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tanbark.classifiers.base.network_classifier import NetworkClassifier, tree_network
from tanbark.classifiers.base.validation import check_choice
from tanbark.counts import Counts, Rows
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema
from tanbark.structure import (
    EDGE_WEIGHTS,
    SYMMETRIC_CRITERIA,
    RestructureStats,
    attributes_by_information,
    learned_tree,
    maximum_arborescence,
    revised_tree,
)


class TAN(NetworkClassifier):
    """Tree-augmented naive Bayes.

    Every attribute depends on the class and, except for the root of the tree, on one other attribute. The tree is the
    one of maximum total weight. It is rooted at the attribute with the highest mutual information with the class. With
    Dirichlet parameters the root does not change the predictions. Under "acll" the two directions of an edge have
    different weights, and the root is the one that gives the tree of maximum weight.

    Parameters
    ----------
    criterion : {"cmi", "bdeu", "acll"}, default="cmi"
        The weight of an edge: the conditional mutual information given the class (Friedman et al. 1997), the log Bayes
        factor of the edge under a BDeu prior (eq 22 of Cerquides and Lopez de Mantaras 2003), or the gain in the
        approximate conditional log likelihood (eq 7 of Sugahara et al. 2018), which is discriminative.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
        The estimator of the probability tables: see `tanbark.parameters.tree_tables`. "dirichlet" with ``ess=10`` is
        the TAN+MS of Cerquides and Lopez de Mantaras (eq 4).
    {ess_10}
    restructure : {"always", "aco"}, default="always"
        What `partial_fit` does with the tree. "always" learns it again at every call, so that it is the tree of all
        rows so far. "aco" (arcs in correct order, Roure 2002) keeps the arcs up to the first that is no longer the best
        of the former tree's arcs at its step, and learns the rest again. It computes fewer weights, and may miss the
        best tree. "aco" is not available under "acll", whose edges have a direction.
    {prior_encoder_n_jobs}

    Attributes
    ----------
    {network}
    tree_edges_ : list of (int, int, float)
        The edges of the tree with their weights, in the order in which Prim's algorithm added them; under "acll" the
        parent comes first, from the root down.
    restructure_stats_ : RestructureStats
        The work of the last call of `fit` or `partial_fit`: the numbers of weights ``calculated`` and ``recalled``, the
        ``first_out_of_order`` of the former tree's arcs (the number of attributes if all are in order), and
        ``edges_changed``. Not available under "acll", and not stored in files.
    {fitted}

    References
    ----------
    Friedman, N., Geiger, D. and Goldszmidt, M. (1997). Bayesian network classifiers. Machine Learning 29, 131-163.
    Cerquides, J. and Lopez de Mantaras, R. (2003). Tractable Bayesian learning of tree augmented naive Bayes models.
    ICML, 75-82.
    Roure Alcobé, J. (2002). Incremental learning of tree augmented naive Bayes classifiers. IBERAMIA, 32-41.
    Carvalho, A. M., Adão, P. and Mateus, P. (2013). Efficient approximation of the conditional relative entropy with
    applications to discriminative learning of Bayesian network classifiers. Entropy 15(7), 2716-2735.
    Sugahara, S., Uto, M. and Ueno, M. (2018). Exact learning augmented naive Bayes classifier. PGM.

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = TAN().fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> print(model.network_)
    class
    └─ x3
       └─ x0
          └─ x1
             └─ x2
    """

    required_findings = ("tree_edges",)

    def __init__(
        self,
        *,
        criterion: str = "cmi",
        parameters: str = "dirichlet",
        ess: float = 10.0,
        restructure: str = "always",
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.parameters = parameters
        self.ess = ess
        self.restructure = restructure
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_own_parameters(self) -> None:
        check_choice("criterion", self.criterion, EDGE_WEIGHTS)
        check_choice("restructure", self.restructure, ("always", "aco"))
        if self.restructure == "aco" and self.criterion not in SYMMETRIC_CRITERIA:
            raise ValueError(
                f"restructure='aco' needs criterion {' or '.join(map(repr, SYMMETRIC_CRITERIA))}; use 'always'"
            )

    @property
    def tree_edges_(self) -> list[tuple[int, int, float]]:
        """The edges of the tree with their weights."""
        return list(self._known(self.model_.findings.tree_edges, "tree_edges_"))

    @property
    def restructure_stats_(self) -> RestructureStats:
        """The work of the last call of `fit` or `partial_fit`."""
        return self._known(self.model_.findings.restructure_stats, "restructure_stats_")

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        edges = [] if former is None else [(u, v) for u, v, _ in former.findings.tree_edges]
        revise = self.restructure == "aco"
        return tan_network(counts, self.criterion, self.parameters, float(self.ess), edges, revise)


def tan_network(
    counts: Counts,
    criterion: str,
    parameters: str,
    ess: float,
    former: Sequence[tuple[int, int]] = (),
    revise: bool = False,
) -> tuple[Network, Findings]:
    """Return the network of TAN and its tree, learned anew or by revising the former tree; see `TAN`."""
    if criterion == "acll":
        weights = EDGE_WEIGHTS["acll"](counts, ess)
        tree = [(u, v, float(weights[u, v])) for u, v in maximum_arborescence(weights)]
        findings = Findings(tree_edges=tuple(tree))
        roots = [tree[0][0]] if tree else attributes_by_information(counts)
    else:
        learn = revised_tree if revise and former else learned_tree
        tree, stats = learn(counts, criterion, ess, former)
        findings = Findings(tree_edges=tuple(tree), restructure_stats=stats)
        roots = attributes_by_information(counts)
    return tree_network(counts, [(u, v) for u, v, _ in tree], roots, parameters, ess), findings
