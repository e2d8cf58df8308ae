"""Boosting by itself: weights, votes and what they are worth."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from tanbark import Category, Network, Schema
from tanbark.classifiers.boosting import boost, fitted_temperature, log_loss
from tanbark.counts import Rows
from tanbark.models.votes import VoteTally, votes_of
from tanbark.network import Structure

SCHEMA = Schema([Category("a", (0, 1, 2, 3))], ("x", "y", "z"))
EVERY_VALUE = np.arange(4, dtype=SCHEMA.dtype)[None]


def network_for(*classes):
    """A network that votes for one class at each value of the attribute."""
    table = np.full((3, 4), 0.01)
    table[list(classes), range(4)] = 1.0
    table /= table.sum(axis=1, keepdims=True)
    prior = np.full(3, 1 / 3)
    return Network(SCHEMA, Structure.augmented((-1,)), (np.log(table), np.log(prior)))


def test_a_rounds_weight_and_the_rows_weights_after_it_are_those_of_samme():
    rows = Rows(SCHEMA, EVERY_VALUE, np.array([0, 1, 2, 2]), np.array([4.0, 3, 2, 1]))
    given = []

    def learn(weights):
        given.append(weights)
        return [network_for(0, 1, 1, 2), network_for(0, 2, 2, 2)][len(given) - 1]

    first, second = itertools.islice(boost(rows, learn), 2)
    alpha = math.log(0.8 / 0.2) + math.log(2)
    assert first.error == pytest.approx(0.2)
    assert first.weight == pytest.approx(alpha)
    after = np.array([4.0, 3, 2 * math.exp(alpha), 1])
    np.testing.assert_allclose(given[1], after * 10 / after.sum())
    assert second.error == pytest.approx(3 / after.sum())


@pytest.mark.parametrize(("guesses", "error"), [((0, 1, 2, 2), 0.0), ((1, 2, 0, 0), 1.0), ((0, 0, 0, 1), 2 / 3)])
def test_a_first_network_that_is_perfect_or_no_better_than_chance_votes_alone(guesses, error):
    rows = Rows(SCHEMA, EVERY_VALUE, np.array([0, 1, 2, 2]), np.array([2.0, 2, 1, 1]))
    (only,) = boost(rows, lambda weights: network_for(*guesses))
    assert only.error == pytest.approx(error)
    assert only.weight == 1.0


def test_a_network_learned_twice_is_no_better_than_chance_and_ends_it():
    rows = Rows(SCHEMA, EVERY_VALUE, np.array([0, 1, 2, 2]), np.array([0.3, 0.7, 0.1, 0.9]))
    assert len(list(boost(rows, lambda weights: network_for(0, 1, 1, 2)))) == 1


def test_a_vote_is_for_the_first_of_equally_probable_classes_whatever_the_rounding():
    table = np.log(np.full((3, 4), 0.25))
    table[1] += 1e-13
    table[2, 3] += 0.1
    network = Network(SCHEMA, Structure.augmented((-1,)), (table, np.log(np.full(3, 1 / 3))))
    assert votes_of(network, EVERY_VALUE).tolist() == [0, 0, 0, 2]


def test_a_vote_on_a_row_that_cannot_be_is_for_the_class_of_the_greatest_prior():
    table = np.full((3, 4), -np.inf)
    table[:, 0] = 0.0
    network = Network(SCHEMA, Structure.augmented((-1,)), (table, np.log([0.2, 0.5, 0.3])))
    assert votes_of(network, EVERY_VALUE).tolist() == [1, 1, 1, 1]


def test_shares_of_votes_sum_to_one():
    poll = VoteTally(EVERY_VALUE, 3)
    poll.add(network_for(0, 1, 1, 2), 3.0)
    poll.add(network_for(0, 2, 1, 0), 1.0)
    np.testing.assert_allclose(poll.shares, [[1, 0, 0], [0, 0.75, 0.25], [0, 1, 0], [0.25, 0, 0.75]])


def test_the_temperature_is_that_of_greatest_likelihood():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 200)
    y = (shares + rng.gumbel(size=shares.shape) / 4).argmax(axis=1)
    weights = rng.random(200)
    # One more row, all votes for a class and itself of every class alike.
    longer, own = np.vstack([shares, np.repeat([[1.0, 0, 0]], 3, axis=0)]), np.r_[y, 0, 1, 2]
    weighed = np.r_[weights, np.full(3, 1 / 3)]
    best = minimize_scalar(
        lambda t: -weighed @ log_softmax(t * longer, axis=1)[np.arange(203), own],
        bounds=(0, 50),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert fitted_temperature(shares, y, weights) == pytest.approx(best.x, rel=1e-6)


@pytest.mark.parametrize("rows", [10, 1000])
def test_votes_that_are_always_right_are_trusted_as_their_number_allows(rows):
    shares = np.tile([1.0, 0.0], (rows, 1))
    temperature = fitted_temperature(shares, np.zeros(rows, int), np.ones(rows))
    # The maximum of (rows + 1/2) log p + 1/2 log (1 - p).
    assert 1 / (1 + math.exp(-temperature)) == pytest.approx((rows + 0.5) / (rows + 1))


def test_votes_that_are_always_wrong_still_count_a_little():
    shares = np.tile([1.0, 0.0], (50, 1))
    assert 0 < fitted_temperature(shares, np.ones(50, int), np.ones(50)) <= 1e-3


def test_the_loss_is_the_mean_negative_log_probability():
    scores, weights = np.log([[0.5, 0.5], [0.9, 0.1]]), np.array([1.0, 3.0])
    assert log_loss(scores, np.array([0, 1]), weights) == pytest.approx((math.log(2) + 3 * math.log(10)) / 4)
