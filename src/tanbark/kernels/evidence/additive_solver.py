"""The penalised conditional likelihood of weighted evidence, and its minimisation under bounds.

The score of a row is a sum of table entries, one for each attribute: its cell says which. A table is linear in the
parameters ``x``: the evidence increments of the cell times the weights of the attribute, a correction for the code (a
line in its value and in its rank, and an entry for each of two bins), and a correction for the edge to the first
parent. The parameters are, in this order: weights ``[depth, attribute]``, class biases, and corrections
``[feature, class]``: value and rank of each attribute, bins, edges.

    loss(x) = sum_rows w_row log-loss_row + 1/2 sum_j penalty_j (x_j - centre_j)^2 - shared

``shared`` lets the weights of a depth move together: they are pulled towards ``1 + a`` with ``a`` pulled towards 0 by
`SHARED_PENALTY` instead of towards 1, with the best ``a`` in closed form.

Variables are scaled by ``scale``, which preconditions them; a scale of 0 fixes a variable. The minimiser is the
two-metric projection method (Bertsekas 1982; Gafni and Bertsekas 1984) with a limited-memory BFGS metric on the free
variables. Weights are bounded below by 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHARED_PENALTY = 2.0
"""The penalty of the shift that the weights of a depth share."""
MEMORY = 16
"""Pairs of steps and gradient differences that the metric remembers."""
SUFFICIENT_DECREASE = 0.1
"""A step must reduce the loss by at least this share of what its slope promises (Armijo 1966)."""
MAX_HALVINGS = 25
"""How often a step that does not is shortened."""


class Tables(NamedTuple):
    """The parts of the table entries.

    Parameters
    ----------
    evidence : array of shape (cells, depths, classes)
        Increments, of which the first `depths_used` count.
    start : array of shape (attributes + 1,)
        Where the cells of each attribute begin.
    cell_codes, cell_edges : arrays of shape (cells,)
        The code of a cell, and the row of the correction of its edge, -1 for none.
    features : array of shape (codes, 2)
        The value and the rank of a code.
    bins : array of shape (codes, 2)
        The rows of the two corrections of a code, -1 for none.
    depths_used : int
    """

    evidence: Floats
    start: Integers
    cell_codes: Integers
    cell_edges: Integers
    features: Floats
    bins: Integers
    depths_used: int


class Problem(NamedTuple):
    """The data and penalties of a fit.

    Parameters
    ----------
    tables : Tables
    cells : array of shape (attributes, rows)
        The cell of each row, -1 if the value is missing.
    classes, weights : arrays of shape (rows,)
    log_prior : array of shape (classes,)
    penalty, centre : arrays of shape (parameters,)
    weight_penalty : float
        The penalty of the weights of evidence.
    """

    tables: Tables
    cells: NDArray[np.int32]
    classes: Integers
    weights: Floats
    log_prior: Floats
    penalty: Floats
    centre: Floats
    weight_penalty: float


@njit(nogil=True, cache=True)
def fill_tables(x: Floats, tables: Tables, out: Floats) -> None:
    """Write the table entry of each cell and class to `out`."""
    evidence, start, features, bins = tables.evidence, tables.start, tables.features, tables.bins
    attributes, depths, classes = len(start) - 1, evidence.shape[1], evidence.shape[2]
    corrections = depths * attributes + classes
    for u in range(attributes):
        line = corrections + 2 * u * classes
        for cell in range(start[u], start[u + 1]):
            code, edge = tables.cell_codes[cell], tables.cell_edges[cell]
            for k in range(classes):
                total = features[code, 0] * x[line + k] + features[code, 1] * x[line + classes + k]
                for d in range(tables.depths_used):
                    total += x[d * attributes + u] * evidence[cell, d, k]
                if bins[code, 0] >= 0:
                    total += x[corrections + bins[code, 0] * classes + k]
                if bins[code, 1] >= 0:
                    total += x[corrections + bins[code, 1] * classes + k]
                if edge >= 0:
                    total += x[corrections + edge * classes + k]
                out[cell, k] = total


@njit(nogil=True, cache=True)
def _collect_gradient(by_cell: Floats, tables: Tables, out: Floats) -> None:
    """Add the derivatives in the parameters, given those in the entries: the adjoint of `fill_tables`."""
    evidence, start, features, bins = tables.evidence, tables.start, tables.features, tables.bins
    attributes, depths, classes = len(start) - 1, evidence.shape[1], evidence.shape[2]
    corrections = depths * attributes + classes
    for u in range(attributes):
        for d in range(tables.depths_used):
            total = 0.0
            for cell in range(start[u], start[u + 1]):
                for k in range(classes):
                    total += by_cell[cell, k] * evidence[cell, d, k]
            out[d * attributes + u] += total
        line = corrections + 2 * u * classes
        for cell in range(start[u], start[u + 1]):
            code, edge = tables.cell_codes[cell], tables.cell_edges[cell]
            value, rank = features[code, 0], features[code, 1]
            on_line = value != 0.0 or rank != 0.0
            for k in range(classes):
                slope = by_cell[cell, k]
                if on_line:
                    out[line + k] += value * slope
                    out[line + classes + k] += rank * slope
                if bins[code, 0] >= 0:
                    out[corrections + bins[code, 0] * classes + k] += slope
                if bins[code, 1] >= 0:
                    out[corrections + bins[code, 1] * classes + k] += slope
                if edge >= 0:
                    out[corrections + edge * classes + k] += slope


@njit(nogil=True, cache=True)
def add_tables(tables: Floats, cells: NDArray[np.int32], scores: Floats) -> None:
    """Add the table entries of each row, ``tables[cells[attribute, row]]``, to its scores; -1 adds nothing."""
    attributes, rows = cells.shape
    # Two attributes at a time, so that the scores are read and written half as often.
    for u in range(0, attributes - 1, 2):
        for row in range(rows):
            one, other = cells[u, row], cells[u + 1, row]
            if one >= 0 and other >= 0:
                for k in range(scores.shape[1]):
                    scores[row, k] += tables[one, k] + tables[other, k]
            elif max(one, other) >= 0:
                for k in range(scores.shape[1]):
                    scores[row, k] += tables[max(one, other), k]
    if attributes % 2:
        for row in range(rows):
            one = cells[attributes - 1, row]
            if one >= 0:
                for k in range(scores.shape[1]):
                    scores[row, k] += tables[one, k]


@njit(nogil=True, cache=True)
def log_losses(scores: Floats, of_class: Integers, weight: Floats) -> float:
    """Return the weighted log loss of scores."""
    loss = 0.0
    for row in range(len(weight)):
        if weight[row] > 0:
            largest = scores[row].max()
            loss += weight[row] * (largest + np.log(np.exp(scores[row] - largest).sum()) - scores[row, of_class[row]])
    return loss


@njit(nogil=True, cache=True)
def penalised_loss(x: Floats, problem: Problem, gradient: Floats) -> float:
    """Return the penalised loss of parameters and write its gradient to `gradient`."""
    cells, of_class, weight = problem.cells, problem.classes, problem.weights
    penalty, centre, weight_penalty = problem.penalty, problem.centre, problem.weight_penalty
    n_cells, depths, classes = problem.tables.evidence.shape
    attributes, rows = cells.shape
    entries = np.empty((n_cells, classes))
    fill_tables(x, problem.tables, entries)
    first = depths * attributes
    slopes = np.empty((rows, classes))
    for row in range(rows):
        for k in range(classes):
            slopes[row, k] = problem.log_prior[k] + x[first + k]
    add_tables(entries, cells, slopes)
    loss = 0.0
    gradient[:] = 0.0
    for row in range(rows):
        if weight[row] <= 0:
            slopes[row] = 0.0
            continue
        top = 0
        for k in range(1, classes):
            if slopes[row, k] > slopes[row, top]:
                top = k
        largest = slopes[row, top]
        loss += weight[row] * (largest - slopes[row, of_class[row]])
        total = 0.0
        for k in range(classes):
            slopes[row, k] = 1.0 if k == top else np.exp(slopes[row, k] - largest)
            total += slopes[row, k]
        loss += weight[row] * np.log(total)
        for k in range(classes):
            slopes[row, k] *= weight[row] / total
        slopes[row, of_class[row]] -= weight[row]
        for k in range(classes):
            gradient[first + k] += slopes[row, k]
    entries[:] = 0.0
    for u in range(attributes):
        for row in range(rows):
            cell = cells[u, row]
            if cell >= 0:
                for k in range(classes):
                    entries[cell, k] += slopes[row, k]
    _collect_gradient(entries, problem.tables, gradient)
    for j in range(len(x)):
        away = x[j] - centre[j]
        loss += 0.5 * penalty[j] * away * away
        gradient[j] += penalty[j] * away
    for d in range(problem.tables.depths_used):
        total = 0.0
        for u in range(attributes):
            total += x[d * attributes + u] - centre[d * attributes + u]
        shared = weight_penalty * total / (weight_penalty * attributes + SHARED_PENALTY)
        # At the best shared shift, the penalty of the differences is reduced by this much.
        loss -= 0.5 * weight_penalty * total * shared
        for u in range(attributes):
            gradient[d * attributes + u] -= weight_penalty * shared
    return loss


@njit(nogil=True, cache=True)
def minimise(
    x: Floats,
    scale: Floats,
    bounded: int,
    tolerance: float,
    steps: int,
    problem: Problem,
    moves: Floats,
    changes: Floats,
    remembered: int,
    gradient: Floats,
    loss: float,
    decrease: float,
) -> tuple[int, int, float, float]:
    """Improve `x` in place by at most `steps` steps.

    Stops when the last step reduced the loss by less than `tolerance` times the loss, and the next one is expected to
    do so, too. The first `bounded` variables are kept at 0 or above.

    A call continues where another stopped, without evaluating the loss again: `remembered` counts the pairs in `moves`
    and `changes`, `gradient` and `loss` are those at `x`, and `decrease` is that of the last step. The first call gets
    0 pairs, an infinite loss and an infinite decrease; it ignores the gradient. `moves` and `changes` have a column for
    each variable whose scale is not 0. Returns the number of steps made (fewer than `steps` after convergence), the
    number of remembered pairs, the loss and the decrease; `gradient` receives the gradient at the end.
    """
    active = np.flatnonzero(scale > 0)
    size, n_bounded = len(active), np.searchsorted(active, bounded)
    scales = scale[active]
    u = x[active] / scales
    slope, all_slopes = np.empty(size), np.empty(len(x))
    direction, new_u, new_x = np.empty(size), np.empty(size), x.copy()
    free = np.empty(size, np.bool_)
    alpha, products = np.empty(MEMORY), np.empty(MEMORY)
    if loss == np.inf:
        loss = penalised_loss(x, problem, gradient)
    for j in range(size):
        slope[j] = gradient[active[j]] * scales[j]
    made = 0
    enough = tolerance * max(abs(loss), 1.0)
    while made < steps:
        norm = 0.0
        for j in range(size):
            free[j] = not (j < n_bounded and u[j] <= 0 and slope[j] > 0)
            direction[j] = -slope[j] if free[j] else 0.0
            norm += direction[j] * direction[j]
        if norm == 0.0:
            break
        # The two-loop recursion of L-BFGS on the free variables.
        used = min(remembered, MEMORY)
        gamma = 1.0 / max(1.0, np.sqrt(norm))
        newest = True
        for back in range(used):
            i = (remembered - 1 - back) % MEMORY
            products[i] = 0.0
            squares, dot = 0.0, 0.0
            for j in range(size):
                if free[j]:
                    products[i] += moves[i, j] * changes[i, j]
                    squares += changes[i, j] * changes[i, j]
                    dot += moves[i, j] * direction[j]
            if products[i] <= 1e-12 * squares:
                products[i] = 0.0
                continue
            if newest:
                gamma, newest = products[i] / squares, False
            alpha[i] = dot / products[i]
            for j in range(size):
                if free[j]:
                    direction[j] -= alpha[i] * changes[i, j]
        for j in range(size):
            direction[j] *= gamma
        for ahead in range(used):
            i = (remembered - used + ahead) % MEMORY
            if products[i] == 0.0:
                continue
            dot = 0.0
            for j in range(size):
                if free[j]:
                    dot += changes[i, j] * direction[j]
            for j in range(size):
                if free[j]:
                    direction[j] += (alpha[i] - dot / products[i]) * moves[i, j]
        descent = 0.0
        for j in range(size):
            descent += direction[j] * slope[j]
        if descent >= 0:
            remembered = 0
            gamma = 1.0 / max(1.0, np.sqrt(norm))
            for j in range(size):
                direction[j] = -gamma * slope[j] if free[j] else 0.0
            descent = -gamma * norm
        if decrease <= enough and -0.5 * descent <= enough:
            made = min(made, steps - 1)
            break
        length = 1.0
        improved = False
        new_loss = loss
        for _ in range(MAX_HALVINGS):
            expected = 0.0
            for j in range(size):
                new_u[j] = u[j] + length * direction[j]
                if j < n_bounded and new_u[j] < 0:
                    new_u[j] = 0.0
                expected += slope[j] * (new_u[j] - u[j])
                new_x[active[j]] = new_u[j] * scales[j]
            new_loss = penalised_loss(new_x, problem, all_slopes)
            if new_loss <= loss + SUFFICIENT_DECREASE * expected:
                improved = True
                break
            # The minimum of the parabola through both values and the slope, but not too close to either end.
            curvature = new_loss - loss - expected
            shorter = -0.5 * expected / curvature if curvature > 0 else 0.5
            length *= min(max(shorter, 0.1), 0.5)
        if not improved:
            if remembered == 0:
                break
            remembered = 0
            continue
        i = remembered % MEMORY
        curvature = 0.0
        for j in range(size):
            new_slope = all_slopes[active[j]] * scales[j]
            moves[i, j] = new_u[j] - u[j]
            changes[i, j] = new_slope - slope[j]
            curvature += moves[i, j] * changes[i, j]
            u[j], x[active[j]], slope[j] = new_u[j], new_x[active[j]], new_slope
        if curvature > 0:
            remembered += 1
        made += 1
        decrease, loss = loss - new_loss, new_loss
        enough = tolerance * max(abs(loss), 1.0)
    gradient[:] = 0.0
    for j in range(size):
        gradient[active[j]] = slope[j] / scales[j]
    return made, remembered, loss, decrease
