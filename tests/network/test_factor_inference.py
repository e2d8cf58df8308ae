"""Inference in networks of any structure, against sums over the whole joint distribution."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

from network.networks import network_with, random_network, random_tree, rows_with_every_pattern, whole_joint
from tanbark import BayesNet, Category, Network, Schema
from tanbark.network import DrawnValuesWarning, Structure
from tanbark.network import factor_inference as factors

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")

SEEDS = range(40)


def summed(joint, row, arity):
    """Return log P(known values, class) by summing the joint."""
    for axis, (value, r) in enumerate(zip(row, arity, strict=True)):
        joint = joint.sum(axis=axis, keepdims=True) if value >= r else np.take(joint, [value], axis=axis)
    with np.errstate(divide="ignore"):
        return np.log(joint.ravel())


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_missing_values_are_marginalised_exactly(seed, zeros):
    network = random_network(seed, zeros=zeros)
    joint = whole_joint(network)
    assert joint.sum() == pytest.approx(1.0, rel=1e-12)
    rows = rows_with_every_pattern(network.schema, seed)
    expected = np.array([summed(joint, row, network.schema.arity) for row in rows.T])
    got = network.factors.log_joint(rows, None, factors.MAX_TABLE, 0)[0]
    assert np.array_equal(np.isneginf(got), np.isneginf(expected))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(network.log_joint(rows), got, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("max_table", [factors.MAX_TABLE, 8])
@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_log_given_class_is_a_marginal_of_the_joint(seed, zeros, max_table):
    network = random_network(seed, zeros=zeros)
    joint = whole_joint(network)
    n = joint.ndim - 1
    prior, log_given_class, sampled = network.factors.log_given_class(None, max_table, 0)
    if sampled:
        assert max_table == 8
        return
    of_class = joint.sum(axis=tuple(range(n)))
    assert np.exp(prior) == pytest.approx(of_class, abs=1e-13)
    for u, logs in enumerate(log_given_class):
        given = joint.sum(axis=tuple(v for v in range(n) if v != u))[:, of_class > 0] / of_class[of_class > 0]
        assert np.exp(logs[:, of_class > 0]) == pytest.approx(given, rel=1e-12)


def test_products_that_would_underflow_are_summed_in_logarithms():
    # Half of the 80 children give one value of their missing parent a likelihood of 1e-10, the other half the other
    # value. The likelihood of either value is about 1e-400, which floats cannot represent.
    n_children = 80
    schema = Schema([Category(f"a{u}", (0, 1)) for u in range(n_children + 1)], (0, 1))
    of_class = n_children + 1
    one = np.log([[[1e-10, 1 - 1e-10]] * 2, [[0.5, 0.5]] * 2])
    parents = ((of_class,), *((0, of_class),) * n_children, ())
    tables = (np.log([[0.25, 0.75], [0.5, 0.5]]), *(one, one[::-1]) * (n_children // 2), np.log([0.5, 0.5]))
    network = Network(schema, Structure(parents), tables)
    row = np.zeros((n_children + 1, 1), schema.dtype)
    row[0] = schema.missing_code
    log_joint = network.factors.log_joint(row, None, factors.MAX_TABLE, 0)[0][0]
    assert log_joint == pytest.approx([n_children // 2 * np.log(0.5e-10) + np.log(0.5)] * 2, rel=1e-12)


def test_the_random_networks_have_structures_of_every_kind():
    structures = [random_network(seed).structure for seed in SEEDS]
    assert any(s.parents[-1] for s in structures)
    assert any(not s.parents[-1] for s in structures)
    assert any(len(s.attribute_parents(u)) == 3 for s in structures for u in range(5))
    assert any(5 not in s.parents[u] and s.parents[u] for s in structures for u in range(5))


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_are_conditional_probabilities_of_the_joint(seed):
    network = random_network(seed)
    joint = whole_joint(network)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        nodes = rng.permutation(6).tolist()
        target, known = nodes[0], nodes[1 : 1 + rng.integers(0, 5)]
        values = {v: int(rng.integers(0, joint.shape[v])) for v in known}
        part = joint
        for v, value in values.items():
            part = np.take(part, [value], axis=v)
        expected = part.sum(axis=tuple(v for v in range(6) if v != target))
        answer = network.query(network.names[target], {network.names[v]: value for v, value in values.items()})
        np.testing.assert_allclose(list(answer.values()), expected / expected.sum(), rtol=1e-11)


@pytest.mark.compiled
@pytest.mark.usefixtures("threads_for_few_rows")
@pytest.mark.parametrize("max_table", [factors.MAX_TABLE, 0])
@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_the_result_of_a_row_depends_neither_on_its_batch_nor_on_threads(max_table):
    network = random_network(11, n=6)
    assert network.structure.parents[-1]
    rows = np.tile(rows_with_every_pattern(network.schema), 20)
    rng = np.random.default_rng(0)
    for u, r in enumerate(network.schema.arity):
        rows[u] = np.where(rows[u] < r, rng.integers(0, r, rows.shape[1]), rows[u])
    whole = network.log_joint(rows, n_jobs=2, max_table=max_table)
    assert np.array_equal(whole, network.log_joint(rows, n_jobs=1, max_table=max_table))
    order = rng.permutation(rows.shape[1])
    assert np.array_equal(whole[order], network.log_joint(rows[:, order].copy(), max_table=max_table))
    for i in range(0, rows.shape[1], 13):
        assert np.array_equal(whole[i], network.log_joint(rows[:, [i]], max_table=max_table)[0])


@pytest.mark.parametrize("n", [4, 31, 32, 70])
def test_general_inference_in_a_tree_equals_inference_in_trees(n):
    network = random_tree(n, n)
    rng = np.random.default_rng(0)
    rows = np.array([rng.integers(0, r, 300) for r in network.schema.arity], network.schema.dtype)
    rows[rng.random(rows.shape) < rng.random(300)] = network.schema.missing_code
    general = network.factors
    np.testing.assert_allclose(
        general.log_joint(rows, None, factors.MAX_TABLE, 0)[0], network.log_joint(rows), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        general.evidence(rows, None, factors.MAX_TABLE, 0)[0], network.tree.evidence(rows), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_evidence_sums_to_the_log_joint_and_is_zero_for_missing_values(seed, zeros):
    network = random_network(seed, zeros=zeros)
    rows = rows_with_every_pattern(network.schema, seed)
    parts = network.factors.evidence(rows, None, factors.MAX_TABLE, 0)[0]
    assert not np.isnan(parts).any()
    np.testing.assert_allclose(parts.sum(axis=1), network.log_joint(rows), rtol=1e-12, atol=1e-12)
    assert (parts[:, 1:][network.schema.missing_code == rows.T] == 0).all()


def test_evidence_is_divided_as_documented():
    """The parents of a2 are a0, a1 and the class, those of a3 are a2 and the class; a2 is first known, then missing."""
    network = network_with([(4,), (4,), (0, 1, 4), (2, 4), ()], [2, 3, 2, 2, 2], np.random.default_rng(0))
    joint = whole_joint(network)
    given = joint / joint.sum(axis=(0, 1, 2, 3))
    alone = [np.log(given.sum(axis=tuple(v for v in range(4) if v != u))[0]) for u in range(4)]
    prior = np.log(joint.sum(axis=(0, 1, 2, 3)))
    family = network.log_tables[2][0, 0, :, 0] - alone[2]
    below = network.log_tables[3][0, :, 0] - alone[3]
    known = [
        prior,
        alone[0] + family / 3,
        alone[1] + family / 3,
        alone[2] + family / 3 + below / 2,
        alone[3] + below / 2,
    ]
    parts = network.evidence(np.zeros((4, 1), np.uint8))[0]
    np.testing.assert_allclose(parts, known, rtol=1e-11, atol=1e-12)
    together = np.log(given.sum(axis=2)[0, 0, 0]) - alone[0] - alone[1] - alone[3]
    without = [prior, *(alone[u] + together / 3 if u != 2 else np.zeros(2) for u in range(4))]
    parts = network.evidence(np.array([[0], [0], [255], [0]], np.uint8))[0]
    np.testing.assert_allclose(parts, without, rtol=1e-11, atol=1e-12)


def test_the_factor_of_a_class_with_parents_is_divided_among_them():
    network = network_with([(), (0,), (0, 1)], [2, 3, 2], np.random.default_rng(1))
    joint = whole_joint(network)
    prior = np.log(joint.sum(axis=(0, 1)))
    np.testing.assert_allclose(network.class_log_prior, prior, rtol=1e-12)
    parts = network.evidence(np.array([[1, 255], [2, 255]], np.uint8))
    np.testing.assert_allclose(parts.sum(axis=1), [np.log(joint[1, 2]), prior], rtol=1e-12)
    beyond = network.log_tables[2][1, 2] - prior
    np.testing.assert_allclose(parts[0, 0], prior + beyond / 3, rtol=1e-12)
    np.testing.assert_allclose(parts[1], [prior, [0, 0], [0, 0]], rtol=1e-12, atol=1e-15)


def test_a_class_of_probability_zero_gives_no_nan():
    rng = np.random.default_rng(0)
    network = network_with([(3,), (0, 3), (0, 1, 3), ()], [2, 2, 2, 2], rng)
    with np.errstate(divide="ignore"):
        network = Network(network.schema, network.structure, (*network.log_tables[:-1], np.log([1.0, 0.0])))
    rows = rows_with_every_pattern(network.schema)
    assert np.isneginf(network.log_joint(rows)[:, 1]).all()
    parts = network.evidence(rows)
    assert np.isfinite(parts[:, 1:]).all()
    np.testing.assert_allclose(parts.sum(axis=1), network.log_joint(rows), rtol=1e-12)


@pytest.mark.parametrize("name", ["two dependences", "the class in the middle"])
def test_queries_equal_pyagrums_propagation(name, reference):
    figures = reference("pyagrum_networks")["networks"][name]
    arity = figures["arity"]
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity[:-1])], tuple(range(arity[-1])))
    tables = tuple(np.log(table) for table in figures["tables"])
    network = Network(schema, Structure(tuple(map(tuple, figures["parents"]))), tables)
    for case in figures["queries"]:
        answer = network.query(case["target"], case["evidence"])
        np.testing.assert_allclose(list(answer.values()), case["proba"], rtol=1e-9)


def test_missing_values_without_known_descendants_need_no_tables():
    """Only a0 to a2 are known; eliminating a3 to a8 would need large tables."""
    parents = [(9,), (0, 9), (0, 1, 9), (1, 2, 9), (2, 3, 9), (3, 4, 9), (4, 5, 9), (5, 6, 9), (6, 7, 9), ()]
    network = network_with(parents, [3] * 9 + [2], np.random.default_rng(1))
    rows = np.full((9, 1), 255, np.uint8)
    rows[:3] = 1
    exact = network.log_joint(rows, max_table=0)
    np.testing.assert_allclose(exact, network.log_joint(rows, max_table=10**6), rtol=1e-12)


def test_the_cache_of_groups_is_bounded(monkeypatch):
    monkeypatch.setattr(factors, "MAX_CACHED_GROUPS", 2)
    network = random_network(3)
    rows = rows_with_every_pattern(network.schema)
    first = network.log_joint(rows)
    assert len(network.factors._group_cache) <= 2
    assert np.array_equal(network.log_joint(rows), first)


def test_rows_are_distinguished_if_their_values_exceed_64_bit_keys():
    """The missing a0 has 70 known neighbours; rows that differ in only one of them must not be treated as equal."""
    n = 71
    parents = [(n,), (0, n), *((0, 1, n) for _ in range(2, n)), ()]
    network = network_with(parents, [2] * n + [2], np.random.default_rng(2))
    rows = np.zeros((n, 2 * n), np.uint8)
    rows[0] = 255
    rows[np.arange(n) % n, np.arange(n)] = 1
    rows[0] = 255
    alone = np.concatenate([network.log_joint(rows[:, [i]].copy()) for i in range(2 * n)])
    assert np.array_equal(network.log_joint(rows), alone)


def test_log_joints_are_finite_if_known_values_contradict_each_other():
    """Terms that differ by hundreds of nats do not underflow."""
    rng = np.random.default_rng(0)
    network = network_with([(4,), (0, 4), (0, 1, 4), (0, 1, 2, 4), ()], [3, 3, 3, 3, 2], rng)
    tables = [log_softmax(np.asarray(t) * 500, axis=-1) for t in network.log_tables]
    sharp = Network(network.schema, network.structure, tuple(tables))
    assert np.isfinite(sharp.log_joint(rows_with_every_pattern(network.schema))).all()


def test_an_estimated_class_prior_sums_to_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 80, 500).astype(str) for name in ("a", "b", "c", "d")})
    y = rng.integers(0, 20, 500)
    families = {"class": "abd", "c": "abd"}
    required = [(parent, child) for child, parents in families.items() for parent in parents]
    with pytest.warns(DrawnValuesWarning):
        model = BayesNet(search="greedy", required=[*required, ("c", "class")], parameters="ml").fit(X, y)
    assert np.exp(model.network_.class_log_prior).sum() == pytest.approx(1.0, rel=1e-12)
