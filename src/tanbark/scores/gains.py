"""Score gains of single-edge changes, for hill climbing, and the cache of family scores that they use.

`Gains` is the interface, `DecomposableGains` serves scores that are sums over families. Scores that normalise over the
classes have their own gains in `tanbark.scores.conditional_scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import MAX_CELL_KEYS
from tanbark.kernels.count.configurations import joint_counts
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.scores.cases import Cases
from tanbark.shared_docs import insert_shared_docs

if TYPE_CHECKING:
    from tanbark.scores.decomposable_bases import Decomposable


Family = tuple[int, tuple[int, ...]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]

FAMILIES_PER_TASK = 8
"""Number of families counted in one task, large enough that switching threads costs little."""


class FamilyScores:
    """The scores of nodes given their parents, each computed once.

    A family with more cells than can be numbered has a score of minus infinity.
    """

    def __init__(self, cases: Cases, score: Decomposable, n_jobs: int | None = None) -> None:
        self.cases = cases
        self._score = score
        self._threads = thread_count(n_jobs, len(cases.weights))
        self._known: dict[Family, float] = {}

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """Return the score of a node given its parents, which are in ascending order."""
        family = (node, parents)
        if family not in self._known:
            fits = self.cases.configurations((node, *parents)) < MAX_CELL_KEYS
            self._known[family] = self._score.local(self.cases, node, parents) if fits else -np.inf
        return self._known[family]

    def grown(self, node: int, parents: tuple[int, ...], others: Sequence[int]) -> NDArray[np.float64]:
        """Return the scores of a node given its parents and each of the other nodes, one at a time."""
        families = {other: _extended(node, parents, other) for other in others}
        unknown = [other for other in others if families[other] not in self._known]
        if unknown:
            numbers, size = _numbered_with_values(self.cases, node, parents)
            max_arity = min(self.cases.max_cells / size, MAX_CELL_KEYS / self.cases.configurations((node, *parents)))
            small = [other for other in unknown if self.cases.arity[other] <= max_arity]
            parts = [small[i : i + FAMILIES_PER_TASK] for i in range(0, len(small), FAMILIES_PER_TASK)]
            tasks: list[Callable[[], object]] = [
                partial(self._grow, node, parents, numbers, size, part) for part in parts
            ]
            tasks += [partial(self.local, *families[other]) for other in unknown if other not in small]
            run(tasks, self._threads)
        return np.array([self._known[families[other]] for other in others], np.float64)

    def _grow(self, node: int, parents: tuple[int, ...], numbers: Integers, size: int, others: list[int]) -> None:
        """Score a node given its parents and each of the others, from the numbers of the present family's values."""
        cases, values = self.cases, int(self.cases.arity[node])
        arity = cases.arity[others]
        start = np.append(0, np.cumsum(size * arity))
        counts = joint_counts(numbers, cases.codes[others], arity, start, cases.weights)
        for other, levels, part in zip(others, arity.tolist(), np.split(counts, start[1:-1]), strict=True):
            table = part.reshape(-1, values, levels).swapaxes(1, 2).reshape(-1, values)
            table = table[table.any(axis=1)]
            family = _extended(node, parents, other)
            self._known[family] = self._score.family(table, cases.configurations(family[1]))


def _extended(node: int, parents: tuple[int, ...], other: int) -> Family:
    """Return the family of a node with one more parent."""
    return node, tuple(sorted((*parents, other)))


def _numbered_with_values(cases: Cases, node: int, parents: Sequence[int]) -> tuple[Integers, int]:
    """Return numbers of the observed configurations of parents and node, with the node's value last, and the size."""
    numbers, size = cases.numbered(parents)
    observed = np.zeros(size, np.bool_)
    observed[numbers] = True
    numbers = (np.cumsum(observed) - 1)[numbers]
    values = int(cases.arity[node])
    return numbers * values + cases.codes[node], int(observed.sum()) * values


@insert_shared_docs
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

        {edge_gains}
        """

    @abstractmethod
    def reversal_gains(self, asked: Flags) -> Matrix:
        """Return the gain of reversing each edge.

        {edge_gains}
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
