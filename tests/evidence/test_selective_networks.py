"""Selective networks: the best depth and number of attributes by leave-one-out, and non-negative weights."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from evidence.plain_evidence import encoded, mixed_frame
from tanbark.evidence.boosted_folds import boosting_folds
from tanbark.evidence.design import learn_design
from tanbark.evidence.penalised_weights import Setting, Weighting, split_parameters
from tanbark.evidence.questions import Questions
from tanbark.evidence.selective_networks import (
    best_selection,
    learn_network,
    learn_networks,
    pooled_probabilities,
    probabilities,
    selected_design,
)

LOG_PRIOR = np.log(np.array([0.3, 0.3, 0.4]))


def designed(rows, parents):
    arity = rows.schema.arity.tolist()
    weights = [np.bincount(np.minimum(c, a), rows.each, a + 1)[:-1] for c, a in zip(rows.codes, arity)]
    questions = Questions.learn(rows.schema, weights, [(0.8, 0.1)], 4, 8)
    return learn_design(rows, questions, parents, LOG_PRIOR, 2.0, 1).design


def test_the_selection_is_the_best_of_all_prefixes_and_depths():
    rows = encoded(*mixed_frame(120, 1), "state").distinct
    design = designed(rows, ((), (0,), (1, 0), (0,), (2, 1)))
    order = np.array([0, 2, 1, 3, 4])
    losses = {}
    for depth in range(3):
        for n in range(1, 6):
            scores = np.tile(LOG_PRIOR, (len(rows.classes), 1))
            for u in order[:n]:
                scores += design.evidence[design.cells[u], : depth + 1].sum(axis=1)
            right = log_softmax(scores, axis=1)[np.arange(len(rows.classes)), rows.classes]
            losses[depth, n] = -(rows.each * right).sum()
    depth, chosen = best_selection(design, order)
    assert (depth, len(chosen)) == min(losses, key=losses.get)
    assert chosen.tolist() == order[: len(chosen)].tolist()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_weights_are_optimal_for_the_total_evidence_at_the_depth(depth):
    rows = encoded(*mixed_frame(90, 6), "marginalize").distinct
    design = designed(rows, ((), (0,), (1, 0), (0,), (2, 1)))
    chosen = np.array([4, 1, 2])
    selected = selected_design(design, depth, chosen)
    found = Weighting(selected, selected.weights, Setting(0, 3.0)).solve(tolerance=1e-15)

    totals = np.zeros((5, len(rows.classes), 3))
    for u in chosen:
        known = design.cells[u] >= 0
        totals[u, known] = design.evidence[design.cells[u, known], : depth + 1].sum(axis=1)

    def loss(x):
        weights, bias, shared = x[:5], x[5:8], x[8]
        scores = LOG_PRIOR + bias + np.tensordot(weights, totals, 1)
        right = log_softmax(scores, axis=1)[np.arange(len(rows.classes)), rows.classes]
        penalty = 3 * ((weights - 1 - shared) ** 2).sum() + 2 * shared**2 + (bias**2).sum()
        return -rows.each @ right + penalty / 2

    expected = minimize(
        loss, np.zeros(9), bounds=[(0, None)] * 5 + [(None, None)] * 4, options={"ftol": 1e-14, "maxfun": 100_000}
    )
    assert found.loss == pytest.approx(expected.fun, abs=1e-5)
    weights = split_parameters(selected, found.parameters).weights[0]
    np.testing.assert_allclose(weights[chosen], expected.x[chosen], atol=2e-3)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_networks_predict_better_than_the_prior(number):
    rows = encoded(*mixed_frame(400, 2), "state").distinct
    further, y = mixed_frame(300, 3)
    network = learn_network(rows, LOG_PRIOR, number, seed=0)
    scores = network.log_scores(rows.schema.encode(further))
    loss = -log_softmax(scores, axis=1)[np.arange(300), y].mean()
    assert loss < -LOG_PRIOR[y].mean() - 0.2


def test_a_missing_value_gives_no_evidence():
    rows = encoded(*mixed_frame(200, 4), "marginalize").distinct
    network = learn_network(rows, LOG_PRIOR, 0, seed=0)
    nothing = np.tile(rows.schema.arity[:, None], (1, 2)).astype(rows.codes.dtype)
    np.testing.assert_array_equal(network.log_scores(nothing), np.tile(network.base_scores, (2, 1)))


def test_held_out_probabilities_are_those_of_the_networks_without_the_row():
    rows = encoded(*mixed_frame(150, 5), "state").distinct
    folds = boosting_folds(rows, rows.keys(0))
    networks, held_out = learn_networks(rows, folds, LOG_PRIOR, 2, 0, 1)
    assert len(networks) == 10
    for f in range(5):
        mine = np.flatnonzero(folds[f])
        codes = np.ascontiguousarray(rows.codes[:, mine])
        expected = [softmax(networks[n].log_scores(codes), axis=1) for n in (f, f + 5)]
        np.testing.assert_allclose(held_out[mine], np.mean(expected, axis=0), rtol=1e-12)
    mean = np.mean([probabilities(network.log_scores(rows.codes)) for network in networks], axis=0)
    np.testing.assert_allclose(pooled_probabilities(networks, rows.codes), mean, rtol=1e-12)


def test_networks_differ_and_are_reproducible():
    rows = encoded(*mixed_frame(150, 6), "state").distinct
    once, again, other = (learn_network(rows, LOG_PRIOR, n, seed=0) for n in (0, 0, 3))
    scores = once.log_scores(rows.codes)
    assert np.array_equal(scores, again.log_scores(rows.codes))
    assert not np.array_equal(scores, other.log_scores(rows.codes))
