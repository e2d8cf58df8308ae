"""TAN: naive Bayes whose attributes also depend on one another along a tree."""

from __future__ import annotations

from typing import Any

from tanbark.classifiers._base.parameter_checks import check_choice
from tanbark.classifiers.tree_classifier import TreeClassifier
from tanbark.counts import Counts
from tanbark.schema import Encoder, Schema
from tanbark.structure import EDGE_WEIGHTS, REVISABLE, maximum_arborescence, revised_tree, weighed_tree


class TAN(TreeClassifier):
    """Tree-augmented naive Bayes.

    Every attribute depends on the class and, but for the root of the tree, on one other attribute. The tree is the one
    of greatest total weight; it hangs from the attribute that says most of the class, which with Dirichlet parameters
    changes how it reads and not what it predicts. Under "acll" an edge weighs differently in its two directions, and
    the tree hangs from the root that makes it heaviest.

    Parameters
    ----------
    criterion : {"cmi", "bdeu", "acll"}
        What an edge weighs: conditional mutual information given the class (Friedman et al. 1997), the log Bayes
        factor of the edge under a BDeu prior (eq 22 of Cerquides and Lopez de Mantaras 2003), or what it adds to the
        approximate conditional log likelihood (eq 7 of Sugahara et al. 2018), which looks at the class only.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`. "dirichlet" with ``ess=10`` is the
        TAN+MS of Cerquides and Lopez de Mantaras (eq 4).
    ess : float
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
    restructure : {"always", "aco"}
        What `partial_fit` does with the tree: "always" learns it anew after every call, so that it is the tree of all
        rows so far; "aco" (arcs in correct order, Roure 2002) keeps the arcs up to the first that is no longer the
        heaviest of the former tree's at its step, and learns the rest anew. It calculates fewer weights, and may miss
        the heaviest tree. Under "acll", whose edges have a direction, there is no "aco".
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
        The tree's edges with their weights, in the order in which Prim's algorithm added them; under "acll" parent
        first, from the root down.
    restructure_stats_ : RestructureStats
        What the last call of `fit` or `partial_fit` took: ``calculated`` weights, ``recalled`` ones, the
        ``first_out_of_order`` of the former tree's arcs (the number of attributes where all are in order), and
        ``edges_changed``. Not under "acll", and not kept in files.

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

    def __init__(
        self,
        *,
        criterion: str = "cmi",
        parameters: str = "dirichlet",
        ess: float = 10.0,
        restructure: str = "always",
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.parameters = parameters
        self.ess = ess
        self.restructure = restructure
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("criterion", self.criterion, EDGE_WEIGHTS)
        check_choice("restructure", self.restructure, ("always", "aco"))
        if self.restructure == "aco" and self.criterion not in REVISABLE:
            raise ValueError(f"restructure='aco' needs criterion {' or '.join(map(repr, REVISABLE))}; use 'always'")

    def _start_over(self) -> None:
        self.tree_edges_ = []
        self.__dict__.pop("restructure_stats_", None)

    def _edges(self, counts: Counts) -> list[tuple[int, int, float]]:
        ess, former = float(self.ess), [(u, v) for u, v, _ in getattr(self, "tree_edges_", ())]
        if self.criterion == "acll":
            self.__dict__.pop("restructure_stats_", None)
            weights = EDGE_WEIGHTS["acll"](counts, ess)
            return [(u, v, float(weights[u, v])) for u, v in maximum_arborescence(weights)]
        learned = revised_tree if self.restructure == "aco" and former else weighed_tree
        tree, self.restructure_stats_ = learned(counts, self.criterion, ess, former)
        return tree

    def _roots(self, counts: Counts) -> list[int]:
        """Return the root that the tree was found with, where it was found with one."""
        if self.criterion == "acll" and self.tree_edges_:
            return [self.tree_edges_[0][0]]
        return super()._roots(counts)
