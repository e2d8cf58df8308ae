"""The structure that K2 finds along an order of the nodes (Cooper and Herskovits 1992)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanbark.network import Structure
from tanbark.scores import Cases, K2Score
from tanbark.structure.family_scores import FamilyScores
from tanbark.structure.rounding import slack


def k2_search(cases: Cases, order: Sequence[int], max_parents: int, n_jobs: int | None = None) -> Structure:
    """Return the structure in which each node took its parents from the nodes before it, greedily by the K2 score.

    A node takes one parent at a time, the one that raises its score most, until none does or it has `max_parents`.
    Ties go to column order.
    """
    families = FamilyScores(cases, K2Score(), n_jobs)
    weight = float(cases.weights.sum())
    parents: list[tuple[int, ...]] = [()] * len(order)
    for place, node in enumerate(order):
        above: tuple[int, ...] = ()
        score = families.local(node, above)
        while len(above) < max_parents:
            others = sorted(set(order[:place]) - set(above))
            scores = families.grown(node, above, others)
            best = float(scores.max(initial=-np.inf))
            if best <= score + slack(score, weight):
                break
            chosen = int(np.argmax(scores >= best - slack(best, weight)))
            above, score = tuple(sorted((*above, others[chosen]))), float(scores[chosen])
        parents[node] = above
    return Structure(tuple(parents))
