"""Values that are drawn where summing them out would take tables that are too large."""

import numpy as np
import pytest
from scipy.special import softmax

from network.networks import network_with, random_network, rows_with_every_pattern
from tanbark import Category, Network, Schema
from tanbark.network import DrawnAnswerWarning, DrawnValuesWarning, Structure
from tanbark.network.factor_inference import standard_errors


def posteriors(network, rows, **settings):
    return softmax(network.log_joint(rows, **settings), axis=1)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [3, 11, 14])
@pytest.mark.filterwarnings("ignore:.*so many values")
def test_draws_are_as_far_from_the_truth_as_they_say(seed):
    network = random_network(seed, n=6)
    rows = rows_with_every_pattern(network.schema, seed)
    exact, exact_joint = posteriors(network, rows), network.log_joint(rows)
    apart = []
    for draw in range(8):
        error = network.standard_error(rows, max_table=0, seed=draw)
        drawn = posteriors(network, rows, max_table=0, seed=draw)
        assert (np.abs(drawn - exact) < 5 * error + 1e-12).all()
        joint, _, variance = network.factors.log_joint(rows, None, 0, draw)
        assert (np.abs(np.expm1(joint - exact_joint)) < 5 * np.sqrt(variance) + 1e-12).all()
        large = error > 0.004
        apart.append((drawn - exact)[large] / error[large])
    apart = np.concatenate(apart)
    assert len(apart) > 120
    assert 0.7 < np.sqrt((apart**2).mean()) < 1.2


def test_the_size_of_the_largest_table_decides_who_is_drawn():
    """Without a0 and a1, of three values each, a2 and a3 hold them together: nine cells."""
    network = network_with([(4,), (4,), (0, 1, 4), (0, 1, 4), ()], [3, 3, 2, 2, 2], np.random.default_rng(0))
    rows = np.array([[255, 0], [255, 255], [1, 1], [0, 0]], np.uint8)
    exact = network.log_joint(rows, max_table=9)
    assert (network.standard_error(rows, max_table=9) == 0).all()
    assert np.array_equal(exact, network.log_joint(rows))
    with pytest.warns(DrawnValuesWarning, match=r"^1 row lacks so many values .* drawn 1,000 times") as caught:
        drawn = network.log_joint(rows, max_table=8)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.array_equal(drawn[1], exact[1])
    assert not np.array_equal(drawn[0], exact[0])
    error = network.standard_error(rows, max_table=8)
    assert (error[0] > 0).all()
    assert (error[1] == 0).all()
    for answer in (network.log_joint, network.evidence):
        with pytest.warns(DrawnValuesWarning, match="2 rows lack"):
            answer(rows, max_table=2)
    with pytest.warns(DrawnAnswerWarning, match=r"estimated from 1,000 draws, with a standard error of up to 0\.0"):
        answer = network.query("a3", {"a2": 1}, max_table=8, seed=4)
    assert answer == pytest.approx(network.query("a3", {"a2": 1}), abs=0.1)
    assert answer != network.query("a3", {"a2": 1})


def test_an_answers_standard_error_is_that_of_its_spread_over_seeds():
    network = network_with([(4,), (4,), (0, 1, 4), (0, 1, 4), ()], [3, 3, 2, 2, 2], np.random.default_rng(0))
    exact = network.query("a3", {"a2": 1})[0]
    apart, told = [], []
    for seed in range(60):
        with pytest.warns(DrawnAnswerWarning) as caught:
            apart.append(network.query("a3", {"a2": 1}, max_table=8, seed=seed)[0] - exact)
        told.append(caught[0].message.standard_error)
    assert 0.3 < np.std(apart) / np.mean(told) < 1.3
    assert np.abs(apart).max() < 5 * np.mean(told)


def test_values_that_no_draw_met_are_part_of_the_standard_error():
    found = standard_errors(np.log([[[0.9], [0.1]]]), np.zeros((1, 2, 1)))
    np.testing.assert_allclose(found, [[0.9 / 1000, 0.9 / 1000]])


@pytest.mark.parametrize("setting", [{"max_table": -1}, {"max_table": "a"}, {"seed": -1}, {"seed": 1.5}])
def test_bad_settings_of_draws_get_a_sentence(setting):
    network = random_network(0)
    name = next(iter(setting))
    for call in (lambda: network.query("a0", {}, **setting), lambda: network.log_joint(network._unknown(), **setting)):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 0, got"):
            call()


@pytest.mark.filterwarnings("ignore:.*so many values")
def test_shares_that_are_estimates_are_told():
    network = network_with([(4,), (4,), (0, 1, 4), (0, 1, 2, 4), ()], [3, 3, 2, 2, 2], np.random.default_rng(0))
    whole = np.zeros((4, 1), np.uint8)
    with pytest.warns(DrawnValuesWarning):
        drawn = network.evidence(whole, max_table=2)
    np.testing.assert_allclose(drawn.sum(axis=1), network.log_joint(whole), rtol=1e-12)
    network.evidence(whole)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.*so many values")
def test_the_seed_decides_the_draws():
    network = random_network(11, n=6)
    rows = rows_with_every_pattern(network.schema)
    one, again = (network.log_joint(rows, max_table=0, seed=7) for _ in range(2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, network.log_joint(rows, max_table=0, seed=8))


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.*so many values")
def test_evidence_adds_up_where_values_are_drawn():
    network = random_network(11, n=6)
    rows = rows_with_every_pattern(network.schema)
    parts = network.evidence(rows, max_table=0, seed=5)
    np.testing.assert_allclose(parts.sum(axis=1), network.log_joint(rows, max_table=0, seed=5), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*so many values")
def test_a_row_that_all_draws_call_impossible_has_no_precision_at_all():
    """a0 is 1 in one of a million rows, and only then can a1 be 1."""
    schema = Schema([Category("a0", (0, 1)), Category("a1", (0, 1))], (0, 1))
    with np.errstate(divide="ignore"):
        tables = np.log([1 - 1e-6, 1e-6]), np.log([[[1.0, 0.0]] * 2, [[0.5, 0.5]] * 2]), np.log([0.5, 0.5])
    network = Network(schema, Structure(((), (0, 2), ())), tables)
    row = np.array([[255], [1]], np.uint8)
    assert np.isneginf(network.log_joint(row, max_table=1)).all()
    assert network.standard_error(row, max_table=1).tolist() == [[1.0, 1.0]]
    np.testing.assert_allclose(network.log_joint(row), np.log([[2.5e-7, 2.5e-7]]))
