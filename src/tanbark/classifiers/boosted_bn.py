"""BoostedBN: naive Bayes or TAN, learned again and again from rows that weigh more where the last one erred."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from tanbark.averaging import Committee
from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers._base.parameter_checks import check_choice, check_flag, check_number, check_seed, seed_of
from tanbark.classifiers.boosting import Round, Votes, boost, fitted_temperature, held_out, log_loss, usual_temperature
from tanbark.classifiers.kept import kept_number, prior_ratio
from tanbark.classifiers.state import of_one_state
from tanbark.classifiers.tan import TAN
from tanbark.counts import Counts, Rows, count_tree
from tanbark.kernels.average.pooling import SLACK
from tanbark.network import Network, Structure
from tanbark.network.network_arrays import log_prior, networks_arrays, networks_from
from tanbark.parameters import PARAMETERS, class_table, tree_tables
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.structure import EDGE_WEIGHTS, maximum_spanning_tree, most_telling, rooted, settled

MOST_VOTES = 1e300
"""The weights of all votes sum to less, so that shares of them are finite."""

Learner = Callable[[Rows, Array], Network]


class BoostedBN(CountsClassifier):
    """Boosted Bayesian networks (BBN): many networks that vote, each learned from what those before got wrong.

    Each round counts the rows with their weights, learns a network, and lets it vote with the weight
    ``alpha = log((1 - e) / e) + log(K - 1)``, where ``e`` is its weighted error and ``K`` the number of classes (SAMME,
    step 2c of algorithm 2 of Zhu et al. 2009; AdaBoost for two classes); the rows that it got wrong then weigh
    ``exp(alpha)`` times as much. The probability of a class is proportional to ``exp(temperature_ * share)``, of its
    share of the votes.

    Parameters
    ----------
    base : {"tan", "naive-bayes", "grown"}
        What is boosted: TAN with a tree learned anew in every round (by conditional mutual information), naive Bayes,
        or one structure for all rounds that is grown from naive Bayes by the heaviest edges of the tree of TAN, one at
        a time for as long as boosting what results gets better on held-out rows (the boosted augmented naive Bayes of
        Jing et al.).
    n_estimators : int
        The greatest number of rounds.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`.
    ess : float
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m". The weights of all rows
        always sum to what they did before boosting, so the prior is worth the same in every round.
    patience : int or None
        A fifth of the distinct rows of each class is held out first; once their log loss has not fallen for this many
        rounds boosting stops, and all rows are then boosted for the best number of rounds. None (not with "grown"), or
        fewer than 30 distinct rows: nothing is held out, boosting goes on to the last round, and no edge is tried.
    verbose : bool
        Whether to print a line for every round.
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones: posteriors are multiplied by their ratio.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.
    random_state : int, RandomState or None
        Of the draw of held-out rows.

    Attributes
    ----------
    classes_ : array
    counts_ : Counts
        Of the rows as they were given.
    schema_ : Schema
    class_log_prior_ : array
    networks_ : list of Network
        One for each round that was kept.
    estimator_weights_, estimator_errors_ : arrays of shape (rounds,)
        The weight of each network's vote, and its weighted error on the training rows.
    held_out_losses_ : array
        The held-out loss after each round before all rows were boosted, the fruitless last ones included; empty where
        nothing was held out. With "grown" it is that of the structure that was chosen.
    temperature_ : float
        How strongly votes count: that which makes the held-out rows most probable, or where nothing was held out
        ``K / (K - 1) ** 2``, which gives the probabilities of scikit-learn's AdaBoostClassifier.

    Notes
    -----
    Where values are missing every network sums them out before it votes. A vote is for the most probable class, the
    first of `classes_` where several are.

    References
    ----------
    Jing, Y., Pavlovic, V. and Rehg, J. M. (2005). Efficient discriminative learning of Bayesian network classifiers via
    boosted augmented naive Bayes. ICML, 369-376.
    Zhu, J., Zou, H., Rosset, S. and Hastie, T. (2009). Multi-class AdaBoost. Statistics and Its Interface 2, 349-360.

    Examples
    --------
    >>> from tanbark import BoostedBN, NaiveBayes
    >>> from tanbark.datasets import tic_tac_toe
    >>> X, y = tic_tac_toe()
    >>> for model in NaiveBayes(), BoostedBN(base="naive-bayes"):
    ...     print(f"{model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]):.2f} {model}")
    0.70 NaiveBayes()
    0.93 BoostedBN(base='naive-bayes')
    """

    _joint = False

    def __init__(
        self,
        *,
        base: str = "tan",
        n_estimators: int = 50,
        parameters: str = "dirichlet",
        ess: float = 10.0,
        patience: int | None = 10,
        verbose: bool = False,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.base = base
        self.n_estimators = n_estimators
        self.parameters = parameters
        self.ess = ess
        self.patience = patience
        self.verbose = verbose
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("base", self.base, ("tan", "naive-bayes", "grown"))
        check_number("n_estimators", self.n_estimators, 1)
        check_choice("parameters", self.parameters, PARAMETERS)
        if self.patience is not None:
            check_number("patience", self.patience, 1)
        elif self.base == "grown":
            raise ValueError("patience must be a whole number with base='grown', which needs held-out rows; got None")
        check_flag("verbose", self.verbose)
        check_seed(self.random_state)
        super()._check_parameters()

    def _why_rows(self) -> str | None:
        return "BoostedBN learns from rows: boosting weighs each of them anew in every round, which counts cannot do"

    # Learning

    def _count(self, rows: Rows) -> Counts:
        order = 1 if self.base == "naive-bayes" else 2
        return Counts.of(rows.schema, rows.codes, rows.classes, rows.weights, order, self.n_jobs)

    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        assert rows is not None
        distinct = rows.distinct
        held = np.zeros(len(distinct.classes), np.bool_)
        if self.patience is not None:
            held = held_out(distinct, seed_of(self.random_state))
        trial = self._best_trial(distinct.take(~held), distinct.take(held)) if held.any() else self._no_trial(distinct)
        learn, many = trial.learn, trial.rounds
        rounds: list[Round] = []
        for found in islice(boost(distinct, lambda w: learn(distinct, w), self.n_jobs), many):
            rounds.append(found)
            self._report(f"round {len(rounds)}", found)
        self.networks_ = [found.network for found in rounds]
        self.estimator_weights_ = np.array([found.weight for found in rounds])
        self.estimator_errors_ = np.array([found.error for found in rounds])
        self._committee = Committee.of(self.networks_, self.estimator_weights_)
        self.held_out_losses_ = np.array(trial.losses)
        # All rows may have been learned without an error sooner than a part of them.
        temperatures = trial.temperatures or [usual_temperature(len(counts.class_counts))] * len(rounds)
        self.temperature_ = temperatures[len(rounds) - 1]
        learned = class_table(counts, self.parameters, float(self.ess))
        self.class_log_prior_, self._prior_ratio = self._prior_and_ratio(learned)

    def _learner(self, parent: Sequence[int] | None) -> Learner:
        """Return how a network is learned from weighted rows: one with these parents, or with None that of TAN."""
        ess = float(self.ess)
        if parent is None:
            tan = TAN(parameters=self.parameters, ess=ess)
            return lambda rows, weights: tan._network(
                Counts.of(rows.schema, rows.codes, rows.classes, weights, 2, self.n_jobs), None
            )
        structure = Structure.augmented(parent)

        def learn(rows: Rows, weights: Array) -> Network:
            counts = count_tree(rows, parent, weights, self.n_jobs)
            return Network(rows.schema, structure, tree_tables(counts, parent, self.parameters, ess))

        return learn

    def _no_trial(self, rows: Rows) -> _Trial:
        """Return what to do where no rows are held out: `base` without edges to try, and all rounds."""
        parent = None if self.base == "tan" else (-1,) * len(rows.codes)
        return _Trial(self._learner(parent), self.n_estimators)

    def _best_trial(self, rows: Rows, held: Rows) -> _Trial:
        """Return the best of the trials that `base` asks for: one, or with "grown" one for each structure."""
        if self.base == "tan":
            return self._trial(rows, held, self._learner(None))
        n = len(rows.codes)
        best = self._trial(rows, held, self._learner((-1,) * n))
        if self.base == "naive-bayes":
            return best
        counts = Counts.of(rows.schema, rows.codes, rows.classes, rows.weights, 2, self.n_jobs)
        weights = settled(EDGE_WEIGHTS["cmi"](counts, float(self.ess)))
        # Parts of a tree hang as the whole does, so that the order of the columns does not matter.
        whole = rooted(n, maximum_spanning_tree(weights), most_telling(counts))
        heaviest = sorted((-weights[u, above], u) for u, above in enumerate(whole) if above >= 0)
        parent = [-1] * n
        for many, (_, u) in enumerate(heaviest, 1):
            parent[u] = whole[u]
            trial = self._trial(rows, held, self._learner(tuple(parent)), f"{many} edge{'s' * (many > 1)}, ")
            if not trial.loss < best.loss - SLACK:
                break
            best = trial
        return best

    def _trial(self, rows: Rows, held: Rows, learn: Learner, what: str = "") -> _Trial:
        """Return how long boosting the rows helps to predict those held out."""
        assert self.patience is not None
        votes = Votes(held.codes, len(held.schema.classes), self.n_jobs)
        trial = _Trial(learn)
        for found in islice(boost(rows, lambda w: learn(rows, w), self.n_jobs), self.n_estimators):
            votes.add(found.network, found.weight)
            temperature = fitted_temperature(votes.shares, held.classes, held.each)
            loss = log_loss(temperature * votes.shares, held.classes, held.each)
            trial.temperatures.append(temperature)
            trial.losses.append(loss)
            self._report(f"{what}round {len(trial.losses)}", found, loss)
            if loss < trial.loss - SLACK:
                trial.rounds, trial.loss = len(trial.losses), loss
            elif len(trial.losses) - trial.rounds >= self.patience:
                break
        return trial

    def _report(self, which: str, found: Round, loss: float | None = None) -> None:
        if self.verbose:
            told = "" if loss is None else f", held-out loss {loss:.4f}"
            print(f"{which}: error {found.error:.4f}, weight {found.weight:.4f}{told}")

    def _state(self) -> dict[str, Any]:
        """Return the structure of each round's network, and the temperature."""
        parents = [[list(above) for above in network.structure.parents] for network in self.networks_]
        return {"parents": parents, "temperature": self.temperature_}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the tables of each round's network, its weight and its error."""
        arrays: dict[str, NDArray[Any]] = {
            "estimator_weights": self.estimator_weights_,
            "estimator_errors": self.estimator_errors_,
            "held_out_losses": self.held_out_losses_,
            "log_prior": self.class_log_prior_,
            "prior_ratio": self._prior_ratio,
        }
        return arrays | networks_arrays(self.networks_, "round_")

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts and these rounds."""
        self.networks_ = networks_from(counts.schema, state["parents"], arrays, "round_")
        self.estimator_weights_, self.estimator_errors_ = arrays["estimator_weights"], arrays["estimator_errors"]
        weights, many = self.estimator_weights_, len(self.networks_)
        if not many or weights.shape != (many,) or self.estimator_errors_.shape != (many,):
            raise ValueError("its networks are more or fewer than their weights")
        if weights.dtype != np.float64 or not (weights > 0).all() or not weights.max() * len(weights) < MOST_VOTES:
            raise ValueError("its votes have weights that cannot be")
        self.held_out_losses_ = arrays["held_out_losses"]
        self._committee = Committee.of(self.networks_, self.estimator_weights_)
        self.temperature_ = kept_number(state, "temperature")
        if not 0 < self.temperature_ < np.inf:
            raise ValueError("its temperature cannot be")
        classes = len(counts.class_counts)
        self.class_log_prior_ = log_prior(arrays, "log_prior", classes)
        self._prior_ratio = prior_ratio(arrays, classes)
        return super()._restore(counts, network, state, arrays)

    # Predicting

    def _log_scores(self, codes: Codes) -> Array:
        return self._scores_of(self._committee.shares(codes, self.n_jobs))

    def _scores_of(self, shares: Array) -> Array:
        scores: Array = self.temperature_ * shares + self._prior_ratio
        return scores

    @of_one_state
    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield the posterior probability of each class after one round, after two, and so on to the last."""
        codes = self._encode(X)
        votes = Votes(codes, len(self.classes_), self.n_jobs)
        for network, weight in zip(self.networks_, self.estimator_weights_.tolist()):
            votes.add(network, weight)
            yield softmax(self._scores_of(votes.shares), axis=1)

    @of_one_state
    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the most probable class of each row after one round, after two, and so on to the last."""
        for proba in self.staged_predict_proba(X):
            yield self.classes_[proba.argmax(axis=1)]


@dataclass
class _Trial:
    """How well a way of learning does on held-out rows: the best number of rounds, the loss there and after each."""

    learn: Learner
    rounds: int = 0
    loss: float = np.inf
    losses: list[float] = field(default_factory=list)
    temperatures: list[float] = field(default_factory=list)
