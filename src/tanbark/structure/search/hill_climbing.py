"""Hill climbing over structures, with a tabu list and restarts.

From top to bottom: the search itself (`hill_climb` and its climber), then the legal moves between structures, then the
tolerance for rounding errors. The gains of moves come from the score (`tanbark.scores.Gains`). Edges are arrays of
shape (nodes, nodes), the parent first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.network import Structure
from tanbark.progress import Progress, silent
from tanbark.scores import Cases, Gains, Score
from tanbark.structure.search.restrictions import Restrictions

Flags = NDArray[np.bool_]
Move = tuple[bool, int, int]
"""Whether an edge is reversed (otherwise it is added or removed), its child and its parent."""

RELATIVE_TOLERANCE = 1e-12
"""Differences between scores below this share of the score and the weight of the cases are rounding errors."""


def hill_climb(
    cases: Cases,
    score: Score,
    restrictions: Restrictions,
    *,
    tabu: int = 10,
    restarts: int = 0,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> Structure:
    """Return the best structure that hill climbing finds; no single move improves it.

    The search starts with the required edges. Each move adds, removes or reverses one edge, the one with the greatest
    gain. Ties go to additions and removals, then to the column order of the child, then to that of the parent.

    Parameters
    ----------
    cases : Cases
    score : Score
    restrictions : Restrictions
    tabu : int
        Length of the tabu list (Glover 1989). If no move gains, the search takes the one that loses least, except to
        one of the last `tabu` structures, and ends after `tabu` moves without a new best structure. Zero ends it at
        the first local optimum.
    restarts : int
        How often to climb again from the best structure after as many random moves as there are nodes.
    seed : int
        Seed of the random moves.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : callable
        Called after each move.
    """
    climber = _Climber(score.gains(cases, n_jobs), restrictions, tabu, float(cases.weights.sum()), progress)
    best, best_score = climber.climb(restrictions.required.copy())
    rng = np.random.default_rng(seed)
    for _ in range(restarts):
        edges, edges_score = climber.climb(_disturbed(best, restrictions, rng))
        if edges_score > best_score + slack(best_score, climber.weight):
            best, best_score = edges, edges_score
    return structure_of(best)


@dataclass
class _Climber:
    """Climbs from one or several structures with the same gains."""

    gains: Gains
    restrictions: Restrictions
    tabu: int
    weight: float
    progress: Progress
    moves: int = 0

    def climb(self, edges: Flags) -> tuple[Flags, float]:
        """Return the best structure on the way from the given edges, and its score."""
        self.gains.move_to(edges)
        best, best_score = edges, self.gains.score
        recent: deque[bytes] = deque([edges.tobytes()], maxlen=self.tabu)
        without_success = 0
        while not without_success or without_success < self.tabu:
            move, gain = self._best_move(edges, recent)
            if move is None or (not self.tabu and gain <= slack(self.gains.score, self.weight)):
                break
            edges = moved(edges, move)
            recent.append(edges.tobytes())
            self.gains.move_to(edges)
            self.moves += 1
            without_success += 1
            if self.gains.score > best_score + slack(best_score, self.weight):
                best, best_score, without_success = edges, self.gains.score, 0
            self.progress(f"{self.moves} steps, log score {best_score:.2f}", self.moves, None)
        return best, best_score

    def _best_move(self, edges: Flags, recent: deque[bytes]) -> tuple[Move | None, float]:
        """Return the move of greatest gain that does not lead to a recent structure, and its gain."""
        togglable, reversible = legal_moves(edges, self.restrictions)
        gains = np.full((2, *edges.shape), -np.inf)
        gains[0][togglable.T] = self.gains.toggle_gains(togglable).T[togglable.T]
        gains[1][reversible.T] = self.gains.reversal_gains(reversible).T[reversible.T]
        while True:
            greatest = float(gains.max(initial=-np.inf))
            if greatest == -np.inf:
                return None, greatest
            first = int(np.argmax(gains >= greatest - slack(self.gains.score, self.weight)))
            reverse, child, parent = (int(i) for i in np.unravel_index(first, gains.shape))
            move = bool(reverse), child, parent
            if moved(edges, move).tobytes() not in recent:
                return move, greatest
            gains[reverse, child, parent] = -np.inf


def _disturbed(edges: Flags, restrictions: Restrictions, rng: np.random.Generator) -> Flags:
    """Return the edges after as many random moves as there are nodes."""
    for _ in range(len(edges)):
        moves: NDArray[np.intp] = np.argwhere(np.stack(legal_moves(edges, restrictions)))
        if not len(moves):
            break
        reverse, parent, child = moves[rng.integers(len(moves))].tolist()
        edges = moved(edges, (bool(reverse), child, parent))
    return edges


def legal_moves(edges: Flags, restrictions: Restrictions) -> tuple[Flags, Flags]:
    """Return which edges may be added or, if present, removed, and which may be reversed."""
    reaches = _reachability(edges)
    may_gain_parent = edges.sum(axis=0) < restrictions.max_parents
    removable = edges & ~restrictions.required
    addable = ~edges & ~restrictions.forbidden & ~reaches.T & may_gain_parent
    # A second path from the parent to the child would form a cycle with the reversed edge.
    second_path = (reaches & ~np.eye(len(edges), dtype=np.bool_)).astype(np.float32) @ edges > 0
    reversible = removable & ~restrictions.forbidden.T & ~second_path & may_gain_parent[:, None]
    return addable | removable, reversible


def _reachability(edges: Flags) -> Flags:
    """Return whether there is a path, possibly empty, from the first node to the second."""
    reach: Flags = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        paths = reach.astype(np.float32)
        longer: Flags = paths @ paths > 0
        if np.array_equal(longer, reach):
            return reach
        reach = longer


def moved(edges: Flags, move: Move) -> Flags:
    """Return the edges after a move."""
    reverse, child, parent = move
    after = edges.copy()
    after[parent, child] = not edges[parent, child]
    if reverse:
        after[child, parent] = True
    return after


def structure_of(edges: Flags) -> Structure:
    """Return the structure with these edges."""
    return Structure(tuple(tuple(np.flatnonzero(is_parent).tolist()) for is_parent in edges.T))


def slack(score: float, weight: float) -> float:
    """Return the rounding error to expect in a score of cases of this total weight."""
    return RELATIVE_TOLERANCE * (abs(score) + weight)
