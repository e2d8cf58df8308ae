"""Find the best parents of every node within every set of candidates, and the best last node of every set.

Sets are integers whose bits are nodes. They are processed in blocks of sets with the same high bits.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Scores = NDArray[np.float64]

N_LOW_NODES = 5
"""Number of nodes that are tried one set at a time; each run of ``2**N_LOW_NODES`` sets differs only in these."""
MIN_RUN_LENGTH = 16
"""Shorter runs of sets are not worth a function call."""


@njit(nogil=True, cache=True)
def allowed(parents: int, forbidden: int, required: int) -> bool:
    """Return whether a set of parents includes no forbidden and all required nodes."""
    return parents & forbidden == 0 and parents & required == required


@njit(nogil=True, cache=True)
def score_without(families: Scores, parents: Scores, start: int, bit: int, out: Scores) -> None:
    """Write the scores of a low node under each set of the block at `start`.

    The bit of the node is removed from the sets. A score is the value of `families` for the set with the node minus the
    value of `parents` for the set alone.
    """
    node_bit = 1 << bit
    if node_bit < MIN_RUN_LENGTH:
        for k in range(len(out)):
            index = start + 2 * k - (k & (node_bit - 1))
            out[k] = families[index + node_bit] - parents[index] if families[index + node_bit] > -np.inf else -np.inf
        return
    for k in range(0, len(out), node_bit):
        index = start + 2 * k
        subtract(
            families[index + node_bit : index + 2 * node_bit], parents[index : index + node_bit], out[k : k + node_bit]
        )


@njit(nogil=True, cache=True)
def subtract(families: Scores, parents: Scores, out: Scores) -> None:
    """Write ``families - parents``, and minus infinity where `families` is minus infinity."""
    for k in range(len(out)):
        out[k] = families[k] - parents[k] if families[k] > -np.inf else -np.inf


@njit(nogil=True, cache=True)
def exclude_disallowed(scores: Scores, forbidden: int, required: int) -> None:
    """Set the scores of sets of parents that are not allowed to minus infinity."""
    for s in range(len(scores)):
        if not allowed(s, forbidden, required):
            scores[s] = -np.inf


@njit(nogil=True, cache=True)
def best_of_subsets(scores: Scores) -> None:
    """Replace the score of each set by the greatest score among its subsets (a zeta transform)."""
    bit = 1
    while bit < min(MIN_RUN_LENGTH, len(scores)):
        for k in range(len(scores) // 2):
            index = 2 * k - (k & (bit - 1))
            without, with_bit = scores[index], scores[index + bit]
            scores[index + bit] = without if without > with_bit else with_bit
        bit *= 2
    while bit < len(scores):
        for start in range(0, len(scores), 2 * bit):
            raise_to_maximum(scores[start + bit : start + 2 * bit], scores[start : start + bit])
        bit *= 2


@njit(nogil=True, cache=True)
def raise_to_maximum(scores: Scores, others: Scores) -> None:
    """Replace each score by the corresponding element of `others` if that is greater."""
    for k in range(len(scores)):
        scores[k] = others[k] if others[k] > scores[k] else scores[k]


@njit(nogil=True, cache=True)
def update_last_nodes(best: Scores, last: Scores, before: Scores, scores: Scores, node: float) -> None:
    """Make `node` the last node of each set for which this improves the best total.

    Parameters
    ----------
    best, last
        The best total of each set and its last node.
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
    """Find the best total and the last node of each set of a block, considering the low nodes as last nodes.

    On entry `best` and `last` are the results for the high nodes; they are updated in ascending order of the sets.
    `scores` holds the best scores of each low node. All but the `N_LOW_NODES` lowest nodes are tried for several sets
    at once.
    """
    nodes = len(scores)
    n_low = min(nodes, N_LOW_NODES)
    run = 1 << n_low
    for start in range(0, len(best), run):
        block = slice(start, start + run)
        for u in range(nodes - 1, n_low - 1, -1):
            node_bit = 1 << u
            if start & node_bit:
                low = node_bit - 1
                without = start ^ node_bit
                index = (start & low) | ((start >> 1) & ~low)
                update_last_nodes(
                    best[block], last[block], best[without : without + run], scores[u, index : index + run], float(u)
                )
        for s in range(start, start + run):
            for u in range(n_low - 1, -1, -1):
                node_bit = 1 << u
                if s & node_bit:
                    low = node_bit - 1
                    total = best[s ^ node_bit] + scores[u, (s & low) | ((s >> 1) & ~low)]
                    if total > best[s]:
                        best[s] = total
                        last[s] = u


@njit(nogil=True, cache=True)
def scores_among(families: Scores, parents: Scores, candidates: int, node: int, out: Scores) -> None:
    """Write the scores of a node under each subset of the candidates, in ascending order of the subsets."""
    node_bit = 1 << node
    s = 0
    for k in range(len(out)):
        out[k] = families[s | node_bit] - parents[s] if families[s | node_bit] > -np.inf else -np.inf
        s = (s - candidates) & candidates


@njit(nogil=True, cache=True)
def first_best(scores: Scores) -> int:
    """Return the set with the greatest score; ties go to the smallest set, then to the lowest number."""
    best, best_set, best_size = -np.inf, 0, 64
    for s in range(len(scores)):
        if scores[s] >= best:
            size, rest = 0, s
            while rest:
                rest &= rest - 1
                size += 1
            if scores[s] > best or size < best_size:
                best, best_set, best_size = scores[s], s, size
    return best_set
