"""The weights of a pool: certified optima over the simplex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from tanbark.averaging import PoolLikelihood, best_pool
from tanbark.averaging.pool_weights import simplex_maximum


def problem(seed, rows, members, classes, spread=1.0):
    """Random log posteriors that favour each row's class, with classes and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    raw = rng.normal(size=(rows, classes, members)) * spread
    raw[np.arange(rows), y] += rng.normal(size=members) + 0.3
    return log_softmax(raw, axis=1), y, rng.integers(1, 4, rows).astype(float)


def likelihood_of(log_posteriors, y, weights, link):
    own = log_posteriors[np.arange(len(y)), y]
    if link == "linear":
        return PoolLikelihood(np.exp(own), weights)
    others = np.stack([np.delete(p, k, axis=0) for p, k in zip(log_posteriors, y)])
    return PoolLikelihood(others - own[:, None], weights)


def plain(pool, log_posteriors, y, weights, link):
    if link == "linear":
        scores = logsumexp(log_posteriors, axis=2, b=pool)
    else:
        scores = log_softmax(log_posteriors @ pool, axis=1)
    return weights @ scores[np.arange(len(y)), y]


links = pytest.mark.parametrize("link", ["log", "linear"])


@links
def test_the_likelihood_and_its_derivatives_are_those_of_plain_arithmetic(link):
    given = problem(0, 40, 4, 3)
    likelihood = likelihood_of(*given, link)
    pool = np.array([0.1, 0.2, 0.3, 0.4])
    value, slope, bend = likelihood(pool, True)
    assert value == pytest.approx(plain(pool, *given, link), rel=1e-12)
    step = 1e-5
    for i in range(4):
        up, down = pool.copy(), pool.copy()
        up[i] += step
        down[i] -= step
        assert slope[i] == pytest.approx((likelihood(up, False)[0] - likelihood(down, False)[0]) / (2 * step), rel=1e-6)
        change = (likelihood(up, False)[1] - likelihood(down, False)[1]) / (2 * step)
        np.testing.assert_allclose(-bend[i], change, rtol=1e-5)


@links
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), members=st.integers(1, 7), classes=st.integers(2, 4), rows=st.integers(3, 60))
def test_no_other_solver_finds_better_weights(link, seed, members, classes, rows):
    given_problem = problem(seed, rows, members, classes)
    likelihood = likelihood_of(*given_problem, link)
    pool, gap = best_pool(likelihood, members)
    assert (pool >= 0).all()
    assert pool.sum() == pytest.approx(1.0)
    assert 0 <= gap < 1e-6
    value = plain(pool, *given_problem, link)
    found = minimize(
        lambda w: -plain(np.maximum(w, 1e-300), *given_problem, link),
        np.full(members, 1 / members),
        jac=lambda w: -likelihood(w, False)[1],
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
def test_members_that_are_equal_share_alike(link):
    log_posteriors, y, weights = problem(1, 80, 3, 2)
    doubled = log_posteriors[:, :, [0, 1, 2, 0, 0]]
    pool, gap = best_pool(likelihood_of(doubled, y, weights, link), 5)
    alone, _ = best_pool(likelihood_of(log_posteriors, y, weights, link), 3)
    assert gap < 1e-6
    np.testing.assert_allclose(pool[[0, 3, 4]], pool[0], rtol=1e-6)
    assert pool[[0, 3, 4]].sum() == pytest.approx(alone[0], abs=1e-4)


@links
def test_fewer_rows_than_members_have_one_answer_whatever_the_order_of_the_members(link):
    log_posteriors, y, weights = problem(2, 4, 9, 2)
    order = np.random.default_rng(0).permutation(9)
    pool, gap = best_pool(likelihood_of(log_posteriors, y, weights, link), 9)
    other, _ = best_pool(likelihood_of(log_posteriors[:, :, order], y, weights, link), 9)
    assert gap < 1e-6
    np.testing.assert_allclose(other, pool[order], atol=1e-7)


@pytest.mark.parametrize("spread", [1e-9, 30.0, 600.0])
def test_scores_next_to_equal_or_worlds_apart_are_pooled(spread):
    log_posteriors, y, weights = problem(3, 50, 5, 3, spread)
    pool, gap = best_pool(likelihood_of(np.maximum(log_posteriors, -700), y, weights, "log"), 5)
    assert np.isfinite(pool).all()
    assert gap < 1e-6


def test_rows_that_every_member_is_sure_of_keep_their_digits():
    rng = np.random.default_rng(4)
    surely = -rng.uniform(60, 80, (30, 1, 4))
    likelihood = PoolLikelihood(surely, np.ones(30))
    pool, gap = best_pool(likelihood, 4)
    assert gap < 1e-6
    assert likelihood(pool, False)[0] == pytest.approx(-np.exp(surely[:, 0] @ pool).sum(), rel=1e-12)


@pytest.mark.usefixtures("threads_for_few_rows")
def test_threads_change_no_bit():
    log_posteriors, y, weights = problem(5, 20_000, 4, 3)
    one = likelihood_of(log_posteriors, y, weights, "log")
    two = PoolLikelihood(one.scores, one.weights, n_jobs=2)
    for a, b in zip(one(np.full(4, 0.25), True), two(np.full(4, 0.25), True)):
        assert np.array_equal(a, b)


def test_one_class_or_one_member_needs_no_steps():
    assert best_pool(PoolLikelihood(np.zeros((5, 0, 3)), np.ones(5)), 3) == (pytest.approx([1 / 3] * 3), 0.0)
    pool, gap = best_pool(likelihood_of(*problem(6, 10, 1, 2), "log"), 1)
    assert pool.tolist() == [1.0]
    assert gap == 0.0


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 8))
def test_the_quadratic_maximum_satisfies_the_conditions_of_karush_kuhn_and_tucker(seed, n):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    curve, slope = root @ root.T + 1e-3 * np.eye(n), rng.normal(size=n) * 3
    x = simplex_maximum(curve, slope, rng.dirichlet(np.ones(n)))
    assert x.sum() == pytest.approx(1.0)
    assert (x >= 0).all()
    pull = slope - curve @ x
    np.testing.assert_allclose(pull[x > 0], pull.max(), atol=1e-8)
