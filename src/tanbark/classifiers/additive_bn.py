"""AdditiveBN: simple networks, pooled with the weights that make the classes of the training rows most probable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tanbark.averaging import (
    MOST_CELLS,
    WEAK_STRUCTURES,
    Members,
    Networks,
    PoolLikelihood,
    SuperParents,
    best_pool,
    by_folds,
)
from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers._base.network_classifier import centred
from tanbark.classifiers._base.parameter_checks import (
    check_choice,
    check_flag,
    check_number,
    check_seed,
    offered_unless,
    seed_of,
)
from tanbark.classifiers.fitted_members import Classifiers
from tanbark.classifiers.kept import kept_number, kept_seed, prior_ratio
from tanbark.classifiers.state import of_one_state
from tanbark.counts import Counts, Rows
from tanbark.kernels.average.pooling import pooled_scores, to_log_posteriors
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import run, spans, thread_count
from tanbark.memory import check_free
from tanbark.network import Network
from tanbark.network.network_arrays import log_prior, log_table, networks_arrays, networks_from
from tanbark.parameters import PARAMETERS, class_table, estimated_networks
from tanbark.schema import Encoder, Schema
from tanbark.schema.encode.columns import Codes
from tanbark.structure import most_telling
from tanbark.user_warnings import warn

ENOUGH = 1e-6


def _why_not_explained(model: AdditiveBN) -> str | None:
    linear, members = model.link == "linear", model._given()
    if hasattr(model, "_members"):
        linear = model._linear
        members = model._members.models if isinstance(model._members, Classifiers) else ()
    if not linear and all(hasattr(member, "explain") for member in members):
        return None
    return "only a logarithmic pool (link='log') of members that explain themselves can be explained"


class AdditiveBN(CountsClassifier):
    """The generalised additive Bayesian network classifier (GABN): ``p(y | x) ~ exp sum_i w_i log P_i(x, y)``.

    Simple networks are pooled. Their weights, none negative and one in sum, are those under which the classes of the
    training rows are most probable: a concave problem, solved by Newton's method to an optimum that its gradient
    certifies. By default each row is judged by networks learned without it, so that a network that only remembers the
    rows gets no weight for it.

    Parameters
    ----------
    weak : {"superparent", "naive-bayes", "tan", "kdb"} or list of classifiers
        What is pooled: the super-parent networks (eq 1) of all attributes; naive Bayes over the one, two, ...
        attributes that say most of the class (a pool of which is naive Bayes with a weight for each attribute); the ten
        heaviest trees; the k-dependence networks for k from 0 to 3; or classifiers of tanbark, cloned and fitted on the
        same codes (so that an encoder of their own is not used).
    link : {"log", "linear"}
        Whether logarithms are pooled (eq 4), or probabilities: ``p(y | x) = sum_i w_i P_i(y | x)``.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`. Classifiers in a list have their own.
    ess : float
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
    max_members : int, optional
        Of the super-parents only so many are pooled: those that say most of the class, by ``I(X_i; Y)``, as the paper
        has it. None pools all: an attribute that says nothing by itself may be the best of super-parents, and those
        that are of no use get a weight of zero anyway.
    held_out : bool
        Whether a row is judged by networks learned without it: super-parents leave out one row at a time, exactly, by
        subtracting it from the counts; others a tenth of the rows. False is the paper's way, which judges the rows by
        networks that were learned from them.
    verbose : bool
        Whether to print a line for every step of the optimisation.
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones: posteriors are multiplied by their ratio.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.
    random_state : int, RandomState or None
        Of the draws that stand in for what a row lacks, where members with several parents lack too much of it.

    Attributes
    ----------
    classes_ : array
    counts_ : Counts
    schema_ : Schema
    class_log_prior_ : array
    weights_ : array
        The members' weights: with super-parents one for each attribute, zero for those left out.
    optimality_gap_ : float
        No weights make the rows more probable by more than this share of their log likelihood, or of a millionth of a
        nat a row if that is more.
    log_likelihood_ : float
        The sum over training rows of ``log p(y | x)`` under the pool, by held-out networks if `held_out`.
    members_ : list of Network or of classifiers
        What is pooled; with super-parents the network of every attribute.

    Notes
    -----
    A pool of logarithms has no normalised joint, so there are class probabilities alone. What is missing in a row is
    summed out in each member before they are pooled. No member has a veto: a class that it finds impossible, as
    ``parameters="ml"`` and "softened" can make it do, is to it less probable by a factor of 1e304 than any other.
    Where training values are missing, a super-parent's tables come from the rows that have both values.

    References
    ----------
    Li, J., Zhang, C., Wang, T. and Zhang, Y. (2007). Generalized additive Bayesian network classifiers. IJCAI, 913-918.

    Examples
    --------
    >>> from tanbark import AdditiveBN
    >>> from tanbark.datasets import tic_tac_toe
    >>> X, y = tic_tac_toe()
    >>> model = AdditiveBN().fit(X, y)
    >>> model.weights_.round(2)
    array([0.  , 0.25, 0.  , 0.25, 0.  , 0.25, 0.  , 0.25, 0.  ])
    >>> model.optimality_gap_ < 1e-6
    True
    """

    _joint = False

    parameters: str

    def __init__(
        self,
        *,
        weak: str | Sequence[CountsClassifier] = "superparent",
        link: str = "log",
        parameters: str = "dirichlet",
        ess: float = 10.0,
        max_members: int | None = None,
        held_out: bool = True,
        verbose: bool = False,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.weak = weak
        self.link = link
        self.parameters = parameters
        self.ess = ess
        self.max_members = max_members
        self.held_out = held_out
        self.verbose = verbose
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("parameters", self.parameters, PARAMETERS)
        check_choice("link", self.link, ("log", "linear"))
        if self.max_members is not None:
            check_number("max_members", self.max_members, 1)
        check_flag("held_out", self.held_out)
        check_flag("verbose", self.verbose)
        check_seed(self.random_state)
        if self.max_members is not None and not (isinstance(self.weak, str) and self.weak == "superparent"):
            raise ValueError("max_members chooses among super-parents; leave it None with other members")
        if isinstance(self.weak, str):
            check_choice("weak", self.weak, ("superparent", *WEAK_STRUCTURES))
            return
        if not isinstance(self.weak, list | tuple):
            raise TypeError(f"weak must be a name or a list of classifiers, such as [TAN()], got {self.weak!r}")
        if not self.weak:
            raise ValueError("weak is an empty list; give at least one classifier")
        for member in self.weak:
            if not isinstance(member, CountsClassifier):
                raise TypeError(f"weak must list classifiers of tanbark, such as TAN(), got {member!r}")
            member._check_parameters()

    def _why_rows(self) -> str | None:
        return "AdditiveBN learns the weights of its members from rows, which counts cannot tell"

    def _given(self) -> Sequence[CountsClassifier]:
        """Return the classifiers that were given, none where `weak` is a name."""
        return () if isinstance(self.weak, str) else self.weak

    # Learning

    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        assert rows is not None
        rows, ess = rows.distinct, float(self.ess)
        self._learned_prior = class_table(counts, self.parameters, ess)
        self.class_log_prior_, self._prior_ratio = self._prior_and_ratio(self._learned_prior)
        self._seed = seed_of(self.random_state)
        members: SuperParents | Networks | Classifiers
        prior = self._learned_prior[None]
        if self.weak == "superparent":
            chosen = self._super_parents(counts)
            self._check_memory(len(rows.classes), len(chosen))
            members = SuperParents.of(counts, chosen, self.parameters, ess)
            if self.held_out:
                self._say(f"leaving each of {len(rows.classes):,} distinct rows out")
                scores = members.left_out_log_joints(rows, counts, self.parameters, ess, self.n_jobs)
                prior = members.left_out_log_prior(rows, counts, self.parameters, ess)
        else:
            learn = self._learner(counts)
            members = learn(counts, rows)
            self._check_memory(len(rows.classes), len(members))
            if self.held_out:
                scores = by_folds(rows, counts, learn, self.n_jobs, self._say)
        if not self.held_out:
            scores = members.log_joints(rows.codes, self.n_jobs)
        self._to_log_posteriors(scores, prior)
        self._linear = self.link == "linear"
        likelihood = PoolLikelihood.of(scores, rows, self._linear, self.n_jobs)
        pool = best_pool(likelihood, len(members), self._tell)
        self.optimality_gap_ = pool.gap
        self.log_likelihood_ = pool.value * float(rows.each.sum())
        if pool.gap >= ENOUGH:
            words = f"weights that may gain {pool.gap:.0e} of the log likelihood were the best that could be found"
            warn(ConvergenceWarning(words))
        self.weights_ = pool.weights
        if isinstance(members, SuperParents):
            self.weights_ = np.zeros(len(counts.schema.columns))
            self.weights_[members.members] = pool.weights
        self._take_members(members)

    def _super_parents(self, counts: Counts) -> NDArray[np.int64]:
        """Return the attributes that are super-parents, in column order."""
        return np.sort(most_telling(counts)[: self.max_members])

    def _learner(self, counts: Counts) -> Callable[[Counts, Rows], Networks | Classifiers]:
        """Return how members other than super-parents are learned from counts and rows."""
        if not isinstance(self.weak, str):
            given = self.weak
            return lambda counts, rows: Classifiers(
                tuple(clone(member).set_params(encoder=rows.schema)._fit_rows(counts, rows) for member in given)
            )
        structures, ess = WEAK_STRUCTURES[self.weak](counts), float(self.ess)
        return lambda counts, rows: Networks(
            tuple(estimated_networks(counts, rows, structures, self.parameters, ess, self.n_jobs)), self._seed
        )

    def _take_members(self, members: SuperParents | Networks | Classifiers) -> None:
        """Keep the members, and beside them those that have a weight."""
        self._members = members
        at = np.flatnonzero(self.weights_)
        self._pool = self.weights_[at]
        self._counted = np.searchsorted(members.members, at) if isinstance(members, SuperParents) else at
        self._voting: Members = members.only(self._counted.tolist())

    def _check_memory(self, rows: int, members: int) -> None:
        needed = 16 * rows * len(self.class_log_prior_) * members
        fewer = "fit fewer rows, or lower max_members" if self.weak == "superparent" else "fit fewer rows"
        check_free(needed, f"pooling {members:,} members over {rows:,} distinct rows", fewer)

    def _say(self, words: str) -> None:
        if self.verbose:
            print(words)

    def _tell(self, step: int, value: float, gap: float) -> None:
        self._say(f"step {step}: log likelihood {value:.6f} a row, at most {gap:.1e} of it to gain")

    # Predicting

    def _to_log_posteriors(self, joints: Array, log_prior: Array) -> None:
        threads = thread_count(self.n_jobs, len(joints))
        call = partial(to_log_posteriors, joints, frozen(log_prior))
        run([partial(call, *span) for span in spans(len(joints), threads)], threads)

    def _log_scores(self, codes: Codes) -> Array:
        rows, classes = codes.shape[1], len(self.class_log_prior_)
        out = np.empty((rows, classes))
        step = 1 + MOST_CELLS // (classes * len(self._voting))
        for start in range(0, rows, step):
            joints = self._voting.log_joints(np.ascontiguousarray(codes[:, start : start + step]), self.n_jobs)
            self._to_log_posteriors(joints, self._learned_prior[None])
            threads = thread_count(self.n_jobs, len(joints))
            call = partial(pooled_scores, joints, frozen(self._pool), self._linear)
            run([partial(call, *span, out[start : start + step]) for span in spans(len(joints), threads)], threads)
        return out + self._prior_ratio

    @property
    @of_one_state
    def members_(self) -> list[Any]:
        """What is pooled: networks, or the classifiers that were given, fitted."""
        check_is_fitted(self)
        if isinstance(self._members, Networks):
            return list(self._members.networks)
        if isinstance(self._members, Classifiers):
            return list(self._members.models)
        return [self._members.network(self.schema_, self._learned_prior, u) for u in range(len(self.schema_.columns))]

    @offered_unless(_why_not_explained)
    @of_one_state
    def explain(self, X: Any) -> Array:
        """Return how much each attribute speaks for each class: weights of evidence in nats.

        An array of shape (rows, 1 + attributes, classes), the prior first, centred over the classes. Its sum over the
        middle axis gives `predict_proba` by softmax. It is the members' own, in the proportions of their weights.
        """
        return self._explained(self._encode(X))

    def _explained(self, codes: Codes) -> Array:
        posteriors = self._voting.log_joints(codes, self.n_jobs)
        self._to_log_posteriors(posteriors, self._learned_prior[None])
        total = np.zeros((codes.shape[1], 1 + len(codes), len(self.classes_)))
        for m, (weight, at) in enumerate(zip(self._pool.tolist(), self._counted.tolist())):
            parts = self._parts(at, codes)
            # What finds a class impossible says so as a whole: it has no parts.
            whole = ~np.isfinite(parts).all(axis=(1, 2))
            parts[whole] = 0.0
            parts[whole, 0] = posteriors[whole, :, m]
            total += weight * parts
        total[:, 0] += self._prior_ratio
        return centred(total)

    def _parts(self, at: int, codes: Codes) -> Array:
        """Return what each attribute says of each row and class in one member."""
        if isinstance(self._members, Classifiers):
            model: Any = self._members.models[at]
            parts: Array = model._explained(codes)
            return parts
        if isinstance(self._members, Networks):
            return self._members.networks[at].evidence(codes, self.n_jobs, seed=self._seed)
        member = int(self._members.members[at])
        return self._members.network(self.schema_, self._learned_prior, member).evidence(codes, self.n_jobs)

    # Files

    def _state(self) -> dict[str, Any]:
        """Return how good the weights are, and the members that are classifiers, or their structures."""
        state: dict[str, Any] = {"optimality_gap": self.optimality_gap_, "log_likelihood": self.log_likelihood_}
        state |= {"seed": self._seed, "linear": self._linear}
        if isinstance(self._members, Classifiers):
            state["members"] = list(self._members.models)
        elif isinstance(self._members, Networks):
            state["parents"] = [[list(above) for above in n.structure.parents] for n in self._members.networks]
        return state

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the weights and the members' tables."""
        arrays: dict[str, NDArray[Any]] = {
            "weights": self.weights_,
            "learned_prior": self._learned_prior,
            "log_prior": self.class_log_prior_,
            "prior_ratio": self._prior_ratio,
        }
        if isinstance(self._members, SuperParents):
            arrays |= {"own": self._members.own, "pairs": self._members.pairs, "super_parents": self._members.members}
        elif isinstance(self._members, Networks):
            arrays |= networks_arrays(self._members.networks, "member_")
        return arrays

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, weights and members."""
        schema, (classes, values) = counts.schema, counts.values.shape
        self.weights_, self._seed, self._linear = arrays["weights"], kept_seed(state), state["linear"]
        if not isinstance(self._linear, bool):
            raise ValueError("its settings cannot be")
        self._learned_prior = log_prior(arrays, "learned_prior", classes)
        self.class_log_prior_ = log_prior(arrays, "log_prior", classes)
        self._prior_ratio = prior_ratio(arrays, classes)
        self.optimality_gap_ = kept_number(state, "optimality_gap")
        self.log_likelihood_ = kept_number(state, "log_likelihood")
        members: SuperParents | Networks | Classifiers
        if "members" in state:
            members = Classifiers(tuple(state["members"]))
            if any(member.schema_ != schema for member in members.models):
                raise ValueError("a member has another schema than the whole")
        elif "parents" in state:
            members = Networks(tuple(networks_from(schema, state["parents"], arrays, "member_")), self._seed)
        else:
            own = log_table(arrays, "own", (values, classes))
            pairs = log_table(arrays, "pairs", (values, classes, values))
            chosen = arrays["super_parents"]
            every = range(len(schema.columns))
            if chosen.dtype != np.int64 or chosen.ndim != 1 or not (chosen[1:] > chosen[:-1]).all():
                raise ValueError("its super-parents are not in order")
            if not set(np.flatnonzero(self.weights_)) <= set(chosen.tolist()) <= set(every):
                raise ValueError("its super-parents do not fit its weights")
            members = SuperParents(schema.offset, chosen, own, pairs)
        many = len(schema.columns) if isinstance(members, SuperParents) else len(members)
        weights = self.weights_
        fits = weights.dtype == np.float64 and weights.shape == (many,) and (weights >= 0).all()
        if not fits or not np.isclose(weights.sum(), 1.0):
            raise ValueError("its weights do not fit its members")
        self._take_members(members)
        return super()._restore(counts, network, state, arrays)
