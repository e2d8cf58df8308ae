"""The structure of greatest score among all, by dynamic programming over sets of nodes (Silander and Myllymaki 2006).

Every acyclic graph has a last node, which nobody depends on: the best graph over a set of nodes is, for some last node,
the best graph over the others and the best parents of the last among the others. The best parents among every set of
candidates are a maximum over its subsets. Both are found for sets that agree in their high bits at a time, in the order
of how many high bits are set, so that what is done with can be let go (after Malone, Yuan and Hansen 2011): what is
kept in full is one number for each set, and its last node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.threads import as_done, jobs
from tanbark.kernels.search.best_parents import (
    best_of_subsets,
    best_totals,
    first_best,
    raise_to,
    strike_out,
    take_last,
)
from tanbark.memory import most_of_free, size_in_words
from tanbark.network import Structure
from tanbark.progress import Progress, silent
from tanbark.scores import BDs, Cases, Decomposable, K2Score
from tanbark.structure.search.local_scores import MOST_TAIL, DirectScores, LocalScores, SetSums, bits_of
from tanbark.structure.search.restrictions import Restrictions

Scores = NDArray[np.float64]

MOST_MEMORY = 2**47
"""No process can have more."""


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

    Of several the one is taken whose edges lead from the class to attributes, and from earlier columns to later ones;
    then the one of fewest parents.

    Parameters
    ----------
    max_memory : float, optional
        How many bytes may be used; None is most of what is free.
    """
    above_all = restrictions.class_above_all
    of_class = cases.of_class
    searched = list(range(of_class)) if above_all else [of_class, *range(of_class)]
    threads = jobs(n_jobs)
    check_memory(cases, score, len(searched), max_memory, threads, progress)
    way = DirectScores if isinstance(score, BDs) else SetSums
    always = [of_class] if above_all else []
    required = [cases.configurations(np.flatnonzero(restrictions.required[:, u]).tolist()) for u in searched]
    scores = way(cases, score, searched, always, restrictions.max_parents, max(required, default=1.0))
    search = _Search(scores, searched, restrictions, threads, progress)
    parents: list[tuple[int, ...]] = [()] * len(cases.arity)
    for node, above in search.found():
        named = sorted(searched[u] for u in bits_of(above))
        parents[searched[node]] = (*named, of_class) if above_all else tuple(named)
    return Structure(tuple(parents))


def check_memory(
    cases: Cases, score: Decomposable, nodes: int, max_memory: float | None, threads: int, progress: Progress
) -> None:
    """Say how much memory a search needs, or raise a sentence where that is too much."""
    functions = 1 + len(set(cases.arity.tolist())) if isinstance(score, K2Score) else 1
    direct = isinstance(score, BDs)
    size = partial(memory_needed, len(cases.weights), functions=functions, threads=threads, direct=direct)
    needed = size(nodes)
    room = min(most_of_free() if max_memory is None else max_memory, MOST_MEMORY)
    progress(f"exact search over {nodes} nodes, which needs {size_in_words(needed)}", 0, None)
    if needed <= room:
        return
    fits = max((n for n in range(nodes) if size(n) <= room), default=0)
    raise ValueError(
        f"an exact search over {nodes} nodes needs {size_in_words(needed)}, but {size_in_words(room)} may be used "
        f"({'most of what is free' if max_memory is None else 'max_memory'}), in which {fits} nodes fit; leave columns "
        "out, set max_memory higher, or use search='greedy'"
    )


def memory_needed(cases: int, nodes: int, *, functions: int = 1, threads: int = 1, direct: bool = False) -> int:
    """Return how many bytes a search needs at most.

    Two layers of blocks, the last nodes, set functions, and for each thread partitions of the cases.
    """
    low = (DirectScores if direct else SetSums).block_nodes(nodes, cases)
    high = nodes - low
    layers = [8 * math.comb(high, size) * ((low << low >> 1) + (high - size + 1 << low)) for size in range(high + 1)]
    kept = 0 if direct else 8 * functions << nodes
    partitions = threads * cases * 8 * (nodes + 1 + (1 << MOST_TAIL))
    return max(a + b for a, b in zip(layers, [*layers[1:], 0])) + (1 << nodes) + kept + partitions


def _one_less(block: int) -> list[int]:
    """Return the sets that have one node less."""
    return [block & ~(1 << u) for u in bits_of(block)]


@dataclass
class _Block:
    """What is known of the sets that have certain high nodes.

    Parameters
    ----------
    low, beyond : arrays
        The best score of each low node, and of each high node that is not in the sets, among parents from each set.
    best : array
        The best total of each set.
    """

    low: Scores
    beyond: Scores
    best: Scores


class _Search:
    """The dynamic programme: `found` runs it."""

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
        self._low = scores.block_nodes(self._nodes, len(scores.weights))
        self._forbidden = [_bits(restrictions.forbidden[searched, u]) for u in searched]
        self._required = [_bits(restrictions.required[searched, u]) for u in searched]
        self._threads = threads
        self._progress = progress
        self._blocks: dict[int, _Block] = {}
        self._last = np.zeros(1 << self._nodes, np.uint8)

    def found(self) -> list[tuple[int, int]]:
        """Return each node with its parents in the best structure, last nodes first."""
        self._scores.prepare(self._threads, self._progress)
        high = self._nodes - self._low
        waiting: dict[int, int] = {}
        done = 0
        for size in range(high + 1):
            layer = [block for block in range(1 << high) if block.bit_count() == size]
            tasks = [(block, partial(self._do, block)) for block in layer]
            for block in as_done(tasks, self._threads):
                waiting[block] = high - size
                for below in _one_less(block):
                    waiting[below] -= 1
                    if not waiting[below]:
                        del waiting[below], self._blocks[below]
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

    def _do(self, high: int) -> None:
        """Work on the sets that have these high nodes; those with one less are done."""
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
        # From the highest node down, so that of equals the highest comes last.
        for u in sorted(bits_of(high), reverse=True):
            below = self._blocks[high & ~(1 << u)]
            row = sum(v < low + u for v in outside)
            raise_to(block.low.ravel(), below.low.ravel())
            raise_to(block.beyond[:row].ravel(), below.beyond[:row].ravel())
            raise_to(block.beyond[row:].ravel(), below.beyond[row + 1 :].ravel())
            take_last(block.best, last, below.best, below.beyond[row], float(low + u))
        if not high:
            block.best[0] = 0.0
        best_totals(block.best, last, block.low)
        self._last[high << low : (high + 1) << low] = last
        self._blocks[high] = block

    def _restrict(self, scores: Scores, node: int, high: int) -> None:
        """Strike out the sets of parents that are not allowed."""
        forbidden, required = self._forbidden[node], self._required[node]
        low = (1 << self._low) - 1
        if forbidden >> self._low & high or required >> self._low & ~high:
            scores[:] = -np.inf
        elif (forbidden | required) & low:
            strike_out(scores, _without(forbidden & low, node), _without(required & low, node))

    def _parents(self, node: int, candidates: int) -> int:
        """Return the best parents of a node among the candidates."""
        scores = self._scores.among(node, candidates)
        places = list(bits_of(candidates))
        forbidden = sum(1 << k for k, u in enumerate(places) if self._forbidden[node] >> u & 1)
        required = sum(1 << k for k, u in enumerate(places) if self._required[node] >> u & 1)
        strike_out(scores, forbidden, required)
        return sum(1 << places[k] for k in bits_of(int(first_best(scores))))


def _bits(flags: NDArray[np.bool_]) -> int:
    """Return the set of the nodes that are flagged."""
    return sum(1 << u for u in np.flatnonzero(flags).tolist())


def _without(subset: int, node: int) -> int:
    """Return a set in the numbering that leaves a node out, where the node has a place in it."""
    low = (1 << node) - 1
    return (subset & low) | ((subset >> 1) & ~low) if subset >> node else subset
