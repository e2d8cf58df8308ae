"""BoostedBN: naive Bayes or TAN, learned repeatedly from rows that are reweighted by the errors so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers.base.validation import check_choice, check_flag, check_number, check_seed, seed_of
from tanbark.classifiers.boosting import (
    Round,
    boost,
    default_temperature,
    fitted_temperature,
    held_out,
    log_loss,
)
from tanbark.classifiers.tan import tan_network
from tanbark.counts import Counts, Rows, count_tree
from tanbark.kernels.average.pooling import LOG_TIE_TOLERANCE
from tanbark.models.network_model import prior_and_ratio
from tanbark.models.votes import Votes, VoteTally
from tanbark.network import Network, Structure
from tanbark.parameters import PARAMETERS, class_table, tree_tables
from tanbark.progress import Progress, progress_bar
from tanbark.schema import Encoder, Schema
from tanbark.structure import (
    EDGE_WEIGHTS,
    attributes_by_information,
    maximum_spanning_tree,
    rooted_parents,
    rounded_weights,
)

Learner = Callable[[Rows, Array], Network]


class BoostedBN(CountsClassifier):
    """Boosted Bayesian networks (BBN): networks that vote, each learned from the errors of those before.

    Every round learns a network from weighted rows. It votes for its most probable class with the weight
    ``alpha = log((1 - e) / e) + log(K - 1)``, where ``e`` is its weighted error and ``K`` the number of classes (SAMME,
    step 2c of algorithm 2 of Zhu et al. 2009; AdaBoost for two classes). The weights of the misclassified rows are then
    multiplied by ``exp(alpha)``. The probability of a class is proportional to ``exp(temperature_ * share)``, where the
    share is that of its votes.

    Parameters
    ----------
    base : {"tan", "naive-bayes", "grown"}, default="tan"
        The networks to boost: TAN with a tree learned anew in every round (by conditional mutual information), naive
        Bayes, or one structure for all rounds, grown from naive Bayes by adding the best edges of the tree of TAN, one
        at a time, as long as boosting improves on held-out rows (the boosted augmented naive Bayes of Jing et al.).
    n_estimators : int, default=50
        The maximum number of rounds.
    {parameters}
    ess : float, default=10.0
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m". The weights of all rows
        always have the same sum as before boosting, so that the prior has the same strength in every round.
    patience : int or None, default=10
        A fifth of the distinct rows of each class is held out first. Boosting stops when their log loss has not
        decreased for this many rounds, and all rows are then boosted for the best number of rounds. If it is None (not
        with "grown"), or if there are fewer than 30 distinct rows, no rows are held out, boosting runs to the last
        round, and no edge is tried.
    {verbose}
    {class_prior_ratio}
    {class_weight}
    {encoder}
    {n_jobs}
    random_state : int, RandomState or None, default=0
        The seed of the choice of held-out rows.

    Attributes
    ----------
    networks_ : list of Network
        The network of each round.
    estimator_weights_, estimator_errors_ : arrays of shape (rounds,)
        The weight of each network's vote, and its weighted error on the training rows.
    held_out_losses_ : array
        The held-out loss after each round, before all rows were boosted, including the last rounds without improvement;
        empty if no rows were held out. With "grown" it is that of the chosen structure.
    temperature_ : float
        The strength of the votes: the value that maximises the likelihood of the held-out rows. If no rows were held
        out it is ``K / (K - 1) ** 2``, which gives the probabilities of scikit-learn's AdaBoostClassifier.
    {fitted}

    Notes
    -----
    Every network marginalises missing values before it votes. A vote is for the most probable class; ties go to the
    first of `classes_`.

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

    model_type = Votes
    model_: Votes

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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def validate_parameters(self) -> None:
        """Raise an error that names the first invalid parameter."""
        check_choice("base", self.base, ("tan", "naive-bayes", "grown"))
        check_number("n_estimators", self.n_estimators, 1)
        check_choice("parameters", self.parameters, PARAMETERS)
        if self.patience is not None:
            check_number("patience", self.patience, 1)
        elif self.base == "grown":
            raise ValueError("patience must be a whole number with base='grown', which needs held-out rows; got None")
        check_flag("verbose", self.verbose)
        check_seed(self.random_state)
        super().validate_parameters()

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: boosting reweights rows."""
        return "BoostedBN learns from rows: boosting reweights them in every round, so that counts do not suffice"

    @property
    def networks_(self) -> list[Network]:
        """The network of each round."""
        return list(self.model_.members)

    @property
    def estimator_weights_(self) -> Array:
        """The weight of each network's vote."""
        return self.model_.weights

    @property
    def estimator_errors_(self) -> Array:
        """The weighted error of each network on the training rows."""
        return self.model_.errors

    @property
    def held_out_losses_(self) -> Array:
        """The held-out loss after each round."""
        return self.model_.held_out_losses

    @property
    def temperature_(self) -> float:
        """The strength of the votes."""
        return self.model_.temperature

    # Learning

    def _count(self, rows: Rows) -> Counts:
        order = 1 if self.base == "naive-bayes" else 2
        return Counts.of(rows.schema, rows.codes, rows.classes, rows.weights, order, self.n_jobs)

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> Votes:
        assert rows is not None
        distinct = rows.distinct
        held = np.zeros(len(distinct.classes), np.bool_)
        if self.patience is not None:
            held = held_out(distinct, seed_of(self.random_state))
        with progress_bar(self.verbose) as progress:
            if held.any():
                trial = self._best_trial(distinct.take(~held), distinct.take(held), progress)
            else:
                trial = self._untested(distinct)
            rounds: list[Round] = []
            for found in islice(boost(distinct, lambda w: trial.learn(distinct, w), self.n_jobs), trial.rounds):
                rounds.append(found)
                _report(progress, f"round {len(rounds)}", len(rounds), trial.rounds, found)
        # All rows may be learned without an error in fewer rounds than a part of them.
        temperatures = trial.temperatures or [default_temperature(len(counts.class_counts))] * len(rounds)
        learned = class_table(counts, self.parameters, float(self.ess))
        log_prior, ratio = prior_and_ratio(self._given_log_prior(counts.schema), learned)
        return Votes(
            counts,
            tuple(found.network for found in rounds),
            np.array([found.weight for found in rounds]),
            np.array([found.error for found in rounds]),
            np.array(trial.losses),
            temperatures[len(rounds) - 1],
            log_prior,
            ratio,
        )

    def _learner(self, parent: Sequence[int] | None) -> Learner:
        """Return a function that learns a network from weighted rows: with these parents, or for None that of TAN."""
        ess = float(self.ess)
        if parent is None:
            return lambda rows, weights: tan_network(
                Counts.of(rows.schema, rows.codes, rows.classes, weights, 2, self.n_jobs), "cmi", self.parameters, ess
            )[0]
        structure = Structure.augmented(parent)

        def learn(rows: Rows, weights: Array) -> Network:
            counts = count_tree(rows, parent, weights, self.n_jobs)
            return Network(rows.schema, structure, tree_tables(counts, parent, self.parameters, ess))

        return learn

    def _untested(self, rows: Rows) -> _Trial:
        """Return how to learn if no rows are held out: all rounds, without edges to try."""
        parent = None if self.base == "tan" else (-1,) * len(rows.codes)
        return _Trial(self._learner(parent), self.n_estimators)

    def _best_trial(self, rows: Rows, held: Rows, progress: Progress) -> _Trial:
        """Return the best of the trials that `base` asks for: one, or with "grown" one for each structure."""
        if self.base == "tan":
            return self._trial(rows, held, self._learner(None), progress)
        n = len(rows.codes)
        best = self._trial(rows, held, self._learner((-1,) * n), progress)
        if self.base == "naive-bayes":
            return best
        counts = Counts.of(rows.schema, rows.codes, rows.classes, rows.weights, 2, self.n_jobs)
        weights = rounded_weights(EDGE_WEIGHTS["cmi"](counts, float(self.ess)))
        # Parts of the tree are rooted like the whole tree, so that the order of the columns does not matter.
        whole = rooted_parents(n, maximum_spanning_tree(weights), attributes_by_information(counts))
        heaviest = sorted((-weights[u, above], u) for u, above in enumerate(whole) if above >= 0)
        parent = [-1] * n
        for edges, (_, u) in enumerate(heaviest, 1):
            parent[u] = whole[u]
            name = f"{edges} edge{'s' * (edges > 1)}, "
            trial = self._trial(rows, held, self._learner(tuple(parent)), progress, name)
            if not trial.loss < best.loss - LOG_TIE_TOLERANCE:
                break
            best = trial
        return best

    def _trial(self, rows: Rows, held: Rows, learn: Learner, progress: Progress, name: str = "") -> _Trial:
        """Boost the rows for as long as this improves the predictions for the held-out rows."""
        assert self.patience is not None
        tally = VoteTally(held.codes, len(held.schema.classes), self.n_jobs)
        trial = _Trial(learn)
        for found in islice(boost(rows, lambda w: learn(rows, w), self.n_jobs), self.n_estimators):
            tally.add(found.network, found.weight)
            temperature = fitted_temperature(tally.shares, held.classes, held.each)
            loss = log_loss(temperature * tally.shares, held.classes, held.each)
            trial.temperatures.append(temperature)
            trial.losses.append(loss)
            done = len(trial.losses)
            _report(progress, f"{name}round {done}", done, self.n_estimators, found, loss)
            if loss < trial.loss - LOG_TIE_TOLERANCE:
                trial.rounds, trial.loss = done, loss
            elif done - trial.rounds >= self.patience:
                break
        return trial

    # Predicting

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield the posterior probability of each class after one round, after two, and so on to the last.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Yields
        ------
        probabilities : array of shape (rows, classes)
        """
        model, codes = self._model_and_codes(X)
        assert isinstance(model, Votes)
        yield from model.staged_posteriors(codes, self.n_jobs)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the most probable class of each row after one round, after two, and so on to the last.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Yields
        ------
        classes : array of shape (rows,)
        """
        model, codes = self._model_and_codes(X)
        assert isinstance(model, Votes)
        for proba in model.staged_posteriors(codes, self.n_jobs):
            yield model.schema.class_labels[proba.argmax(axis=1)]


def _report(progress: Progress, name: str, done: int, total: int, found: Round, loss: float | None = None) -> None:
    held = "" if loss is None else f", held-out loss {loss:.4f}"
    progress(f"{name}: error {found.error:.4f}, weight {found.weight:.4f}{held}", done, total)


@dataclass
class _Trial:
    """A way to learn, the best number of rounds on held-out rows, the loss there, and all losses and temperatures."""

    learn: Learner
    rounds: int = 0
    loss: float = np.inf
    losses: list[float] = field(default_factory=list)
    temperatures: list[float] = field(default_factory=list)
