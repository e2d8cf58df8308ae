"""Inference in trees, against sums over all completions of every row."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, softmax

from tanbark import TAN, AveragedTAN, Category, Counts, Encoder, Network, Number, Schema
from tanbark.network import Structure
from tanbark.parameters import tree_tables

TREES = [(-1, -1, -1, -1), (-1, 0, 1, 1), (1, 2, -1, 1), (3, 3, 1, -1), (-1, 0, 0, 0)]


def network_of(random_table, parent, parameters="dirichlet", seed=1, rows=90, classes=3):
    schema, codes, y = random_table(seed, rows, (3, 2, 4, 2), classes)
    return Network(
        schema, Structure.augmented(parent), tree_tables(Counts.of(schema, codes, y), parent, parameters, 2.0)
    )


def log_joint_of_complete_row(network, row, k):
    """Return log P(row, k) by the chain rule."""
    total = network.log_tables[-1][k]
    for u, table in enumerate(network.log_tables[:-1]):
        parent_values = [row[p] if p < len(row) else k for p in network.structure.parents[u]]
        total += table[(*parent_values, row[u])]
    return total


def brute_force(network, row):
    """Return log P(known values, k) by summing over all values of the missing attributes."""
    arity = network.schema.arity
    options = [range(r) if v >= r else [int(v)] for v, r in zip(row, arity, strict=True)]
    joints = []
    for k in range(len(network.schema.classes)):
        completions = [
            log_joint_of_complete_row(network, [o[i] for o, i in zip(options, at, strict=True)], k)
            for at in np.ndindex(*[len(o) for o in options])
        ]
        joints.append(logsumexp(completions))
    return joints


def rows_with_every_pattern(schema, seed=0):
    """Return random rows, one for each subset of attributes that can be missing."""
    rng = np.random.default_rng(seed)
    n = len(schema.columns)
    rows = np.array([rng.integers(0, r, 2**n) for r in schema.arity], np.uint8)
    for pattern in range(2**n):
        for u in range(n):
            if pattern >> u & 1:
                rows[u, pattern] = schema.missing_code
    return rows


@pytest.mark.parametrize("parent", TREES)
@pytest.mark.parametrize("parameters", ["dirichlet", "ml", "softened"])
def test_missing_values_are_marginalised_exactly(random_table, parent, parameters):
    network = network_of(random_table, parent, parameters, rows=20 if parameters == "ml" else 90)
    rows = rows_with_every_pattern(network.schema)
    with np.errstate(divide="ignore"):
        expected = np.array([brute_force(network, row) for row in rows.T])
    got = network.log_joint(rows)
    assert np.array_equal(np.isneginf(got), np.isneginf(expected))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("threads_for_few_rows")
def test_threads_and_batches_do_not_change_the_result(random_table):
    network = network_of(random_table, TREES[1])
    rows = np.tile(rows_with_every_pattern(network.schema), 200)
    whole = network.log_joint(rows, n_jobs=2)
    assert np.array_equal(whole, network.log_joint(rows, n_jobs=1))
    assert np.array_equal(whole[:16], network.log_joint(rows[:, :16].copy()))
    assert np.array_equal(whole, np.tile(whole[:16], (200, 1)))


def test_codes_of_the_wrong_shape_are_refused(random_table):
    network = network_of(random_table, TREES[1])
    for codes in (np.zeros((3, 5), np.uint8), np.zeros((4, 5), np.int64), [[0]]):
        with pytest.raises(ValueError, match=r"codes must be an array returned by schema\.encode"):
            network.log_joint(codes)


@pytest.mark.parametrize("parent", TREES)
def test_evidence_sums_to_the_log_joint_for_any_missing_values(random_table, parent):
    network = network_of(random_table, parent)
    rows = rows_with_every_pattern(network.schema)
    parts = network.tree.evidence(rows)
    np.testing.assert_allclose(parts.sum(axis=1), network.log_joint(rows), rtol=1e-11, atol=1e-11)
    missing = network.schema.missing_code == rows.T
    assert (parts[:, 1:][missing] == 0).all()


def test_evidence_is_shared_as_documented(random_table):
    """Chain 0 - 1 - 2 - 3 with 1 and 2 missing: the group speaks through 0 and 3, half each."""
    network = network_of(random_table, (-1, 0, 1, 2))
    row = np.array([[1], [255], [255], [0]], np.uint8)
    parts = network.tree.evidence(row)[0]
    alone_0 = np.array([network.query("a0", {"class": k})[1] for k in range(3)])
    alone_3 = np.array([network.query("a3", {"class": k})[0] for k in range(3)])
    given_0 = np.array([network.query("a3", {"class": k, "a0": 1})[0] for k in range(3)])
    together = np.log(given_0 / alone_3)
    np.testing.assert_allclose(parts[0], network.log_tables[-1])
    np.testing.assert_allclose(parts[1], np.log(alone_0) + together / 2, rtol=1e-11)
    np.testing.assert_allclose(parts[4], np.log(alone_3) + together / 2, rtol=1e-11)


def test_the_root_does_not_change_who_gets_which_evidence(random_table):
    schema, codes, y = random_table(1, 90, (3, 2, 4, 2), 3)
    counts = Counts.of(schema, codes, y)
    rootings = [(-1, 0, 1, 1), (1, -1, 1, 1), (1, 2, -1, 1), (1, 3, 1, -1)]
    rows = rows_with_every_pattern(schema)
    parts = [
        Network(schema, Structure.augmented(p), tree_tables(counts, p, "dirichlet", 1.0)).tree.evidence(rows)
        for p in rootings
    ]
    for other in parts[1:]:
        np.testing.assert_allclose(other, parts[0], rtol=1e-9, atol=1e-11)


def whole_joint(network):
    """Return P(row, k) of every complete row, with one axis per attribute and the class last."""
    arity = network.schema.arity
    rows = np.array(list(np.ndindex(*arity)), np.uint8).T.copy()
    return np.exp(network.log_joint(rows)).reshape(*arity, -1)


def test_the_joint_sums_to_one(random_table):
    for parent in TREES:
        assert whole_joint(network_of(random_table, parent)).sum() == pytest.approx(1.0, rel=1e-12)


EVIDENCE = [{}, {"a1": 1}, {"a1": 0, "a3": 1}, {"class": 2}, {"class": 0, "a3": 1}]


@pytest.mark.parametrize(
    ("target", "evidence"), [(t, e) for t in ("a0", "a2", "class") for e in EVIDENCE if t not in e]
)
def test_queries_are_conditional_probabilities_of_the_joint(random_table, target, evidence):
    network = network_of(random_table, (1, 2, -1, 1))
    joint = whole_joint(network)
    names = [*network.schema.names, "class"]
    for name, value in evidence.items():
        joint = np.take(joint, [value], axis=names.index(name))
    axis = names.index(target)
    marginal = joint.sum(axis=tuple(a for a in range(5) if a != axis))
    expected = marginal / marginal.sum()
    answer = network.query(target, evidence)
    assert list(answer) == list(range(len(expected)))
    np.testing.assert_allclose(list(answer.values()), expected, rtol=1e-11)


def test_queries_accept_and_return_labels_and_intervals():
    schema = Schema([Category("sex", ("f", "m")), Number("age", (30.0,))], classes=("no", "yes"))
    tables = tuple(
        np.log(t) for t in (np.full((2, 2), 0.5), np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([0.25, 0.75]))
    )
    network = Network(schema, Structure.augmented((-1, -1)), tables)
    assert network.query("age", {"class": "yes"}) == pytest.approx({"<= 30": 0.9, "> 30": 0.1})
    # P(no | age > 30) = .25 * .8 / (.25 * .8 + .75 * .1)
    assert network.query("class", {"age": 61, "sex": None}) == pytest.approx({"no": 0.2 / 0.275, "yes": 0.075 / 0.275})


@pytest.mark.parametrize(
    ("target", "evidence", "message"),
    [
        ("height", {}, "no node is named 'height'"),
        ("class", {"height": 1}, "no node is named 'height'"),
        ("class", {"class": "yes"}, "'class' is both the target and part of the evidence"),
        ("class", {"sex": "x"}, "invalid value 'x' for 'sex': expected one of 'f', 'm'"),
        ("class", {"sex": 1}, "column 'sex' holds numbers"),
        ("sex", {"class": "maybe"}, "unknown class 'maybe'; the known classes are"),
    ],
)
def test_invalid_queries_raise(target, evidence, message):
    schema = Schema([Category("sex", ("f", "m"))], classes=("no", "yes"))
    network = Network(schema, Structure.augmented((-1,)), (np.log(np.full((2, 2), 0.5)), np.log([0.5, 0.5])))
    with pytest.raises(ValueError, match=message):
        network.query(target, evidence)


def test_evidence_of_probability_zero_raises():
    schema = Schema([Category("a", (0, 1))], classes=(0, 1))
    with np.errstate(divide="ignore"):
        network = Network(schema, Structure.augmented((-1,)), (np.log([[1.0, 0.0], [1.0, 0.0]]), np.log([0.5, 0.5])))
    with pytest.raises(ValueError, match="probability zero"):
        network.query("class", {"a": 1})


def test_samples_follow_the_joint(random_table):
    network = network_of(random_table, (1, 2, -1, 1))
    joint = whole_joint(network)
    X, y = network.sample(60_000, random_state=3)
    seen = np.zeros(joint.shape)
    np.add.at(seen, (*X.astype(int).T, y.astype(int)), 1 / 60_000)
    error = np.sqrt(joint * (1 - joint) / 60_000)
    assert (np.abs(seen - joint) < 5 * error + 1e-5).all()


def test_the_same_seed_samples_the_same_rows(random_table):
    network = network_of(random_table, TREES[1])
    assert all(np.array_equal(a, b) for a, b in zip(network.sample(50, 7), network.sample(50, 7), strict=True))
    assert not np.array_equal(network.sample(50, 7)[0], network.sample(50, 8)[0])


def test_numbers_are_sampled_within_the_training_range():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    sampled, _ = TAN(encoder=Encoder(n_bins=5)).fit(X, y).sample(2000, random_state=1)
    assert sampled.dtype == float
    assert (sampled >= X.min(axis=0)).all()
    assert (sampled <= X.max(axis=0)).all()
    # Each of the five quantile bins holds a fifth of the rows.
    fifths = np.quantile(X[:, 0], [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
    shares = np.bincount(np.searchsorted(fifths, sampled[:, 0]), minlength=5) / 2000
    np.testing.assert_allclose(shares, 0.2, atol=0.05)


def test_posteriors_with_missing_values_and_queries_equal_those_of_pyagrum(read_text, reference):
    for name, figures in reference("pyagrum_tan")["sets"].items():
        given = figures["BDeu, weight 10, given the maximum tree"]
        X, y, names = read_text(name)
        X = pd.DataFrame(X, columns=names[:-1])
        schema = TAN().fit(X, y).schema_
        counts = Counts.of(schema, schema.encode(X), schema.encode_target(y))
        above = {child: parent for parent, child in given["attribute_arcs"]}
        parent = tuple(names.index(above[n]) if n in above else -1 for n in names[:-1])
        network = Network(schema, Structure.augmented(parent), tree_tables(counts, parent, "dirichlet", 10.0))
        for case in given["whole_rows"] + given["rows_with_holes"]:
            row = X.iloc[[case["row"]]].copy()
            row[case.get("hidden", [])] = None
            posterior = softmax(network.log_joint(schema.encode(row)), axis=1)[0]
            np.testing.assert_allclose(posterior, case["proba"], rtol=1e-9, atol=1e-15)
        for case in given["queries"]:
            answer = network.query(case["target"], case["evidence"])
            np.testing.assert_allclose(list(answer.values()), case["proba"], rtol=1e-9)


def test_str_shows_the_tree(random_table):
    assert str(network_of(random_table, (-1, 0, 1, 0))).splitlines() == [
        "class",
        "└─ a0",
        "   ├─ a1",
        "   │  └─ a2",
        "   └─ a3",
    ]


def test_parents_and_edges_are_named(random_table):
    network = network_of(random_table, (-1, 0, 1, 0))
    assert network.parents == {
        "a0": ("class",),
        "a1": ("a0", "class"),
        "a2": ("a1", "class"),
        "a3": ("a0", "class"),
        "class": (),
    }
    assert network.edges == [("a0", "a1"), ("a1", "a2"), ("a0", "a3")]


def test_tables_of_the_wrong_shape_are_refused(random_table):
    network = network_of(random_table, TREES[0])
    with pytest.raises(ValueError, match="shape"):
        Network(network.schema, Structure.augmented(TREES[1]), network.log_tables)


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_an_invalid_seed_is_refused(seed):
    rng = np.random.default_rng(0)
    for classifier in (TAN(), AveragedTAN()):
        model = classifier.fit(rng.integers(0, 2, (30, 2)), rng.integers(0, 2, 30))
        with pytest.raises(ValueError, match="random_state must be a whole number of at least 0, a Generator or None"):
            model.sample(3, random_state=seed)
