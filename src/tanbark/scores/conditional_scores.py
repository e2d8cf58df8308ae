"""Scores of the class given the attributes: conditional log likelihood (CLL), CMDL, and the constants of aCLL.

CLL and CMDL do not decompose over families: ``log P(c | x) = log P(x, c) - log sum P(x, c')``, and the last term joins
all families. The approximate conditional log likelihood, aCLL (Carvalho, Adão and Mateus 2013), replaces this term by
``beta * sum log P(x, c') + constant``, the best linear approximation when the joint probabilities of the classes are
random. Then each family has its own score (eq 7 of Sugahara, Uto and Ueno 2018), made of counts
``N + beta * (N of all classes)``. The edge weights of `tanbark.structure.trees` use it.

Carvalho, A. M., Adão, P. and Mateus, P. (2013). Efficient approximation of the conditional relative entropy with
applications to discriminative learning of Bayesian network classifiers. Entropy 15(7), 2716-2735.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.posterior import log_evidence, posterior
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.kernels.search.class_factors import (
    add_log_factor,
    attribute_factor,
    class_factor,
    evidence_gain,
    replace_factor,
)
from tanbark.network import Structure
from tanbark.scores.cases import Array, Cases, Integers, Nodes
from tanbark.scores.decomposable_scores import half_log
from tanbark.scores.gains import Family, Flags, Gains, Matrix
from tanbark.scores.score import Score

CLASSES_PER_ROW = 8
"""Number of classes that are as much work as one row of another task, for the choice of threads."""
MIN_COUNT = 5.0
"""The smallest count that a parameter of aCLL is made of, N' of eq 7. The paper does not give its value. With 5 the
accuracies of TAN in ten folds on 30 of its tables differ from those printed by 1.1 percentage points on average, with 1
they differ by 1.6."""
BETA_SAMPLES = 100_000
"""Number of samples from which `beta` is estimated; its error is then in the third decimal."""


class ClassFactor(NamedTuple):
    """The factor that a family contributes to the class probabilities of each row.

    Parameters
    ----------
    group : array of shape (rows,)
        The row of `table` that applies to each row.
    table : array of shape (groups, classes)
    fit : float
        Log likelihood of the cases under the factor, each with its own class.
    """

    group: Integers
    table: Array
    fit: float


@dataclass(frozen=True, eq=False)
class ClassRows(Nodes):
    """Distinct rows of attributes; row `i` has the classes and weights from ``start[i]`` to ``start[i + 1]``.

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    arity : array of shape (nodes,)
        The class is the last node.
    start : array of shape (rows + 1,)
    classes, weights : arrays of shape (cases,)
    """

    codes: NDArray[np.unsignedinteger]
    arity: Integers
    start: Integers
    classes: Integers
    weights: Array

    @classmethod
    def of(cls, cases: Cases) -> ClassRows:
        """Return the rows of some cases."""
        numbers, _ = cases.numbered(range(cases.of_class))
        order = np.argsort(numbers, kind="stable")
        first = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        codes = np.ascontiguousarray(cases.codes[:-1, order[first]])
        classes = cases.codes[-1, order].astype(np.int64)
        return cls(codes, cases.arity, np.append(first, len(order)), classes, cases.weights[order])

    @cached_property
    def row_weights(self) -> Array:
        """The total weight of each row."""
        return np.asarray(np.add.reduceat(self.weights, self.start[:-1]), np.float64)

    def involves_class(self, node: int, parents: Sequence[int]) -> bool:
        """Return whether the class is in a family; other families do not affect the class probabilities."""
        return node == self.of_class or self.of_class in parents

    def free_parameters(self, node: int, parents: Sequence[int]) -> float:
        """Return the number of free parameters of a family's table, ``(r - 1) q``."""
        return float(self.arity[node] - 1) * self.configurations(parents)

    def factor(self, node: int, parents: Sequence[int], ess: float) -> ClassFactor:
        """Return the factor of a family, with a prior of `ess` cases shared equally by the cells of its table."""
        if not self.involves_class(node, parents):
            return ClassFactor(np.zeros(len(self.row_weights), np.int64), np.ones((1, self.arity[-1])), 0.0)
        attributes = np.array([p for p in parents if p != self.of_class], np.int64)
        prior = ess / (self.configurations(parents) * float(self.arity[node]))
        data = (self.start, self.classes, self.weights, prior)
        if node == self.of_class:
            return ClassFactor(*class_factor(self.codes, self.arity, attributes, *data))
        return ClassFactor(*attribute_factor(self.codes, self.arity, attributes, node, *data))

    def conditional_likelihood(self, factors: Sequence[ClassFactor]) -> tuple[float, Array]:
        """Return the conditional log likelihood of the classes, and the log joint of each row and class."""
        joint = np.zeros((len(self.row_weights), self.arity[-1]))
        for factor in factors:
            add_log_factor(joint, factor.group, np.log(factor.table))
        evidence = np.empty(len(joint))
        log_evidence(joint, 0, len(joint), evidence)
        row_of_case = np.repeat(np.arange(len(joint)), np.diff(self.start))
        return float(self.weights @ (joint[row_of_case, self.classes] - evidence[row_of_case])), joint


class ConditionalGains(Gains):
    """Gains of a conditional score, which normalises over the classes: every change affects all other gains.

    A change replaces the factors of one or two families. With ``P(class | row)`` of the current structure, the
    conditional log probability of a row's class changes by
    ``log ratio(class) - log sum over k of P(k | row) ratio(k)``, where `ratio` is the new factor over the old one. Two
    kinds of changes need no counting: families that do not involve the class before or after change the penalty only,
    and a change whose additional penalty exceeds the gain of predicting every class with certainty has a gain of minus
    infinity.
    """

    def __init__(self, cases: Cases, score: Conditional, n_jobs: int | None = None) -> None:
        super().__init__(len(cases.arity))
        self._rows = ClassRows.of(cases)
        self._ess = score.ess
        self._price = score.penalty(float(cases.weights.sum()))
        work = len(self._rows.row_weights) * int(cases.arity[-1]) // CLASSES_PER_ROW
        self._threads = thread_count(n_jobs, work)
        self._factors: dict[int, ClassFactor] = {}
        self._inverse: dict[int, Matrix] = {}

    def move_to(self, edges: Flags) -> None:
        """Make the structure with these edges the current one."""
        for node, parents in self._changed(edges):
            self._factors[node] = self._rows.factor(node, parents, self._ess)
            self._inverse[node] = 1.0 / self._factors[node].table
        self._likelihood, joint = self._rows.conditional_likelihood(list(self._factors.values()))
        posterior(joint, np.zeros(joint.shape[1]), 0, len(joint), joint)
        self._posterior = joint
        parameters = sum(self._rows.free_parameters(node, parents) for node, parents in enumerate(self._parents))
        self.score = self._likelihood - self._price * parameters

    def toggle_gains(self, asked: Flags) -> Matrix:
        """Return the gain of adding or removing each edge that was asked for."""
        return self._gains({(p, v): [self._toggled(p, v)] for p, v in np.argwhere(asked).tolist()})

    def reversal_gains(self, asked: Flags) -> Matrix:
        """Return the gain of reversing each edge that was asked for."""
        return self._gains({(p, v): [self._toggled(p, v), self._toggled(v, p)] for p, v in np.argwhere(asked).tolist()})

    def _toggled(self, parent: int, node: int) -> Family:
        """Return a node's family with a parent added, or removed if it is present."""
        return node, tuple(sorted({*self._parents[node]} ^ {parent}))

    def _gains(self, changes: dict[tuple[int, int], list[Family]]) -> Matrix:
        """Return the gain of each change, in the place of its edge."""
        gains = np.full((len(self._parents),) * 2, np.nan)

        def fill(edge: tuple[int, int]) -> None:
            gains[edge] = self._gain(changes[edge])

        run([partial(fill, edge) for edge in changes], self._threads)
        return gains

    def _gain(self, families: Sequence[Family]) -> float:
        """Return the gain of replacing the families of some nodes."""
        rows = self._rows
        more_parameters = sum(
            rows.free_parameters(node, parents) - rows.free_parameters(node, self._parents[node])
            for node, parents in families
        )
        price = self._price * more_parameters
        relevant = [f for f in families if rows.involves_class(*f) or rows.involves_class(f[0], self._parents[f[0]])]
        if not relevant:
            return -price
        if price >= -self._likelihood and price > 0:
            return -np.inf
        gain, before = -price, self._posterior
        for place, (node, parents) in enumerate(relevant):
            old, new = self._factors[node], rows.factor(node, parents, self._ess)
            change = (old.group, self._inverse[node], new.group, new.table)
            gain += new.fit - old.fit
            if place + 1 < len(relevant):
                before = replace_factor(before, *change)
            else:
                gain -= evidence_gain(before, *change, rows.row_weights)
        return gain


@dataclass(frozen=True)
class Conditional(Score):
    """Base class of penalised conditional log likelihoods. A subclass defines `penalty`.

    The score is ``sum over cases of w log P(class | attributes)``, less a penalty for every free parameter of the
    network. It does not decompose: the class probabilities are normalised row by row, so the contribution of a family
    depends on all other families.

    Parameters
    ----------
    ess : float, default=1.0
        Equivalent sample size of the prior of the tables.

    Notes
    -----
    Tables have the expected probabilities ``(N + a) / (N of the row + a r)`` under a BDeu prior, where `a` is
    ``ess / (r q)`` for a node of `r` values whose parents have `q` configurations. So no class is impossible.
    """

    ess: float = 1.0

    @property
    def is_decomposable(self) -> bool:
        """False: the score is not a sum over families."""
        return False

    @abstractmethod
    def penalty(self, weight: float) -> float:
        """Return the penalty of one free parameter.

        Parameters
        ----------
        weight : float
            Total weight of the cases.

        Returns
        -------
        float
            The penalty in nats.
        """

    def total(self, cases: Cases, structure: Structure) -> float:
        """Return the score of a structure; see `Score.total`."""
        rows = ClassRows.of(cases)
        families = list(enumerate(structure.parents))
        likelihood, _ = rows.conditional_likelihood([rows.factor(node, above, self.ess) for node, above in families])
        parameters = math.fsum(rows.free_parameters(node, above) for node, above in families)
        return likelihood - self.penalty(float(rows.weights.sum())) * parameters

    def gains(self, cases: Cases, n_jobs: int | None = None) -> Gains:
        """Return an object that computes the gains of single-edge changes; see `Score.gains`."""
        return ConditionalGains(cases, self, n_jobs)


@dataclass(frozen=True)
class ConditionalLogLikelihood(Conditional):
    """The log probability of the classes given the attributes: ``sum over cases of w log P(class | row)``.

    It does not decompose over families.

    Parameters
    ----------
    ess : float, default=1.0
        Equivalent sample size of the prior of the tables.
    """

    def penalty(self, weight: float) -> float:
        """Return zero."""
        return 0.0


@dataclass(frozen=True)
class CMDL(Conditional):
    """The conditional log likelihood less half the logarithm of the number of cases for every parameter.

    This is equation 6 of Sugahara, Uto and Ueno (2018) with the opposite sign, so that greater is better. It does not
    decompose over families.

    Parameters
    ----------
    ess : float, default=1.0
        Equivalent sample size of the prior of the tables.
    """

    def penalty(self, weight: float) -> float:
        """Return ``log(N) / 2``."""
        return half_log(weight)


@cache
def beta(classes: int, samples: int = BETA_SAMPLES, seed: int = 0) -> float:
    """Return the weight of the counts of all classes in aCLL, estimated by regression on random samples.

    The joint probabilities of a row with each class are a small part of a uniformly random partition of one (a
    Dirichlet distribution). Up to a common factor they are independent exponential variables.

    >>> round(beta(2), 2)
    -0.39
    """
    rng = np.random.default_rng(seed)
    return fitted_beta(rng.standard_exponential(samples) for _ in range(classes))


def fitted_beta(joint: Iterable[Array]) -> float:
    """Return minus the least-squares slope of ``log sum P(x, c)`` on ``sum log P(x, c)``.

    Parameters
    ----------
    joint : arrays of shape (samples,)
        Joint probabilities, one array for each class.
    """
    total: Array = np.zeros(1)
    logs: Array = np.zeros(1)
    for sample in joint:
        total = total + sample
        logs = logs + np.log(sample)
    log_total = np.log(total)
    centred = logs - logs.mean()
    return -float(centred @ (log_total - log_total.mean())) / float(centred @ centred)
