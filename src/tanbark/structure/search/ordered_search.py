"""Structures found along an order of the nodes: K2 and k-dependence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanbark.counts import Counts
from tanbark.network import Structure
from tanbark.scores import Cases, K2Score
from tanbark.structure.search.family_scores import FamilyScores
from tanbark.structure.search.hill_climbing import slack
from tanbark.structure.trees.edge_weights import cmi_weights, most_telling
from tanbark.structure.trees.spanning_tree import settled


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


def k_dependence(counts: Counts, k: int) -> Structure:
    """Return the structure of Sahami's algorithm.

    Attributes come in the order of ``I(X; C)``, the greatest first. Each takes as parents the `k` attributes among
    those before it (all of them, where they are fewer) with the greatest ``I(X; X' | C)``, greatest first, and the
    class. Ties go to column order.
    """
    n = len(counts.schema.columns)
    order = most_telling(counts)
    parents: list[tuple[int, ...]] = [(n,)] * n
    if k > 0:
        weights = settled(cmi_weights(counts, 0.0))
        for place, u in enumerate(order):
            before = sorted(order[:place], key=lambda v: (-weights[u, v], v))
            parents[u] = (*before[:k], n)
    return Structure((*parents, ()))
