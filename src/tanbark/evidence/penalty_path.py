"""Depth and penalties by held-out likelihood, and the average of the coefficients of good settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.evidence.design import Design
from tanbark.evidence.penalised_weights import Fit, Setting, Weighting, log_loss, n_parameters, scores
from tanbark.evidence.questions import Array
from tanbark.kernels.evidence.fold_weights import deal_weights
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.progress import Progress

FOLDS = 4
WEIGHT_PENALTIES = (30.0, 300.0, 3.0)
CORRECTION_PENALTIES = (100.0, 10.0, 1.0)
EDGE_PENALTIES = (30.0, 3.0)
"""The penalties to choose from, in the order in which they are tried."""
AVERAGING_NATS = 3.0
"""A setting whose held-out loss is this much greater has 1/e of the weight; the path stops beyond it."""
MIN_SETTING_WEIGHT = 0.01
"""A setting with a smaller share of the weight of the best one is left out of the average."""
FOLD_TOLERANCE = 5e-4
FINAL_TOLERANCE = 1e-5
"""Fits stop when a step reduces the loss by less than this share of it."""
TEMPERATURES = np.geomspace(0.1, 1.5, 41)
"""The factors of the evidence to choose from."""
TEMPERATURE_PENALTY = 2.0
"""The penalty of the squared logarithm of the factor, in nats."""
MAX_PATH_ROWS = 20_000
"""Penalties are chosen on at most this many distinct rows."""


@dataclass(frozen=True, eq=False)
class Selected:
    """Averaged parameters, and how they were found.

    Parameters
    ----------
    parameters : array
        Multiplied by the temperature.
    settings : tuple of (Setting or None, float, float)
        Each setting that was tried, None for the class prior alone; its held-out loss per row, and its weight.
    temperature : float
    gap : float
        The greatest optimality gap of the averaged fits, in nats.
    held_out_scores : array of shape (rows, classes) or None
        The scores of each row by weights that were learned without it; None if no rows were held out.
    """

    parameters: Array
    settings: tuple[tuple[Setting | None, float, float], ...]
    temperature: float
    gap: float
    held_out_scores: Array | None


def fixed_weights(design: Design, setting: Setting) -> Selected:
    """Return the parameters of a given setting."""
    fit = Weighting(design, design.weights, setting).solve(tolerance=FINAL_TOLERANCE)
    return Selected(fit.parameters, ((setting, np.nan, 1.0),), 1.0, fit.gap, None)


def select_weights(
    design: Design,
    weight_penalties: Sequence[float],
    correction_penalties: Sequence[float],
    edge_penalties: Sequence[float],
    keys: NDArray[np.uint64],
    n_jobs: int | None,
    progress: Progress,
) -> Selected:
    """Choose among settings by cross-validation, average them and choose a temperature.

    Each depth is tried with corrections that are relaxed until that is worse. From the best setting, no corrections,
    other penalties of weights and corrections of edges are tried. Settings are averaged with weights
    ``exp(-held-out loss / AVERAGING_NATS)``; the class prior alone takes part.

    Parameters
    ----------
    design : Design
    weight_penalties, correction_penalties, edge_penalties : sequences of float
        The penalties to choose from.
    keys : array of shape (rows,)
        A pseudo-random number for each row. It determines the folds, and with many rows those that are used to choose.
    n_jobs : int or None
    progress : Progress
    """
    folds = _folds(design, keys)
    used = np.sort(np.argsort(keys, kind="stable")[:MAX_PATH_ROWS])
    path = _Path(design.take(used) if len(used) < len(keys) else design, folds[:, used], n_jobs, progress)
    for depth in range(design.evidence.shape[1]):
        former = None
        for penalty in correction_penalties:
            setting = Setting(depth, weight_penalties[0], penalty)
            path.try_setting(setting, former)
            if former is not None and path.losses[setting] > path.losses[former] + AVERAGING_NATS:
                break
            former = setting
    path.vary(correction_penalty=None)
    for penalty in weight_penalties[1:]:
        path.vary(weight_penalty=penalty)
    for penalty in edge_penalties:
        path.vary(edge_penalty=penalty)
    return path.averaged(design, folds)


def _folds(design: Design, keys: NDArray[np.uint64]) -> Array:
    """Return the weight that each row has in each fold; the weight of a class is dealt in the order of the keys."""
    order = np.lexsort([keys, design.classes])
    folds = np.empty((FOLDS, len(keys)))
    folds[:, order] = deal_weights(design.weights[order], FOLDS)
    return folds


class _Path:
    """Settings that were tried, with the parameters and the held-out loss of each."""

    def __init__(self, design: Design, folds: Array, n_jobs: int | None, progress: Progress) -> None:
        self._design = design
        self._folds = folds
        self._n_jobs = n_jobs
        self._progress = progress
        self.losses: dict[Setting, float] = {}
        self._parameters: dict[Setting, list[Array]] = {}

    def try_setting(self, setting: Setting, start: Setting | None) -> None:
        """Fit a setting without each fold and sum the held-out loss, starting from the parameters of another one."""
        if setting in self.losses:
            return
        design, folds = self._design, self._folds
        found: dict[int, Array] = {}
        losses = np.zeros(len(folds))

        def fit(f: int) -> None:
            weighting = Weighting(design, np.maximum(design.weights - folds[f], 0.0), setting)
            before = None if start is None else self._parameters[start][f]
            found[f] = weighting.solve(before, FOLD_TOLERANCE).parameters
            losses[f] = log_loss(scores(design, found[f]), design, folds[f])

        run([partial(fit, f) for f in range(len(folds))], thread_count(self._n_jobs, 100 * design.cells.size))
        self._parameters[setting] = [found[f] for f in range(len(folds))]
        self.losses[setting] = float(losses.sum())
        self._progress("choosing penalties", len(self.losses), None)

    def vary(self, **change: float | None) -> None:
        """Try a change of the best setting so far."""
        best = min(self.losses, key=self.losses.__getitem__)
        setting = replace(best, **change)  # type: ignore[arg-type]
        if setting.edge_penalty is None or setting.correction_penalty is not None:
            self.try_setting(setting, best)

    def averaged(self, whole: Design, folds: Array) -> Selected:
        """Return the average of good settings, fitted to all rows."""
        settings = list(self.losses)
        prior = np.tile(self._design.log_prior, (self._design.cells.shape[1], 1))
        losses = np.array([*self.losses.values(), log_loss(prior, self._design, self._folds.sum(axis=0))])
        shares = np.exp(-(losses - losses.min()) / AVERAGING_NATS)
        shares[shares < MIN_SETTING_WEIGHT] = 0.0
        shares /= shares.sum()
        rows = float(self._folds.sum())
        good = [(setting, share) for setting, share in zip(settings, shares, strict=False) if share > 0]
        fits = [Weighting(whole, whole.weights, setting) for setting, _ in good]
        results: dict[int, Fit] = {}

        def refit(i: int) -> None:
            results[i] = fits[i].solve(np.mean(self._parameters[good[i][0]], axis=0), FINAL_TOLERANCE)

        run([partial(refit, i) for i in range(len(good))], thread_count(self._n_jobs, 100 * whole.cells.size))
        parameters = np.zeros(n_parameters(whole))
        for i, (_, share) in enumerate(good):
            parameters += share * results[i].parameters
        held_out = self._held_out(whole, folds, good)
        temperature = _temperature(held_out, whole)
        scored = whole.log_prior + temperature * (held_out - whole.log_prior)
        named = (*settings, None)
        tried = tuple(
            (setting, loss / rows, share)
            for setting, loss, share in zip(named, losses.tolist(), shares.tolist(), strict=True)
        )
        gap = max((fit.gap for fit in results.values()), default=0.0)
        return Selected(temperature * parameters, tried, temperature, gap, scored)

    def _held_out(self, whole: Design, folds: Array, good: list[tuple[Setting, float]]) -> Array:
        """Return the averaged scores of each row by the parameters that were learned without its fold."""
        out = np.zeros((whole.cells.shape[1], len(whole.log_prior)))
        shares = folds / np.maximum(folds.sum(axis=0), np.finfo(np.float64).tiny)
        for f in range(len(folds)):
            parameters = np.zeros(n_parameters(whole))
            for setting, share in good:
                parameters += share * self._parameters[setting][f]
            # The parameters scale everything but the class prior.
            found = scores(whole, parameters) - whole.log_prior
            out += shares[f][:, None] * found
        return out + whole.log_prior


def _temperature(held_out: Array, design: Design) -> float:
    """Return the factor of the evidence that minimises the held-out loss; factors far from 1 are penalised."""
    losses = [
        log_loss(design.log_prior + factor * (held_out - design.log_prior), design, design.weights)
        + TEMPERATURE_PENALTY * np.log(factor) ** 2
        for factor in TEMPERATURES
    ]
    return float(TEMPERATURES[int(np.argmin(losses))])
