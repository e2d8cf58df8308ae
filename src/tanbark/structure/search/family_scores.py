"""Scores of families, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import ROOM
from tanbark.kernels.count.configurations import joint_counts
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.scores import Cases, Decomposable
from tanbark.scores.cases import MOST_CELLS

Family = tuple[int, tuple[int, ...]]
Integers = NDArray[np.int64]

TOGETHER = 8
"""So many families are counted in one go: longer than threads need to take turns."""


class FamilyScores:
    """The scores of nodes under their parents, kept for whoever asks again.

    A family with more cells than can be numbered could have no table and has the score of minus infinity.

    Parameters
    ----------
    cases : Cases
    score : Decomposable
    n_jobs : int, optional
        Threads, as in scikit-learn.
    """

    def __init__(self, cases: Cases, score: Decomposable, n_jobs: int | None = None) -> None:
        self.cases = cases
        self._score = score
        self._threads = thread_count(n_jobs, len(cases.weights))
        self._known: dict[Family, float] = {}

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """Return the score of a node under its parents, which are in ascending order."""
        family = (node, parents)
        if family not in self._known:
            fits = self.cases.configurations((node, *parents)) < ROOM
            self._known[family] = self._score.local(self.cases, node, parents) if fits else -np.inf
        return self._known[family]

    def grown(self, node: int, parents: tuple[int, ...], others: Sequence[int]) -> NDArray[np.float64]:
        """Return the score of a node with each of the others, one at a time, beside its parents."""
        families = {other: (node, tuple(sorted((*parents, other)))) for other in others}
        asked = [other for other in others if families[other] not in self._known]
        if asked:
            at, many = _own_values_last(self.cases, node, parents)
            room = max(MOST_CELLS, 4 * len(at))
            numbered = ROOM / self.cases.configurations((node, *parents))
            small = [other for other in asked if self.cases.arity[other] <= min(room / many, numbered)]
            parts = [small[i : i + TOGETHER] for i in range(0, len(small), TOGETHER)]
            tasks: list[Callable[[], object]] = [partial(self._grow, node, parents, at, many, part) for part in parts]
            tasks += [partial(self.local, *families[other]) for other in asked if other not in small]
            run(tasks, self._threads)
        return np.array([self._known[families[other]] for other in others], np.float64)

    def _grow(self, node: int, parents: tuple[int, ...], at: Integers, many: int, others: list[int]) -> None:
        """Score a node with each of the others beside its parents, given the numbers of these and its own values."""
        cases, own = self.cases, int(self.cases.arity[node])
        arity = cases.arity[others]
        start = np.append(0, np.cumsum(many * arity))
        counts = joint_counts(at, cases.codes[others], arity, start, cases.weights)
        for other, further, part in zip(others, arity.tolist(), np.split(counts, start[1:-1])):
            table = part.reshape(-1, own, further).swapaxes(1, 2).reshape(-1, own)
            table = table[table.any(axis=1)]
            family = (node, tuple(sorted((*parents, other))))
            self._known[family] = self._score.family(table, cases.configurations(family[1]))


def _own_values_last(cases: Cases, node: int, parents: Sequence[int]) -> tuple[Integers, int]:
    """Return each case's number of its parents' values and, as last digit, its own, and how many there are."""
    at, many = cases.numbered(parents)
    seen = np.zeros(many, np.bool_)
    seen[at] = True
    at = (np.cumsum(seen) - 1)[at]
    own = int(cases.arity[node])
    return at * own + cases.codes[node], int(seen.sum()) * own
