"""What an edge adds to the approximate conditional log likelihood, for every ordered pair of attributes."""

import math

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(nogil=True, cache=True)
def _floored(seen: float, in_all: float, beta: float, floor: float) -> float:
    """Return a count less the share of it that speaks for all classes, or the floor."""
    return max(seen + beta * in_all, floor)


@njit(nogil=True, cache=True)
def acll_gains(table: Floats, offset: Integers, beta: float, floor: float, out: Floats) -> None:
    """Write ``aCLL(v | u, C) - aCLL(v | C)`` to ``out[u, v]``, all counts those of the pair's rows.

    Equation 7 of Sugahara, Uto and Ueno (2018). With ``M = N + beta * (N of all classes)`` and ``F = max(M, floor)``
    an edge adds ``M(i,j,k) log[F(i,j,k) F(k) / (F(i,k) F(j,k))]`` for each cell, where ``F(i,k)`` sums the floored
    cells of a value of the parent, ``F(j,k)`` is the floored count of a value of the child, and ``F(k)`` sums those.
    """
    classes, n = table.shape[0], len(offset) - 1
    most = 1
    for u in range(n):
        most = max(most, offset[u + 1] - offset[u])
    cells = np.empty((most, most))
    # Of the values of u and of v: floored sums, and sums of floored cells.
    alone_u, above_u, alone_v, above_v = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    for u in range(n):
        for v in range(u):
            r, s = offset[u + 1] - offset[u], offset[v + 1] - offset[v]
            here = table[:, offset[u] : offset[u + 1], offset[v] : offset[v + 1]]
            all_classes = np.zeros((r, s))
            for k in range(classes):
                all_classes += here[k]
            to_v, to_u = 0.0, 0.0
            for k in range(classes):
                total_u, total_v = 0.0, 0.0
                above_v[:s] = 0.0
                for i in range(r):
                    above_u[i] = 0.0
                    for j in range(s):
                        cells[i, j] = _floored(here[k, i, j], all_classes[i, j], beta, floor)
                        above_u[i] += cells[i, j]
                        above_v[j] += cells[i, j]
                    alone_u[i] = _floored(here[k, i].sum(), all_classes[i].sum(), beta, floor)
                    total_u += alone_u[i]
                for j in range(s):
                    alone_v[j] = _floored(here[k, :, j].sum(), all_classes[:, j].sum(), beta, floor)
                    total_v += alone_v[j]
                for i in range(r):
                    for j in range(s):
                        weight = here[k, i, j] + beta * all_classes[i, j]
                        if weight != 0.0:
                            to_v += weight * math.log(cells[i, j] / above_u[i] * (total_v / alone_v[j]))
                            to_u += weight * math.log(cells[i, j] / above_v[j] * (total_u / alone_u[i]))
            out[u, v], out[v, u] = to_v, to_u
