"""The best trees against all trees, and against networkx."""

import itertools

import networkx as nx
import numpy as np
import pytest

from tanbark.structure import best_trees, maximum_spanning_tree


def random_weights(n, seed, whole=False):
    weights = np.random.default_rng(seed).normal(size=(n, n)) * 2
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    return np.round(weights) if whole else weights


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("whole", [False, True], ids=["all different", "many ties"])
@pytest.mark.parametrize("forbid", [False, True])
def test_all_trees_are_returned_once_and_in_order(all_trees, n, whole, forbid):
    weights = random_weights(n, n, whole)
    if forbid and n > 3:
        for u, v in ((0, 1), (1, 2)):
            weights[u, v] = weights[v, u] = -np.inf
    totals = [sum(weights[edge] for edge in tree) for tree in all_trees(n)]
    expected = sorted((t for t in totals if np.isfinite(t)), reverse=True)
    found = best_trees(weights, 10_000)
    assert len({frozenset(map(frozenset, tree)) for tree in found}) == len(found)
    np.testing.assert_allclose([sum(weights[edge] for edge in tree) for tree in found], expected, atol=1e-12)


def test_the_best_is_the_maximum_spanning_tree_and_fewer_may_be_asked_for():
    weights = random_weights(12, 0)
    (first,) = best_trees(weights, 1)
    assert set(map(frozenset, first)) == set(map(frozenset, maximum_spanning_tree(weights)))
    assert best_trees(weights, 5) == best_trees(weights, 20)[:5]


def test_networkx_finds_the_same():
    weights = random_weights(15, 3)
    graph = nx.Graph()
    graph.add_weighted_edges_from((u, v, weights[u, v]) for u in range(15) for v in range(u))
    theirs = itertools.islice(nx.SpanningTreeIterator(graph, minimum=False), 20)
    expected = [sum(weights[u, v] for u, v in tree.edges) for tree in theirs]
    ours = [sum(weights[edge] for edge in tree) for tree in best_trees(weights, 20)]
    np.testing.assert_allclose(ours, expected, atol=1e-12)
