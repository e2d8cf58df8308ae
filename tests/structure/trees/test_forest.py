"""The forest of greatest gain, and the gains of edges."""

import itertools

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from tanbark import TAN, Counts, ForestAN, NaiveBayes
from tanbark.structure import EDGE_GAINS, maximum_forest

ARITY = (2, 3, 4, 2)


@given(st.integers(1, 5), st.integers(0, 10_000))
def test_no_forest_gains_more(n, seed):
    gains = np.random.default_rng(seed).normal(size=(n, n))
    gains = gains + gains.T
    pairs = list(itertools.combinations(range(n), 2))
    best = 0.0
    for many in range(n):
        for edges in itertools.combinations(pairs, many):
            graph = networkx.Graph(edges)
            if not edges or networkx.is_forest(graph):
                best = max(best, sum(gains[e] for e in edges))
    found = maximum_forest(gains)
    assert sum(gains[e] for e in found) == pytest.approx(best, rel=1e-9)
    assert all(gains[e] > 0 for e in found)


def test_a_gain_is_the_difference_of_two_scores(random_table):
    schema, codes, y = random_table(1, 200, ARITY, 3)
    counts = Counts.of(schema, codes, y)
    found = {name: gain(counts, 7.0) for name, gain in EDGE_GAINS.items()}

    def bdeu(u, above):
        rows = {}
        for i in range(200):
            rows.setdefault((y[i], *(codes[p, i] for p in above)), []).append(codes[u, i])
        q = 3 * np.prod([ARITY[p] for p in above])
        score = 0.0
        for seen in rows.values():
            cells = np.bincount(seen, minlength=ARITY[u])
            score += gammaln(7 / q) - gammaln(7 / q + len(seen))
            score += (gammaln(7 / q / ARITY[u] + cells) - gammaln(7 / q / ARITY[u])).sum()
        return score

    def log_likelihood(u, above):
        keys = [(y[i], *(codes[p, i] for p in above)) for i in range(200)]
        total = 0.0
        for key in set(keys):
            cells = np.bincount([codes[u, i] for i in range(200) if keys[i] == key])
            total += sum(c * np.log(c / cells.sum()) for c in cells if c)
        return total

    for u, v in itertools.permutations(range(4), 2):
        assert found["bdeu"][u, v] == pytest.approx(bdeu(v, [u]) - bdeu(v, []), rel=1e-9)
        penalty = 0.5 * np.log(200) * 3 * (ARITY[u] - 1) * (ARITY[v] - 1)
        gain = log_likelihood(v, [u]) - log_likelihood(v, [])
        assert found["cmi"][u, v] == pytest.approx(gain - penalty, rel=1e-9)


def test_a_pair_that_is_seldom_complete_is_penalised_by_its_own_rows(random_table):
    schema, codes, y = random_table(2, 300, (2, 2), 2)
    codes[0, 100:] = schema.missing_code
    alone = EDGE_GAINS["cmi"](Counts.of(schema, codes[:, :100].copy(), y[:100]), 1.0)
    among = EDGE_GAINS["cmi"](Counts.of(schema, codes, y), 1.0)
    assert among[0, 1] == pytest.approx(alone[0, 1], rel=1e-12)


@pytest.mark.parametrize("criterion", ["bdeu", "cmi"])
def test_it_is_naive_bayes_if_no_edge_gains(criterion):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (2000, 4)), rng.integers(0, 2, 2000)
    forest, naive = ForestAN(criterion=criterion).fit(X, y), NaiveBayes(ess=10.0).fit(X, y)
    assert forest.network_.edges == []
    assert forest.tree_edges_ == []
    assert np.array_equal(forest.predict_proba(X), naive.predict_proba(X))


@pytest.mark.parametrize("criterion", ["bdeu", "cmi"])
def test_it_is_tan_if_every_edge_gains(criterion):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 3000)
    X = np.zeros((3000, 4), int)
    X[:, 0] = rng.integers(0, 3, 3000)
    for u in range(1, 4):
        X[:, u] = np.where(rng.random(3000) < 0.5 + 0.1 * u, (X[:, u - 1] + y) % 3, rng.integers(0, 3, 3000))
    forest, tree = ForestAN(criterion=criterion).fit(X, y), TAN(criterion=criterion).fit(X, y)
    assert forest.network_.edges == tree.network_.edges
    assert np.array_equal(forest.predict_proba(X), tree.predict_proba(X))


def test_each_tree_is_rooted_at_its_attribute_with_most_information_about_the_class():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 4000)
    X = rng.integers(0, 2, (4000, 4))
    X[:, 1] = np.where(rng.random(4000) < 0.8, X[:, 0] ^ y, y)
    X[:, 3] = np.where(rng.random(4000) < 0.6, X[:, 2] ^ y, y)
    model = ForestAN().fit(X, y)
    assert model.network_.edges == [("x1", "x0"), ("x3", "x2")]
