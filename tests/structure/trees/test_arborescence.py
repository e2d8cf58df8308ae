"""The heaviest rooted tree against all of them, and against networkx."""

import networkx as nx
import numpy as np
import pytest

from tanbark.structure import maximum_arborescence, maximum_spanning_tree


def random_weights(n, seed, levels=None):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n)) if levels is None else rng.integers(-levels, levels + 1, (n, n)).astype(float)


def total(weights, edges):
    return sum(weights[edge] for edge in edges)


def is_rooted_tree(n, edges):
    return nx.is_arborescence(nx.DiGraph(edges)) and {v for edge in edges for v in edge} == set(range(n))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("levels", [None, 1, 3])
def test_no_tree_with_any_root_is_heavier(all_trees, n, levels):
    for seed in range(10):
        weights = random_weights(n, seed, levels)
        best = max(total(weights, nx.bfs_edges(nx.Graph(tree), root)) for tree in all_trees(n) for root in range(n))
        edges = maximum_arborescence(weights)
        assert is_rooted_tree(n, edges)
        assert total(weights, edges) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("n", [12, 30])
@pytest.mark.parametrize("levels", [None, 2, 50])
def test_networkx_finds_none_heavier(n, levels):
    for seed in range(5):
        weights = random_weights(n, seed, levels)
        graph = nx.DiGraph()
        graph.add_weighted_edges_from((u, v, weights[u, v]) for u in range(n) for v in range(n) if u != v)
        theirs = nx.maximum_spanning_arborescence(graph)
        edges = maximum_arborescence(weights)
        assert is_rooted_tree(n, edges)
        assert total(weights, edges) == pytest.approx(total(weights, theirs.edges))


def test_with_symmetric_weights_it_is_the_maximum_spanning_tree():
    weights = random_weights(12, 0)
    weights += weights.T
    edges = {frozenset(edge) for edge in maximum_arborescence(weights)}
    assert edges == {frozenset(edge) for edge in maximum_spanning_tree(weights)}


def test_parents_come_before_children_and_the_root_first():
    edges = maximum_arborescence(random_weights(9, 4))
    reached = {edges[0][0]}
    for parent, child in edges:
        assert parent in reached
        assert child not in reached
        reached.add(child)


def test_ties_go_to_column_order():
    star = [(0, 1), (0, 2), (0, 3)]
    assert maximum_arborescence(np.ones((4, 4))) == star
    assert maximum_arborescence(np.zeros((4, 4))) == star
    assert maximum_arborescence(-np.ones((4, 4))) == star


def test_weights_that_differ_by_rounding_are_a_tie():
    for noise in np.random.default_rng(0).normal(size=(50, 4, 4)) * 1e-16:
        assert maximum_arborescence(np.ones((4, 4)) + noise) == [(0, 1), (0, 2), (0, 3)]


def test_the_order_of_columns_does_not_matter_without_ties():
    weights = random_weights(10, 5)
    order = np.random.default_rng(6).permutation(10)
    moved = maximum_arborescence(weights[np.ix_(order, order)])
    assert {(order[u], order[v]) for u, v in moved} == set(maximum_arborescence(weights))


def test_cycles_within_cycles_are_undone():
    """Each pair of neighbours prefers itself, then each four, then each eight: contractions of contractions."""
    n = 16
    at = np.arange(n)
    weights = np.zeros((n, n))
    for level in range(1, 5):
        together = at[:, None] >> level == at[None] >> level
        weights += together * 10.0
    weights += random_weights(n, 7) * 0.1
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((u, v, weights[u, v]) for u in range(n) for v in range(n) if u != v)
    assert total(weights, maximum_arborescence(weights)) == pytest.approx(
        total(weights, nx.maximum_spanning_arborescence(graph).edges)
    )


@pytest.mark.parametrize("n", [0, 1])
def test_one_attribute_or_none_has_no_edges(n):
    assert maximum_arborescence(np.zeros((n, n))) == []
