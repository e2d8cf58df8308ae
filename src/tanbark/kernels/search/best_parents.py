"""The best parents of every node among every set of candidates, and the best last node of every set.

Sets are numbers whose bits are nodes. They are worked on in blocks of those that agree in their high bits.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Scores = NDArray[np.float64]

LOWEST = 5
SHORT = 16
"""Shorter runs are not worth a call."""


@njit(nogil=True, cache=True)
def allowed(parents: int, forbidden: int, required: int) -> bool:
    """Return whether a set of parents has nothing forbidden and all that is required."""
    return parents & forbidden == 0 and parents & required == required


@njit(nogil=True, cache=True)
def score_without(whole: Scores, parents: Scores, start: int, bit: int, out: Scores) -> None:
    """Write the scores of a low node under each set of the block at `start`, the node's bit being left out of them.

    A score is what `whole` has for the set and the node less what `parents` has for the set alone.
    """
    own = 1 << bit
    if own < SHORT:
        for k in range(len(out)):
            at = start + 2 * k - (k & (own - 1))
            out[k] = whole[at + own] - parents[at] if whole[at + own] > -np.inf else -np.inf
        return
    for k in range(0, len(out), own):
        at = start + 2 * k
        subtract(whole[at + own : at + 2 * own], parents[at : at + own], out[k : k + own])


@njit(nogil=True, cache=True)
def subtract(whole: Scores, parents: Scores, out: Scores) -> None:
    """Write the difference, minus infinity where `whole` is that."""
    for k in range(len(out)):
        out[k] = whole[k] - parents[k] if whole[k] > -np.inf else -np.inf


@njit(nogil=True, cache=True)
def strike_out(scores: Scores, forbidden: int, required: int) -> None:
    """Give sets of parents that are not allowed a score of minus infinity."""
    for s in range(len(scores)):
        if not allowed(s, forbidden, required):
            scores[s] = -np.inf


@njit(nogil=True, cache=True)
def best_of_subsets(scores: Scores) -> None:
    """Replace the score of each set by the greatest of its subsets' (a zeta transform)."""
    bit = 1
    while bit < min(SHORT, len(scores)):
        for k in range(len(scores) // 2):
            at = 2 * k - (k & (bit - 1))
            without, with_bit = scores[at], scores[at + bit]
            scores[at + bit] = without if without > with_bit else with_bit
        bit *= 2
    while bit < len(scores):
        for start in range(0, len(scores), 2 * bit):
            raise_to(scores[start + bit : start + 2 * bit], scores[start : start + bit])
        bit *= 2


@njit(nogil=True, cache=True)
def raise_to(scores: Scores, others: Scores) -> None:
    """Replace each score by the other where that is greater."""
    for k in range(len(scores)):
        scores[k] = others[k] if others[k] > scores[k] else scores[k]


@njit(nogil=True, cache=True)
def take_last(best: Scores, last: Scores, before: Scores, scores: Scores, node: float) -> None:
    """Let `node` be last in a set where that is better than what is there.

    Parameters
    ----------
    best, last
        The best total of each set and the node that is last in it.
    before, scores
        The best total of each set without the node, and the node's best score with parents from that set.
    """
    for k in range(len(best)):
        total = before[k] + scores[k]
        better = total > best[k]
        best[k] = total if better else best[k]
        last[k] = node if better else last[k]


@njit(nogil=True, cache=True)
def best_totals(best: Scores, last: Scores, scores: Scores) -> None:
    """Find the best total of each set of a block, and its last node, where a low node may be last.

    `best` and `last` come with what high nodes can do and are brought to their final values in ascending order;
    `scores` are the best scores of each low node. Nodes above the lowest few are tried for several sets at once.
    """
    nodes = len(scores)
    few = min(nodes, LOWEST)
    run = 1 << few
    for start in range(0, len(best), run):
        here = slice(start, start + run)
        for u in range(nodes - 1, few - 1, -1):
            own = 1 << u
            if start & own:
                low = own - 1
                without = start ^ own
                at = (start & low) | ((start >> 1) & ~low)
                take_last(best[here], last[here], best[without : without + run], scores[u, at : at + run], float(u))
        for s in range(start, start + run):
            for u in range(few - 1, -1, -1):
                own = 1 << u
                if s & own:
                    low = own - 1
                    total = best[s ^ own] + scores[u, (s & low) | ((s >> 1) & ~low)]
                    if total > best[s]:
                        best[s] = total
                        last[s] = u


@njit(nogil=True, cache=True)
def scores_among(whole: Scores, parents: Scores, candidates: int, node: int, out: Scores) -> None:
    """Write the scores of a node under each subset of the candidates, in ascending order."""
    own = 1 << node
    s = 0
    for k in range(len(out)):
        out[k] = whole[s | own] - parents[s] if whole[s | own] > -np.inf else -np.inf
        s = (s - candidates) & candidates


@njit(nogil=True, cache=True)
def first_best(scores: Scores) -> int:
    """Return the set with the greatest score: of several the smallest, of several such the lowest."""
    best, found, fewest = -np.inf, 0, 64
    for s in range(len(scores)):
        if scores[s] >= best:
            size, rest = 0, s
            while rest:
                rest &= rest - 1
                size += 1
            if scores[s] > best or size < fewest:
                best, found, fewest = scores[s], s, size
    return found
