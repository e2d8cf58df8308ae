"""Optimal weights of a pool: a concave problem over the simplex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.kernels.average.pooling import MIN_LOG_SHARE, linear_pool, logarithmic_pool
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.progress import Progress, silent

Array = NDArray[np.float64]

BLOCK_ROWS = 8192
TIE_BREAK = 1e-6
"""The strength of the quadratic penalty that selects among equally good weights, relative to the likelihood."""
MIN_SCALE = 1e-6
"""The smallest scale, in nats per row, to which differences of the likelihood are related."""
MIN_RELATIVE_GAIN = 1e-13
"""Below this expected gain, relative to the likelihood, points are compared by their gradients."""
DAMPING = 1e-13
"""The relative increase of the Hessian's diagonal, for numerical stability."""
SUFFICIENT_INCREASE = 1e-4
"""The share of the expected gain that a step of the line search must reach (the Armijo condition)."""
MAX_STEPS = 200
MAX_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class PoolLikelihood:
    """The mean conditional log likelihood of rows as a function of the weights of a pool's members.

    Rows are summed in blocks and blocks in order, so the result does not depend on the number of threads.

    Parameters
    ----------
    scores : array of shape (rows, classes - 1, members), or (rows, 2, members) for a linear pool
        See `tanbark.kernels.average.pooling`.
    weights : array of shape (rows,)
        The weights of the rows. They sum to one.
    linear : bool, default=False
        Whether probabilities are pooled instead of their logarithms.
    offset : float, default=0.0
        A constant that is added to the value.
    n_jobs : int, optional
        The number of threads.
    """

    scores: Array
    weights: Array
    linear: bool = False
    offset: float = 0.0
    n_jobs: int | None = None

    @classmethod
    def of(cls, log_posteriors: Array, rows: Rows, linear: bool, n_jobs: int | None = None) -> PoolLikelihood:
        """Return the likelihood of rows, given the members' log posteriors ``[row, class, member]``."""
        at = rows.classes
        own = log_posteriors[np.arange(len(at)), at]
        weights = rows.each / rows.each.sum()
        if linear:
            best = own.max(axis=1)
            less = np.maximum(own - best[:, None], MIN_LOG_SHARE)
            return cls(np.stack([np.exp(less), -np.expm1(less)], axis=1), weights, True, float(weights @ best), n_jobs)
        n_rows, classes, members = log_posteriors.shape
        scores = np.empty((n_rows, classes - 1, members))
        for k in range(classes):
            scores[at == k] = np.delete(log_posteriors[at == k], k, axis=1) - own[at == k][:, None]
        return cls(scores, weights, n_jobs=n_jobs)

    def __call__(self, pool: Array) -> tuple[float, Array, Array]:
        """Return the value, the gradient and the negative Hessian."""
        rows, members = len(self.weights), len(pool)
        kernel: Callable[..., float] = linear_pool if self.linear else logarithmic_pool
        blocks = [(start, min(start + BLOCK_ROWS, rows)) for start in range(0, rows, BLOCK_ROWS)]
        values, slopes = np.zeros(len(blocks)), np.zeros((len(blocks), members))
        bends = np.zeros((len(blocks), members, members))

        def work(b: int) -> None:
            values[b] = kernel(self.scores, self.weights, pool, *blocks[b], slopes[b], bends[b])

        run([partial(work, b) for b in range(len(blocks))], thread_count(self.n_jobs, rows))
        bend = bends.sum(axis=0)
        return self.offset + float(values.sum()), slopes.sum(axis=0), bend + np.tril(bend, -1).T


@dataclass(frozen=True)
class PoolOptimum:
    """The optimal weights of a pool's members.

    Parameters
    ----------
    weights : array of shape (members,)
    value : float
        The mean log likelihood under the weights.
    gap : float
        An upper bound on the distance of `value` to the maximum, relative to the likelihood or to `MIN_SCALE` if that
        is larger.
    """

    weights: Array
    value: float
    gap: float


def best_pool(
    likelihood: Callable[[Array], tuple[float, Array, Array]],
    members: int,
    progress: Progress = silent,
) -> PoolOptimum:
    """Return the weights of maximum likelihood among those that are nonnegative and sum to one.

    Newton's method: each step maximises the quadratic model over the simplex with an active-set method, followed by a
    line search towards that maximum. The likelihood is concave, so the gradient certifies the result: no weights are
    better by more than ``max_i g_i - pool . g``. Among equally good weights, those with the smallest sum of squares are
    selected by a penalty ``-r |pool|^2 / 2``, where ``r`` is `TIE_BREAK` times the likelihood. It costs at most a
    quarter of ``r``.
    """
    pool = np.full(members, 1.0 / members)
    value, slope, bend = likelihood(pool)
    # Few members have a positive weight at the optimum. Thus the first search starts with one member, and each later
    # search where the previous one ended.
    ahead = np.zeros(members)
    ahead[int(np.argmax(slope))] = 1.0
    for step in range(MAX_STEPS):
        scale = max(abs(value), MIN_SCALE)
        gap = _gap(slope, pool) / scale
        progress(f"step {step}: log likelihood {value:.6f} per row, at most {gap:.1e} of it to gain", step, None)
        tie = TIE_BREAK * scale
        # The weights have a fixed sum, so a slope common to all members has no effect.
        up = slope - slope.mean() - tie * pool
        curve = bend + np.diag(tie + DAMPING * np.diag(bend))
        ahead = simplex_maximum(curve, up, pool, ahead)
        gain = float(up @ (ahead - pool))
        if gain > MIN_RELATIVE_GAIN * scale:
            found = _line_search(likelihood, pool, ahead, value, gain, tie)
        else:
            # The values of both points agree to machine precision, so compare their gradients.
            value_there, slope_there, bend_there = likelihood(ahead)
            nearer = _gap(slope_there - tie * ahead, ahead) < 0.5 * _gap(up, pool)
            found = (ahead, value_there, slope_there, bend_there) if nearer else None
        if found is None:
            break
        pool, value, slope, bend = found
    return PoolOptimum(pool, value, _gap(slope, pool) / max(abs(value), MIN_SCALE))


def _line_search(
    likelihood: Callable[[Array], tuple[float, Array, Array]],
    pool: Array,
    ahead: Array,
    value: float,
    gain: float,
    tie: float,
) -> tuple[Array, float, Array, Array] | None:
    """Return the first sufficiently better point of a backtracking line search to `ahead`, or `None`."""
    before = value - tie / 2 * float(pool @ pool)
    length = 1.0
    for _ in range(MAX_HALVINGS):
        trial = pool + length * (ahead - pool)
        found, slope, bend = likelihood(trial)
        if found - tie / 2 * float(trial @ trial) > before + SUFFICIENT_INCREASE * length * gain:
            return trial, found, slope, bend
        length /= 2
    return None


def _gap(slope: Array, pool: Array) -> float:
    """Return an upper bound on the distance to the maximum of a concave function."""
    return max(float(slope.max() - pool @ slope), 0.0)


def simplex_maximum(curve: Array, slope: Array, middle: Array, start: Array) -> Array:
    """Return the maximum over the simplex of ``slope . d - d . curve d / 2``, where ``d = x - middle``.

    An active-set method, started at the point `start` of the simplex.

    >>> simplex_maximum(np.eye(2), np.array([0.5, 0.0]), np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    array([0.75, 0.25])
    """
    x = start.copy()
    free = x > 0
    for _ in range(100 * len(x)):
        at = np.flatnonzero(free)
        away = np.where(free, 0.0, -middle)
        # Scale the curvature to one in every direction, because directions may differ by many orders of magnitude.
        scale = 1.0 / np.sqrt(np.diag(curve)[at])
        system = np.zeros((len(at) + 1, len(at) + 1))
        system[:-1, :-1] = curve[np.ix_(at, at)] * np.multiply.outer(scale, scale)
        system[-1, :-1] = system[:-1, -1] = scale / scale.max()
        right = np.append((slope[at] - (curve @ away)[at]) * scale, -away.sum() / scale.max())
        solved = np.linalg.solve(system, right)
        target, level = middle[at] + solved[:-1] * scale, solved[-1] / scale.max()
        target /= target.sum()
        ahead = target - x[at]
        falling = np.flatnonzero(target < 0)
        if len(falling):
            # The first weight to reach zero on the way to the maximum is fixed at zero.
            lengths = x[at[falling]] / -ahead[falling]
            first = int(np.argmin(lengths))
            x[at] += lengths[first] * ahead
            x[at[falling[first]]] = 0.0
            free[at[falling[first]]] = False
            continue
        x[at] = target
        pull = slope - curve @ (x - middle) - level
        pull[free] = -np.inf
        best = int(np.argmax(pull))
        if not pull[best] > 1e-14 * float(np.abs(slope).max()):
            return x
        free[best] = True
    return x
