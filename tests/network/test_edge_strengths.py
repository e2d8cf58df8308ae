"""Edge strengths, against sums over the whole joint distribution."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import KDB, TAN, BayesNet, Network
from tanbark.network import Structure
from tanbark.network import edge_strengths as strengths
from tanbark.network.edge_strengths import edge_strengths
from tanbark.schema import Category, Schema


def whole_joint(network):
    """Return the joint distribution of all nodes as the product of the tables, one axis for each node."""
    arity = [*network.schema.arity.tolist(), len(network.schema.classes)]
    joint = np.ones(arity)
    for node, name in enumerate(network.names):
        table = network.table(name)
        above = network.structure.parents[node]
        for values in product(*map(range, arity)):
            joint[values] *= table[(*(values[p] for p in above), values[node])]
    return joint


def entropy(joint, nodes):
    others = tuple(axis for axis in range(joint.ndim) if axis not in nodes)
    p = joint.sum(axis=others).ravel()
    return -sum(x * math.log(x) for x in p if x > 0)


def information(joint, a, b, given=()):
    """Return I(a; b | given) from four entropies."""
    return (
        entropy(joint, {a, *given})
        + entropy(joint, {b, *given})
        - entropy(joint, {a, b, *given})
        - entropy(joint, set(given))
    )


def random_network(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    order = rng.permutation(n + 1)
    parents = [()] * (n + 1)
    for at, node in enumerate(order):
        chosen = [int(p) for p in order[:at] if rng.random() < 0.5]
        parents[node] = tuple(chosen)
    arity = rng.integers(1, 4, n + 1)
    columns = [Category(f"x{u}", tuple(range(arity[u]))) for u in range(n)]
    schema = Schema(tuple(columns), class_name="class", classes=tuple(range(arity[n])))
    tables = []
    for node, above in enumerate(parents):
        table = rng.random((*(arity[p] for p in above), arity[node])) * (rng.random() < 0.8) + 1e-300
        zero = rng.random(table.shape) < 0.2
        table[zero & (np.arange(table.shape[-1]) > 0)] = 0.0
        with np.errstate(divide="ignore"):
            tables.append(np.log(table / table.sum(axis=-1, keepdims=True)))
    return Network(schema, Structure(tuple(parents)), tuple(tables))


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_strengths_are_conditional_mutual_informations_of_the_joint(seed):
    network = random_network(seed)
    joint = whole_joint(network)
    strengths = edge_strengths(network)
    names = network.names
    expected = {
        (names[p], names[u]): information(joint, p, u, set(above) - {p})
        for u, above in enumerate(network.structure.parents)
        for p in above
    }
    assert strengths.keys() == expected.keys()
    assert [strengths[edge] for edge in expected] == pytest.approx(list(expected.values()), abs=1e-9)


@pytest.mark.parametrize("model", [TAN(), KDB(k=2), BayesNet()])
def test_strengths_of_learned_networks(model):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4))
    X[:, 1] = np.where(rng.random(200) < 0.8, X[:, 0], X[:, 1])
    y = (X[:, 0] + rng.integers(0, 2, 200)) % 2
    network = model.fit(X, y).network_
    joint = whole_joint(network)
    names = network.names
    for (parent, child), strength in edge_strengths(network).items():
        u = names.index(child)
        others = set(network.structure.parents[u]) - {names.index(parent)}
        assert strength == pytest.approx(information(joint, names.index(parent), u, others), abs=1e-9)


def test_edges_into_a_node_with_very_many_configurations_are_nan():
    arity = 41
    columns = [Category(f"x{u}", tuple(range(arity))) for u in range(4)]
    schema = Schema(tuple(columns), class_name="class", classes=(0, 1))
    flat = -math.log(arity)
    tables = (
        *(np.full(arity, flat) for _ in range(3)),
        np.full((arity, arity, arity, arity), flat),
        np.log([0.5, 0.5]),
    )
    network = Network(schema, Structure(((), (), (), (0, 1, 2), ())), tables)
    assert all(math.isnan(strength) for strength in edge_strengths(network).values())


def test_strengths_are_estimated_from_samples_if_parents_have_many_ancestors(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (300, 5))
    X[:, 2] = np.where(rng.random(300) < 0.6, (X[:, 0] + X[:, 1]) % 3, X[:, 2])
    network = KDB(k=2).fit(X, (X[:, 0] + rng.integers(0, 2, 300)) % 2).network_
    exact = edge_strengths(network)
    monkeypatch.setattr(strengths, "MAX_EXACT_CELLS", 0)
    estimated = edge_strengths(network)
    assert estimated != exact
    assert [estimated[edge] for edge in exact] == pytest.approx(list(exact.values()), abs=0.02)
