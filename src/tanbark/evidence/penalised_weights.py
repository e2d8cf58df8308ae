"""Weights of evidence and corrections of maximum penalised conditional likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanbark.evidence.design import Design
from tanbark.evidence.questions import Array, Integers
from tanbark.immutable import read_only
from tanbark.kernels.evidence.additive_solver import (
    MEMORY,
    SHARED_PENALTY,
    Problem,
    Tables,
    add_tables,
    fill_tables,
    log_losses,
    minimise,
)
from tanbark.kernels.runtime.threads import MAX_STEPS_PER_TASK

LINE_SHARE = 0.03
"""The penalty of lines, as a share of the penalty of corrections."""
BIAS_PENALTY = 1.0
"""The penalty of class biases."""
MAX_STEPS = 1000
"""The maximum number of steps of a fit."""
CURVATURE = 0.15
"""The assumed mean of ``p (1 - p)``, for scaling the variables."""


@dataclass(frozen=True)
class Setting:
    """A depth and penalties of a fit.

    Parameters
    ----------
    depth : int
        The number of parents whose evidence is used.
    weight_penalty : float
        The penalty of the differences of weights from a shared one.
    correction_penalty : float or None
        The penalty of the corrections of codes; None for no corrections.
    edge_penalty : float or None
        The penalty of the corrections of edges; None for none.
    """

    depth: int
    weight_penalty: float
    correction_penalty: float | None = None
    edge_penalty: float | None = None


@dataclass(frozen=True)
class Fit:
    """Parameters that minimise the penalised loss, up to a gap in nats that is certain to be at most `gap`."""

    parameters: Array
    loss: float
    gap: float


class Weighting:
    """The penalised likelihood of a design under a setting."""

    def __init__(self, design: Design, weights: Array, setting: Setting) -> None:
        design = design.up_to(setting.depth, setting.edge_penalty is not None)
        self._design = design
        self._weights = read_only(weights)
        self._setting = setting
        _, depths, classes = design.evidence.shape
        attributes = len(design.start) - 1
        corrections = design.corrections
        used = min(setting.depth + 1, depths)
        on = np.zeros((depths, attributes), np.bool_)
        on[:used] = True
        penalty = np.zeros(corrections.n_codes + corrections.n_edges)
        if setting.correction_penalty is not None:
            penalty[: corrections.n_codes] = setting.correction_penalty
            penalty[: 2 * attributes] *= LINE_SHARE
        if setting.correction_penalty is not None and setting.edge_penalty is not None:
            penalty[corrections.n_codes :] = setting.edge_penalty
        penalty[_rows_of_constant_columns(design)] = 0.0
        self._penalty = np.concatenate(
            [on.ravel() * setting.weight_penalty, np.full(classes, BIAS_PENALTY), np.repeat(penalty, classes)]
        )
        self._centre = np.concatenate([on.ravel().astype(np.float64), np.zeros(len(self._penalty) - on.size)])
        self._bounded = on.size
        self._depths_used = used
        curvature = self._curvatures()
        free = self._penalty > 0
        self._scale = np.where(free, 1 / np.sqrt(np.where(free, self._penalty + curvature, 1.0)), 0.0)

    @property
    def start(self) -> Array:
        """The parameters to start from: weights of 1, no corrections."""
        return self._centre.copy()

    def _curvatures(self) -> Array:
        """Return an estimate of the second derivatives of the loss."""
        design = self._design
        present = np.repeat(self._weights[None], len(design.cells), axis=0)[design.cells >= 0]
        by_cell = np.bincount(design.cells[design.cells >= 0], present, len(design.evidence))
        squares = by_cell[:, None] * (design.evidence**2).sum(axis=2)
        starts = design.start[:-1]
        # The row of zeros is for attributes without cells at the end.
        of_weights = np.add.reduceat(np.pad(squares, ((0, 1), (0, 0))), starts)
        of_weights[starts == design.start[1:]] = 0.0
        corrections = design.corrections
        rows = corrections.n_codes + corrections.n_edges
        by_code = np.bincount(design.cell_codes, by_cell, len(corrections.features))
        of_rows = np.zeros(rows)
        attribute = np.repeat(np.arange(len(starts)), np.diff(design.start))
        for line in range(2):
            values = by_cell * corrections.features[design.cell_codes, line] ** 2
            of_rows[line : 2 * len(starts) : 2] = np.bincount(attribute, values, len(starts))
        for kind in range(2):
            known = corrections.bins[:, kind] >= 0
            of_rows += np.bincount(corrections.bins[known, kind], by_code[known], rows)
        edged = design.cell_edges >= 0
        of_rows += np.bincount(design.cell_edges[edged], by_cell[edged], rows)
        share = np.exp(design.log_prior)
        spread = share * (1 - share)
        total = float(self._weights.sum())
        return np.concatenate([CURVATURE * of_weights.T.ravel(), total * spread, np.outer(of_rows, spread).ravel()])

    def solve(self, start: Array | None = None, tolerance: float = 1e-5, max_steps: int = MAX_STEPS) -> Fit:
        """Minimise the penalised loss, starting from the given parameters."""
        x = self.start if start is None else np.where(self._penalty > 0, start, 0.0)
        gradient = np.zeros_like(x)
        moves, changes = np.zeros((2, MEMORY, np.count_nonzero(self._scale)))
        design, problem = self._design, self._problem()
        work = design.cells.size * design.evidence.shape[2] * 4 + design.evidence.size * 4
        steps, left = max(1, MAX_STEPS_PER_TASK // max(work, 1)), max_steps
        remembered, loss, decrease = 0, np.inf, np.inf
        while left > 0:
            piece = min(steps, left)
            made, remembered, loss, decrease = minimise(
                x,
                self._scale,
                self._bounded,
                tolerance,
                piece,
                problem,
                moves,
                changes,
                remembered,
                gradient,
                loss,
                decrease,
            )
            left -= piece
            if made < piece:
                break
        return Fit(x, float(loss), self._gap(x, gradient))

    def _problem(self) -> Problem:
        design = self._design
        return Problem(
            _tables(design, self._depths_used),
            read_only(design.cells),
            read_only(design.classes),
            self._weights,
            read_only(design.log_prior),
            read_only(self._penalty),
            read_only(self._centre),
            float(self._setting.weight_penalty),
        )

    def _gap(self, x: Array, gradient: Array) -> float:
        """Return a bound on how far the loss is above its minimum.

        The loss is convex and the penalty has curvature of at least ``m_j`` in each variable, so that the loss of any
        other parameters is at least ``loss + sum_j (g_j d_j + m_j d_j**2 / 2)``, of which the minimum over the allowed
        ``d`` is taken term by term. The penalty of weights, with its shared part, has the least eigenvalue
        ``2 p / (p n + 2)``.
        """
        attributes = len(self._design.start) - 1
        curvature = self._penalty.copy()
        p = self._setting.weight_penalty
        curvature[: self._bounded] = SHARED_PENALTY * p / (p * attributes + SHARED_PENALTY)
        free = self._penalty > 0
        step = np.where(free, -gradient / np.where(free, curvature, 1.0), 0.0)
        step[: self._bounded] = np.maximum(step[: self._bounded], -x[: self._bounded])
        return float(-(step * (gradient + 0.5 * curvature * step))[free].sum())


def _rows_of_constant_columns(design: Design) -> Integers:
    """Return the rows of corrections of attributes with a single code, which would be further class biases."""
    filled = np.flatnonzero(np.diff(design.start) > 0)
    lowest = np.minimum.reduceat(design.cell_codes, design.start[filled])
    constant = lowest == np.maximum.reduceat(design.cell_codes, design.start[filled])
    bins = design.corrections.bins[lowest[constant]].ravel()
    return np.concatenate([2 * filled[constant], 2 * filled[constant] + 1, bins[bins >= 0]])


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The parameters of a fit: weights ``[depth, attribute]``, class biases and corrections ``[row, class]``."""

    weights: Array
    bias: Array
    corrections: Array


def n_parameters(design: Design) -> int:
    """Return the number of parameters of a design."""
    _, depths, classes = design.evidence.shape
    rows = design.corrections.n_codes + design.corrections.n_edges
    return int(depths * (len(design.start) - 1) + classes * (1 + rows))


def split_parameters(design: Design, parameters: Array) -> Coefficients:
    """Return the parts of a vector of parameters."""
    _, depths, classes = design.evidence.shape
    first = depths * (len(design.start) - 1)
    weights = parameters[:first].reshape(depths, -1)
    return Coefficients(
        weights, parameters[first : first + classes], parameters[first + classes :].reshape(-1, classes)
    )


def _tables(design: Design, depths_used: int) -> Tables:
    """Return the parts of the table entries of a design, for the kernels."""
    return Tables(
        read_only(design.evidence),
        read_only(design.start),
        read_only(design.cell_codes),
        read_only(design.cell_edges),
        read_only(design.corrections.features),
        read_only(design.corrections.bins),
        depths_used,
    )


def scores(design: Design, parameters: Array) -> Array:
    """Return the scores of the rows of a design, of shape (rows, classes)."""
    _, depths, classes = design.evidence.shape
    first = depths * (len(design.start) - 1)
    tables = np.empty((len(design.evidence), classes))
    fill_tables(read_only(parameters), _tables(design, depths), tables)
    found = np.tile(design.log_prior + parameters[first : first + classes], (design.cells.shape[1], 1))
    add_tables(tables, read_only(design.cells), found)
    return found


def log_loss(found: Array, design: Design, weights: Array) -> float:
    """Return the weighted log loss of scores of the rows of a design."""
    return float(log_losses(found, read_only(design.classes), read_only(weights)))
