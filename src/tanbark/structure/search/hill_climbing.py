"""Hill climbing with a tabu list and restarts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.network import Structure
from tanbark.progress import Progress, silent
from tanbark.scores import Cases, Conditional, Decomposable
from tanbark.structure.search.family_scores import FamilyScores
from tanbark.structure.search.gains import ConditionalGains, DecomposableGains, Gains
from tanbark.structure.search.restrictions import Restrictions

SLACK = 1e-12


def slack(score: float, weight: float) -> float:
    """Return by how much sums of logarithms like this score, over cases of so much weight, may differ by rounding."""
    return SLACK * (abs(score) + weight)


Flags = NDArray[np.bool_]
Move = tuple[bool, int, int]
"""Whether an edge is turned round (else it is added or taken away), its child and its parent."""


def legal_moves(edges: Flags, restrictions: Restrictions) -> tuple[Flags, Flags]:
    """Return which edges may be added or, where they are there, taken away, and which may be turned round.

    All arrays are of shape (nodes, nodes), the parent first.
    """
    above = _at_or_above(edges)
    free = edges.sum(axis=0) < restrictions.max_parents
    loose = edges & ~restrictions.required
    added = ~edges & ~restrictions.forbidden & ~above.T & free
    # Another path from the parent to the child would close to a cycle with the edge turned round.
    roundabout = (above & ~np.eye(len(edges), dtype=np.bool_)).astype(np.float32) @ edges > 0
    turned = loose & ~restrictions.forbidden.T & ~roundabout & free[:, None]
    return added | loose, turned


def moved(edges: Flags, move: Move) -> Flags:
    """Return the edges after a move."""
    turned, child, parent = move
    after = edges.copy()
    after[parent, child] = not edges[parent, child]
    if turned:
        after[child, parent] = True
    return after


def structure_of(edges: Flags) -> Structure:
    """Return the structure with these edges."""
    return Structure(tuple(tuple(np.flatnonzero(above).tolist()) for above in edges.T))


def _at_or_above(edges: Flags) -> Flags:
    """Return whether the first node is the second, or there is a path from it to the second."""
    reach: Flags = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        paths = reach.astype(np.float32)
        further: Flags = paths @ paths > 0
        if np.array_equal(further, reach):
            return reach
        reach = further


def hill_climb(
    cases: Cases,
    score: Decomposable | Conditional,
    restrictions: Restrictions,
    *,
    tabu: int = 10,
    restarts: int = 0,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> Structure:
    """Return a structure that no single step makes better: the best of those that were found.

    The climb begins with the required edges alone. Each step is the one that gains most among those that add an edge,
    take one away or turn one round. Ties go to adding and taking away, then to the child's and then to the parent's
    place among the columns.

    Parameters
    ----------
    cases : Cases
    score : Decomposable or Conditional
    restrictions : Restrictions
    tabu : int
        Where no step gains, the one that loses least is taken, but never to one of the last `tabu` structures, until
        `tabu` steps in a row have found nothing better. Zero stops at the first summit (Glover 1989).
    restarts : int
        How many times to climb again from the best structure, disturbed by as many random steps as there are nodes.
    seed : int
        Of these steps.
    n_jobs : int, optional
        Threads, as in scikit-learn.
    progress : callable
        Is told of every step.
    """
    gains: Gains
    if isinstance(score, Decomposable):
        gains = DecomposableGains(FamilyScores(cases, score, n_jobs))
    else:
        gains = ConditionalGains(cases, score, n_jobs)
    climber = _Climber(gains, restrictions, tabu, float(cases.weights.sum()), progress)
    best, top = climber.climb(restrictions.required.copy())
    rng = np.random.default_rng(seed)
    for _ in range(restarts):
        found, height = climber.climb(_disturbed(best, restrictions, rng))
        if height > top + slack(top, climber.weight):
            best, top = found, height
    return structure_of(best)


@dataclass
class _Climber:
    """Climbs, one after the other, by the same gains."""

    gains: Gains
    restrictions: Restrictions
    tabu: int
    weight: float
    progress: Progress
    steps: int = 0

    def climb(self, edges: Flags) -> tuple[Flags, float]:
        """Return the best edges on the way from some edges, and their score."""
        self.gains.go_to(edges)
        best, top = edges, self.gains.score
        lately: deque[bytes] = deque([edges.tobytes()], maxlen=self.tabu)
        in_vain = 0
        while not in_vain or in_vain < self.tabu:
            move, gain = self._best_move(edges, lately)
            if move is None or (not self.tabu and gain <= slack(self.gains.score, self.weight)):
                break
            edges = moved(edges, move)
            lately.append(edges.tobytes())
            self.gains.go_to(edges)
            self.steps += 1
            in_vain += 1
            if self.gains.score > top + slack(top, self.weight):
                best, top, in_vain = edges, self.gains.score, 0
            self.progress(f"{self.steps} steps, log score {top:.2f}", self.steps, None)
        return best, top

    def _best_move(self, edges: Flags, lately: deque[bytes]) -> tuple[Move | None, float]:
        """Return the step that gains most among those that lead to none of the latest structures, and its gain."""
        toggled, turned = legal_moves(edges, self.restrictions)
        gains = np.full((2, *edges.shape), -np.inf)
        gains[0][toggled.T] = self.gains.toggling(toggled).T[toggled.T]
        gains[1][turned.T] = self.gains.turning(turned).T[turned.T]
        while True:
            most = float(gains.max(initial=-np.inf))
            if most == -np.inf:
                return None, most
            first = int(np.argmax(gains >= most - slack(self.gains.score, self.weight)))
            turn, child, parent = (int(i) for i in np.unravel_index(first, gains.shape))
            move = bool(turn), child, parent
            if moved(edges, move).tobytes() not in lately:
                return move, most
            gains[turn, child, parent] = -np.inf


def _disturbed(edges: Flags, restrictions: Restrictions, rng: np.random.Generator) -> Flags:
    """Return the edges after as many random steps as there are nodes."""
    for _ in range(len(edges)):
        moves: NDArray[np.intp] = np.argwhere(np.stack(legal_moves(edges, restrictions)))
        if not len(moves):
            break
        turned, parent, child = moves[rng.integers(len(moves))].tolist()
        edges = moved(edges, (bool(turned), child, parent))
    return edges
