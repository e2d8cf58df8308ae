"""AveragedTAN: the average over all trees of TAN, each weighed by its posterior probability."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from heapq import nlargest
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.averaging import TreeMixture, TreePosterior, edge_prior_matrix, log_evidence_without_edges
from tanbark.averaging.tree_mixture import DRAWS
from tanbark.averaging.tree_posterior import Trees
from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers._base.parameter_checks import check_number, check_seed, seed_of
from tanbark.classifiers.kept import kept_number, kept_seed
from tanbark.classifiers.state import of_one_state
from tanbark.counts import Counts, Rows
from tanbark.drawing.matplotlib_plots import plot_edge_probabilities
from tanbark.network import Network
from tanbark.network.network_arrays import log_prior
from tanbark.parameters import pair_ratios
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.structure import bdeu_weights_by_class, most_telling
from tanbark.user_warnings import warn


class DrawnTreesWarning(UserWarning):
    """Rows lack so many values that the average is taken over drawn trees instead of all."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __str__(self) -> str:
        return (
            f"{self.rows:,} {'row lacks' if self.rows == 1 else 'rows lack'} so many values that the average is taken "
            f"over {DRAWS:,} drawn trees instead of all; standard_error(X) says how precise that is"
        )


class AveragedTAN(CountsClassifier):
    """The exact Bayesian average over all tree-augmented naive Bayes models (TBMATAN).

    A prediction is the sum over every tree over the attributes of what that tree with its posterior mean parameters
    predicts, times the posterior probability of the tree: ``n ** (n - 2)`` trees, summed by one determinant, which is
    computed without subtractions and so exactly, in doubles, whatever the number of rows.

    Parameters
    ----------
    ess : float
        Equivalent sample size of the Dirichlet prior, spread evenly over the cells of every pair's table (lambda of
        eq 24).
    stubbornness : float, optional
        None is TBMATAN. A number K is SSTBMATAN (eq 25-29; the paper has 5): the evidence for edges is squeezed, where
        it spreads wider, so that the most and the least probable edge differ by K powers of ten.
    multinet : bool
        Whether each class has trees of its own, averaged by themselves (a Bayesian multinet), instead of one tree for
        all classes.
    edge_prior : array or frame of shape (attributes, attributes), or dict, optional
        How much more probable than others each edge is to begin with: a tree's prior probability is proportional to the
        product of its edges' factors. A symmetric matrix in column order, a frame with the columns' names on both
        sides, or factors by pairs of names, 1 for all others. A factor of zero forbids an edge.
    prior : Counts, optional
        Rows that an expert imagines, or that were counted elsewhere: their counts are added to the prior of `ess` rows,
        whose hyperparameters then satisfy eq 10-12 by construction.
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.
    random_state : int, RandomState or None
        Of the trees drawn for rows that lack many values; drawn once, so a row's answer is always the same.

    Attributes
    ----------
    classes_ : array
    counts_ : Counts
    schema_ : Schema
    class_log_prior_ : array
    edge_probabilities_ : array of shape (attributes, attributes)
        How probable each edge is; with `multinet` one such matrix for each class. They sum to the number of attributes
        less one (each edge counted once).
    map_tree_ : Network
        The most probable tree; with `multinet` a tuple of Networks, that of class k being the k-th.
    concentration_ : float
        How much of the posterior stands at and around the most probable tree: its mass, each tree weighed by the share
        of the most probable tree's edges that it has. 1 where all of it is that tree, ``2 / attributes`` where all
        trees are equally probable; with `multinet` the mean over classes. Where it is low, averaging tends to gain.
    log_evidence_ : float
        The log probability of the training data under the prior over trees and parameters (without `stubbornness`,
        which is no part of it), for the comparison of priors on the same data.

    Notes
    -----
    A row with missing values is the sum over its completions, exact while there are at most 1,024 of them; a row with
    more is averaged over 1,000 trees drawn exactly from the posterior, each of which sums out what is missing exactly.
    `standard_error` says how precise that is.

    References
    ----------
    Cerquides, J. and Lopez de Mantaras, R. (2003). Tractable Bayesian learning of tree augmented naive Bayes models.
    ICML, 75-82.

    Examples
    --------
    >>> from tanbark import AveragedTAN
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = AveragedTAN().fit(X, y)
    >>> model.predict([["young", None, "no", "normal"]])
    array(['soft'], dtype=object)
    >>> model.edge_probabilities_.round(2)
    array([[0.  , 0.2 , 0.23, 0.64],
           [0.2 , 0.  , 0.55, 0.54],
           [0.23, 0.55, 0.  , 0.85],
           [0.64, 0.54, 0.85, 0.  ]])
    """

    def __init__(
        self,
        *,
        ess: float = 10.0,
        stubbornness: float | None = None,
        multinet: bool = False,
        edge_prior: Any = None,
        prior: Counts | None = None,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.ess = ess
        self.stubbornness = stubbornness
        self.multinet = multinet
        self.edge_prior = edge_prior
        self.prior = prior
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        squeeze = self.stubbornness
        if squeeze is not None and (
            isinstance(squeeze, bool) or not isinstance(squeeze, Real) or not 0 < squeeze <= 1e100
        ):
            raise ValueError(f"stubbornness must be a positive number or None, got {squeeze!r}")
        if not isinstance(self.multinet, bool | np.bool_):
            raise TypeError(f"multinet must be True or False, got {self.multinet!r}")
        if not isinstance(self.prior, Counts | None):
            raise TypeError(f"prior must be Counts or None, got {type(self.prior).__name__!r}")
        if self.prior is not None and self.prior.order < 2:
            raise ValueError("prior holds counts of single values; count pairs, with order=2")
        check_seed(self.random_state)

    # Learning

    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        ess = float(self.ess)
        prior = self._prior_under(counts.schema)
        known = counts if prior is None else counts + prior
        factors = edge_prior_matrix(self.edge_prior, counts.schema.names)
        with np.errstate(divide="ignore"):
            log_factors = np.log(factors)
        # The log Bayes factor of every edge, of shape (1 or classes, attributes, attributes): eq 22, class term added.
        gains = bdeu_weights_by_class(known, ess)
        evidence = log_evidence_without_edges(known, ess)
        if prior is not None:
            gains = gains - bdeu_weights_by_class(prior, ess)
            evidence -= log_evidence_without_edges(prior, ess)
        if not self.multinet:
            gains = gains.sum(axis=0, keepdims=True)
        posteriors = tuple(TreePosterior(log_factors + gain) for gain in gains)
        before = TreePosterior(log_factors).log_total
        self.log_evidence_ = evidence + sum(posterior.log_total - before for posterior in posteriors)
        if self.stubbornness is not None:
            squeezed = _squeezed(gains, factors > 0, float(self.stubbornness))
            posteriors = tuple(TreePosterior(log_factors + gain) for gain in squeezed)
        log_prior = self._checked_prior(len(counts.class_counts))
        if log_prior is None:
            smoothed = known.class_counts + ess / len(known.class_counts)
            log_prior = np.log(smoothed / smoothed.sum())
        self.class_log_prior_ = log_prior
        root = most_telling(known)[0]
        self._mixture = TreeMixture(
            counts.schema,
            log_prior,
            *pair_ratios(known, ess),
            posteriors,
            bool(self.multinet),
            root,
            seed_of(self.random_state),
        )

    def _prior_under(self, schema: Schema) -> Counts | None:
        """Return the prior's counts, laid out as the schema says."""
        if self.prior is None or self.prior.schema == schema:
            return self.prior
        if self.prior.schema.names != schema.names:
            theirs, ours = (", ".join(map(repr, names)) for names in (self.prior.schema.names, schema.names))
            raise ValueError(f"prior was counted over the columns {theirs}; those of the table are {ours}")
        if self.prior.schema.class_name != schema.class_name:
            raise ValueError(
                f"prior was counted for the class {self.prior.schema.class_name!r}, that of the table is "
                f"{schema.class_name!r}; give encoder=prior.schema"
            )
        try:
            self.prior.schema.merge(schema)
            return self.prior.under(schema)
        except ValueError as error:
            reason = str(error).split(";")[0]
            raise ValueError(f"prior was counted under another schema ({reason}); give encoder=prior.schema") from error

    def _state(self) -> dict[str, Any]:
        """Return the plain values of the average."""
        mixture = self._mixture
        return {
            "multinet": mixture.multinet,
            "root": mixture.root,
            "seed": mixture.seed,
            "log_evidence": self.log_evidence_,
        }

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the average."""
        mixture = self._mixture
        log_weights = np.stack([posterior.log_weights for posterior in mixture.posteriors])
        return {
            "log_prior": mixture.log_prior,
            "values": mixture.values,
            "ratios": mixture.ratios,
            "log_weights": log_weights,
        }

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts and this average."""
        self.class_log_prior_ = log_prior(arrays, "log_prior", len(counts.class_counts))
        self.log_evidence_ = kept_number(state, "log_evidence")
        self._mixture = TreeMixture(
            counts.schema,
            self.class_log_prior_,
            arrays["values"],
            arrays["ratios"],
            tuple(TreePosterior(weights) for weights in arrays["log_weights"]),
            state["multinet"],
            state["root"],
            kept_seed(state),
        )
        self._mixture.check()
        return super()._restore(counts, network, state, arrays)

    # Predicting

    def _log_scores(self, codes: Codes) -> Array:
        drawn = int(self._mixture.is_drawn(codes).sum())
        if drawn:
            warn(DrawnTreesWarning(drawn))
        return self._mixture.log_joint(codes, self.n_jobs)

    @of_one_state
    def standard_error(self, X: Any) -> Array:
        """Return the standard error of `predict_proba`: zero, but for rows that lack many values."""
        codes = self._encode(X)
        return self._mixture.standard_error(codes, self.n_jobs)

    @of_one_state
    def sample(self, n: int = 1, random_state: Any = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return `n` rows drawn from the average distribution, and their classes."""
        check_is_fitted(self)
        check_number("the number of rows to draw", n, 0)
        rng = np.random.default_rng(random_state)
        codes, classes = self._mixture.sample(int(n), rng)
        return self.schema_.decode(codes, rng), self.schema_.class_labels[classes]

    # The posterior over trees

    @property
    @of_one_state
    def edge_probabilities_(self) -> Array:
        """How probable each edge is."""
        check_is_fitted(self)
        matrices = np.stack([posterior.edge_probabilities for posterior in self._mixture.posteriors])
        return matrices if self._mixture.multinet else matrices[0]

    @of_one_state
    def plot_edge_probabilities(self, ax: Any = None, *, of_class: Any = None) -> Any:
        """Return matplotlib axes with a square for every two attributes, dark where the edge between them is probable.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new axes, if not given.
        of_class : label, optional
            With `multinet`: the class whose trees are meant.
        """
        matrices = self.edge_probabilities_
        if self._mixture.multinet:
            classes = self.schema_.classes
            if of_class not in classes:
                raise ValueError(f"each class has its own trees; of_class must be one of {list(classes)}")
            matrices = matrices[classes.index(of_class)]
        elif of_class is not None:
            raise ValueError("all classes have the same trees; of_class is for multinet=True")
        return plot_edge_probabilities(matrices, self.schema_.names, ax)

    @property
    @of_one_state
    def map_tree_(self) -> Any:
        """The most probable tree."""
        return self.k_best_trees(1)[0][1]

    @property
    def concentration_(self) -> float:
        """How much of the posterior stands at and around the most probable tree."""
        check_is_fitted(self)
        return float(np.mean([posterior.concentration for posterior in self._mixture.posteriors]))

    @of_one_state
    def sample_trees(self, n: int = 1, random_state: Any = 0) -> list[Any]:
        """Return `n` trees drawn exactly from the posterior, as Networks (with `multinet` tuples of them)."""
        check_is_fitted(self)
        check_number("the number of trees to draw", n, 0)
        rng = np.random.default_rng(random_state)
        drawn = [posterior.draw(int(n), rng) for posterior in self._mixture.posteriors]
        return [self._networks(trees) for trees in zip(*drawn)]

    @of_one_state
    def k_best_trees(self, k: int) -> list[tuple[float, Any]]:
        """Return the `k` most probable trees, each as its log probability and its Network, the most probable first.

        With `multinet` a tree is a tuple of Networks, one for each class. Where there are fewer trees, it is all.
        """
        check_is_fitted(self)
        check_number("k", k, 1)
        best: list[tuple[float, tuple[Trees, ...]]] = [(0.0, ())]
        for posterior in self._mixture.posteriors:
            longer = itertools.product(best, posterior.best(int(k)))
            joined = ((p + q, (*trees, tree)) for (p, trees), (q, tree) in longer)
            best = nlargest(int(k), joined, key=lambda pair: pair[0])
        return [(log_probability, self._networks(trees)) for log_probability, trees in best]

    def _networks(self, trees: Sequence[Trees]) -> Any:
        """Return the Network of a tree, or with `multinet` a tuple of those of each class's tree."""
        networks = tuple(self._mixture.network(tree) for tree in trees)
        return networks if self._mixture.multinet else networks[0]


def _squeezed(gains: Array, possible: NDArray[np.bool_], stubbornness: float) -> Array:
    """Return the log Bayes factors, scaled where they spread over more than `stubbornness` powers of ten (eq 25-29).

    The paper's further shift is the same for every edge and moves no tree. Edges that cannot be do not count.
    """
    out = gains.copy()
    among = possible & ~np.eye(len(possible), dtype=np.bool_)
    for gain in out:
        spread = float(np.ptp(gain[among])) if among.any() else 0.0
        if spread > stubbornness * math.log(10.0):
            gain *= stubbornness * math.log(10.0) / spread
    return out
