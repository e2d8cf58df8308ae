"""AdditiveBN: simple networks, pooled with the weights that make the classes of the training rows most probable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tanbark.averaging import (
    Members,
    Networks,
    PoolLikelihood,
    SuperParents,
    best_pool,
    by_folds,
    left_out_log_joints,
)
from tanbark.classifiers.base import Array, CountsClassifier, check_choice
from tanbark.classifiers.network_classifier import centred
from tanbark.classifiers.seeds import check_number
from tanbark.counts import Counts, Rows
from tanbark.counts.counts import MOST_BYTES
from tanbark.kernels.pooling import pooled_scores, to_log_posteriors
from tanbark.kernels.threads import run, spans, thread_count
from tanbark.network import Network
from tanbark.network.arrays import network_arrays, network_from
from tanbark.parameters import PARAMETERS, class_table, network_tables
from tanbark.schema import Encoder, Schema
from tanbark.schema.columns import Codes
from tanbark.structure import WEAK_STRUCTURES, class_information, settled

BLOCK = 65_536


class Classifiers(tuple[CountsClassifier, ...]):
    """Fitted classifiers over the same schema."""

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return what each classifier says of each row and class, of shape (rows, classes, classifiers)."""
        return np.stack([model._log_scores(codes) for model in self], axis=2)


def _can_explain(model: AdditiveBN) -> bool:
    if model.link != "log" or not all(hasattr(m, "explain") for m in model._given()):
        raise AttributeError("only a logarithmic pool of members that explain themselves can be explained")
    return True


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
        same codes.
    link : {"log", "linear"}
        Whether logarithms are pooled (eq 6), or probabilities: ``p(y | x) = sum_i w_i P_i(y | x)``.
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

    Attributes
    ----------
    classes_ : array
    counts_ : Counts
    schema_ : Schema
    class_log_prior_ : array
    weights_ : array
        The members' weights: with super-parents one for each attribute, zero for those left out.
    optimality_gap_ : float
        No weights make the rows more probable by more than this share of their log likelihood.
    log_likelihood_ : float
        The sum over training rows of ``log p(y | x)`` under the pool, by held-out networks if `held_out`.
    members_ : list of Network or of classifiers
        What is pooled; with super-parents the network of every attribute.

    Notes
    -----
    A pool of logarithms has no normalised joint, so there are class probabilities alone. What is missing in a row is
    summed out in each member before they are pooled. Where a member finds a class impossible, which only
    ``parameters="ml"`` and "softened" make it do, that class has a probability of 1e-304 instead.
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("parameters", self.parameters, PARAMETERS)
        check_choice("link", self.link, ("log", "linear"))
        if self.max_members is not None:
            check_number("max_members", self.max_members, 1)
        for name in ("held_out", "verbose"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if isinstance(self.weak, str):
            check_choice("weak", self.weak, ("superparent", *WEAK_STRUCTURES))
            return
        if not isinstance(self.weak, list | tuple):
            raise TypeError(f"weak must be a name or a list of classifiers, got {self.weak!r}")
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
        rows = rows.distinct
        learned = class_table(counts, self.parameters, float(self.ess))
        self._learned_prior = learned
        self.class_log_prior_, self._prior_ratio = self._prior_and_ratio(learned)
        ess = float(self.ess)
        members: SuperParents | Networks | Classifiers
        if self.weak == "superparent":
            members = SuperParents.of(counts, self._super_parents(counts), self.parameters, ess)
        else:
            learn = self._learner(counts)
            members = learn(counts, rows)
        self._check_memory(len(rows.classes), len(members))
        if not self.held_out:
            scores = members.log_joints(rows.codes, self.n_jobs)
        elif isinstance(members, SuperParents):
            scores = left_out_log_joints(rows, counts, members.members, self.parameters, ess, self.n_jobs)
        else:
            scores = by_folds(rows, counts, learn, self.n_jobs)
        self._to_log_posteriors(scores)
        likelihood = PoolLikelihood(_for_pool(scores, rows.classes, self.link), rows.each, self.n_jobs)
        pool, self.optimality_gap_ = best_pool(likelihood, len(members), self._report(float(rows.each.sum())))
        self.log_likelihood_ = likelihood(pool, False)[0]
        if isinstance(members, SuperParents):
            self.weights_ = np.zeros(len(counts.schema.columns))
            self.weights_[members.members] = pool
        else:
            self.weights_ = pool
        self._take_members(members)

    def _super_parents(self, counts: Counts) -> NDArray[np.int64]:
        """Return the attributes that are super-parents, in column order."""
        order = np.argsort(-settled(class_information(counts)), kind="stable")
        return np.sort(order[: self.max_members])

    def _learner(self, counts: Counts) -> Callable[[Counts, Rows], Networks | Classifiers]:
        """Return how members other than super-parents are learned from counts and rows."""
        if not isinstance(self.weak, str):
            given = self.weak
            return lambda counts, rows: Classifiers(
                clone(member).set_params(encoder=rows.schema)._fit_rows(counts, rows) for member in given
            )
        structures, ess = WEAK_STRUCTURES[self.weak](counts), float(self.ess)

        def networks(counts: Counts, rows: Rows) -> Networks:
            tables = (network_tables(counts, rows, s, self.parameters, ess, self.n_jobs) for s in structures)
            return Networks(Network(rows.schema, s, of) for s, of in zip(structures, tables))

        return networks

    def _take_members(self, members: SuperParents | Networks | Classifiers) -> None:
        """Keep the members, and beside them those that have a weight."""
        self._members = members
        counted = np.flatnonzero(self.weights_)
        self._pool = self.weights_[counted]
        self._voting: Members
        if isinstance(members, SuperParents):
            self._voting = replace(members, members=counted)
        else:
            kind: Any = type(members)
            self._voting = kind(members[m] for m in counted)

    def _check_memory(self, rows: int, members: int) -> None:
        needed = 16 * rows * len(self.class_log_prior_) * members
        if needed > MOST_BYTES:
            raise ValueError(
                f"pooling {members:,} members over {rows:,} distinct rows needs {needed / 2**30:,.0f} GiB; fit fewer "
                "rows"
            )

    def _report(self, total: float) -> Callable[..., None]:
        def report(step: int, value: float, gap: float) -> None:
            if self.verbose:
                print(f"step {step}: log likelihood {value / total:.6f} a row, at most {gap:.1e} of it to gain")

        return report

    # Predicting

    def _to_log_posteriors(self, joints: Array) -> None:
        threads = thread_count(self.n_jobs, len(joints))
        run(
            [partial(to_log_posteriors, joints, self._learned_prior, *span) for span in spans(len(joints), threads)],
            threads,
        )

    def _log_scores(self, codes: Codes) -> Array:
        rows = codes.shape[1]
        out = np.empty((rows, len(self.class_log_prior_)))
        for start in range(0, max(rows, 1), BLOCK):
            stop = min(start + BLOCK, rows)
            joints = self._voting.log_joints(codes[:, start:stop], self.n_jobs)
            self._to_log_posteriors(joints)
            threads = thread_count(self.n_jobs, stop - start)
            call = partial(pooled_scores, joints, self._pool, self.link == "linear")
            run([partial(call, *span, out[start:stop]) for span in spans(stop - start, threads)], threads)
        return out + self._prior_ratio

    @property
    def members_(self) -> list[Any]:
        """What is pooled: networks, or the classifiers that were given, fitted."""
        check_is_fitted(self)
        if not isinstance(self._members, SuperParents):
            return list(self._members)
        columns = range(len(self.schema_.columns))
        return [self._members.network(self.schema_, self._learned_prior, u) for u in columns]

    @available_if(_can_explain)
    def explain(self, X: Any) -> Array:
        """Return how much each attribute speaks for each class: weights of evidence in nats.

        An array of shape (rows, 1 + attributes, classes), the prior first, centred over the classes. Its sum over the
        middle axis gives `predict_proba` by softmax. It is the members' own, in the proportions of their weights.
        """
        return self._explained(self._encode(X))

    def _explained(self, codes: Codes) -> Array:
        posteriors = self._voting.log_joints(codes, self.n_jobs)
        self._to_log_posteriors(posteriors)
        total = np.zeros((codes.shape[1], 1 + len(codes), len(self.classes_)))
        members = self.members_
        for at, m in enumerate(np.flatnonzero(self.weights_).tolist()):
            member = members[m]
            parts = member.evidence(codes) if isinstance(member, Network) else member._explained(codes)
            # What finds a class impossible says so as a whole: it has no parts.
            whole = ~np.isfinite(parts).all(axis=(1, 2))
            parts[whole] = 0.0
            parts[whole, 0] = posteriors[whole, :, at]
            total += self.weights_[m] * parts
        total[:, 0] += self._prior_ratio
        return centred(total)

    # Files

    def _state(self) -> dict[str, Any]:
        """Return how good the weights are, and the members that are classifiers, or their structures."""
        state: dict[str, Any] = {"optimality_gap": self.optimality_gap_, "log_likelihood": self.log_likelihood_}
        if isinstance(self._members, Classifiers):
            state["members"] = list(self._members)
        elif isinstance(self._members, Networks):
            state["parents"] = [[list(above) for above in member.structure.parents] for member in self._members]
        return state

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the weights and the members' tables."""
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights_, "learned_prior": self._learned_prior}
        if isinstance(self._members, SuperParents):
            arrays |= {"own": self._members.own, "pairs": self._members.pairs}
        elif isinstance(self._members, Networks):
            for m, member in enumerate(self._members):
                arrays |= network_arrays(member, f"member_{m}_")
        return arrays

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, weights and members."""
        self.weights_, self._learned_prior = arrays["weights"], arrays["learned_prior"]
        self.class_log_prior_, self._prior_ratio = self._prior_and_ratio(self._learned_prior)
        self.optimality_gap_, self.log_likelihood_ = float(state["optimality_gap"]), float(state["log_likelihood"])
        members: SuperParents | Networks | Classifiers
        if "members" in state:
            members = Classifiers(state["members"])
        elif "parents" in state:
            schema = counts.schema
            members = Networks(
                network_from(schema, parents, arrays, f"member_{m}_") for m, parents in enumerate(state["parents"])
            )
        else:
            members = SuperParents(counts.schema.offset, self._super_parents(counts), arrays["own"], arrays["pairs"])
        self._take_members(members)
        return super()._restore(counts, network, state, arrays)


def _for_pool(log_posteriors: Array, classes: NDArray[np.integer], link: str) -> Array:
    """Return what the likelihood of a pool is computed from: see `tanbark.kernels.pooling`."""
    own = log_posteriors[np.arange(len(classes)), classes]
    if link == "linear":
        return np.asarray(np.exp(own))
    rows, many, members = log_posteriors.shape
    out = np.empty((rows, many - 1, members))
    for k in range(many):
        at = classes == k
        out[at] = np.delete(log_posteriors[at], k, axis=1) - own[at][:, None]
    return out
