"""AdditiveBN: a pool of simple networks, with weights that maximise the conditional likelihood of the class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tanbark.averaging import (
    WEAK_STRUCTURES,
    Networks,
    PoolLikelihood,
    SuperParents,
    best_pool,
    cross_validated_log_joints,
)
from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers.base.validation import (
    available_unless,
    check_choice,
    check_flag,
    check_number,
    check_seed,
    seed_of,
)
from tanbark.counts import Counts, Rows
from tanbark.memory import check_free_memory
from tanbark.messages import warn
from tanbark.models.network_model import prior_and_ratio
from tanbark.models.pool import Classifiers, Pool, normalise_joints
from tanbark.parameters import PARAMETERS, class_table, estimated_networks
from tanbark.progress import Progress, progress_bar
from tanbark.schema import Encoder, Schema
from tanbark.structure import attributes_by_information

MAX_GAP = 1e-6
"""A larger optimality gap gives a warning."""


def _without_explain(classifier: AdditiveBN) -> str | None:
    if hasattr(classifier, "model_"):
        additive = classifier.model_.has_evidence
    else:
        additive = classifier.link != "linear" and all(hasattr(member, "explain") for member in classifier._given())
    return None if additive else "only a logarithmic pool (link='log') of members with `explain` can be explained"


class AdditiveBN(CountsClassifier):
    """The generalised additive Bayesian network classifier (GABN): ``p(y | x) ~ exp sum_i w_i log P_i(x, y)``.

    Simple networks are pooled. Their weights are nonnegative, sum to one, and maximise the conditional likelihood of
    the training classes: a concave problem, solved by Newton's method to an optimum that its gradient certifies. By
    default each row is evaluated by networks learned without it, so that a network that only memorises the rows gets no
    weight for it.

    Parameters
    ----------
    weak : {"superparent", "naive-bayes", "tan", "kdb"} or list of classifiers, default="superparent"
        The members of the pool: the super-parent networks (eq 1) of all attributes; naive Bayes over the one, two, ...
        attributes with the highest mutual information with the class (their pool is naive Bayes with a weight for each
        attribute); the ten best trees; the k-dependence networks for k from 0 to 3; or classifiers of tanbark, which
        are cloned and fitted on the same codes, so that their own encoders are not used.
    link : {"log", "linear"}, default="log"
        Whether to pool logarithms (eq 4), or probabilities: ``p(y | x) = sum_i w_i P_i(y | x)``.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
        The estimator of the probability tables: see `tanbark.parameters.tree_tables`. Classifiers in a list have their
        own.
    {ess_10}
    max_members : int, default=None
        The maximum number of super-parents in the pool: those with the highest ``I(X_i; Y)`` are taken, as in the
        paper. None pools all: an attribute that alone carries no information may be the best super-parent, and useless
        ones get a weight of zero anyway.
    held_out : bool, default=True
        Whether to evaluate a row by networks learned without it: super-parents leave out one row at a time, exactly, by
        subtracting it from the counts; others leave out a tenth of the rows. False is the method of the paper, which
        evaluates the rows by networks that were learned from them.
    {verbose}
    {class_prior_ratio}
    {class_weight}
    {encoder}
    {n_jobs}
    {random_state}

    Attributes
    ----------
    weights_ : array
        The weights of the members: with super-parents one for each attribute, zero for those left out.
    optimality_gap_ : float
        No other weights increase the log likelihood by more than this share of it, or by more than this share of a
        millionth of a nat per row if that is larger.
    log_likelihood_ : float
        The sum over training rows of ``log p(y | x)`` under the pool, by held-out networks if `held_out`.
    members_ : list of Network or of classifiers
        The members, classifiers as copies; with super-parents the network of every attribute.
    {fitted}

    Notes
    -----
    A pool of logarithms has no normalised joint, so that there are class probabilities only. Missing values of a row
    are marginalised in each member before pooling. No member has a veto: if a member finds a class impossible, which
    ``parameters="ml"`` and "softened" allow, the class is 1e304 times less probable to it than any other. If training
    values are missing, the tables of a super-parent are estimated from the rows that have both values.

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

    model_type = Pool
    model_: Pool

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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_own_parameters(self) -> None:
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
            member.validate_parameters()

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: the weights are learned from rows."""
        return "AdditiveBN learns the weights of its members from rows; counts do not suffice"

    def _given(self) -> Sequence[CountsClassifier]:
        """Return the classifiers that `weak` lists."""
        return () if isinstance(self.weak, str) else self.weak

    @property
    def weights_(self) -> Array:
        """The weights of the members."""
        return self.model_.weights

    @property
    def optimality_gap_(self) -> float:
        """Bound on the relative gain in log likelihood that other weights could have."""
        return self.model_.optimality_gap

    @property
    def log_likelihood_(self) -> float:
        """The log likelihood of the training classes under the pool."""
        return self.model_.log_likelihood

    @property
    def members_(self) -> list[Any]:
        """The members: networks, or copies of the fitted classifiers."""
        return self.model_.member_list

    # Learning

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> Pool:
        assert rows is not None
        rows, seed = rows.distinct, seed_of(self.random_state)
        learned = class_table(counts, self.parameters, float(self.ess))
        log_prior, ratio = prior_and_ratio(self._given_log_prior(counts.schema), learned)
        with progress_bar(self.verbose) as progress:
            members, scores, prior = self._evaluated_members(counts, rows, learned, seed, progress)
            normalise_joints(scores, prior, self.n_jobs)
            likelihood = PoolLikelihood.of(scores, rows, self.link == "linear", self.n_jobs)
            best = best_pool(likelihood, len(members), progress)
        if best.gap >= MAX_GAP:
            warn(
                ConvergenceWarning(
                    f"the optimisation stopped at weights that could gain {best.gap:.0e} of the log likelihood"
                )
            )
        weights = best.weights
        if isinstance(members, SuperParents):
            weights = np.zeros(len(counts.schema.columns))
            weights[members.members] = best.weights
        return Pool(
            counts,
            members,
            weights,
            self.link == "linear",
            learned,
            log_prior,
            ratio,
            seed,
            best.gap,
            best.value * float(rows.each.sum()),
        )

    def _evaluated_members(
        self, counts: Counts, rows: Rows, learned: Array, seed: int, progress: Progress
    ) -> tuple[SuperParents | Networks | Classifiers, Array, Array]:
        """Return the members, their log joints of the rows, and the log class priors that belong to these."""
        ess = float(self.ess)
        if self.weak == "superparent":
            chosen = self._super_parents(counts)
            self._check_memory(len(rows.classes), len(learned), len(chosen))
            super_parents = SuperParents.of(counts, chosen, self.parameters, ess)
            if not self.held_out:
                return super_parents, super_parents.log_joints(rows.codes, self.n_jobs), learned[None]
            progress(f"leaving each of {len(rows.classes):,} distinct rows out", 0, None)
            scores = super_parents.left_out_log_joints(rows, counts, self.parameters, ess, self.n_jobs)
            return super_parents, scores, super_parents.left_out_log_prior(rows, counts, self.parameters, ess)
        learn = self._learner(counts, seed)
        members = learn(counts, rows)
        self._check_memory(len(rows.classes), len(learned), len(members))
        if self.held_out:
            return members, cross_validated_log_joints(rows, counts, learn, self.n_jobs, progress), learned[None]
        return members, members.log_joints(rows.codes, self.n_jobs), learned[None]

    def _super_parents(self, counts: Counts) -> NDArray[np.int64]:
        """Return the attributes that are super-parents, in column order."""
        return np.sort(attributes_by_information(counts)[: self.max_members])

    def _learner(self, counts: Counts, seed: int) -> Callable[[Counts, Rows], Networks | Classifiers]:
        """Return a function that learns the members, other than super-parents, from counts and rows."""
        if not isinstance(self.weak, str):
            given = self.weak
            return lambda counts, rows: Classifiers(
                tuple(clone(member).set_params(encoder=rows.schema).fit_encoded(rows, counts) for member in given)
            )
        structures, ess = WEAK_STRUCTURES[self.weak](counts), float(self.ess)
        return lambda counts, rows: Networks(
            tuple(estimated_networks(counts, rows, structures, self.parameters, ess, self.n_jobs)), seed
        )

    def _check_memory(self, rows: int, classes: int, members: int) -> None:
        needed = 16 * rows * classes * members
        fewer = "fit fewer rows, or lower max_members" if self.weak == "superparent" else "fit fewer rows"
        check_free_memory(needed, f"pooling {members:,} members over {rows:,} distinct rows", fewer)

    # Predicting

    @available_unless(_without_explain)
    def explain(self, X: Any) -> Array:
        """Return the weight of evidence of each attribute for each class, in nats.

        The weights are centred over the classes. Their sum over the middle axis gives `predict_proba` by softmax. They
        are the members' weights of evidence, combined with the weights of the pool.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        weights : array of shape (rows, 1 + attributes, classes)
            The prior comes first.
        """
        model, codes = self._model_and_codes(X)
        weights = model.evidence(codes, self.n_jobs)
        assert weights is not None
        return weights
