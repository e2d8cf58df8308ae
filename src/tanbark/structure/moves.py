"""Steps from one structure to the next: an edge is added, taken away or turned round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.network import Structure
from tanbark.structure.restrictions import Restrictions

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
