"""The weights of a pool that make the classes of some rows most probable: a concave problem over the simplex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.pooling import linear_pool, logarithmic_pool
from tanbark.kernels.threads import run, thread_count

Array = NDArray[np.float64]

BLOCK = 8192
TIE_BREAK = 1e-6
ENOUGH = 1e-13
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class PoolLikelihood:
    """The conditional log likelihood of rows as a function of the weights of a pool's members.

    Rows are summed in blocks and blocks in order, so that the number of threads changes no bit.

    Parameters
    ----------
    scores : array of shape (rows, classes - 1, members), or (rows, members) for a linear pool
        See `tanbark.kernels.pooling`.
    weights : array of shape (rows,)
    n_jobs : int, optional
    """

    scores: Array
    weights: Array
    n_jobs: int | None = None

    def __call__(self, pool: Array, curved: bool) -> tuple[float, Array, Array]:
        """Return the value, the gradient and, if `curved`, the negative Hessian."""
        rows, members = len(self.weights), len(pool)
        kernel: Callable[..., float] = linear_pool if self.scores.ndim == 2 else logarithmic_pool
        blocks = [(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK)]
        values, slopes = np.zeros(len(blocks)), np.zeros((len(blocks), members))
        bends = np.zeros((len(blocks), members, members) if curved else (len(blocks), 0, 0))

        def work(b: int) -> None:
            values[b] = kernel(self.scores, self.weights, pool, curved, *blocks[b], slopes[b], bends[b])

        run([partial(work, b) for b in range(len(blocks))], thread_count(self.n_jobs, rows))
        bend = bends.sum(axis=0)
        bend = bend + np.tril(bend, -1).T
        return float(values.sum()), slopes.sum(axis=0), bend


def best_pool(
    likelihood: Callable[[Array, bool], tuple[float, Array, Array]],
    members: int,
    report: Callable[..., Any] = lambda *_: None,
) -> tuple[Array, float]:
    """Return the weights of greatest likelihood, not negative and one in sum, and a bound on what is missing.

    Newton's method: each step maximises the quadratic model over the simplex by active sets and then looks along the
    line to its maximum. The likelihood is concave, so the gradient certifies the answer: no weights are better by more
    than ``max_i g_i - pool . g``, which is returned relative to the likelihood. Where several weights are equally good,
    those of least sum of squares are taken, through a term ``-r |pool|^2 / 2`` so small (`TIE_BREAK` of the likelihood)
    that it costs at most a quarter of it.
    """
    pool = np.full(members, 1.0 / members)
    value, slope, bend = likelihood(pool, True)
    for step in range(MOST_STEPS):
        report(step, value, _gap(slope, pool) / abs(value) if value else 0.0)
        tie = TIE_BREAK * abs(value)
        if not tie > 0:
            break
        up = slope - tie * pool
        curve = bend + tie * np.eye(members)
        ahead = simplex_maximum(curve, up + curve @ pool, pool) - pool
        gain = float(up @ ahead)
        if gain <= ENOUGH * abs(value):
            break
        start, length = value - tie / 2 * float(pool @ pool), 1.0
        while True:
            trial = np.maximum(pool + length * ahead, 0.0)
            trial /= trial.sum()
            found, slope, bend = likelihood(trial, True)
            if found - tie / 2 * float(trial @ trial) >= start + 1e-4 * length * gain - ENOUGH * abs(value):
                break
            length /= 2
        pool, value = trial, found
    return pool, _gap(slope, pool) / abs(value) if value else 0.0


def _gap(slope: Array, pool: Array) -> float:
    return max(float(slope.max() - pool @ slope), 0.0)


def simplex_maximum(curve: Array, slope: Array, start: Array) -> Array:
    """Return the maximum of ``slope . x - x . curve x / 2`` over the simplex, by active sets from a point in it.

    >>> simplex_maximum(np.eye(2), np.array([1.0, 0.5]), np.array([0.5, 0.5]))
    array([0.75, 0.25])
    """
    x = start.copy()
    free = x > 0
    for _ in range(100 * len(x)):
        at = np.flatnonzero(free)
        system = np.ones((len(at) + 1, len(at) + 1))
        system[:-1, :-1] = curve[np.ix_(at, at)]
        system[-1, -1] = 0.0
        solved = np.linalg.solve(system, np.append(slope[at], 1.0))
        target, level = solved[:-1], solved[-1]
        ahead = target - x[at]
        falling = np.flatnonzero(target < 0)
        if len(falling):
            # The first weight to reach zero on the way to the maximum stays there.
            lengths = x[at[falling]] / -ahead[falling]
            first = int(np.argmin(lengths))
            x[at] += lengths[first] * ahead
            x[at[falling[first]]] = 0.0
            free[at[falling[first]]] = False
            continue
        x[at] = target
        pull = slope - curve @ x - level
        pull[free] = -np.inf
        best = int(np.argmax(pull))
        if not pull[best] > 1e-14 * float(np.abs(slope).max()):
            return x
        free[best] = True
    return x
