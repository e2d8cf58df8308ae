"""AveragedTAN: the average over all TAN trees, each weighted by its posterior probability."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.averaging import TreePosterior, edge_prior_matrix, log_evidence_without_edges
from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers.base.validation import check_number, check_seed, seed_of
from tanbark.counts import Counts, Rows
from tanbark.drawing.matplotlib_plots import plot_edge_probabilities
from tanbark.models.tree_average import DrawnTreesWarning, TreeAverage
from tanbark.network import Network
from tanbark.parameters import pair_ratios
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.sampled_rows import check_sample_options, generator_of, sampled_rows
from tanbark.structure import attributes_by_information, bdeu_weights_by_class

__all__ = ["AveragedTAN", "DrawnTreesWarning"]


class AveragedTAN(CountsClassifier):
    """The exact Bayesian average over all tree-augmented naive Bayes models (TBMATAN).

    A prediction is the sum, over all trees over the attributes, of the prediction of the tree with its posterior mean
    parameters times the posterior probability of the tree. There are ``n ** (n - 2)`` trees; their sum is one
    determinant, computed without subtractions and therefore exactly, in double precision, for any number of rows.

    Parameters
    ----------
    ess : float, default=10.0
        Equivalent sample size of the Dirichlet prior, spread evenly over the cells of every pair's table (lambda of
        eq 24).
    stubbornness : float, default=None
        None is TBMATAN. A number K is SSTBMATAN (eq 25-29; the paper uses 5): if the evidence for edges is spread over
        more than K powers of ten, it is scaled so that the most and the least probable edge differ by K powers of ten.
    multinet : bool, default=False
        Whether each class has its own trees, averaged separately (a Bayesian multinet), instead of one tree for all
        classes.
    edge_prior : array or frame of shape (attributes, attributes), or dict, default=None
        The prior odds of each edge: the prior probability of a tree is proportional to the product of the factors of
        its edges. A symmetric matrix in column order, a frame with the names of the columns on both sides, or factors
        by pairs of names, 1 for all others. A factor of zero forbids an edge.
    prior : Counts, default=None
        Rows that an expert imagines, or that were counted elsewhere: their counts are added to the prior of `ess` rows,
        whose hyperparameters then satisfy eq 10-12 by construction.
    {prior_encoder_n_jobs}
    random_state : int, RandomState or None, default=0
        The seed of the trees that are sampled for rows with many missing values. They are sampled once, so that the
        answer for a row does not change.

    Attributes
    ----------
    edge_probabilities_ : array of shape (attributes, attributes)
        The posterior probability of each edge; with `multinet` one such matrix for each class. They sum to the number
        of attributes less one, counting each edge once.
    map_tree_ : Network
        The most probable tree; with `multinet` a tuple with the tree of each class.
    concentration_ : float
        The expected share of the most probable tree's edges that a tree of the posterior has. It is 1 if all posterior
        mass is on that tree, and ``2 / attributes`` if all trees are equally probable; with `multinet` the mean over
        classes. Where it is low, averaging tends to improve the predictions.
    log_evidence_ : float
        The log probability of the training data under the prior over trees and parameters (without `stubbornness`,
        which is not part of it), to compare priors on the same data.
    {fitted}

    Notes
    -----
    A row with missing values is summed over its completions, exactly if there are at most 1,024 of them. A row with
    more is averaged over 1,000 trees sampled exactly from the posterior, each of which marginalises missing values
    exactly. `standard_error` estimates the error.

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

    model_type = TreeAverage
    model_: TreeAverage

    def __init__(
        self,
        *,
        ess: float = 10.0,
        stubbornness: float | None = None,
        multinet: bool = False,
        edge_prior: Any = None,
        prior: Counts | None = None,
        class_prior: Any = None,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
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

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> TreeAverage:
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
        log_evidence = evidence + sum(posterior.log_total - before for posterior in posteriors)
        if self.stubbornness is not None:
            squeezed = _squeezed(gains, factors > 0, float(self.stubbornness))
            posteriors = tuple(TreePosterior(log_factors + gain) for gain in squeezed)
        log_prior = self._given_log_prior(counts.schema)
        if log_prior is None:
            smoothed = known.class_counts + ess / len(known.class_counts)
            log_prior = np.log(smoothed / smoothed.sum())
        values, ratios = pair_ratios(known, ess)
        root, seed = attributes_by_information(known)[0], seed_of(self.random_state)
        multinet, of_counts = bool(self.multinet), ess if prior is None else None
        return TreeAverage(counts, log_prior, values, ratios, posteriors, multinet, root, seed, log_evidence, of_counts)

    def _prior_under(self, schema: Schema) -> Counts | None:
        """Return the prior's counts under the schema."""
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

    # Predicting

    def standard_error(self, X: Any) -> Array:
        """Return the standard error of `predict_proba`, which is zero except for rows with many missing values.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        standard_error : array of shape (rows, classes)
        """
        model, codes = self._model_and_codes(X)
        assert isinstance(model, TreeAverage)
        return model.standard_error(codes, self.n_jobs)

    def sample(self, n: int = 1, random_state: Any = None, as_frame: str | None = None) -> tuple[Any, Any]:
        """Sample rows from the average distribution.

        Parameters
        ----------
        {sample_options}
        """
        check_is_fitted(self)
        model = self.model_
        check_sample_options(n, as_frame)
        rng = generator_of(random_state)
        codes, classes = model.sample(int(n), rng)
        return sampled_rows(model.schema, codes, classes, rng, as_frame)

    # The posterior over trees

    @property
    def log_evidence_(self) -> float:
        """The log probability of the training data."""
        return self.model_.log_evidence

    @property
    def edge_probabilities_(self) -> Array:
        """The posterior probability of each edge."""
        check_is_fitted(self)
        model = self.model_
        matrices: Array = model.edge_probabilities
        return matrices if model.multinet else matrices[0]

    def plot_edge_probabilities(self, ax: Any = None, *, of_class: Any = None) -> Any:
        """Plot the probability of the edge between every two attributes as a heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None creates new axes.
        of_class : label, default=None
            With `multinet`: the class whose trees to plot.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        check_is_fitted(self)
        model = self.model_
        classes = model.schema.classes
        if model.multinet:
            if of_class not in classes:
                raise ValueError(f"each class has its own trees; of_class must be one of {list(classes)}")
        elif of_class is not None:
            raise ValueError("all classes have the same trees; of_class is for multinet=True")
        matrix = model.edge_probabilities[classes.index(of_class) if model.multinet else 0]
        return plot_edge_probabilities(matrix, model.schema.names, ax)

    @property
    def map_tree_(self) -> Any:
        """The most probable tree."""
        return self.k_best_trees(1)[0][1]

    @property
    def concentration_(self) -> float:
        """The expected share of the most probable tree's edges that a tree of the posterior has."""
        check_is_fitted(self)
        return float(np.mean([posterior.concentration for posterior in self.model_.posteriors]))

    def sample_trees(self, n: int = 1, random_state: Any = None) -> list[Any]:
        """Sample trees exactly from the posterior.

        Parameters
        ----------
        n : int, default=1
            The size of the sample.
        random_state : int, numpy.random.Generator or None, default=None
            The seed, which gives the same trees each time, or a generator. None gives other trees in each call.

        Returns
        -------
        trees : list of Network
            With `multinet` a list of tuples, with one Network for each class.
        """
        check_is_fitted(self)
        model = self.model_
        check_number("the number of trees to sample", n, 0)
        sampled = model.sample_trees(int(n), np.random.default_rng(random_state))
        return [_one_or_all(model, networks) for networks in sampled]

    def k_best_trees(self, k: int) -> list[tuple[float, Any]]:
        """Return the most probable trees.

        Parameters
        ----------
        k : int
            The number of trees; all trees if there are fewer.

        Returns
        -------
        trees : list of (float, Network)
            The log probability of each tree, and the tree, most probable first. With `multinet` a tree is a tuple with
            one Network for each class.
        """
        check_is_fitted(self)
        model = self.model_
        check_number("k", k, 1)
        best = model.best_trees(int(k))
        return [(log_probability, _one_or_all(model, networks)) for log_probability, networks in best]


def _one_or_all(model: TreeAverage, networks: tuple[Network, ...]) -> Any:
    """Return the network of a tree, or with `multinet` the networks of all classes."""
    return networks if model.multinet else networks[0]


def _squeezed(gains: Array, possible: NDArray[np.bool_], stubbornness: float) -> Array:
    """Scale log Bayes factors that are spread over more than `stubbornness` powers of ten (eq 25-29).

    The paper's further shift is the same for every edge and changes no probability. Forbidden edges do not count.
    """
    out = gains.copy()
    among = possible & ~np.eye(len(possible), dtype=np.bool_)
    for gain in out:
        spread = float(np.ptp(gain[among])) if among.any() else 0.0
        if spread > stubbornness * math.log(10.0):
            gain *= stubbornness * math.log(10.0) / spread
    return out
