"""Depth and penalties by cross-validation, and the average of the coefficients of good settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.evidence.design import Design, LearnedDesign
from tanbark.evidence.penalised_weights import Fit, Setting, Weighting, log_loss, n_parameters, scores
from tanbark.evidence.questions import Array, Integers
from tanbark.kernels.evidence.fold_weights import class_folds
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.progress import Progress

FOLDS = 4
WEIGHT_PENALTIES = (30.0, 300.0, 3.0)
CORRECTION_PENALTIES = (100.0, 10.0, 1.0, 0.1)
EDGE_PENALTIES = (30.0, 3.0, 0.3)
"""The penalties to choose from, in the order in which they are tried."""
AVERAGING_NATS = 6.0
"""A setting whose held-out loss is this much greater has 1/e of the weight; the path stops beyond it."""
MIN_SETTING_WEIGHT = 0.01
"""A setting with a smaller share of the weight of the best one is left out of the average."""
FOLD_TOLERANCE = 3e-5
FINAL_TOLERANCE = 1e-7
"""Fits stop when a step reduces the loss by less than this share of it."""
FIRST_FITS = 2
"""The number of settings that are fitted to all rows first, at the same time."""
TEMPERATURES = np.geomspace(0.1, 1.5, 41)
"""The factors of the evidence to choose from."""
TEMPERATURE_PENALTY = 2.0
"""The penalty of the squared logarithm of the factor, in nats."""
MAX_PATH_ROWS = 20_000
"""Penalties are chosen on at most this many distinct rows."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows that are held out, and what was learned without them.

    Parameters
    ----------
    learned : LearnedDesign
        Structure, tables and leave-one-out design of the other rows.
    held_out : Design
        The evidence that these tables give the rows of the fold.
    places : array of int
        The rows of the fold.
    """

    learned: LearnedDesign
    held_out: Design
    places: Integers


def learn_folds(
    rows: Rows, keys: NDArray[np.uint64], learn: Callable[[Rows], LearnedDesign], n_jobs: int | None
) -> list[Fold]:
    """Divide distinct rows into folds, and learn without each.

    The folds divide the weight of the rows: a row may be in several. With many rows, some are in no fold.

    Parameters
    ----------
    rows : Rows
        Distinct rows.
    keys : array of shape (rows,)
        A pseudo-random number for each row. It determines the folds, and with many rows those that are used.
    learn : function
        Returns what is learned from rows, structure included.
    n_jobs : int or None
    """
    used = np.sort(np.argsort(keys, kind="stable")[:MAX_PATH_ROWS])
    weights = rows.each[used]
    dealt = class_folds(weights, rows.classes[used], keys[used], FOLDS)
    found: dict[int, Fold] = {}

    def learn_fold(f: int) -> None:
        rest, places = np.maximum(weights - dealt[f], 0.0), np.flatnonzero(dealt[f] > 0)
        kept = np.flatnonzero(rest > 0)
        learned = learn(_part(rows, used[kept], rest[kept]))
        held_out = learned.of_rows(_part(rows, used[places], dealt[f][places]), 1)
        found[f] = Fold(learned, held_out, used[places])

    run([partial(learn_fold, f) for f in range(len(dealt))], thread_count(n_jobs, 100 * len(rows.codes) * len(used)))
    return [found[f] for f in range(len(dealt))]


def _part(rows: Rows, places: Integers, weights: Array) -> Rows:
    return Rows(rows.schema, np.ascontiguousarray(rows.codes[:, places]), rows.classes[places], weights)


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
    folds : tuple of Fold
        Empty if nothing was chosen by cross-validation.
    fold_parameters : tuple of arrays
        The averaged parameters that were learned without each fold, multiplied by the temperature.
    """

    parameters: Array
    settings: tuple[tuple[Setting | None, float, float], ...]
    temperature: float
    gap: float
    folds: tuple[Fold, ...] = ()
    fold_parameters: tuple[Array, ...] = ()

    def held_out_scores(self, rows: Rows, n_jobs: int | None) -> Array:
        """Return the scores of each row by all that was learned without it.

        Rows that are in no fold get the mean of the scores of all folds.

        Parameters
        ----------
        rows : Rows
            The distinct rows of which the folds are parts.
        n_jobs : int or None
        """
        n = len(rows.classes)
        total, weights = np.zeros((n, len(rows.schema.classes))), np.zeros(n)
        for fold, parameters in zip(self.folds, self.fold_parameters, strict=True):
            total[fold.places] += fold.held_out.weights[:, None] * scores(fold.held_out, parameters)
            weights[fold.places] += fold.held_out.weights
        rest = np.flatnonzero(weights == 0)
        if len(rest):
            others = _part(rows, rest, rows.each[rest])
            for fold, parameters in zip(self.folds, self.fold_parameters, strict=True):
                total[rest] += scores(fold.learned.of_rows(others, n_jobs), parameters)
            weights[rest] = len(self.folds)
        return total / weights[:, None]


def fixed_weights(design: Design, setting: Setting) -> Selected:
    """Return the parameters of a given setting."""
    fit = Weighting(design, design.weights, setting).solve(tolerance=FINAL_TOLERANCE)
    return Selected(fit.parameters, ((setting, np.nan, 1.0),), 1.0, fit.gap)


def select_weights(
    design: Design,
    folds: Sequence[Fold],
    weight_penalties: Sequence[float],
    correction_penalties: Sequence[float | None],
    edge_penalties: Sequence[float | None],
    n_jobs: int | None,
    progress: Progress,
) -> Selected:
    """Choose among settings by cross-validation, average them and choose a temperature.

    Each depth is tried with the first penalties of weights and edges, and corrections that are relaxed until that is
    worse; further depths do not relax them that far again. From the best setting, no corrections (if None is among the
    penalties) and the other penalties are tried, those of edges until that is worse. Settings are averaged with weights
    ``exp(-held-out loss / AVERAGING_NATS)``; the class prior alone is one of them.

    Parameters
    ----------
    design : Design
        The leave-one-out design of all rows, to which the good settings are fitted.
    folds : sequence of Fold
    weight_penalties, correction_penalties, edge_penalties : sequences of float
        The penalties to choose from. None stands for no corrections.
    n_jobs : int or None
    progress : Progress
    """
    path = _Path(folds, n_jobs, progress)
    first, *relaxed = filter(None, correction_penalties)
    shallower = None
    for depth in range(design.evidence.shape[1]):
        setting = Setting(depth, weight_penalties[0], first, edge_penalties[0])
        path.try_setting(setting, shallower)
        former = shallower = setting
        for place, correction in enumerate(relaxed):
            setting = replace(setting, correction_penalty=correction)
            path.try_setting(setting, former)
            if path.losses[setting] > path.losses[former] + AVERAGING_NATS:
                relaxed = relaxed[:place]
                break
            former = setting
    if None in correction_penalties:
        path.vary(correction_penalty=None)
    for weight in weight_penalties[1:]:
        path.vary(weight_penalty=weight)
    if design.corrections.n_edges:
        for edge in edge_penalties[1:]:
            if path.vary(edge_penalty=edge) > AVERAGING_NATS:
                break
    return path.averaged(design)


class _Path:
    """Settings that were tried, with the parameters of each fold and the held-out loss of each."""

    def __init__(self, folds: Sequence[Fold], n_jobs: int | None, progress: Progress) -> None:
        self._folds = folds
        self._n_jobs = n_jobs
        self._progress = progress
        self.losses: dict[Setting, float] = {}
        self._parameters: dict[Setting, list[Array]] = {}

    def try_setting(self, setting: Setting, start: Setting | None) -> None:
        """Fit a setting without each fold and sum the held-out loss, starting from the parameters of another one."""
        if setting in self.losses:
            return
        found: dict[int, Array] = {}
        losses = np.zeros(len(self._folds))

        def fit(f: int) -> None:
            design, held_out = self._folds[f].learned.design, self._folds[f].held_out
            before = None if start is None else self._parameters[start][f]
            found[f] = Weighting(design, design.weights, setting).solve(before, FOLD_TOLERANCE).parameters
            losses[f] = log_loss(scores(held_out, found[f]), held_out, held_out.weights)

        size = sum(fold.learned.design.cells.size for fold in self._folds)
        run([partial(fit, f) for f in range(len(self._folds))], thread_count(self._n_jobs, 25 * size))
        self._parameters[setting] = [found[f] for f in range(len(self._folds))]
        self.losses[setting] = float(losses.sum())
        self._progress("choosing penalties", len(self.losses), None)

    def vary(self, **change: float | None) -> float:
        """Try a change of the best setting so far, and return by how much it increases the held-out loss."""
        best = min(self.losses, key=self.losses.__getitem__)
        setting = replace(best, **change)  # type: ignore[arg-type]
        if setting.edge_penalty is not None and setting.correction_penalty is None:
            return 0.0
        self.try_setting(setting, best)
        return self.losses[setting] - self.losses[best]

    def averaged(self, whole: Design) -> Selected:
        """Return the average of good settings, fitted to all rows."""
        settings, held_out = list(self.losses), [fold.held_out for fold in self._folds]
        nothing = [np.zeros(n_parameters(fold.learned.design)) for fold in self._folds]
        prior_loss = sum(log_loss(_prior_scores(design), design, design.weights) for design in held_out)
        losses = np.array([*self.losses.values(), prior_loss])
        shares = np.exp(-(losses - losses.min()) / AVERAGING_NATS)
        shares[shares < MIN_SETTING_WEIGHT] = 0.0
        shares /= shares.sum()
        good = [(setting, share) for setting, share in zip(settings, shares, strict=False) if share > 0]
        good.sort(key=lambda one: -one[1])
        results: dict[int, Fit] = {}

        def refit(i: int, start: Array | None) -> None:
            results[i] = Weighting(whole, whole.weights, good[i][0]).solve(start, FINAL_TOLERANCE)

        # The others start from the parameters of the best setting, which are close to theirs.
        threads = thread_count(self._n_jobs, 100 * whole.cells.size)
        run([partial(refit, i, None) for i in range(len(good[:FIRST_FITS]))], threads)
        run([partial(refit, i, results[0].parameters) for i in range(FIRST_FITS, len(good))], threads)
        parameters = np.zeros(n_parameters(whole))
        for i, (setting, share) in enumerate(good):
            parameters += share * results[i].parameters
            for of_fold, found in zip(nothing, self._parameters[setting], strict=True):
                of_fold += share * found
        temperature = _temperature(held_out, nothing)
        rows = float(sum(design.weights.sum() for design in held_out))
        tried = tuple(
            (setting, loss / rows, share)
            for setting, loss, share in zip((*settings, None), losses.tolist(), shares.tolist(), strict=True)
        )
        gap = max((fit.gap for fit in results.values()), default=0.0)
        of_folds = tuple(temperature * found for found in nothing)
        return Selected(temperature * parameters, tried, temperature, gap, tuple(self._folds), of_folds)


def _prior_scores(design: Design) -> Array:
    return np.tile(design.log_prior, (len(design.classes), 1))


def _temperature(held_out: Sequence[Design], parameters: Sequence[Array]) -> float:
    """Return the factor of the parameters that minimises the held-out loss; factors far from 1 are penalised."""
    losses = TEMPERATURE_PENALTY * np.log(TEMPERATURES) ** 2
    for design, of_fold in zip(held_out, parameters, strict=True):
        evidence = scores(design, of_fold) - design.log_prior
        losses += [log_loss(design.log_prior + factor * evidence, design, design.weights) for factor in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmin(losses))])
