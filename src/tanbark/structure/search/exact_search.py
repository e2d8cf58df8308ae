"""The structure of greatest score, by dynamic programming over sets of nodes (Silander and Myllymaki 2006).

Every acyclic graph has a last node, which is a parent of no other. For some last node, the best graph over a set of
nodes is the best graph over the other nodes plus the best parents of the last node among them. The best parents among
each set of candidates are a maximum over its subsets. Both are computed in blocks of sets that agree in their high
bits, ordered by the number of high bits that are set, so that finished blocks can be freed (after Malone, Yuan and
Hansen 2011). Only the set functions and the last node of each set are kept throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.threads import as_done, resolve_n_jobs
from tanbark.kernels.search.best_parents import (
    best_of_subsets,
    best_totals,
    exclude_disallowed,
    first_best,
    raise_to_maximum,
    update_last_nodes,
)
from tanbark.memory import format_bytes, usable_memory
from tanbark.network import Structure
from tanbark.progress import Progress, silent
from tanbark.scores import Cases, Decomposable
from tanbark.structure.search.local_scores import MAX_TAIL_COLUMNS, LocalScores, SetSums, bits_of, fastest_scores
from tanbark.structure.search.restrictions import Restrictions

Scores = NDArray[np.float64]

MAX_MEMORY_BYTES = 2**47
"""The address space of a process."""


def exact_structure(
    cases: Cases,
    score: Decomposable,
    restrictions: Restrictions,
    *,
    max_memory: float | None = None,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> Structure:
    """Return the structure of greatest score that the restrictions allow.

    Ties go to edges from the class to attributes and from earlier columns to later ones, then to fewer parents.

    Parameters
    ----------
    cases : Cases
    score : Decomposable
    restrictions : Restrictions
    max_memory : float, optional
        Maximum number of bytes to use. The default is most of the free memory.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : callable
        Called with the memory needed, and after each part of the work.

    Raises
    ------
    ValueError
        If the search needs more memory than allowed.
    """
    above_all = restrictions.class_above_all
    of_class = cases.of_class
    searched = list(range(of_class)) if above_all else [of_class, *range(of_class)]
    always = [of_class] if above_all else []
    required = [cases.configurations(np.flatnonzero(restrictions.required[:, u]).tolist()) for u in searched]
    scores = fastest_scores(score)(cases, score, searched, always, restrictions.max_parents, max(required, default=1.0))
    threads = resolve_n_jobs(n_jobs)
    check_memory(scores, max_memory, threads, progress)
    search = _Search(scores, searched, restrictions, threads, progress)
    parents: list[tuple[int, ...]] = [()] * len(cases.arity)
    for node, chosen in search.run():
        named = sorted(searched[u] for u in bits_of(chosen))
        parents[searched[node]] = (*named, of_class) if above_all else tuple(named)
    return Structure(tuple(parents))


def check_memory(scores: LocalScores, max_memory: float | None, threads: int, progress: Progress) -> None:
    """Report how much memory a search needs; raise ValueError if it is too much."""
    nodes = scores.nodes
    size = partial(
        memory_needed, len(scores.cases.weights), way=type(scores), functions=scores.functions, threads=threads
    )
    needed = size(nodes)
    available = min(usable_memory() if max_memory is None else max_memory, MAX_MEMORY_BYTES)
    progress(f"exact search over {nodes} nodes, which needs {format_bytes(needed)}", 0, None)
    if needed <= available:
        return
    fits = max((n for n in range(nodes) if size(n) <= available), default=0)
    limit = "most of the free memory" if max_memory is None else "max_memory"
    raise ValueError(
        f"an exact search over {nodes} nodes needs {format_bytes(needed)}, but {format_bytes(available)} may be used "
        f"({limit}), in which {fits} nodes fit; use fewer columns, increase max_memory, or use search='greedy'"
    )


def memory_needed(
    cases: int, nodes: int, *, way: type[LocalScores] = SetSums, functions: int = 1, threads: int = 1
) -> int:
    """Return the maximum number of bytes that a search uses.

    These are two layers of blocks, the last nodes, the set functions, and partitions of the cases for each thread.
    """
    low = way.block_nodes(nodes, cases)
    high = nodes - low
    layers = [8 * math.comb(high, size) * ((low << low >> 1) + (high - size + 1 << low)) for size in range(high + 1)]
    partitions = threads * cases * 8 * (nodes + 1 + (1 << MAX_TAIL_COLUMNS))
    two_layers = max(a + b for a, b in zip(layers, [*layers[1:], 0], strict=True))
    return two_layers + (1 << nodes) + (8 * functions << nodes) + partitions


@dataclass
class _Block:
    """Results for all sets with the same high nodes.

    Parameters
    ----------
    low : array of shape (low nodes, sets without the node)
        The best score of each low node with parents from each set.
    beyond : array of shape (high nodes that are not in the sets, sets)
        The best score of each of these high nodes with parents from each set.
    best : array of shape (sets,)
        The best total score of each set.
    """

    low: Scores
    beyond: Scores
    best: Scores


class _Search:
    """The dynamic programme."""

    def __init__(
        self,
        scores: LocalScores,
        searched: Sequence[int],
        restrictions: Restrictions,
        threads: int,
        progress: Progress,
    ) -> None:
        self._scores = scores
        self._nodes = len(searched)
        self._low = scores.block_nodes(self._nodes, len(scores.cases.weights))
        self._forbidden = [_bits(restrictions.forbidden[searched, u]) for u in searched]
        self._required = [_bits(restrictions.required[searched, u]) for u in searched]
        self._threads = threads
        self._progress = progress
        self._blocks: dict[int, _Block] = {}
        self._last = np.zeros(1 << self._nodes, np.uint8)

    def run(self) -> list[tuple[int, int]]:
        """Return each node with the set of its parents in the best structure, last nodes first."""
        self._scores.prepare(self._threads, self._progress)
        high = self._nodes - self._low
        waiting: dict[int, int] = {}
        done = 0
        for size in range(high + 1):
            layer = [block for block in range(1 << high) if block.bit_count() == size]
            tasks = [(block, partial(self._solve, block)) for block in layer]
            for block in as_done(tasks, self._threads):
                waiting[block] = high - size
                for smaller in (block & ~(1 << u) for u in bits_of(block)):
                    waiting[smaller] -= 1
                    if not waiting[smaller]:
                        del waiting[smaller], self._blocks[smaller]
                done += 1
                self._progress("finding the best parents", done, 1 << high)
        self._blocks.clear()
        left = (1 << self._nodes) - 1
        order = []
        while left:
            node = int(self._last[left])
            assert left >> node & 1, "no structure obeys the restrictions"
            left &= ~(1 << node)
            order.append((node, self._parents(node, left)))
        return order

    def _solve(self, high: int) -> None:
        """Solve the block of sets with these high nodes; the blocks with one high node less are finished."""
        low, size = self._low, 1 << self._low
        outside = [u for u in range(low, self._nodes) if not high >> (u - low) & 1]
        block = _Block(np.empty((low, size >> 1)), np.empty((len(outside), size)), np.full(size, -np.inf))
        self._scores.block(high, block.low, block.beyond)
        last = np.zeros(size)
        for u in range(low):
            self._restrict(block.low[u], u, high)
            best_of_subsets(block.low[u])
        for row, u in enumerate(outside):
            self._restrict(block.beyond[row], u, high)
            best_of_subsets(block.beyond[row])
        # From the highest node down, so that ties go to the highest last node.
        for u in sorted(bits_of(high), reverse=True):
            below = self._blocks[high & ~(1 << u)]
            row = sum(v < low + u for v in outside)
            raise_to_maximum(block.low.ravel(), below.low.ravel())
            raise_to_maximum(block.beyond[:row].ravel(), below.beyond[:row].ravel())
            raise_to_maximum(block.beyond[row:].ravel(), below.beyond[row + 1 :].ravel())
            update_last_nodes(block.best, last, below.best, below.beyond[row], float(low + u))
        if not high:
            block.best[0] = 0.0
        best_totals(block.best, last, block.low)
        self._last[high << low : (high + 1) << low] = last
        self._blocks[high] = block

    def _restrict(self, scores: Scores, node: int, high: int) -> None:
        """Set the scores of sets of parents that are not allowed to minus infinity."""
        forbidden, required = self._forbidden[node], self._required[node]
        low = (1 << self._low) - 1
        if forbidden >> self._low & high or required >> self._low & ~high:
            scores[:] = -np.inf
        elif (forbidden | required) & low:
            exclude_disallowed(scores, _without(forbidden & low, node), _without(required & low, node))

    def _parents(self, node: int, candidates: int) -> int:
        """Return the best parents of a node among the candidates."""
        scores = self._scores.among(node, candidates)
        places = list(bits_of(candidates))
        forbidden = sum(1 << k for k, u in enumerate(places) if self._forbidden[node] >> u & 1)
        required = sum(1 << k for k, u in enumerate(places) if self._required[node] >> u & 1)
        exclude_disallowed(scores, forbidden, required)
        return sum(1 << places[k] for k in bits_of(int(first_best(scores))))


def _bits(flags: NDArray[np.bool_]) -> int:
    """Return the flagged nodes as a set."""
    return sum(1 << u for u in np.flatnonzero(flags).tolist())


def _without(subset: int, node: int) -> int:
    """Return a set of low nodes with the bit of `node` removed; if `node` is high, there is no such bit."""
    low = (1 << node) - 1
    return (subset & low) | ((subset >> 1) & ~low) if subset >> node else subset
