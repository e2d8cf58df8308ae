"""Selective k-dependence networks on random grids and attribute orders.

Each network is an additive model of its own: numbers are cut by one random grid, attributes are ordered by their
information about the class with random noise, and each has up to three parents. How many attributes in this order are
used, and how many of their parents, is chosen by the leave-one-out likelihood of the classes; then the attributes get
weights as in `EvidenceBN`, without corrections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.evidence.additive_tables import AdditiveTables
from tanbark.evidence.back_off_tables import all_cells, code_counts, evidence_increments
from tanbark.evidence.design import BackOff, Design, learn_design
from tanbark.evidence.parent_selection import Parents, corrected_information, k_dependence_parents
from tanbark.evidence.penalised_weights import Setting, Weighting, log_loss, split_parameters
from tanbark.evidence.questions import Array, Grid, Integers, Questions, code_weights
from tanbark.immutable import Immutable
from tanbark.kernels.runtime.threads import run, thread_count

MAX_PARENTS = 3
LEVELS = (4, 3, 5)
"""The levels of the trees of numbers, in turn."""
MIN_SCALE = 0.6
"""The least share of the unit interval that a grid of ranks covers."""
MAX_EXACT = 8
"""Numbers with at most this many codes are treated as categories."""
WEIGHT_PENALTY = 3.0
ESS = 2.0
TOLERANCE = 1e-5
MAX_TABLE_CELLS = 1 << 16
ENTRY_STEP = 2.0**-5
"""The entries of tables are multiples of this, so that files of them are small."""


@dataclass(frozen=True, eq=False)
class SelectiveNetwork(Immutable):
    """An additive model: the scores of the classes before any evidence, and a table for each attribute."""

    base_scores: Array
    tables: AdditiveTables

    def log_scores(self, codes: NDArray[np.unsignedinteger], n_jobs: int | None = None) -> Array:
        """Return the scores of encoded rows."""
        scores = np.tile(self.base_scores, (codes.shape[1], 1))
        self.tables.add_to(scores, codes, n_jobs)
        return scores


def learn_network(rows: Rows, log_prior: Array, number: int, seed: int) -> SelectiveNetwork:
    """Learn a network from distinct rows.

    Parameters
    ----------
    rows : Rows
    log_prior : array of shape (classes,)
    number : int
        The number of the network: it determines its grid and its order, together with the seed.
    seed : int
    """
    schema, levels = rows.schema, LEVELS[number % len(LEVELS)]
    arity, classes = schema.arity.tolist(), len(schema.classes)
    grid = _random_grid(seed, number)
    questions = Questions.learn(schema, code_weights(rows), [grid], levels, MAX_EXACT)
    sizes = questions.sizes
    information = corrected_information(
        questions.digits_of(rows.codes), sizes, rows.classes.astype(np.int64), rows.each, classes, None
    )
    noise = np.array([np.random.default_rng([seed, number, *name.encode()]).gumbel() for name in schema.names])
    parents, order = k_dependence_parents(
        information, MAX_PARENTS, sizes, arity, classes, noise, max_cells=MAX_TABLE_CELLS
    )
    learned = learn_design(rows, questions, parents, log_prior, ESS, None)
    design, tables = learned.design, learned.tables
    depth, chosen = best_selection(design, order)
    design = selected_design(design, depth, chosen)
    fit = Weighting(design, design.weights, Setting(0, WEIGHT_PENALTY)).solve(tolerance=TOLERANCE)
    found = split_parameters(design, fit.parameters)
    used = set(chosen.tolist())
    kept: Parents = tuple(above[:depth] if u in used else () for u, above in enumerate(parents))
    entries = tuple(
        _entries(u, tables[u], questions, depth, float(found.weights[0, u]))
        if u in used
        else np.zeros((arity[u] + 1, classes))
        for u in range(len(arity))
    )
    return SelectiveNetwork(log_prior + found.bias, AdditiveTables(entries, kept, questions.digits))


def learn_networks(
    rows: Rows, folds: Array, log_prior: Array, per_fold: int, seed: int, n_jobs: int | None
) -> tuple[tuple[SelectiveNetwork, ...], Array]:
    """Learn networks without each fold.

    Parameters
    ----------
    rows : Rows
        Distinct rows.
    folds : array of shape (folds, rows)
        The weight of each row in each fold.
    log_prior : array of shape (classes,)
    per_fold : int
        The number of networks for each fold.
    seed : int
    n_jobs : int or None

    Returns
    -------
    networks : tuple of SelectiveNetwork
    held_out : array of shape (rows, classes)
        The mean probabilities that the networks of its fold give each row.
    """
    found: list[SelectiveNetwork | None] = [None] * (len(folds) * per_fold)
    parts = []
    for fold in folds:
        left = np.maximum(rows.each - fold, 0.0)
        kept = np.flatnonzero(left > 0)
        parts.append(Rows(rows.schema, np.ascontiguousarray(rows.codes[:, kept]), rows.classes[kept], left[kept]))

    def learn(number: int) -> None:
        found[number] = learn_network(parts[number % len(folds)], log_prior, number, seed)

    run([partial(learn, number) for number in range(len(found))], thread_count(n_jobs, 100 * rows.codes.size))
    networks = tuple(network for network in found if network is not None)
    shares = folds / np.maximum(folds.sum(axis=0), np.finfo(np.float64).tiny)
    held_out = np.zeros((rows.codes.shape[1], len(log_prior)))
    for number, network in enumerate(networks):
        share = shares[number % len(folds)][:, None] / per_fold
        held_out += share * probabilities(network.log_scores(rows.codes, n_jobs))
    return networks, held_out


def probabilities(scores: Array) -> Array:
    """Return the probabilities of classes with these log scores."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    normalised: Array = odds / odds.sum(axis=1, keepdims=True)
    return normalised


def _random_grid(seed: int, number: int) -> Grid:
    rng = np.random.default_rng([seed, number])
    scale = float(rng.uniform(MIN_SCALE, 1.0))
    return scale, float(rng.uniform(0.0, 1.0 - scale))


def best_selection(design: Design, order: Integers) -> tuple[int, Integers]:
    """Return the depth, and the attributes that are first in the order, of least leave-one-out loss."""
    rows = design.cells.shape[1]
    best, chosen = np.inf, (0, order[:1])
    cumulative = np.cumsum(design.evidence, axis=1)
    for depth in range(design.evidence.shape[1]):
        scores = np.tile(design.log_prior, (rows, 1))
        for place, u in enumerate(order.tolist()):
            cells = design.cells[u]
            known = np.flatnonzero(cells >= 0)
            scores[known] += cumulative[cells[known], depth]
            loss = log_loss(scores, design, design.weights)
            if loss < best:
                best, chosen = loss, (depth, order[: place + 1])
    return chosen


def selected_design(design: Design, depth: int, chosen: Integers) -> Design:
    """Return the design of a single depth, with the total evidence of the chosen attributes at this depth."""
    merged = design.up_to(depth, edges=False)
    evidence = merged.evidence[:, : depth + 1].sum(axis=1, keepdims=True)
    cells = np.full_like(merged.cells, -1)
    cells[chosen] = merged.cells[chosen]
    return replace(merged, evidence=evidence, cells=cells, groups=np.arange(len(evidence))[None])


def _entries(u: int, table: BackOff, questions: Questions, depth: int, weight: float) -> Array:
    """Return the weighted evidence of an attribute at a depth, rounded to multiples of `ENTRY_STEP`."""
    joint = table.joint.sum(axis=tuple(range(depth, table.joint.ndim - 2)))
    *sizes, arity, classes = joint.shape
    strengths = table.strengths[:, : joint.ndim - 1]
    increments = evidence_increments(
        joint, questions.paths(u, code_counts(joint)), all_cells(joint.shape), ESS, strengths
    )
    out = np.zeros((*sizes, arity + 1, classes))
    out[..., :arity, :] = (weight * increments.sum(axis=1)).reshape(*sizes, arity, classes)
    rounded: Array = np.rint(out / ENTRY_STEP) * ENTRY_STEP
    return rounded


def pooled_probabilities(
    networks: Sequence[SelectiveNetwork], codes: NDArray[np.unsignedinteger], n_jobs: int | None = None
) -> Array:
    """Return the mean of the probabilities that networks give encoded rows."""
    total = np.zeros((codes.shape[1], len(networks[0].base_scores)))
    for network in networks:
        total += probabilities(network.log_scores(codes, n_jobs))
    return total / len(networks)
