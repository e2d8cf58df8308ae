from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark.structure import maximum_spanning_tree, rooted_parents


def symmetric(n, seed, levels=None):
    rng = np.random.default_rng(seed)
    w = rng.random((n, n)) if levels is None else rng.integers(0, levels, (n, n)).astype(float)
    return np.triu(w, 1) + np.triu(w, 1).T


@given(st.integers(2, 9), st.integers(0, 200), st.sampled_from([None, 2, 4]))
def test_its_weight_is_networkx_greatest(n, seed, levels):
    w = symmetric(n, seed, levels)
    edges = maximum_spanning_tree(w)
    graph = nx.Graph()
    graph.add_weighted_edges_from((u, v, w[u, v]) for u, v in combinations(range(n), 2))
    best = nx.maximum_spanning_tree(graph).size(weight="weight")
    assert sum(w[e] for e in edges) == pytest.approx(best)
    assert nx.is_tree(nx.Graph(edges))
    assert len(edges) == n - 1


@given(st.integers(2, 8), st.integers(0, 200))
def test_edges_come_in_prims_order(n, seed):
    w = symmetric(n, seed)
    edges = maximum_spanning_tree(w)
    inside = {*edges[0]}
    assert w[edges[0]] == w.max()
    for u, v in edges[1:]:
        assert u in inside
        assert v not in inside
        assert w[u, v] == max(w[a, b] for a, b in product(inside, set(range(n)) - inside))
        inside.add(v)


def test_ties_go_to_column_order():
    assert maximum_spanning_tree(np.ones((4, 4))) == [(0, 1), (0, 2), (0, 3)]


def test_a_tie_between_two_ends_goes_to_the_lower_column():
    # The heaviest pair is (1, 2); column 0 has equal weights to both, column 3 to all three.
    w = np.full((4, 4), 1.0)
    w[1, 2] = w[2, 1] = 5.0
    assert maximum_spanning_tree(w) == [(1, 2), (1, 0), (0, 3)]


def test_weights_that_differ_by_rounding_are_a_tie():
    w = np.array([[0, 0.1 + 0.2, 0.3], [0.1 + 0.2, 0, 0.1], [0.3, 0.1, 0]])
    assert maximum_spanning_tree(w) == maximum_spanning_tree(np.where(w > 0.2, 0.3, w))
    for noise in np.random.default_rng(0).normal(size=(50, 3)) * 1e-16:
        noisy = np.ones((3, 3)) + np.array([[0, noise[0], noise[1]], [noise[0], 0, noise[2]], [*noise[1:], 0]])
        assert maximum_spanning_tree(noisy) == [(0, 1), (0, 2)]


def test_negative_weights_still_span():
    assert len(maximum_spanning_tree(-symmetric(5, 0))) == 4


def test_one_attribute_has_no_edges():
    assert maximum_spanning_tree(np.zeros((1, 1))) == []


@given(st.integers(1, 9), st.integers(0, 50), st.integers(0, 8))
def test_rooted_keeps_the_edges_and_directs_them_from_the_root(n, seed, root):
    root %= n
    edges = maximum_spanning_tree(symmetric(n, seed))
    parent = rooted_parents(n, edges, [root])
    assert parent[root] == -1
    assert {frozenset(e) for e in edges} == {frozenset((u, p)) for u, p in enumerate(parent) if p >= 0}


def test_trees_the_root_does_not_reach_are_rooted_at_their_first_attribute():
    assert rooted_parents(5, [(0, 1), (4, 3)], roots=[1]) == (1, -1, -1, -1, 3)
