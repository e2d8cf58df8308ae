"""Sampling of missing values if exact inference would need tables that are too large."""

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
@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_errors_of_samples_agree_with_their_standard_errors(seed):
    network = random_network(seed, n=6)
    rows = rows_with_every_pattern(network.schema, seed)
    exact, exact_joint = posteriors(network, rows), network.log_joint(rows)
    ratios = []
    for sampling_seed in range(8):
        error = network.standard_error(rows, max_table=0, seed=sampling_seed)
        sampled = posteriors(network, rows, max_table=0, seed=sampling_seed)
        assert (np.abs(sampled - exact) < 5 * error + 1e-12).all()
        joint, _, variance = network.factors.log_joint(rows, None, 0, sampling_seed)
        assert (np.abs(np.expm1(joint - exact_joint)) < 5 * np.sqrt(variance) + 1e-12).all()
        large = error > 0.004
        ratios.append((sampled - exact)[large] / error[large])
    ratios = np.concatenate(ratios)
    assert len(ratios) > 120
    assert 0.7 < np.sqrt((ratios**2).mean()) < 1.2


def test_rows_are_sampled_if_their_largest_table_exceeds_max_table():
    """If a0 and a1, of three values each, are missing, they are in one table of nine cells."""
    network = network_with([(4,), (4,), (0, 1, 4), (0, 1, 4), ()], [3, 3, 2, 2, 2], np.random.default_rng(0))
    rows = np.array([[255, 0], [255, 255], [1, 1], [0, 0]], np.uint8)
    exact = network.log_joint(rows, max_table=9)
    assert (network.standard_error(rows, max_table=9) == 0).all()
    assert np.array_equal(exact, network.log_joint(rows))
    with pytest.warns(DrawnValuesWarning, match=r"^1 row has too many missing values .* sampled 1,000 times") as caught:
        sampled = network.log_joint(rows, max_table=8)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.array_equal(sampled[1], exact[1])
    assert not np.array_equal(sampled[0], exact[0])
    error = network.standard_error(rows, max_table=8)
    assert (error[0] > 0).all()
    assert (error[1] == 0).all()
    for answer in (network.log_joint, network.evidence):
        with pytest.warns(DrawnValuesWarning, match="2 rows have too many missing values"):
            answer(rows, max_table=2)
    with pytest.warns(DrawnAnswerWarning, match=r"estimated from 1,000 samples, with a standard error of up to 0\.0"):
        answer = network.query("a3", {"a2": 1}, max_table=8, seed=4)
    assert answer == pytest.approx(network.query("a3", {"a2": 1}), abs=0.1)
    assert answer != network.query("a3", {"a2": 1})


def test_the_standard_error_of_an_answer_agrees_with_its_spread_over_seeds():
    network = network_with([(4,), (4,), (0, 1, 4), (0, 1, 4), ()], [3, 3, 2, 2, 2], np.random.default_rng(0))
    exact = network.query("a3", {"a2": 1})[0]
    errors, reported = [], []
    for seed in range(60):
        with pytest.warns(DrawnAnswerWarning) as caught:
            errors.append(network.query("a3", {"a2": 1}, max_table=8, seed=seed)[0] - exact)
        reported.append(caught[0].message.standard_error)
    assert 0.3 < np.std(errors) / np.mean(reported) < 1.3
    assert np.abs(errors).max() < 5 * np.mean(reported)


def test_the_standard_error_includes_values_that_were_not_sampled():
    errors = standard_errors(np.log([[[0.9], [0.1]]]), np.zeros((1, 2, 1)))
    np.testing.assert_allclose(errors, [[0.9 / 1000, 0.9 / 1000]])


@pytest.mark.parametrize("setting", [{"max_table": -1}, {"max_table": "a"}, {"seed": -1}, {"seed": 1.5}])
def test_invalid_max_table_and_seed_raise(setting):
    network = random_network(0)
    name = next(iter(setting))
    for call in (lambda: network.query("a0", {}, **setting), lambda: network.log_joint(network._unknown(), **setting)):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 0, got"):
            call()


@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_estimated_evidence_causes_a_warning():
    network = network_with([(4,), (4,), (0, 1, 4), (0, 1, 2, 4), ()], [3, 3, 2, 2, 2], np.random.default_rng(0))
    complete = np.zeros((4, 1), np.uint8)
    with pytest.warns(DrawnValuesWarning):
        sampled = network.evidence(complete, max_table=2)
    np.testing.assert_allclose(sampled.sum(axis=1), network.log_joint(complete), rtol=1e-12)
    network.evidence(complete)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_the_seed_determines_the_samples():
    network = random_network(11, n=6)
    rows = rows_with_every_pattern(network.schema)
    one, again = (network.log_joint(rows, max_table=0, seed=7) for _ in range(2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, network.log_joint(rows, max_table=0, seed=8))


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_evidence_sums_to_the_log_joint_if_values_are_sampled():
    network = random_network(11, n=6)
    rows = rows_with_every_pattern(network.schema)
    parts = network.evidence(rows, max_table=0, seed=5)
    np.testing.assert_allclose(parts.sum(axis=1), network.log_joint(rows, max_table=0, seed=5), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_the_standard_error_is_one_if_all_samples_have_probability_zero():
    """The value a1 = 1 requires a0 = 1, which has probability 1e-6."""
    schema = Schema([Category("a0", (0, 1)), Category("a1", (0, 1))], (0, 1))
    with np.errstate(divide="ignore"):
        tables = np.log([1 - 1e-6, 1e-6]), np.log([[[1.0, 0.0]] * 2, [[0.5, 0.5]] * 2]), np.log([0.5, 0.5])
    network = Network(schema, Structure(((), (0, 2), ())), tables)
    row = np.array([[255], [1]], np.uint8)
    assert np.isneginf(network.log_joint(row, max_table=1)).all()
    assert network.standard_error(row, max_table=1).tolist() == [[1.0, 1.0]]
    np.testing.assert_allclose(network.log_joint(row), np.log([[2.5e-7, 2.5e-7]]))
