"""From the edges of trees to parents and children."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def hang_trees(trees: Integers, root: int, order: Integers, parent: Integers) -> None:
    """Write the nodes of each tree, parents before children, and each node's parent, -1 for the root."""
    many, edges = trees.shape[:2]
    for t in range(many):
        parent[t] = -1
        order[t, 0] = root
        reached = 1
        for step in range(edges + 1):
            u = order[t, step]
            for i, j in trees[t]:
                v = j if i == u else i
                if (i == u or j == u) and v != parent[t, u]:
                    parent[t, v] = u
                    order[t, reached] = v
                    reached += 1
