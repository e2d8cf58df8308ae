"""Score gains of single-edge changes, for hill climbing.

`Gains` is the interface, `DecomposableGains` serves scores that are sums over families, `ConditionalGains` those that
normalise over the classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.posterior import posterior
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.kernels.search.class_factors import evidence_gain, replace_factor
from tanbark.scores.cases import Cases
from tanbark.scores.class_rows import ClassFactor, ClassRows
from tanbark.scores.family_scores import Family, FamilyScores

if TYPE_CHECKING:
    from tanbark.scores.conditional_scores import Conditional

Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]

CLASSES_PER_ROW = 8
"""Number of classes that are as much work as one row of another task, for the choice of threads."""


class Gains(ABC):
    """The score of a current structure, and the gain of each single-edge change.

    Edges and gains are arrays of shape (nodes, nodes), the parent first.

    Parameters
    ----------
    nodes : int
        The number of nodes.

    Attributes
    ----------
    score : float
        The score of the current structure.
    """

    score: float

    def __init__(self, nodes: int) -> None:
        # No node is its own parent, so every family of the first structure is new.
        self._parents: list[tuple[int, ...]] = [(node,) for node in range(nodes)]

    def _changed(self, edges: Flags) -> Iterator[Family]:
        """Yield the families of a new structure that differ from the current one, and make them current."""
        for node, is_parent in enumerate(edges.T):
            parents = tuple(np.flatnonzero(is_parent).tolist())
            if parents != self._parents[node]:
                self._parents[node] = parents
                yield node, parents

    @abstractmethod
    def move_to(self, edges: Flags) -> None:
        """Make the structure with these edges the current one, and compute its score.

        Parameters
        ----------
        edges : array of shape (nodes, nodes)
            Whether there is an edge from the first node to the second.
        """

    @abstractmethod
    def toggle_gains(self, asked: Flags) -> Matrix:
        """Return the gain of adding each missing edge and of removing each present one.

        Parameters
        ----------
        asked : array of shape (nodes, nodes)
            The edges whose gains are needed.

        Returns
        -------
        array of shape (nodes, nodes)
            The gains; those that were not asked for may be NaN.
        """

    @abstractmethod
    def reversal_gains(self, asked: Flags) -> Matrix:
        """Return the gain of reversing each edge.

        Parameters
        ----------
        asked : array of shape (nodes, nodes)
            The edges whose gains are needed.

        Returns
        -------
        array of shape (nodes, nodes)
            The gains; those that were not asked for may be NaN.
        """


class DecomposableGains(Gains):
    """Gains of a sum over families: a change affects only the nodes whose parents it changes.

    Parameters
    ----------
    families : FamilyScores
    """

    def __init__(self, families: FamilyScores) -> None:
        nodes = len(families.cases.arity)
        super().__init__(nodes)
        self._families = families
        self._local = np.zeros(nodes)
        self._gains = np.full((nodes, nodes), np.nan)

    def move_to(self, edges: Flags) -> None:
        """Make the structure with these edges the current one."""
        for node, parents in self._changed(edges):
            self._local[node] = self._families.local(node, parents)
            self._gains[:, node] = np.nan
        self.score = float(self._local.sum())

    def toggle_gains(self, asked: Flags) -> Matrix:
        """Return the gain of adding or removing each edge; gains of unchanged nodes are not recomputed."""
        unknown = asked & np.isnan(self._gains)
        for node in np.flatnonzero(unknown.any(axis=0)).tolist():
            parents = self._parents[node]
            others = [p for p in np.flatnonzero(unknown[:, node]).tolist() if p not in parents]
            scores = self._families.grown(node, parents, others)
            self._gains[others, node] = scores - self._local[node]
            for parent in parents:
                fewer = tuple(p for p in parents if p != parent)
                self._gains[parent, node] = self._families.local(node, fewer) - self._local[node]
        return self._gains

    def reversal_gains(self, asked: Flags) -> Matrix:
        """Return the gain of reversing each edge: of removing it and adding the opposite edge."""
        gains = self.toggle_gains(asked | asked.T)
        return gains + gains.T


class ConditionalGains(Gains):
    """Gains of a conditional score, which normalises over the classes: every change affects all other gains.

    A change replaces the factors of one or two families. With ``P(class | row)`` of the current structure, the
    conditional log probability of a row's class changes by
    ``log ratio(class) - log sum over k of P(k | row) ratio(k)``, where `ratio` is the new factor over the old one. Two
    kinds of changes need no counting: families that do not involve the class before or after change the penalty only,
    and a change whose additional penalty exceeds the gain of predicting every class with certainty has a gain of minus
    infinity.

    Parameters
    ----------
    cases : Cases
    score : Conditional
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
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
