"""The scores of every node given every set of parents, as exact search needs them.

Each searched node is a bit, so sets of nodes are integers. There are three ways to compute the scores. The score's own
description decides which one is used (`fastest_scores`):

- `SetSums` takes differences of a set function, ``score(x | P) = g(P + x) - h(P)`` (`tanbark.scores.SetFunction`). One
  value for each set serves all nodes.
- `DirectScores` counts every family in a compiled kernel (`tanbark.scores.FamilyRule`).
- `TabulatedScores` calls `Decomposable.family` for every family. It works for any score.

All values are rounded to multiples of one power of two. Their sums then have no rounding error, and structures with
equal scores really tie.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.counts.family_counts import MAX_CELL_KEYS
from tanbark.kernels.count.configurations import HISTOGRAM_SIZE
from tanbark.kernels.runtime.threads import as_done, run
from tanbark.kernels.search.best_parents import score_without, scores_among, subtract
from tanbark.kernels.search.direct_scores import direct_scores
from tanbark.kernels.search.subset_sums import subset_sums
from tanbark.progress import Progress
from tanbark.scores import Cases, Decomposable, SetFunction

Scores = NDArray[np.float64]
Integers = NDArray[np.int64]

PRECISION_BITS = 50
"""Binary digits that values keep below a common bound."""
MAX_CELLS = float(MAX_CELL_KEYS) * (1.0 - 1e-15)
"""Cells of a family's table; the cells of a larger table could not be numbered."""
MAX_TERMS = 2**22
"""Number of cell terms up to which they are tabulated in advance."""
MAX_TAIL_VALUES = 64
MAX_TAIL_COLUMNS = 5
"""The lowest columns are counted together: at most this many, with at most that many joint values."""
BLOCK_STEPS = 2**29
"""Cases times nodes times sets that are counted directly in one block."""
TASK_STEPS = 2**26
"""Cases times sets that one task visits, which takes some tenths of a second."""
MIN_PREFIX_COLUMNS = 8
MAX_PREFIX_COLUMNS = 16
"""Tasks are the subsets of this many columns, however few or many cases there are."""
MIN_WALKED_COLUMNS = 5
"""Columns that a task visits beyond the tail; with fewer, tasks would repeat most of each other's work."""


def fastest_scores(score: Decomposable) -> type[LocalScores]:
    """Return the fastest way to compute the local scores of a score."""
    if score.set_function is not None:
        return SetSums
    return TabulatedScores if score.family_rule is None else DirectScores


class LocalScores(ABC):
    """The scores of the searched nodes.

    Parameters
    ----------
    cases : Cases
    score : Decomposable
    searched : sequence of int
        The nodes of the bits, lowest first.
    always : sequence of int
        Nodes that are parents of every searched node.
    max_parents : int
        Maximum number of parents of a node, `always` included.
    required_configurations : float
        The largest number of configurations of the required parents of a node.
    """

    def __init__(
        self,
        cases: Cases,
        score: Decomposable,
        searched: Sequence[int],
        always: Sequence[int],
        max_parents: int,
        required_configurations: float = 1.0,
    ) -> None:
        order = [*searched, *always]
        self.nodes = len(searched)
        self.always = np.arange(self.nodes, len(order))
        self.cases = Cases(np.ascontiguousarray(cases.codes[order]), cases.arity[order], cases.weights)
        self.whole = bool((cases.weights == np.floor(cases.weights)).all())
        self.max_parents = max_parents
        self.required_configurations = max(required_configurations, cases.configurations(always))
        self.score = score
        self.total = float(cases.weights.sum())
        self.penalty = score.penalty(self.total)
        self.unit = 2.0 ** (math.ceil(math.log2(self._bound())) - PRECISION_BITS)

    def _bound(self) -> float:
        """Return a bound of all sums of cell terms, and of an eighth of all total scores that could be the best."""
        bound = self.score.magnitude(self.cases) + (self.penalty * self._max_cells() if self.penalty else 0.0)
        widest = float(self.cases.arity.max())
        return max(bound, self.nodes * (self.total + 2.0) * math.log(widest + 1.0) / 8.0)

    def _max_cells(self) -> float:
        """Return the largest number of cells that a family of the best structure can have.

        Families with more cells pay more in penalties than their parents can gain. The result is at most `MAX_CELLS`.
        """
        if self.penalty == 0.0:
            return MAX_CELLS
        bounds = [
            r * (self.total * math.log(r) / (self.penalty * (r - 1)) + self.required_configurations)
            for r in self._arities()
            if r > 1
        ]
        return min(max(bounds, default=self.required_configurations), MAX_CELLS)

    def _arities(self) -> list[int]:
        """Return the distinct arities of the searched nodes."""
        return sorted(set(self.cases.arity[: self.nodes].tolist()))

    @property
    def functions(self) -> int:
        """Number of values that are kept for every set of nodes."""
        return 0

    @staticmethod
    @abstractmethod
    def block_nodes(nodes: int, cases: int) -> int:
        """Return the number of low nodes, whose subsets make up one block of sets."""

    @abstractmethod
    def prepare(self, threads: int, progress: Progress) -> None:
        """Do all work that is done once, before the first block."""

    @abstractmethod
    def block(self, high: int, low: Scores, beyond: Scores) -> None:
        """Write the scores given all sets that consist of the nodes of `high` and any low nodes.

        Parameters
        ----------
        high : int
            The set of high nodes; the low nodes are those that have a row in `low`.
        low : array of shape (low nodes, sets without the node)
        beyond : array of shape (high nodes that are not in `high`, sets)
        """

    @abstractmethod
    def among(self, node: int, candidates: int) -> Scores:
        """Return the scores of a node given each subset of the candidates, in ascending order of the subsets."""


class SetSums(LocalScores):
    """Scores as differences of set functions."""

    @cached_property
    def _function(self) -> SetFunction:
        assert self.score.set_function is not None, "the score has no set function"
        return self.score.set_function

    @cached_property
    def _concentrations(self) -> list[float]:
        return self._function.concentrations(self._arities())

    @property
    def functions(self) -> int:
        """Number of values that are kept for every set of nodes."""
        return len(self._concentrations)

    @staticmethod
    def block_nodes(nodes: int, _cases: int) -> int:
        """Return as many nodes as keep the scores of a block in the processor's cache."""
        return min(nodes, 16)

    def prepare(self, threads: int, progress: Progress) -> None:
        """Evaluate the set functions for all sets."""
        self.sums = np.full((self.functions, 1 << self.nodes), -np.inf)
        bits = self._tail_bits()
        tail, part, configurations = self._tail(bits)
        step, tables = self._tables()
        tail_step = np.array([sum(step[u] for u in range(bits) if s >> u & 1) for s in range(1 << bits)], np.int64)
        walked = self._walked(bits)

        def walk(prefix: int) -> None:
            chosen = [u for u in range(self.nodes - 1, walked - 1, -1) if prefix >> (u - walked) & 1]
            subset_sums(
                self.cases.codes,
                self.cases.arity,
                self.cases.weights,
                self.whole,
                np.array([*self.always.tolist(), *chosen], np.int64),
                prefix << walked,
                walked,
                tail,
                part,
                bits,
                configurations,
                self.max_parents + 1,
                self._max_cells(),
                np.array(self._concentrations),
                self._function.shared,
                self.penalty,
                step,
                tail_step,
                tables,
                self.unit,
                self.sums,
            )

        tasks = [(prefix, partial(walk, prefix)) for prefix in range(1 << self.nodes - walked)]
        for done, _ in enumerate(as_done(tasks, threads), 1):
            progress("counting all sets of nodes", done, len(tasks))

    def _walked(self, bits: int) -> int:
        """Return the number of columns, the tail included, whose subsets one task visits: fewer for more cases."""
        affordable = int(math.log2(max(TASK_STEPS / len(self.cases.weights), 1.0)))
        most = min(self.nodes - MIN_PREFIX_COLUMNS, max(affordable, bits + MIN_WALKED_COLUMNS))
        return max(most, self.nodes - MAX_PREFIX_COLUMNS, bits)

    def _tail_bits(self) -> int:
        """Return the number of columns of the tail, the lowest columns, which are counted together."""
        joint, bits = 1, 0
        while bits < min(MAX_TAIL_COLUMNS, self.nodes) and joint * self.cases.arity[bits] <= MAX_TAIL_VALUES:
            joint *= int(self.cases.arity[bits])
            bits += 1
        return bits

    def _tail(self, bits: int) -> tuple[NDArray[np.uint8], NDArray[np.int32], Scores]:
        """Describe the tail.

        Returns
        -------
        tail : array of shape (cases,)
            The joint value of the tail in each case.
        part : array of shape (joint values, subsets of the tail)
            The cell of each joint value in the table of each subset; the cells of all subsets are numbered through.
        configurations : array of shape (subsets of the tail,)
            The number of cells of each subset.
        """
        arity = self.cases.arity[:bits].tolist()
        tail = np.zeros(len(self.cases.weights), np.uint8)
        joint = math.prod(arity)
        values = np.arange(joint)
        part = np.zeros((joint, 1 << bits), np.int32)
        configurations = np.ones(1 << bits)
        digits = []
        stride = 1
        for u, r in enumerate(arity):
            tail += (self.cases.codes[u] * stride).astype(np.uint8)
            digits.append(values // stride % r)
            stride *= r
        cells = 0
        for s in range(1 << bits):
            size = 1
            for u, r in enumerate(arity):
                if s >> u & 1:
                    part[:, s] += (digits[u] * size).astype(np.int32)
                    size *= r
            part[:, s] += cells
            cells += size
            configurations[s] = size
        return tail, part, configurations

    def _tables(self) -> tuple[Integers, Scores]:
        """Tabulate the terms of cells of small whole weights.

        Returns
        -------
        step : array of shape (columns,)
            The row of `tables` for a set is the sum of the steps of its columns.
        tables : array of shape (rows, functions, weights)
            The terms; no rows if there would be too many terms.
        """
        arity = self.cases.arity
        step = np.zeros(len(arity), np.int64)
        configurations = np.ones(1)
        if self._function.shared:
            for r in sorted(set(arity.tolist())):
                columns = arity == r
                step[columns] = len(configurations)
                configurations = np.multiply.outer(float(r) ** np.arange(columns.sum() + 1), configurations).ravel()
                if len(configurations) * HISTOGRAM_SIZE > MAX_TERMS:
                    return step, np.empty((0, 1, HISTOGRAM_SIZE))
        weight = np.arange(HISTOGRAM_SIZE, dtype=np.float64)
        tables = np.empty((len(configurations), self.functions, HISTOGRAM_SIZE))
        for k, a in enumerate(self._concentrations):
            if a == 0.0:
                tables[:, k] = xlogy(weight, weight)
            else:
                each = a / configurations[:, None]
                tables[:, k, 0] = 0.0
                tables[:, k, 1:] = np.log(each + weight[:-1]).cumsum(axis=1)
        return step, tables

    def _pair(self, node: int) -> tuple[Scores, Scores]:
        """Return the values of `g` and `h`, whose difference is a node's score."""
        of_parents = self._function.of_parents(int(self.cases.arity[node]))
        return self.sums[0], self.sums[self._concentrations.index(of_parents)]

    def block(self, high: int, low: Scores, beyond: Scores) -> None:
        """Write the scores given all sets that consist of the nodes of `high` and any low nodes."""
        start = high << len(low)
        for u in range(len(low)):
            score_without(*self._pair(u), start, u, low[u])
        others = [u for u in range(len(low), self.nodes) if not high >> (u - len(low)) & 1]
        for row, u in enumerate(others):
            whole, parents = self._pair(u)
            own = 1 << u
            size = beyond.shape[1]
            subtract(whole[start + own : start + own + size], parents[start : start + size], beyond[row])

    def among(self, node: int, candidates: int) -> Scores:
        """Return the scores of a node given each subset of the candidates, in ascending order of the subsets."""
        out = np.empty(1 << candidates.bit_count())
        scores_among(*self._pair(node), candidates, node, out)
        return out


class _FamilyByFamily(LocalScores):
    """Scores that are computed family by family, block by block. A subclass defines `_write`."""

    @staticmethod
    def block_nodes(nodes: int, cases: int) -> int:
        """Return fewer nodes for more cases, so that a block takes seconds at most."""
        return min(nodes, max(4, min(10, int(math.log2(BLOCK_STEPS / max(nodes * cases, 1))))))

    def prepare(self, threads: int, _progress: Progress) -> None:
        """Store the number of threads."""
        self._threads = threads

    def block(self, high: int, low: Scores, beyond: Scores) -> None:
        """Write the scores given all sets that consist of the nodes of `high` and any low nodes."""
        bits = len(low)
        inside = [u for u in range(bits, self.nodes) if high >> (u - bits) & 1]
        outside = [u for u in range(bits, self.nodes) if not high >> (u - bits) & 1]
        scores = self._scores(inside, bits, [*range(bits), *outside], range(self.nodes))
        for u in range(bits):
            low[u] = scores[u].reshape(-1, 2, 1 << u)[:, 0].ravel()
        beyond[:] = scores[bits:]

    def among(self, node: int, candidates: int) -> Scores:
        """Return the scores of a node given each subset of the candidates, in ascending order of the subsets."""
        columns = [u for u in range(self.nodes) if candidates >> u & 1]
        free = min(len(columns), self.block_nodes(self.nodes, len(self.cases.weights)))
        out = np.empty((1 << len(columns) - free, 1 << free))

        def count(prefix: int) -> None:
            first = [u for u in range(free, len(columns)) if prefix >> (u - free) & 1]
            out[prefix] = self._scores(first, free, [len(columns)], [*columns, node])[0]

        run([partial(count, prefix) for prefix in range(len(out))], self._threads)
        return out.ravel()

    def _scores(self, first: Iterable[int], free: int, nodes: Sequence[int], columns: Sequence[int]) -> Scores:
        """Return the scores of nodes given `first` and each subset of the first `free` columns.

        `first` and `nodes` are places in `columns`, which are searched nodes.
        """
        order = np.array([*columns, *self.always], np.int64)
        cases = Cases(np.ascontiguousarray(self.cases.codes[order]), self.cases.arity[order], self.cases.weights)
        scores = np.full((len(nodes), 1 << free), -np.inf)
        self._write(cases, [*range(len(columns), len(order)), *first], free, nodes, scores)
        return scores

    @abstractmethod
    def _write(self, cases: Cases, first: Sequence[int], free: int, nodes: Sequence[int], out: Scores) -> None:
        """Write the scores of nodes given `first` and each subset of the first `free` nodes, if they are allowed."""


class DirectScores(_FamilyByFamily):
    """Scores whose families a kernel counts one by one."""

    def _write(self, cases: Cases, first: Sequence[int], free: int, nodes: Sequence[int], out: Scores) -> None:
        rule = self.score.family_rule
        assert rule is not None, "the score has no family rule"
        direct_scores(
            cases.codes,
            cases.arity,
            cases.weights,
            self.whole,
            np.array(first, np.int64),
            free,
            np.array(nodes, np.int64),
            self.max_parents,
            MAX_CELLS,
            rule.sharing,
            rule.weight,
            self.penalty,
            self.unit,
            out,
        )


class TabulatedScores(_FamilyByFamily):
    """Scores of tables that are counted and scored one by one, for any score."""

    def _write(self, cases: Cases, first: Sequence[int], free: int, nodes: Sequence[int], out: Scores) -> None:
        for subset in range(1 << free):
            parents = [*first, *bits_of(subset)]
            if len(parents) > self.max_parents:
                continue
            for row, node in enumerate(nodes):
                if node not in parents and cases.configurations([*parents, node]) <= MAX_CELLS:
                    out[row, subset] = np.round(self.score.local(cases, node, parents) / self.unit) * self.unit


def bits_of(subset: int) -> Iterator[int]:
    """Yield the nodes of a set, lowest first."""
    while subset:
        lowest = subset & -subset
        yield lowest.bit_length() - 1
        subset ^= lowest
