"""The weights of a pool: certified optima over the simplex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from tanbark import Category, Schema
from tanbark.averaging import PoolLikelihood, best_pool
from tanbark.averaging.pool_weights import simplex_maximum
from tanbark.counts import Rows


def problem(seed, rows, members, classes, spread=1.0):
    """Random log posteriors that favour each row's class, with classes and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    raw = rng.normal(size=(rows, classes, members)) * spread
    raw[np.arange(rows), y] += rng.normal(size=members) + 0.3
    return log_softmax(raw, axis=1), y, rng.integers(1, 4, rows).astype(float)


def likelihood_of(log_posteriors, y, weights, link, n_jobs=None):
    schema = Schema([Category("a", (0,))], tuple(range(log_posteriors.shape[1])))
    rows = Rows(schema, np.zeros((1, len(y)), np.uint8), y, weights)
    return PoolLikelihood.of(log_posteriors, rows, link == "linear", n_jobs)


def plain(pool, log_posteriors, y, weights, link):
    if link == "linear":
        scores = logsumexp(log_posteriors, axis=2, b=pool)
    else:
        scores = log_softmax(log_posteriors @ pool, axis=1)
    return weights @ scores[np.arange(len(y)), y] / weights.sum()


links = pytest.mark.parametrize("link", ["log", "linear"])


@links
def test_the_likelihood_and_its_derivatives_are_those_of_plain_arithmetic(link):
    given = problem(0, 40, 4, 3)
    likelihood = likelihood_of(*given, link)
    pool = np.array([0.1, 0.2, 0.3, 0.4])
    value, slope, bend = likelihood(pool)
    assert value == pytest.approx(plain(pool, *given, link), rel=1e-12)
    step = 1e-5
    for i in range(4):
        up, down = pool.copy(), pool.copy()
        up[i] += step
        down[i] -= step
        assert slope[i] == pytest.approx((likelihood(up)[0] - likelihood(down)[0]) / (2 * step), rel=1e-6)
        change = (likelihood(up)[1] - likelihood(down)[1]) / (2 * step)
        np.testing.assert_allclose(-bend[i], change, rtol=1e-5)


@links
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), members=st.integers(1, 7), classes=st.integers(2, 4), rows=st.integers(3, 60))
def test_no_other_solver_finds_better_weights(link, seed, members, classes, rows):
    given_problem = problem(seed, rows, members, classes)
    likelihood = likelihood_of(*given_problem, link)
    found_pool = best_pool(likelihood, members)
    pool, gap = found_pool.weights, found_pool.gap
    assert (pool >= 0).all()
    assert pool.sum() == pytest.approx(1.0)
    assert 0 <= gap < 1e-6
    value = plain(pool, *given_problem, link)
    assert found_pool.value == pytest.approx(value, rel=1e-12)
    found = minimize(
        lambda w: -plain(np.maximum(w, 1e-300), *given_problem, link),
        np.full(members, 1 / members),
        jac=lambda w: -likelihood(w)[1],
        method="SLSQP",
        bounds=[(0, 1)] * members,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert value >= -found.fun - 1e-6 * abs(found.fun)
    # What the gap promises is true of any weights, the best single member among them.
    rng = np.random.default_rng(seed)
    for other in [*np.eye(members), *rng.dirichlet(np.ones(members), 20)]:
        assert plain(other, *given_problem, link) <= value + gap * abs(value) + 1e-12


@links
def test_equal_members_have_equal_weights(link):
    log_posteriors, y, weights = problem(1, 80, 3, 2)
    doubled = log_posteriors[:, :, [0, 1, 2, 0, 0]]
    found = best_pool(likelihood_of(doubled, y, weights, link), 5)
    alone = best_pool(likelihood_of(log_posteriors, y, weights, link), 3).weights
    pool = found.weights
    assert found.gap < 1e-6
    np.testing.assert_allclose(pool[[0, 3, 4]], pool[0], rtol=1e-6)
    assert pool[[0, 3, 4]].sum() == pytest.approx(alone[0], abs=1e-4)


@links
def test_fewer_rows_than_members_have_one_answer_whatever_the_order_of_the_members(link):
    log_posteriors, y, weights = problem(2, 4, 9, 2)
    order = np.random.default_rng(0).permutation(9)
    found = best_pool(likelihood_of(log_posteriors, y, weights, link), 9)
    other = best_pool(likelihood_of(log_posteriors[:, :, order], y, weights, link), 9)
    assert found.gap < 1e-6
    np.testing.assert_allclose(other.weights, found.weights[order], atol=1e-8)


@pytest.mark.parametrize("spread", [1e-9, 30.0, 600.0])
def test_nearly_equal_and_very_different_scores_are_pooled(spread):
    log_posteriors, y, weights = problem(3, 50, 5, 3, spread)
    for link in ("log", "linear"):
        found = best_pool(likelihood_of(log_posteriors, y, weights, link), 5)
        assert np.isfinite(found.weights).all()
        assert found.gap < 1e-6


def test_rows_that_every_member_is_sure_of_keep_their_digits():
    rng = np.random.default_rng(4)
    surely = -rng.uniform(60, 80, (30, 1, 4))
    likelihood = PoolLikelihood(surely, np.full(30, 1 / 30))
    found = best_pool(likelihood, 4)
    assert found.gap < 1e-6
    assert found.value == pytest.approx(-np.exp(surely[:, 0] @ found.weights).mean(), rel=1e-12)


@pytest.mark.usefixtures("threads_for_few_rows")
def test_threads_change_no_bit():
    log_posteriors, y, weights = problem(5, 20_000, 4, 3)
    one = likelihood_of(log_posteriors, y, weights, "log")
    two = likelihood_of(log_posteriors, y, weights, "log", n_jobs=2)
    for a, b in zip(one(np.full(4, 0.25)), two(np.full(4, 0.25))):
        assert np.array_equal(a, b)


def test_one_class_or_one_member_needs_no_steps():
    found = best_pool(PoolLikelihood(np.zeros((5, 0, 3)), np.full(5, 0.2)), 3)
    assert found.weights == pytest.approx([1 / 3] * 3)
    assert found.gap == 0.0
    found = best_pool(likelihood_of(*problem(6, 10, 1, 2), "log"), 1)
    assert found.weights.tolist() == [1.0]
    assert found.gap == 0.0


@pytest.mark.parametrize("fall", [100.0, 1e-6])
def test_the_gap_is_what_the_gradient_certifies(fall):
    """Stopped before the first step, by a likelihood that only falls, the bound is that of the uniform weights."""
    slope = np.array([3.0, 1.0, -1.0])
    uniform = np.full(3, 1 / 3)

    def falling(pool):
        return -2.0 - fall * float(np.abs(pool - uniform).sum()), slope, np.eye(3)

    found = best_pool(falling, 3)
    np.testing.assert_allclose(found.weights, uniform)
    assert found.gap == pytest.approx((3.0 - 1.0) / 2.0)


@pytest.mark.parametrize("members", [2, 6, 7, 30])
def test_members_that_all_agree_have_equal_weights(members):
    log_posteriors, y, weights = problem(7, 50, 1, 2, spread=0.01)
    for link in ("log", "linear"):
        found = best_pool(likelihood_of(np.repeat(log_posteriors, members, axis=2), y, weights, link), members)
        np.testing.assert_allclose(found.weights, 1 / members, rtol=1e-6)
        sure = np.zeros((50, 1, members))
        found = best_pool(likelihood_of(sure, np.zeros(50, int), weights, link), members)
        np.testing.assert_allclose(found.weights, 1 / members, rtol=1e-3)
        assert found.gap < 1e-6


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 8))
def test_the_quadratic_maximum_satisfies_the_conditions_of_karush_kuhn_and_tucker(seed, n):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    curve, slope = root @ root.T + 1e-3 * np.eye(n), rng.normal(size=n) * 3
    middle = rng.dirichlet(np.ones(n))
    x = simplex_maximum(curve, slope, middle, rng.dirichlet(np.ones(n)))
    assert x.sum() == pytest.approx(1.0)
    assert (x >= 0).all()
    pull = slope - curve @ (x - middle)
    np.testing.assert_allclose(pull[x > 0], pull.max(), atol=1e-8)
