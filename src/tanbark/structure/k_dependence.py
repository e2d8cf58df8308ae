"""The structure in which each attribute depends on the class and on up to k others (Sahami 1996)."""

from __future__ import annotations

from tanbark.counts import Counts
from tanbark.network import Structure
from tanbark.structure.edge_weights import cmi_weights, most_telling
from tanbark.structure.spanning_tree import settled


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
