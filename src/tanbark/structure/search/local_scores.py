"""The scores of every node under every set of parents, as an exact search asks for them.

Searched nodes are bits of a number, sets of nodes are numbers. `SetSums` finds a score as the difference of two values
of a set function: ``score(x | P) = g(P + x) - g(P)``, so that one value for each set serves all nodes. That works for
BDeu, where ``g(S)`` is the sum over the cells of S of ``log G(a/q + N) / G(a/q)``, and for the log likelihood with or
without a penalty; K2 subtracts another function for each arity. `DirectScores` counts every family, for scores that are
no such difference (BDs).

All values are rounded to multiples of one power of two, so that their sums have no rounding error, and structures that
are equally good are found to be.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tanbark.counts.family_counts import ROOM
from tanbark.kernels.count.configurations import FEW
from tanbark.kernels.runtime.threads import as_done, run
from tanbark.kernels.search.best_parents import score_without, scores_among, subtract
from tanbark.kernels.search.direct_scores import BY_CELLS, BY_CONFIGURATIONS, BY_SEEN, LIKELIHOOD, direct_scores
from tanbark.kernels.search.subset_sums import subset_sums
from tanbark.progress import Progress
from tanbark.scores import BDeu, BDs, Cases, Decomposable, DirichletScore, K2Score, PenalisedLikelihood

Scores = NDArray[np.float64]

DIGITS = 50
"""Values are rounded to so many binary digits below a bound of them all."""
MOST_CELLS = float(ROOM) * (1.0 - 1e-15)
"""A family with more cells could have no table: they could not be numbered."""
MOST_TERMS = 2**22
"""Terms of cells are tabulated where there are at most so many."""
MOST_JOINT = 64
MOST_TAIL = 5
"""So many of the lowest columns, with so many joint values, are counted together."""
MOST_STEPS = 2**29
"""So many rows times nodes times sets are counted directly in one go."""
MOST_SET_STEPS = 2**26
"""So many sets times cases are walked through in one go: it takes some tenths of a second."""
PREFIXES = 8
"""The walk over all subsets is split by which of so many columns they have, at least."""
MOST_PREFIXES = 16
"""It is split by no more than so many columns, however many cases there are."""
FEWEST_FREE = 5
"""So many further columns are walked through at least, else what is split would all be done anew."""


class LocalScores(ABC):
    """The scores of the searched nodes.

    Parameters
    ----------
    cases : Cases
    score : Decomposable
    searched : sequence of int
        The nodes that bits stand for, the lowest first.
    always : sequence of int
        Nodes that are among the parents of all of them.
    max_parents : int
        How many parents a node may have, `always` included.
    least : float
        The most configurations that the required parents of a node have.
    """

    def __init__(
        self,
        cases: Cases,
        score: Decomposable,
        searched: Sequence[int],
        always: Sequence[int],
        max_parents: int,
        least: float = 1.0,
    ) -> None:
        order = [*searched, *always]
        self.nodes = len(searched)
        self.always = np.arange(self.nodes, len(order))
        self.codes = np.ascontiguousarray(cases.codes[order])
        self.arity = cases.arity[order]
        self.weights = cases.weights
        self.whole = bool((cases.weights == np.floor(cases.weights)).all())
        self.max_parents = max_parents
        self.least = max(least, cases.configurations(always))
        self.score = score
        self.total = float(cases.weights.sum())
        self.penalty = score.penalty(self.total) if isinstance(score, PenalisedLikelihood) else 0.0
        self.unit = 2.0 ** (math.ceil(math.log2(self._bound())) - DIGITS)

    def _bound(self) -> float:
        """Return a number that no sum of terms of cells, and an eighth of no total score, that matters is beyond."""
        total, cells, widest = self.total + 2.0, float(self.codes.shape[1]), float(self.arity.max())
        bound = total * math.log(total) + cells + (self.penalty * self._most() if self.penalty else 0.0)
        if isinstance(self.score, DirichletScore):
            ess = self.score.ess
            least = min(math.log(ess), 0.0) - float(np.log(self.arity).sum())
            bound = total * math.log(total + ess + widest) - cells * least
        return max(bound, self.nodes * total * math.log(widest + 1.0) / 8.0)

    def _most(self) -> float:
        """Return how many cells a family may have: beyond, they cost more in penalties than parents can gain.

        At most `MOST_CELLS` all the same.
        """
        if self.penalty == 0.0:
            return MOST_CELLS
        bounds = [
            r * (self.total * math.log(r) / (self.penalty * (r - 1)) + self.least) for r in self._arities() if r > 1
        ]
        return min(max(bounds, default=self.least), MOST_CELLS)

    def _arities(self) -> list[int]:
        """Return the arities of searched nodes, each once."""
        return sorted(set(self.arity[: self.nodes].tolist()))

    @staticmethod
    @abstractmethod
    def block_nodes(nodes: int, cases: int) -> int:
        """Return how many nodes are searched within one block of sets."""

    @abstractmethod
    def prepare(self, threads: int, progress: Progress) -> None:
        """Do what has to be done once."""

    @abstractmethod
    def block(self, high: int, low: Scores, beyond: Scores) -> None:
        """Write the scores under all sets that have the nodes of `high` and any low ones.

        Parameters
        ----------
        high : int
            The high nodes; low nodes are those that have a row in `low`.
        low : array of shape (low nodes, sets without the node)
        beyond : array of shape (high nodes that are not in `high`, sets)
        """

    @abstractmethod
    def among(self, node: int, candidates: int) -> Scores:
        """Return the scores of a node under each subset of the candidates, in ascending order."""


class SetSums(LocalScores):
    """Scores as differences of set functions."""

    @staticmethod
    def block_nodes(nodes: int, cases: int) -> int:
        """Return as many nodes as have their scores in the processor's cache."""
        return min(nodes, 16)

    def prepare(self, threads: int, progress: Progress) -> None:
        """Find the values of the set functions for all sets."""
        shared = isinstance(self.score, BDeu)
        concentrations = self._concentrations()
        self.sums = np.full((len(concentrations), 1 << self.nodes), -np.inf)
        bits = self._tail_bits()
        tail, part, configurations = self._tail(bits)
        step, tables = self._tables(concentrations, shared)
        tail_step = np.array([sum(step[u] for u in range(bits) if s >> u & 1) for s in range(1 << bits)], np.int64)
        free = self._free(bits)
        split = self.nodes - free

        def walk(prefix: int) -> None:
            chosen = [u for u in range(self.nodes - 1, free - 1, -1) if prefix >> (u - free) & 1]
            first = np.array([*self.always.tolist(), *chosen], np.int64)
            subset_sums(
                self.codes,
                self.arity,
                self.weights,
                self.whole,
                first,
                prefix << free,
                free,
                tail,
                part,
                bits,
                configurations,
                self.max_parents + 1,
                self._most(),
                concentrations,
                shared,
                self.penalty,
                step,
                tail_step,
                tables,
                self.unit,
                self.sums,
            )

        tasks = [(prefix, partial(walk, prefix)) for prefix in range(1 << split)]
        for done, _ in enumerate(as_done(tasks, threads), 1):
            progress("counting all sets of nodes", done, len(tasks))

    def _concentrations(self) -> NDArray[np.float64]:
        """Return the concentrations of the set functions; zero is the likelihood."""
        if isinstance(self.score, K2Score):
            return np.array([1.0, *self._arities()])
        return np.array([self.score.ess if isinstance(self.score, DirichletScore) else 0.0])

    def _free(self, bits: int) -> int:
        """Return through how many columns, the tail's included, one task walks: fewer the more cases there are."""
        soon = int(math.log2(max(MOST_SET_STEPS / len(self.weights), 1.0)))
        return max(min(self.nodes - PREFIXES, max(soon, bits + FEWEST_FREE)), self.nodes - MOST_PREFIXES, bits)

    def _tail_bits(self) -> int:
        """Return how many of the lowest columns are counted together."""
        joint, bits = 1, 0
        while bits < min(MOST_TAIL, self.nodes) and joint * self.arity[bits] <= MOST_JOINT:
            joint *= int(self.arity[bits])
            bits += 1
        return bits

    def _tail(self, bits: int) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.float64]]:
        """Return the tail's joint value in each case, the cell of each joint value in each subset, their number."""
        arity = self.arity[:bits].tolist()
        tail = np.zeros(self.codes.shape[1], np.uint8)
        joint = math.prod(arity)
        values = np.arange(joint)
        part = np.zeros((joint, 1 << bits), np.int32)
        configurations = np.ones(1 << bits)
        digits = []
        stride = 1
        for u, r in enumerate(arity):
            tail += (self.codes[u] * stride).astype(np.uint8)
            digits.append(values // stride % r)
            stride *= r
        cells = 0
        for s in range(1 << bits):
            many = 1
            for u, r in enumerate(arity):
                if s >> u & 1:
                    part[:, s] += (digits[u] * many).astype(np.int32)
                    many *= r
            part[:, s] += cells
            cells += many
            configurations[s] = many
        return tail, part, configurations

    def _tables(self, concentrations: Scores, shared: bool) -> tuple[NDArray[np.int64], Scores]:
        """Return the terms of cells of small whole weights, and how far each column moves the row to use."""
        step = np.zeros(len(self.arity), np.int64)
        configurations = np.ones(1)
        if shared:
            for r in sorted(set(self.arity.tolist())):
                columns = self.arity == r
                step[columns] = len(configurations)
                configurations = np.multiply.outer(float(r) ** np.arange(columns.sum() + 1), configurations).ravel()
                if len(configurations) * FEW > MOST_TERMS:
                    return step, np.empty((0, 1, FEW))
        weight = np.arange(FEW, dtype=np.float64)
        tables = np.empty((len(configurations), len(concentrations), FEW))
        for k, a in enumerate(concentrations.tolist()):
            if a == 0.0:
                tables[:, k] = xlogy(weight, weight)
            else:
                each = a / configurations[:, None] if shared else np.full((1, 1), a)
                tables[:, k, 0] = 0.0
                tables[:, k, 1:] = np.log(each + weight[:-1]).cumsum(axis=1)
        return step, tables

    def _pair(self, node: int) -> tuple[Scores, Scores]:
        """Return the set functions whose difference is a node's score: of parents and node, and of the parents."""
        if isinstance(self.score, K2Score):
            return self.sums[0], self.sums[1 + self._arities().index(int(self.arity[node]))]
        return self.sums[0], self.sums[0]

    def block(self, high: int, low: Scores, beyond: Scores) -> None:
        """Write the scores under all sets that have the nodes of `high` and any low ones."""
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
        """Return the scores of a node under each subset of the candidates, in ascending order."""
        out = np.empty(1 << candidates.bit_count())
        scores_among(*self._pair(node), candidates, node, out)
        return out


class DirectScores(LocalScores):
    """Scores that are counted family by family.

    It is the way of BDs; that of the other scores is there to check `SetSums`.
    """

    @staticmethod
    def block_nodes(nodes: int, cases: int) -> int:
        """Return fewer nodes the more cases there are, so that a block takes seconds at most."""
        return min(nodes, max(4, min(10, int(math.log2(MOST_STEPS / max(nodes * cases, 1))))))

    def prepare(self, threads: int, progress: Progress) -> None:
        """Keep the number of threads."""
        self._threads = threads

    def block(self, high: int, low: Scores, beyond: Scores) -> None:
        """Write the scores under all sets that have the nodes of `high` and any low ones."""
        bits = len(low)
        inside = [u for u in range(bits, self.nodes) if high >> (u - bits) & 1]
        outside = [u for u in range(bits, self.nodes) if not high >> (u - bits) & 1]
        scores = self._scores(inside, bits, [*range(bits), *outside])
        for u in range(bits):
            low[u] = scores[u].reshape(-1, 2, 1 << u)[:, 0].ravel()
        beyond[:] = scores[bits:]

    def among(self, node: int, candidates: int) -> Scores:
        """Return the scores of a node under each subset of the candidates, in ascending order."""
        columns = [u for u in range(self.nodes) if candidates >> u & 1]
        free = min(len(columns), self.block_nodes(self.nodes, self.codes.shape[1]))
        out = np.empty((1 << len(columns) - free, 1 << free))

        def count(prefix: int) -> None:
            first = [u for u in range(free, len(columns)) if prefix >> (u - free) & 1]
            out[prefix] = self._scores(first, free, [node], columns)[0]

        run([partial(count, prefix) for prefix in range(len(out))], self._threads)
        return out.ravel()

    def _scores(
        self, first: Iterable[int], free: int, nodes: Sequence[int], columns: Sequence[int] | None = None
    ) -> Scores:
        """Return the scores of nodes under `first` and each subset of the first `free` of the columns."""
        scores = np.full((len(nodes), 1 << free), -np.inf)
        order = np.arange(self.nodes) if columns is None else np.array([*columns, *nodes])
        if columns is not None:
            nodes = range(len(columns), len(order))
        order = np.concatenate([order, self.always])
        above = [*range(len(order) - len(self.always), len(order)), *first]
        ess = self.score.ess if isinstance(self.score, DirichletScore) else 0.0
        direct_scores(
            np.ascontiguousarray(self.codes[order]),
            self.arity[order],
            self.weights,
            self.whole,
            np.array(above, np.int64),
            free,
            np.array(nodes, np.int64),
            self.max_parents,
            MOST_CELLS,
            self._rule(),
            ess,
            self.penalty,
            self.unit,
            scores,
        )
        return scores

    def _rule(self) -> int:
        """Return how the prior is shared."""
        rules: dict[type, int] = {BDeu: BY_CONFIGURATIONS, BDs: BY_SEEN, K2Score: BY_CELLS}
        return rules.get(type(self.score), LIKELIHOOD)


def bits_of(subset: int) -> Iterator[int]:
    """Yield the nodes of a set, the lowest first."""
    while subset:
        lowest = subset & -subset
        yield lowest.bit_length() - 1
        subset ^= lowest
