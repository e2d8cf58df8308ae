"""The posterior over trees against enumeration, sampled frequencies and arbitrary precision."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from tanbark.averaging import TreePosterior


def posterior(n, spread, seed=0):
    weights = np.random.default_rng(seed).normal(size=(n, n)) * spread
    return TreePosterior(np.triu(weights, 1) + np.triu(weights, 1).T)


def probabilities(posterior, trees):
    """The probability of each tree, from its weight and the sum of all weights."""
    weights = np.array([math.exp(sum(posterior.log_weights[edge] for edge in tree)) for tree in trees])
    return weights / weights.sum()


def common(tree, other):
    return len(set(map(frozenset, tree)) & set(map(frozenset, other)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
def test_the_posterior_agrees_with_enumeration(all_trees, n, spread):
    model = posterior(n, spread, seed=n)
    trees = all_trees(n)
    share = probabilities(model, trees)
    expected = np.zeros((n, n))
    for tree, p in zip(trees, share):
        for u, v in tree:
            expected[u, v] += p
            expected[v, u] += p
    np.testing.assert_allclose(model.edge_probabilities, expected, rtol=1e-13, atol=1e-15)
    total = math.log(sum(math.exp(sum(model.log_weights[edge] for edge in tree)) for tree in trees))
    assert model.log_total == pytest.approx(total, rel=1e-14, abs=1e-14)
    best = model.best(3)
    assert [p for p, _ in best] == pytest.approx(sorted(np.log(share), reverse=True)[:3], abs=1e-12)
    shared = [common(tree, best[0][1].tolist()) / max(n - 1, 1) if n > 1 else 1.0 for tree in trees]
    assert model.concentration == pytest.approx(np.dot(share, shared), rel=1e-12)
    if spread == 0 and n > 1:
        assert model.concentration == pytest.approx(2 / n)


@pytest.mark.parametrize("unit", [1e9, 1e13, 1.3677887785310683e17, 1e50, 1e300, -1e17])
def test_ties_are_kept_among_weights_of_very_different_size(all_trees, unit):
    """The heaviest trees alone are probable, all of them alike, however many digits the weights have lost."""
    for seed in range(5):
        levels = np.random.default_rng(seed).integers(0, 3, (5, 5))
        levels = np.triu(levels, 1) + np.triu(levels, 1).T
        model = TreePosterior(unit * levels)
        trees = np.array(all_trees(5))
        totals = np.sign(unit) * levels[trees[:, :, 0], trees[:, :, 1]].sum(axis=1)
        heaviest = trees[totals == totals.max()]
        expected = np.zeros((5, 5))
        np.add.at(expected, (heaviest[:, :, 0], heaviest[:, :, 1]), 1 / len(heaviest))
        expected += expected.T
        np.testing.assert_allclose(model.edge_probabilities, expected, rtol=1e-12)
        logs = abs(unit) * totals.max() + math.log(len(heaviest))
        assert model.log_total == pytest.approx(logs, rel=1e-12, abs=1e-6)
        drawn = model.draw(2000, np.random.default_rng(seed))
        seen = np.zeros((5, 5))
        np.add.at(seen, (drawn[:, :, 0], drawn[:, :, 1]), 1 / len(drawn))
        assert np.abs(seen + seen.T - expected).max() < 0.05


@pytest.mark.compiled
@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 40), spread=st.floats(0.0, 1e5), seed=st.integers(0, 1000), forbidden=st.floats(0.0, 0.6))
def test_edge_probabilities_are_probabilities_and_make_one_tree(n, spread, seed, forbidden):
    model = posterior(n, spread, seed)
    rng = np.random.default_rng(seed)
    weights = model.log_weights.copy()
    for u in range(n):
        for v in range(u - 1):
            if rng.random() < forbidden:
                weights[u, v] = weights[v, u] = -np.inf
    model = TreePosterior(weights)
    p = model.edge_probabilities
    assert (p >= 0).all()
    assert (p <= 1).all()
    assert np.array_equal(p, p.T)
    assert (p[~np.isfinite(weights)] == 0).all()
    assert p.sum() / 2 == pytest.approx(n - 1, rel=1e-13)
    assert 0 < model.concentration <= 1
    for tree in model.draw(3, rng):
        assert np.isfinite(model.log_probability(tree))
        assert p[tree[:, 0], tree[:, 1]].min() > 0


def test_forbidden_edges_are_in_no_tree_however_far_weights_are_apart():
    """A chain of feeble edges is all that joins the nodes; the forbidden ones must be feebler still."""
    n = 15
    weights = np.full((n, n), -np.inf)
    for u in range(1, n):
        weights[u, u - 1] = weights[u - 1, u] = -20_000.0 * (u % 3) - 1.0
    weights[0, 2] = weights[2, 0] = 0.0
    p = TreePosterior(weights).edge_probabilities
    expected = np.where(np.isfinite(weights), 1.0, 0.0)
    # Of the triangle 0, 1, 2 the feeblest edge, between 1 and 2, is left out.
    expected[1, 2] = expected[2, 1] = 0.0
    np.testing.assert_allclose(p, expected, atol=1e-300)


def resistance(weights, u, v):
    """The resistance between two nodes, from the weights in ball arithmetic: all others are taken out."""
    order = [u, v, *(k for k in range(len(weights)) if k not in (u, v))]
    w = [[weights[a][b] for b in order] for a in order]
    for k in range(len(order) - 1, 1, -1):
        degree = sum(w[k][:k], arb(0))
        for i in range(k):
            for j in range(i):
                w[i][j] += w[k][i] * w[k][j] / degree
                w[j][i] = w[i][j]
    return 1 / w[1][0]


def test_edge_probabilities_are_right_to_the_last_digits_however_far_weights_are_apart():
    n = 12
    model = posterior(n, 2000.0, seed=4)
    before, ctx.prec = ctx.prec, 200
    try:
        weights = [[arb(float(w)).exp() for w in row] for row in model.log_weights]
        for u in range(n):
            for v in range(u):
                exact = weights[u][v] * resistance(weights, u, v)
                # A log weight of 5,000 is known to 1e-12; values below the smallest double are zero.
                error = abs(arb(float(model.edge_probabilities[u, v])) - exact)
                assert error < exact * 1e-11 + 1e-300
    finally:
        ctx.prec = before


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_sampled_trees_have_the_frequencies_of_their_probabilities(all_trees, spread):
    model = posterior(5, spread, seed=2)
    trees = all_trees(5)
    place = {frozenset(map(frozenset, tree)): i for i, tree in enumerate(trees)}
    many = 100_000
    drawn, times = np.unique(model.draw(many, np.random.default_rng(0)), axis=0, return_counts=True)
    seen = np.zeros(len(trees))
    for tree, t in zip(drawn.tolist(), times):
        seen[place[frozenset(map(frozenset, tree))]] += t
    expected = many * probabilities(model, trees)
    common = expected > 5
    statistic = ((seen - expected)[common] ** 2 / expected[common]).sum()
    assert chi2.sf(statistic, common.sum() - 1) > 1e-4
    assert seen[~common].sum() < 10 * expected[~common].sum() + 20


@pytest.mark.compiled
def test_sampled_edges_have_the_frequencies_of_their_probabilities():
    model = posterior(25, 3.0, seed=1)
    many = 20_000
    drawn = model.draw(many, np.random.default_rng(0)).reshape(-1, 2)
    seen = np.zeros((25, 25))
    np.add.at(seen, (drawn[:, 0], drawn[:, 1]), 1 / many)
    p = model.edge_probabilities
    apart = (seen + seen.T - p) / np.sqrt(p * (1 - p) / many + 1e-9)
    assert np.abs(apart[np.triu_indices(25, 1)]).max() < 5


def test_huge_weights_select_the_best_trees():
    model = posterior(6, 1e200, seed=1)
    assert np.isfinite(model.log_total)
    best = model.best(1)[0][1]
    assert model.edge_probabilities[best[:, 0], best[:, 1]] == pytest.approx(1.0)


def test_samples_are_trees_at_any_spread():
    """A random walk would take forever here; every sample is the heaviest tree."""
    model = posterior(40, 1e5, seed=3)
    best = {frozenset(edge) for edge in model.best(1)[0][1].tolist()}
    for tree in model.draw(10, np.random.default_rng(0)).tolist():
        assert {frozenset(edge) for edge in tree} == best
    assert model.concentration == pytest.approx(1.0, rel=1e-9)
