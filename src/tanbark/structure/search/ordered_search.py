"""Searches along an order of the nodes: K2 and k-dependence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanbark.counts import Counts
from tanbark.network import Structure
from tanbark.scores import Cases, Decomposable
from tanbark.scores.gains import FamilyScores
from tanbark.structure.search.hill_climbing import slack
from tanbark.structure.trees.learned_trees import attributes_by_information, cmi_weights, rounded_weights


def k2_search(
    cases: Cases, score: Decomposable, order: Sequence[int], max_parents: int, n_jobs: int | None = None
) -> Structure:
    """Return the structure that the K2 algorithm finds: each node chooses parents greedily among the nodes before it.

    A node adds one parent at a time, the one that increases its score most, until none does or it has `max_parents`.
    Ties go to column order.
    """
    families = FamilyScores(cases, score, n_jobs)
    weight = float(cases.weights.sum())
    structure: list[tuple[int, ...]] = [()] * len(order)
    for place, node in enumerate(order):
        parents: tuple[int, ...] = ()
        current = families.local(node, parents)
        while len(parents) < max_parents:
            others = sorted(set(order[:place]) - set(parents))
            scores = families.grown(node, parents, others)
            best = float(scores.max(initial=-np.inf))
            if best <= current + slack(current, weight):
                break
            chosen = int(np.argmax(scores >= best - slack(best, weight)))
            parents, current = tuple(sorted((*parents, others[chosen]))), float(scores[chosen])
        structure[node] = parents
    return Structure(tuple(structure))


def k_dependence(counts: Counts, k: int) -> Structure:
    """Return the structure of Sahami's k-dependence algorithm.

    Attributes are ordered by ``I(X; C)``, greatest first. The parents of each are the `k` attributes before it (or all,
    if there are fewer) with the greatest ``I(X; X' | C)``, greatest first, and the class. Ties go to column order.
    """
    n = len(counts.schema.columns)
    order = attributes_by_information(counts)
    parents: list[tuple[int, ...]] = [(n,)] * n
    if k > 0:
        weights = rounded_weights(cmi_weights(counts, 0.0))
        for place, u in enumerate(order):
            before = sorted(order[:place], key=lambda v: (-weights[u, v], v))
            parents[u] = (*before[:k], n)
    return Structure((*parents, ()))
