"""The choice of depth and penalties: folds, held-out losses, averages and the temperature."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from evidence.plain_evidence import encoded, mixed_frame
from tanbark.counts import Rows
from tanbark.evidence import penalty_path
from tanbark.evidence.design import learn_design
from tanbark.evidence.penalised_weights import Setting, Weighting, n_parameters, scores, split_parameters
from tanbark.evidence.penalty_path import AVERAGING_NATS, FOLDS, fixed_weights, learn_folds, select_weights
from tanbark.evidence.questions import Questions, code_weights
from tanbark.kernels.evidence.fold_weights import deal_weights

COLUMNS = ["length", "colour", "price"]
PARENTS = ((1,), (), (0,))
WEIGHTS, CORRECTIONS, EDGES = (30.0, 300.0, 3.0), (100.0, 10.0, 1.0, None), (None, 30.0, 3.0)


def quiet(task, done, total):
    """Report nothing."""


def learn(rows):
    """Return the design of rows under a fixed structure; the tables and intervals are those of the rows."""
    questions = Questions.learn(rows.schema, code_weights(rows))
    return learn_design(rows, questions, PARENTS, np.log([0.4, 0.6]), 2.0, 1)


def small_problem(rows=60, seed=0, weights=None):
    """Return distinct rows, their design, their folds, and their keys."""
    frame, y = mixed_frame(rows, seed, 2)
    distinct = encoded(frame[COLUMNS], y, "marginalize", weights).distinct
    keys = distinct.keys(0)
    return distinct, learn(distinct).design, learn_folds(distinct, keys, learn, 1), keys


@pytest.fixture
def tight(monkeypatch):
    """Fit so exactly that parameters do not depend on where a fit began."""
    monkeypatch.setattr(penalty_path, "FOLD_TOLERANCE", 1e-15)
    monkeypatch.setattr(penalty_path, "FINAL_TOLERANCE", 1e-15)


def weights_of_folds(rows, keys):
    order = np.lexsort([keys, rows.classes])
    folds = np.zeros((FOLDS, len(keys)))
    folds[:, order] = deal_weights(rows.each[order], FOLDS)
    return folds


def part(rows, weights):
    """Return the rows that have a weight, with it."""
    chosen = np.flatnonzero(weights > 0)
    return Rows(rows.schema, np.ascontiguousarray(rows.codes[:, chosen]), rows.classes[chosen], weights[chosen])


def loss_of(log_scores, design, weights):
    return -weights @ log_softmax(log_scores, axis=1)[np.arange(len(weights)), design.classes]


def solved(design, weights, setting):
    return Weighting(design, weights, setting).solve(tolerance=1e-15, max_steps=5000).parameters


def documented_path(designs, depths):
    """Return the settings that are tried and their held-out losses, in order.

    `designs` has the design of the other rows and that of the held-out rows, for each fold.
    """
    losses = {}

    def try_setting(setting):
        if setting not in losses:
            losses[setting] = sum(
                loss_of(scores(held_out, solved(rest, rest.weights, setting)), held_out, held_out.weights)
                for rest, held_out in designs
            )
        return losses[setting]

    penalties = CORRECTIONS[:-1]
    for depth in range(depths):
        former = np.inf
        for penalty in penalties:
            found = try_setting(Setting(depth, WEIGHTS[0], penalty))
            if found > former + AVERAGING_NATS:
                penalties = penalties[: penalties.index(penalty)]
                break
            former = found
    for change in [{"correction_penalty": None}, *({"weight_penalty": penalty} for penalty in WEIGHTS[1:])]:
        try_setting(replace(min(losses, key=losses.get), **change))
    for penalty in EDGES[1:]:
        best = min(losses, key=losses.get)
        if best.correction_penalty is None:
            break
        if try_setting(replace(best, edge_penalty=penalty)) > losses[best] + AVERAGING_NATS:
            break
    return losses


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("seed", [0, 3])
def test_the_path_the_average_and_the_temperature_are_the_documented_ones(seed):
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 60)
    rows, design, folds, keys = small_problem(60, seed, weights)
    dealt = weights_of_folds(rows, keys)
    # What is learned without a fold is learned from the rest of the weight of the rows alone.
    learned = [learn(part(rows, rows.each - fold)) for fold in dealt]
    designs = [(one.design, one.of_rows(part(rows, fold), 1)) for one, fold in zip(learned, dealt)]
    losses = documented_path(designs, design.evidence.shape[1])
    selected = select_weights(design, folds, WEIGHTS, CORRECTIONS, EDGES, 1, quiet)
    assert [setting for setting, _, _ in selected.settings] == [*losses, None]
    prior = loss_of(np.tile(design.log_prior, (len(keys), 1)), design, design.weights)
    expected = np.array([*losses.values(), prior])
    np.testing.assert_allclose([loss for _, loss, _ in selected.settings], expected / weights.sum(), atol=1e-6)
    shares = np.exp(-(expected - expected.min()) / AVERAGING_NATS)
    shares[shares < 0.01] = 0
    shares /= shares.sum()
    np.testing.assert_allclose([share for _, _, share in selected.settings], shares, atol=1e-5)
    average, held_out = np.zeros(n_parameters(design)), np.zeros((len(keys), 2))
    tempered_losses = np.zeros(41)
    tried = np.geomspace(0.1, 1.5, 41)
    for setting, share in zip(losses, shares):
        average += share * solved(design, design.weights, setting)
    for (rest, of_fold), fold in zip(designs, dealt):
        found = sum(
            share * (scores(of_fold, solved(rest, rest.weights, setting)) - design.log_prior)
            for setting, share in zip(losses, shares)
            if share > 0
        )
        mine = np.flatnonzero(fold > 0)
        held_out[mine] += (fold / rows.each)[mine, None] * found
        for i, factor in enumerate(tried):
            tempered_losses[i] += loss_of(design.log_prior + factor * found, of_fold, fold[mine])
    tempered_losses += 2 * np.log(tried) ** 2
    assert selected.temperature == pytest.approx(tried[tempered_losses.argmin()])
    np.testing.assert_allclose(selected.parameters, selected.temperature * average, atol=2e-3)
    expected_scores = design.log_prior + selected.temperature * held_out
    np.testing.assert_allclose(selected.held_out_scores(rows, 1), expected_scores, atol=1e-2)
    assert (split_parameters(design, selected.parameters).weights >= 0).all()


def test_shares_sum_to_one():
    for seed in range(3):
        _, design, folds, _ = small_problem(50, seed)
        selected = select_weights(design, folds, WEIGHTS, CORRECTIONS, EDGES, 1, quiet)
        shares = np.array([share for _, _, share in selected.settings])
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        assert 0.1 <= selected.temperature <= 1.5
        assert np.isfinite(selected.gap)


def test_the_classes_of_held_out_rows_change_nothing_that_is_learned_without_them():
    rows, design, folds, _ = small_problem(50, 1)
    fold = folds[2]
    classes = rows.classes.copy()
    classes[fold.places] = 1 - classes[fold.places]
    other = Rows(rows.schema, rows.codes, classes, rows.each)
    rest = np.ones(len(classes))
    rest[fold.places] = 0.0
    again = learn(part(other, rest * rows.each))
    setting = Setting(1, 30.0, 10.0, 30.0)
    mine, theirs = (Weighting(d, d.weights, setting).solve().parameters for d in (fold.learned.design, again.design))
    assert np.array_equal(mine, theirs)
    held_out = again.of_rows(part(other, (1 - rest) * rows.each), 1)
    assert np.array_equal(scores(held_out, theirs), scores(fold.held_out, mine))
    assert not np.array_equal(design.classes, classes)


def test_folds_divide_each_class_and_all_of_the_weight():
    weights = np.random.default_rng(5).choice([0.5, 1.0, 2.0, 7.25], 80)
    rows, _, folds, keys = small_problem(80, 5, weights)
    total = np.zeros(len(keys))
    for fold, dealt in zip(folds, weights_of_folds(rows, keys)):
        assert np.array_equal(fold.places, np.flatnonzero(dealt))
        assert np.array_equal(fold.held_out.weights, dealt[fold.places])
        assert fold.learned.design.weights.sum() == pytest.approx(rows.each.sum() - dealt.sum())
        total[fold.places] += fold.held_out.weights
    np.testing.assert_allclose(total, rows.each)
    _, _, folds, _ = small_problem(80, 5)
    of_class = np.array([np.bincount(fold.held_out.classes, fold.held_out.weights) for fold in folds])
    assert (of_class.max(axis=0) - of_class.min(axis=0) <= 1).all()


def test_fewer_units_of_weight_than_folds_have_fewer_folds():
    _, design, folds, _ = small_problem(3, 2)
    assert len(folds) == 3
    assert np.isfinite(select_weights(design, folds, WEIGHTS, CORRECTIONS, EDGES, 1, quiet).parameters).all()


def test_penalties_of_many_rows_are_chosen_on_those_with_the_least_keys(monkeypatch):
    monkeypatch.setattr(penalty_path, "MAX_PATH_ROWS", 40)
    rows, design, folds, keys = small_problem(70, 6)
    used = np.argsort(keys)[:40]
    assert sorted(np.concatenate([fold.places for fold in folds])) == sorted(used)
    selected = select_weights(design, folds, (30.0,), (10.0,), (None,), 1, quiet)
    found = selected.held_out_scores(rows, 1)
    # The other rows were learned by no fold, and get the mean of their scores.
    other = np.setdiff1d(np.arange(70), used)[:5]
    chosen = np.zeros(70)
    chosen[other] = 1.0
    of_folds = [
        scores(fold.learned.of_rows(part(rows, chosen), 1), parameters)
        for fold, parameters in zip(folds, selected.fold_parameters)
    ]
    np.testing.assert_allclose(found[other], np.mean(of_folds, axis=0), rtol=1e-12)


def test_given_penalties_are_fitted_without_folds():
    _, design, _, _ = small_problem(40, 7)
    setting = Setting(1, 3.0, 10.0, 30.0)
    selected = fixed_weights(design, setting)
    assert selected.temperature == 1
    assert not selected.folds
    assert [(tried, share) for tried, _, share in selected.settings] == [(setting, 1.0)]
    best = Weighting(design, design.weights, setting).solve(tolerance=1e-15, max_steps=5000)
    reached = Weighting(design, design.weights, setting).solve(selected.parameters, tolerance=1.0, max_steps=1)
    assert reached.loss - best.loss < 0.01
