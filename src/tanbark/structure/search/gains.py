"""Score gains of single-edge changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.posterior import posterior
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.kernels.search.class_factors import evidence_gain, exchanged
from tanbark.scores import Cases, Conditional
from tanbark.scores.conditional_scores import ClassFactor, ClassRows, conditional_likelihood, free_parameters
from tanbark.structure.search.family_scores import FamilyScores

Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]


class Gains(ABC):
    """The score of the structure that a climber is at, and what each step from it would gain.

    All arrays are of shape (nodes, nodes), the parent first.
    """

    score: float

    @abstractmethod
    def go_to(self, edges: Flags) -> None:
        """Be at the structure with these edges."""

    @abstractmethod
    def toggling(self, asked: Flags) -> Matrix:
        """Return what adding or, where it is there, taking away each edge gains, at least of those asked for."""

    @abstractmethod
    def turning(self, asked: Flags) -> Matrix:
        """Return what turning each edge round gains, at least of those asked for."""


class DecomposableGains(Gains):
    """Gains of families: a step changes those of the nodes whose parents it changes, and no others."""

    def __init__(self, families: FamilyScores) -> None:
        self._families = families
        nodes = len(families.cases.arity)
        # No node is its own parent: the first structure is new in every family.
        self._parents: list[tuple[int, ...]] = [(node,) for node in range(nodes)]
        self._present = np.zeros(nodes)
        self._gains = np.full((nodes, nodes), np.nan)

    def go_to(self, edges: Flags) -> None:
        """Be at the structure with these edges."""
        for node, above in enumerate(edges.T):
            parents = tuple(np.flatnonzero(above).tolist())
            if parents != self._parents[node]:
                self._parents[node] = parents
                self._present[node] = self._families.local(node, parents)
                self._gains[:, node] = np.nan
        self.score = float(self._present.sum())

    def toggling(self, asked: Flags) -> Matrix:
        """Return what adding or taking away each edge gains; families that were scored before are not scored again."""
        unknown = asked & np.isnan(self._gains)
        for node in np.flatnonzero(unknown.any(axis=0)).tolist():
            parents = self._parents[node]
            others = [p for p in np.flatnonzero(unknown[:, node]).tolist() if p not in parents]
            scores = self._families.grown(node, parents, others)
            self._gains[others, node] = scores - self._present[node]
            for parent in parents:
                fewer = tuple(p for p in parents if p != parent)
                self._gains[parent, node] = self._families.local(node, fewer) - self._present[node]
        return self._gains

    def turning(self, asked: Flags) -> Matrix:
        """Return what turning each edge round gains: taking it away, and adding the other."""
        gains = self.toggling(asked | asked.T)
        return gains + gains.T


Family = tuple[int, tuple[int, ...]]


class ConditionalGains(Gains):
    """Gains of a score that normalises over classes: every step changes all of them.

    A step replaces the factors of one family or two. With ``P(class | row)`` of the present structure, a row's
    log probability of its class changes by ``log ratio(class) - log sum over k of P(k | row) ratio(k)``, `ratio` being
    the new factor over the old one. Families that say nothing of the class before or after are not counted at all,
    nor is a step whose penalty would not be paid by making every class certain: its gain is given as minus infinity.

    Parameters
    ----------
    cases : Cases
    score : Conditional
    n_jobs : int, optional
        Threads, as in scikit-learn.
    """

    def __init__(self, cases: Cases, score: Conditional, n_jobs: int | None = None) -> None:
        self._rows = ClassRows.of(cases)
        self._ess = score.ess
        self._price = score.penalty(float(cases.weights.sum()))
        # Threads that take turns too often lose more than they gain: eight classes are as much work as one row.
        self._threads = thread_count(n_jobs, len(self._rows.each) * int(cases.arity[-1]) // 8)
        # No node is its own parent: the first structure is new in every family.
        self._parents: list[tuple[int, ...]] = [(node,) for node in range(len(cases.arity))]
        self._factors: dict[int, ClassFactor] = {}
        self._inverse: dict[int, Matrix] = {}

    def go_to(self, edges: Flags) -> None:
        """Be at the structure with these edges."""
        for node, above in enumerate(edges.T):
            parents = tuple(np.flatnonzero(above).tolist())
            if parents != self._parents[node]:
                self._parents[node] = parents
                self._factors[node] = self._rows.factor(node, parents, self._ess)
                self._inverse[node] = 1.0 / self._factors[node].table
        self._likelihood, joint = conditional_likelihood(self._rows, list(self._factors.values()))
        posterior(joint, np.zeros(joint.shape[1]), 0, len(joint), joint)
        self._posterior = joint
        parameters = sum(free_parameters(self._rows, node, above) for node, above in enumerate(self._parents))
        self.score = self._likelihood - self._price * parameters

    def toggling(self, asked: Flags) -> Matrix:
        """Return what adding or taking away each edge gains."""
        return self._gains({(p, v): [self._toggled(p, v)] for p, v in np.argwhere(asked).tolist()})

    def turning(self, asked: Flags) -> Matrix:
        """Return what turning each edge round gains."""
        return self._gains({(p, v): [self._toggled(p, v), self._toggled(v, p)] for p, v in np.argwhere(asked).tolist()})

    def _toggled(self, parent: int, node: int) -> Family:
        """Return a node's family with one parent more, or fewer."""
        return node, tuple(sorted({*self._parents[node]} ^ {parent}))

    def _gains(self, steps: dict[tuple[int, int], list[Family]]) -> Matrix:
        """Return what each step gains, in the place of its edge."""
        gains = np.full((len(self._parents),) * 2, np.nan)

        def fill(edge: tuple[int, int]) -> None:
            gains[edge] = self._gain(steps[edge])

        run([partial(fill, edge) for edge in steps], self._threads)
        return gains

    def _gain(self, families: Sequence[Family]) -> float:
        """Return what putting some families in the place of those of their nodes gains."""
        rows = self._rows
        grown = sum(
            free_parameters(rows, node, above) - free_parameters(rows, node, self._parents[node])
            for node, above in families
        )
        price = self._price * grown
        telling = [f for f in families if rows.tells(*f) or rows.tells(f[0], self._parents[f[0]])]
        if not telling:
            return -price
        if price >= -self._likelihood and price > 0:
            return -np.inf
        gain, before = -price, self._posterior
        for place, (node, above) in enumerate(telling):
            old, new = self._factors[node], rows.factor(node, above, self._ess)
            change = (old.group, self._inverse[node], new.group, new.table)
            gain += new.fit - old.fit
            if place + 1 < len(telling):
                before = exchanged(before, *change)
            else:
                gain -= evidence_gain(before, *change, rows.each)
        return gain
