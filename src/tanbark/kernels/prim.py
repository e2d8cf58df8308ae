"""The maximum spanning tree by Prim's algorithm."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit


@njit(nogil=True, cache=True)
def grow_tree(weights: NDArray[np.float64], us: NDArray[np.int64], vs: NDArray[np.int64]) -> None:
    """Write the edges of the tree to `us` and `vs` in the order in which they are added, each from the tree outwards.

    The first is the heaviest pair; ties go to the lower column, first of the end outside.
    """
    n = len(weights)
    us[0], vs[0] = 0, 1
    for u in range(n):
        for v in range(u + 1, n):
            if weights[u, v] > weights[us[0], vs[0]]:
                us[0], vs[0] = u, v
    inside = np.zeros(n, np.bool_)
    # The heaviest edge from the tree to each attribute outside starts there.
    start = np.full(n, us[0], np.int64)
    inside[us[0]] = True
    for step in range(n - 1):
        new = vs[step]
        inside[new] = True
        if step == n - 2:
            break
        best = -1
        for v in range(n):
            if inside[v]:
                continue
            now, then = weights[new, v], weights[start[v], v]
            if now > then or (now == then and new < start[v]):
                start[v] = new
            if best < 0 or weights[start[v], v] > weights[start[best], best]:
                best = v
        us[step + 1], vs[step + 1] = start[best], best
