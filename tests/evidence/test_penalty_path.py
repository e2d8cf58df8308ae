"""The choice of depth and penalties: folds, held-out losses, averages and the temperature."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from evidence.plain_evidence import encoded, mixed_frame
from tanbark.evidence import penalty_path
from tanbark.evidence.design import learn_design
from tanbark.evidence.penalised_weights import Setting, Weighting, n_parameters, scores, split_parameters
from tanbark.evidence.penalty_path import FOLDS, fixed_weights, select_weights
from tanbark.evidence.questions import Questions
from tanbark.kernels.evidence.fold_weights import deal_weights

COLUMNS = ["length", "colour", "price"]
PARENTS = ((1,), (), (0,))
WEIGHTS, CORRECTIONS, EDGES = (30.0, 300.0, 3.0), (100.0, 10.0, 1.0), (30.0, 3.0)


def quiet(task, done, total):
    """Report nothing."""


def small_design(rows=60, seed=0, weights=None):
    frame, y = mixed_frame(rows, seed, 2)
    distinct = encoded(frame[COLUMNS], y, "marginalize", weights).distinct
    arity = distinct.schema.arity.tolist()
    totals = [np.bincount(np.minimum(c, a), distinct.each, a + 1)[:-1] for c, a in zip(distinct.codes, arity)]
    log_prior = np.log(np.bincount(distinct.classes, distinct.each) / distinct.each.sum())
    design = learn_design(distinct, Questions.learn(distinct.schema, totals), PARENTS, log_prior, 2.0, 1)[0]
    return design, distinct.keys(0)


@pytest.fixture
def tight(monkeypatch):
    """Fit so exactly that parameters do not depend on where a fit began."""
    monkeypatch.setattr(penalty_path, "FOLD_TOLERANCE", 1e-15)
    monkeypatch.setattr(penalty_path, "FINAL_TOLERANCE", 1e-15)


def folds_of(design, keys):
    order = np.lexsort([keys, design.classes])
    folds = np.zeros((FOLDS, len(keys)))
    folds[:, order] = deal_weights(design.weights[order], FOLDS)
    return folds


def loss_of(log_scores, design, weights):
    return -weights @ log_softmax(log_scores, axis=1)[np.arange(len(weights)), design.classes]


def solved(design, weights, setting):
    return Weighting(design, weights, setting).solve(tolerance=1e-15, max_steps=5000).parameters


def documented_path(design, folds):
    """Return the settings that are tried and their held-out losses, in order."""
    losses = {}

    def try_setting(setting):
        if setting not in losses:
            losses[setting] = sum(
                loss_of(scores(design, solved(design, design.weights - fold, setting)), design, fold) for fold in folds
            )
        return losses[setting]

    for depth in range(design.evidence.shape[1]):
        former = np.inf
        for penalty in CORRECTIONS:
            found = try_setting(Setting(depth, WEIGHTS[0], penalty))
            if found > former + 3:
                break
            former = found
    for change in [
        {"correction_penalty": None},
        *({"weight_penalty": penalty} for penalty in WEIGHTS[1:]),
        *({"edge_penalty": penalty} for penalty in EDGES),
    ]:
        setting = replace(min(losses, key=losses.get), **change)
        if setting.correction_penalty is not None or setting.edge_penalty is None:
            try_setting(setting)
    return losses


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("seed", [0, 3])
def test_the_path_the_average_and_the_temperature_are_the_documented_ones(seed):
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 60)
    design, keys = small_design(60, seed, weights)
    folds = folds_of(design, keys)
    losses = documented_path(design, folds)
    selected = select_weights(design, WEIGHTS, CORRECTIONS, EDGES, keys, 1, quiet)
    assert [setting for setting, _, _ in selected.settings] == [*losses, None]
    prior = loss_of(np.tile(design.log_prior, (len(keys), 1)), design, design.weights)
    expected = np.array([*losses.values(), prior])
    np.testing.assert_allclose([loss for _, loss, _ in selected.settings], expected / weights.sum(), atol=1e-6)
    shares = np.exp(-(expected - expected.min()) / 3)
    shares[shares < 0.01] = 0
    shares /= shares.sum()
    np.testing.assert_allclose([share for _, _, share in selected.settings], shares, atol=1e-5)
    average, held_out = np.zeros(n_parameters(design)), np.zeros((len(keys), 2))
    for setting, share in zip(losses, shares):
        if share > 0:
            average += share * solved(design, design.weights, setting)
            for fold in folds:
                found = scores(design, solved(design, design.weights - fold, setting)) - design.log_prior
                held_out += (fold / design.weights)[:, None] * share * found

    def tempered(factor):
        return loss_of(design.log_prior + factor * held_out, design, design.weights) + 2 * np.log(factor) ** 2

    tried = np.geomspace(0.1, 1.5, 41)
    assert selected.temperature == pytest.approx(tried[np.argmin([tempered(factor) for factor in tried])])
    np.testing.assert_allclose(selected.parameters, selected.temperature * average, atol=2e-3)
    np.testing.assert_allclose(selected.held_out_scores, design.log_prior + selected.temperature * held_out, atol=1e-2)
    # The grid is fine enough.
    best = minimize_scalar(tempered, bounds=(0.1, 1.5), method="bounded")
    assert tempered(selected.temperature) - best.fun < 0.1
    assert (split_parameters(design, selected.parameters).weights >= 0).all()


def test_shares_sum_to_one():
    for seed in range(3):
        design, keys = small_design(50, seed)
        selected = select_weights(design, WEIGHTS, CORRECTIONS, EDGES, keys, 1, quiet)
        shares = np.array([share for _, _, share in selected.settings])
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        assert 0.1 <= selected.temperature <= 1.5
        assert np.isfinite(selected.gap)


def test_what_is_said_of_a_held_out_row_does_not_depend_on_its_class():
    design, keys = small_design(50, 1)
    folds, setting, row = folds_of(design, keys), Setting(1, 30.0, 10.0), 17
    assert design.weights[row] == 1
    flipped = design.classes.copy()
    flipped[row] = 1 - flipped[row]
    held = int(folds[:, row].argmax())
    found = []
    for classes in (design.classes, flipped):
        path = penalty_path._Path(replace(design, classes=classes), folds, 1, quiet)
        path.try_setting(setting, None)
        parameters = path._parameters[setting]
        found.append((parameters, path._held_out(design, folds, [(setting, 1.0)])))
    for f in range(FOLDS):
        assert np.array_equal(found[0][0][f], found[1][0][f]) == (f == held)
    assert np.array_equal(found[0][1][row], found[1][1][row])
    assert not np.array_equal(found[0][1], found[1][1])


def test_folds_divide_each_class_and_all_of_the_weight():
    weights = np.random.default_rng(5).choice([0.5, 1.0, 2.0, 7.25], 80)
    design, keys = small_design(80, 5, weights)
    folds = penalty_path._folds(design, keys)
    assert np.array_equal(folds, folds_of(design, keys))
    np.testing.assert_allclose(folds.sum(axis=0), design.weights)
    design, keys = small_design(80, 5)
    of_class = penalty_path._folds(design, keys) @ np.eye(2)[design.classes]
    assert (of_class.max(axis=0) - of_class.min(axis=0) <= 1).all()


@pytest.mark.usefixtures("tight")
def test_penalties_of_many_rows_are_chosen_on_those_with_the_least_keys(monkeypatch):
    design, keys = small_design(70, 6)
    whole_folds = folds_of(design, keys)
    monkeypatch.setattr(penalty_path, "MAX_PATH_ROWS", 40)
    selected = select_weights(design, (30.0,), (10.0,), (), keys, 1, quiet)
    used = np.sort(np.argsort(keys)[:40])
    part, folds = design.take(used), whole_folds[:, used]
    setting = Setting(0, 30.0, 10.0)
    expected = sum(loss_of(scores(part, solved(part, part.weights - fold, setting)), part, fold) for fold in folds)
    found = {tried: loss for tried, loss, _ in selected.settings}
    assert found[setting] == pytest.approx(expected / 40, abs=1e-6)
    assert selected.held_out_scores.shape == (70, 2)


def test_given_penalties_are_fitted_without_folds():
    design, _ = small_design(40, 7)
    setting = Setting(1, 3.0, 10.0, 30.0)
    selected = fixed_weights(design, setting)
    assert selected.temperature == 1
    assert selected.held_out_scores is None
    assert [(tried, share) for tried, _, share in selected.settings] == [(setting, 1.0)]
    best = Weighting(design, design.weights, setting).solve(tolerance=1e-15, max_steps=5000)
    reached = Weighting(design, design.weights, setting).solve(selected.parameters, tolerance=1.0, max_steps=1)
    assert reached.loss - best.loss < 0.01
