"""Graphs and independences of networks, against the definitions and the joint distribution."""

import dataclasses
import itertools
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from tanbark import KDB, Category, Network, Number, Schema
from tanbark.network import SparseTable, Structure


def random_network(seed, nodes=5, density=0.45):
    """Return a network of nodes with two or three values, random edges and random tables; the class may be any node."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(nodes)
    above = [[] for _ in range(nodes)]
    for later, earlier in itertools.product(range(nodes), repeat=2):
        if earlier < later and rng.random() < density:
            above[order[later]].append(int(order[earlier]))
    arity = rng.integers(2, 4, nodes).tolist()
    columns = [Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity[:-1])]
    tables = tuple(
        np.log(rng.dirichlet(np.ones(r), [arity[p] for p in up])) for r, up in zip(arity, above, strict=True)
    )
    return Network(Schema(columns, tuple(range(arity[-1]))), Structure(tuple(map(tuple, above))), tables)


def whole_joint(network):
    """Return P(attributes, class) by the chain rule, one axis per node."""
    nodes = len(network.names)
    joint = 1.0
    for node, (above, table) in enumerate(zip(network.structure.parents, network.log_tables, strict=True)):
        joint = joint * aligned(np.exp(table), (*above, node), nodes)
    return joint


def aligned(table, axes, nodes):
    """Return a table over these nodes with its axes in node order and axes of length one for all other nodes."""
    order = np.argsort(axes)
    shape = [1] * nodes
    for at in order:
        shape[axes[at]] = table.shape[at]
    return table.transpose(order).reshape(shape)


def is_blocked(graph, path, given):
    """Return whether a non-collider on the path is given, or a collider without given descendants is not."""
    for before, here, after in zip(path[:-2], path[1:-1], path[2:], strict=True):
        collides = graph.has_edge(before, here) and graph.has_edge(after, here)
        if collides and not ({here} | nx.descendants(graph, here)) & given:
            return True
        if not collides and here in given:
            return True
    return False


def questions(names):
    """Yield all assignments of nodes to a, b, given or nothing, with a and b not empty."""
    for places in itertools.product("abg-", repeat=len(names)):
        a, b, given = (tuple(n for n, place in zip(names, places, strict=True) if place == p) for p in "abg")
        if a and b:
            yield a, b, given


@pytest.mark.parametrize("seed", range(6))
def test_d_separation_means_that_every_path_is_blocked(seed):
    network = random_network(seed, nodes=4 + seed % 2)
    graph = nx.DiGraph([(p, name) for name, above in network.parents.items() for p in above])
    graph.add_nodes_from(network.names)
    paths = {
        (x, y): list(nx.all_simple_paths(graph.to_undirected(), x, y))
        for x, y in itertools.permutations(network.names, 2)
    }
    for a, b, given in questions(network.names):
        blocked = all(is_blocked(graph, path, set(given)) for x in a for y in b for path in paths[x, y])
        assert network.d_separated(a, b, given) == blocked


@pytest.mark.parametrize("seed", range(6))
def test_d_separated_nodes_are_independent_in_the_joint_and_others_are_not(seed):
    """Random tables have only the independences that the structure implies."""
    network = random_network(seed, nodes=4)
    names, joint = network.names, whole_joint(network)
    assert joint.sum() == pytest.approx(1.0)
    for a, b, given in questions(names):

        def margin(nodes):
            return joint.sum(axis=tuple(v for v, name in enumerate(names) if name not in nodes), keepdims=True)

        gap = np.abs(margin((*a, *b, *given)) * margin(given) - margin((*a, *given)) * margin((*b, *given))).max()
        assert (gap < 1e-15) == network.d_separated(a, b, given)
        assert gap < 1e-15 or gap > 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_a_node_is_independent_of_all_others_given_its_markov_blanket(seed):
    network = random_network(seed)
    for target in network.names:
        blanket = network.markov_blanket(target)
        assert list(blanket) == sorted(blanket, key=network.names.index)
        others = [name for name in network.names if name != target]
        for values in itertools.product((0, 1), repeat=len(others)):
            known = dict(zip(others, values, strict=True))
            of_all = network.query(target, known)
            assert network.query(target, {n: v for n, v in known.items() if n in blanket}) == pytest.approx(of_all)
        for left_out in blanket:
            assert not network.d_separated(target, left_out, [n for n in others if n != left_out])


def test_the_markov_blanket_is_parents_children_and_their_other_parents():
    # 0 -> 2 <- 1, 2 -> 4 <- 3, 4 -> 5, and 6 without edges.
    structure = Structure(((), (), (0, 1), (), (2, 3), (4,), ()))
    assert structure.markov_blanket(2) == (0, 1, 3, 4)
    assert structure.markov_blanket(0) == (1, 2)
    assert structure.markov_blanket(5) == (4,)
    assert structure.markov_blanket(6) == ()


def test_the_moral_graph_joins_parents_and_drops_directions():
    for seed in range(8):
        network = random_network(seed)
        expected = {frozenset((p, name)) for name, above in network.parents.items() for p in above}
        expected |= {frozenset(pair) for above in network.parents.values() for pair in itertools.combinations(above, 2)}
        moral = network.moral_graph()
        assert not moral.is_directed()
        assert tuple(moral.nodes) == network.names
        assert {frozenset(edge) for edge in moral.edges} == expected


def odd_network():
    """Return a network whose names have spaces and commas, with labels of every kind."""
    columns = [
        Category("wind, at noon", ("calm", "strong"), other=True),
        Number("age in years", (30.0,), missing=True),
        Category("1", (True, False)),
    ]
    schema = Schema(columns, ("no, thanks", "yes"), "sails, or not")
    structure = Structure(((3,), (0, 3), (), ()))
    shapes = [(2, 3), (3, 2, 3), (2,), (2,)]
    return Network(schema, structure, tuple(np.log(np.full(s, 1 / s[-1])) for s in shapes))


def test_to_networkx_has_the_names_the_labels_and_the_class():
    network = odd_network()
    graph = network.to_networkx()
    assert tuple(graph.nodes) == network.names
    assert set(graph.edges) == {
        ("sails, or not", "wind, at noon"),
        ("wind, at noon", "age in years"),
        ("sails, or not", "age in years"),
    }
    assert dict(graph.nodes(data="labels")) == {
        "wind, at noon": ("calm", "strong", "(other)"),
        "age in years": ("<= 30", "> 30", None),
        "1": (True, False),
        "sails, or not": ("no, thanks", "yes"),
    }
    assert [name for name, flag in graph.nodes(data="is_class") if flag] == ["sails, or not"]
    for name, labels in graph.nodes(data="labels"):
        assert tuple(network.query(name)) == labels


def test_names_with_spaces_and_commas_are_found():
    network = odd_network()
    assert network.markov_blanket("age in years") == ("wind, at noon", "sails, or not")
    assert network.markov_blanket("1") == ()
    assert network.d_separated("1", "wind, at noon")
    assert network.d_separated(["1"], {"wind, at noon", "age in years"}, given="sails, or not")
    assert not network.d_separated("age in years", "wind, at noon", given=("sails, or not", "1"))


@pytest.mark.parametrize(
    ("a", "b", "given", "message"),
    [
        ("height", "1", (), "^no node is named 'height'; the nodes are 'wind, at noon', 'age in years', '1', "),
        ("1", ["age in years", "wind"], (), "^no node is named 'wind'"),
        ("1", "age in years", ["noon"], "^no node is named 'noon'"),
        ("1", ("1", "age in years"), (), "^'1' is in both a and b; remove it from one of them$"),
        ("1", "age in years", "age in years", "^'age in years' is in both b and given; remove it from one"),
    ],
)
def test_unknown_and_repeated_names_raise(a, b, given, message):
    with pytest.raises(ValueError, match=message):
        odd_network().d_separated(a, b, given)


def test_arguments_that_are_not_names_raise():
    network = odd_network()
    with pytest.raises(TypeError, match=r"^b must be a node name or an iterable of node names, got 3$"):
        network.d_separated("1", 3)
    with pytest.raises(ValueError, match=r"^no node is named 3; the nodes are"):
        network.d_separated("1", [3])
    with pytest.raises(ValueError, match=r"^no node is named 'height'"):
        network.markov_blanket("height")


def sparse_network():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 60, (300, 6)).astype(str), rng.integers(0, 3, 300)
    network = KDB(k=4).fit(X, y).network_
    assert any(isinstance(table, SparseTable) for table in network.log_tables)
    return network


@pytest.mark.parametrize("make", [odd_network, sparse_network, lambda: random_network(3)])
@pytest.mark.parametrize("again", [lambda network: network, lambda network: pickle.loads(pickle.dumps(network))])
def test_networks_are_immutable(make, again):
    network = again(make())
    for owner, names in ((network, ("schema", "structure", "log_tables", "names")), (network.structure, ("parents",))):
        for name in names:
            with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
                setattr(owner, name, None)
    with pytest.raises(TypeError):
        network.log_tables[0] = None
    tables = [t for t in network.log_tables if not isinstance(t, SparseTable)]
    sparse = [t for t in network.log_tables if isinstance(t, SparseTable)]
    for array in (*tables, *(getattr(t, part) for t in sparse for part in ("keys", "rows", "default"))):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        network.class_log_prior[0] = 0
    network.to_networkx().remove_node(network.names[0])
    network.table(network.names[-1])[...] = 0
    assert network.names[0] in network.to_networkx()
    assert network.table(network.names[-1]).any()


def test_a_pickled_network_has_the_same_graph():
    network = random_network(5)
    copy = pickle.loads(pickle.dumps(network))
    assert nx.utils.graphs_equal(copy.to_networkx(), network.to_networkx())
    assert [copy.markov_blanket(n) for n in copy.names] == [network.markov_blanket(n) for n in network.names]


def test_importing_tanbark_does_not_import_networkx():
    code = "import sys, tanbark; tanbark.TAN; print('networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
