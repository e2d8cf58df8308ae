"""AdditiveBN: what is pooled, with which weights, and what follows."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone

import tanbark
from saved_models import assert_damaged_if_changed
from tanbark import AODE, KDB, TAN, AdditiveBN, AveragedTAN, BoostedBN, Counts, NaiveBayes, SuperParent
from tanbark.averaging import SuperParents, cross_validated_log_joints
from tanbark.counts import Rows
from tanbark.datasets import tic_tac_toe
from tanbark.progress import listening

WEAK = ["superparent", "naive-bayes", "tan", "kdb"]
MEMBERS = [NaiveBayes(ess=3.0), TAN(), KDB(k=2), AODE(), AveragedTAN()]


@pytest.fixture
def table(random_table):
    """Eighty rows of four attributes and three classes, as an array of numbers."""
    schema, codes, y = random_table(11, 80, (2, 3, 4, 2), 3)
    return schema, codes.T.astype(object), y


@pytest.fixture
def holed(random_table):
    schema, codes, y = random_table(12, 120, (2, 3, 4, 2), 3, holes=0.15)
    X = codes.T.astype(object)
    X[schema.missing_code == codes.T] = None
    return schema, X, y


def super_parent_posteriors(schema, X, y, asked, ess=10.0):
    """The log posteriors of every super-parent network, learned one by one: (rows, classes, members)."""
    members = [SuperParent(parent=u, encoder=schema, ess=ess).fit(X, y) for u in range(X.shape[1])]
    return np.stack([log_softmax(m.predict_joint_log_proba(asked), axis=1) for m in members], axis=2)


def test_the_pool_is_the_weighted_sum_of_the_super_parents_log_joints(table):
    schema, X, y = table
    model = AdditiveBN(encoder=schema).fit(X, y)
    scores = super_parent_posteriors(schema, X, y, X) @ model.weights_
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), rtol=1e-10)


def test_the_linear_link_pools_posteriors(table):
    schema, X, y = table
    model = AdditiveBN(encoder=schema, link="linear").fit(X, y)
    proba = np.exp(super_parent_posteriors(schema, X, y, X)) @ model.weights_
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-10)


@pytest.mark.parametrize("link", ["log", "linear"])
@pytest.mark.parametrize("held_out", [True, False])
def test_the_weights_are_the_best_that_scipy_finds_and_better_than_any_super_parent_alone(table, link, held_out):
    schema, X, y = table
    model = AdditiveBN(encoder=schema, link=link, held_out=held_out).fit(X, y)
    if held_out:
        rows = []
        for i in range(len(y)):
            keep = np.arange(len(y)) != i
            rows.append(super_parent_posteriors(schema, X[keep], y[keep], X[[i]])[0])
        posteriors = np.stack(rows)
    else:
        posteriors = super_parent_posteriors(schema, X, y, X)
    at = np.arange(len(y))

    def lost(weights):
        if link == "linear":
            return -np.log(np.exp(posteriors[at, y]) @ weights).sum()
        return -log_softmax(posteriors @ weights, axis=1)[at, y].sum()

    found = minimize(
        lost,
        np.full(4, 0.25),
        method="SLSQP",
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-13},
    )
    assert model.log_likelihood_ == pytest.approx(-lost(model.weights_), rel=1e-10)
    assert model.log_likelihood_ >= -found.fun - 1e-6 * found.fun
    assert all(model.log_likelihood_ >= -lost(alone) * (1 + 1e-6) for alone in np.eye(4))
    assert model.optimality_gap_ < 1e-6
    np.testing.assert_allclose(model.weights_, found.x, atol=2e-3)


@pytest.mark.parametrize("name", ["car_evaluation", "congressional_voting", "solar_flare"])
@pytest.mark.parametrize("held_out", [True, False])
def test_on_real_tables_it_is_never_less_likely_than_its_best_super_parent(name, held_out, read_text):
    X, y, _ = read_text(name)
    model = AdditiveBN(held_out=held_out).fit(X, y)
    rows = Rows(model.schema_, model.schema_.encode(X), model.schema_.encode_target(y))
    if held_out:
        networks = SuperParents.of(model.counts_, np.arange(X.shape[1]), "dirichlet", 10.0)
        joints = networks.left_out_log_joints(rows, model.counts_, "dirichlet", 10.0)
    else:
        joints = np.stack([network.log_joint(rows.codes) for network in model.members_], axis=2)
    alone = log_softmax(joints, axis=1)[np.arange(len(y)), rows.classes].sum(axis=0)
    assert model.optimality_gap_ < 1e-6
    assert model.log_likelihood_ >= alone.max() - 1e-6 * abs(alone.max())


def test_leaving_out_cannot_be_fooled_by_a_column_that_knows_every_row():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([np.arange(200) % 100, *((y ^ (rng.random(200) < 0.3)) for _ in range(3))]).astype(str)
    honest, fooled = AdditiveBN().fit(X, y), AdditiveBN(held_out=False).fit(X, y)
    assert fooled.weights_[0] > 0.99
    assert honest.weights_[0] < 0.5


@pytest.mark.parametrize("weak", [*WEAK, MEMBERS], ids=[*WEAK, "list"])
@pytest.mark.parametrize("link", ["log", "linear"])
def test_weights_are_repetitions_for_every_weak_learner(holed, weak, link):
    schema, X, y = holed
    times = np.random.default_rng(0).integers(1, 4, len(y))
    model = AdditiveBN(weak=weak, link=link, encoder=schema)
    weighted = clone(model).fit(X, y, sample_weight=times)
    order = np.random.default_rng(1).permutation(times.sum())
    repeated = clone(model).fit(np.repeat(X, times, axis=0)[order], np.repeat(y, times)[order])
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)
    assert weighted.optimality_gap_ < 1e-6


@pytest.mark.parametrize("weak", [*WEAK, MEMBERS[:3]], ids=[*WEAK, "list"])
def test_evidence_adds_up_for_every_weak_learner(holed, weak):
    schema, X, y = holed
    model = AdditiveBN(weak=weak, encoder=schema, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    evidence = model.explain(X)
    np.testing.assert_allclose(softmax(evidence.sum(axis=1), axis=1), model.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(evidence.sum(axis=2), 0.0, atol=1e-9)
    assert not evidence[:, 1:][np.array([[cell is None for cell in row] for row in X])].any()


def test_what_is_no_sum_is_not_explained(table):
    schema, X, y = table
    assert not hasattr(AdditiveBN(link="linear"), "explain")
    assert not hasattr(AdditiveBN(weak=[TAN(), AODE()]), "explain")
    assert hasattr(AdditiveBN(weak=[TAN(), NaiveBayes()]), "explain")
    model = AdditiveBN(encoder=schema).fit(X, y)
    for method in ("partial_fit", "fit_counts", "predict_joint_log_proba", "score_samples", "sample"):
        assert not hasattr(model, method)


def test_a_missing_super_parent_is_summed_out(holed):
    schema, X, y = holed
    model = AdditiveBN(encoder=schema).fit(X, y)
    asked = np.array([[None, 1, None, 0], [None] * 4, [1, None, 2, 99]], object)
    scores = np.zeros((3, 3))
    for weight, network in zip(model.weights_, model.members_):
        for row, values in enumerate(asked):
            known = {f"a{u}": v for u, v in enumerate(values) if v is not None and v != 99}
            answer = network.query("class", known)
            scores[row] += weight * np.log(list(answer.values()))
    np.testing.assert_allclose(model.predict_proba(asked), softmax(scores, axis=1), rtol=1e-10)


def test_nested_naive_bayes_is_naive_bayes_with_a_weight_for_each_attribute(table):
    schema, X, y = table
    model = AdditiveBN(weak="naive-bayes", encoder=schema, parameters="laplace").fit(X, y)
    naive = NaiveBayes(encoder=schema, parameters="laplace").fit(X, y)
    many = [len([u for u in range(4) if "class" in member.parents[f"a{u}"]]) for member in model.members_]
    assert many == [1, 2, 3, 4]
    weight = {
        f"a{u}": sum(w for w, member in zip(model.weights_, model.members_) if "class" in member.parents[f"a{u}"])
        for u in range(4)
    }
    tables = [naive.network_.table(f"a{u}") for u in range(4)]
    scores = np.tile(np.log(naive.network_.table("class")), (len(X), 1))
    for u in range(4):
        scores += weight[f"a{u}"] * np.log(tables[u][:, X[:, u].astype(int)]).T
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), rtol=1e-10)


def test_trees_and_dependences_are_families_of_structures():
    X, y = tic_tac_toe()
    trees = AdditiveBN(weak="tan").fit(X, y).members_
    assert len(trees) == 10
    assert len({tuple(sorted(map(tuple, map(sorted, tree.edges)))) for tree in trees}) == 10
    best = TAN().fit(X, y).network_
    total = [sum(_information(best, edge, X, y) for edge in tree.edges) for tree in trees]
    assert total == sorted(total, reverse=True)
    dependences = AdditiveBN(weak="kdb").fit(X, y).members_
    assert [max(map(len, network.parents.values())) for network in dependences] == [1, 2, 3, 4]
    assert dependences[2].parents == KDB(k=2).fit(X, y).network_.parents


def _information(network, edge, X, y):
    columns = [network.schema.index(name) for name in edge]
    total = 0.0
    for k in np.unique(y):
        a, b = X[y == k][:, columns[0]], X[y == k][:, columns[1]]
        for i in np.unique(a):
            for j in np.unique(b):
                both = ((a == i) & (b == j)).sum()
                if both:
                    total += both / len(y) * np.log(both * len(a) / ((a == i).sum() * (b == j).sum()))
    return round(total, 10)


def test_given_classifiers_are_cloned_and_fitted_on_the_same_codes(holed):
    _, X, y = holed
    given = [TAN(), BoostedBN(n_estimators=3), AODE(min_frequency=5), AdditiveBN()]
    model = AdditiveBN(weak=given, held_out=False).fit(X, y)
    assert all(not hasattr(member, "counts_") for member in given)
    assert [type(member) for member in model.members_] == [TAN, BoostedBN, AODE, AdditiveBN]
    scores = np.zeros((len(y), 3))
    for weight, member in zip(model.weights_, model.members_):
        assert member.schema_ == model.schema_
        alone = clone(member).set_params(encoder=model.schema_).fit(X, y)
        np.testing.assert_allclose(member.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
        scores += weight * member.predict_log_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), rtol=1e-9)


@pytest.mark.parametrize("weak", [*WEAK, [*MEMBERS, BoostedBN(n_estimators=3)]], ids=[*WEAK, "list"])
def test_files_keep_every_weak_learner(holed, weak, tmp_path):
    _, X, y = holed
    model = AdditiveBN(weak=weak, class_prior=[0.5, 0.25, 0.25]).fit(X, y, sample_weight=np.arange(1.0, 121))
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.weights_, model.weights_)
    assert (again.optimality_gap_, again.log_likelihood_) == (model.optimality_gap_, model.log_likelihood_)
    if not isinstance(weak, str):
        assert all(a.counts_ == b.counts_ for a, b in zip(again.members_, model.members_))
        assert [repr(m) for m in again.weak] == [repr(m) for m in weak]
        refitted = clone(again).fit(X, y)
        assert refitted.weights_.shape == model.weights_.shape


def test_only_the_most_informative_super_parents_are_pooled_if_asked():
    X, y = tic_tac_toe()
    model = AdditiveBN(max_members=1).fit(X, y)
    assert model.weights_.tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    np.testing.assert_allclose(model.predict_proba(X), SuperParent(parent=4).fit(X, y).predict_proba(X), rtol=1e-10)
    assert np.array_equal(AdditiveBN(max_members=99).fit(X, y).weights_, AdditiveBN().fit(X, y).weights_)


def test_an_attribute_that_says_nothing_by_itself_may_be_the_super_parent():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (400, 4))
    model = AdditiveBN().fit(X, X[:, 0] ^ X[:, 1])
    assert model.score(X, X[:, 0] ^ X[:, 1]) == 1.0
    assert model.weights_[:2].sum() > 0.9


def test_progress_is_reported_to_the_context_and_shown_if_verbose(table, capsys):
    schema, X, y = table
    reports = []
    with listening(lambda *report: reports.append(report)):
        AdditiveBN(encoder=schema).fit(X, y)
    assert re.match(r"leaving each of \d+ distinct rows out", reports[0][0])
    assert reports[1][0].startswith("step 0: log likelihood -")
    assert [done for _, done, _ in reports[1:]] == list(range(len(reports) - 1))
    assert len(reports) < 30
    AdditiveBN(encoder=schema).fit(X, y)
    assert capsys.readouterr() == ("", "")
    AdditiveBN(encoder=schema, verbose=True).fit(X, y)
    assert "distinct rows out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weak": []}, "weak is an empty list; give at least one classifier"),
        ({"weak": "forest"}, "weak must be 'superparent' or 'naive-bayes' or 'tan' or 'kdb', got 'forest'"),
        ({"weak": None}, r"weak must be a name or a list of classifiers, such as \[TAN\(\)\], got None"),
        ({"weak": [TAN]}, "weak must list classifiers of tanbark, such as TAN"),
        ({"weak": [TAN(ess=-1)]}, "ess must be a positive number"),
        ({"link": "logit"}, "link must be 'log' or 'linear', got 'logit'"),
        ({"max_members": 2, "weak": "tan"}, "max_members chooses among super-parents; leave it None"),
        ({"random_state": "x"}, "random_state must be a whole number"),
        ({"max_members": 0}, "max_members must be a whole number of at least 1, got 0"),
        ({"held_out": "yes"}, "held_out must be True or False, got 'yes'"),
        ({"verbose": 2}, "verbose must be True or False, got 2"),
    ],
)
def test_bad_settings_get_a_sentence(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        AdditiveBN(**settings).fit([[0, 1], [1, 0]], [0, 1])


def test_rows_without_weight_get_a_sentence():
    with pytest.raises(ValueError, match="sample_weight is zero for every row; there is nothing to learn"):
        AdditiveBN().fit([[0, 1], [1, 0]], [0, 1], sample_weight=[0, 0])


def test_rows_are_judged_by_members_that_have_not_seen_them(random_table):
    schema, codes, y = random_table(13, 200, (3, 4, 5), 3)
    rows = Rows(schema, codes, y).distinct
    seen, asked = [], []

    class Spy:
        def __init__(self, counts, left):
            assert Counts.of(schema, left.codes, left.classes, left.each) == counts
            assert abs(len(left.classes) - 0.9 * len(rows.classes)) <= 1
            spread = np.bincount(left.classes, minlength=3) - 0.9 * np.bincount(rows.classes, minlength=3)
            assert (np.abs(spread) <= 1).all()
            seen.append({(k, *c) for k, c in zip(left.classes.tolist(), left.codes.T.tolist())})

        def log_joints(self, codes, n_jobs=None):
            asked.append(codes.T.tolist())
            return np.zeros((codes.shape[1], 3, 1))

    found = cross_validated_log_joints(rows, Counts.of(schema, rows.codes, rows.classes, rows.each), Spy)
    assert found.shape == (len(rows.classes), 3, 1)
    assert len(asked) == 10
    for known, part in zip(seen, asked):
        left_out = {(k, *c) for k, c in zip(rows.classes.tolist(), rows.codes.T.tolist())} - known
        assert sorted(c for _, *c in left_out) == sorted(part)


@pytest.mark.parametrize("weak", ["naive-bayes", "tan", "kdb", MEMBERS[:3]], ids=["naive-bayes", "tan", "kdb", "list"])
def test_the_order_of_the_columns_does_not_choose_the_folds(weak, holed):
    _, X, y = holed
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    one = AdditiveBN(weak=weak).fit(frame, y)
    other = AdditiveBN(weak=weak).fit(frame[["d", "b", "a", "c"]], y)
    np.testing.assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=1e-9)
    found = other.predict_proba(frame[["d", "b", "a", "c"]])
    np.testing.assert_allclose(found, one.predict_proba(frame), rtol=1e-7)


@pytest.mark.parametrize("weak", [*WEAK, MEMBERS[:2]], ids=[*WEAK, "list"])
def test_rows_in_parts_are_the_rows_together(weak, holed, monkeypatch):
    schema, X, y = holed
    model = AdditiveBN(weak=weak, encoder=schema).fit(X, y)
    whole = model.predict_proba(X)
    monkeypatch.setattr("tanbark.models.pool.MAX_JOINT_CELLS", 50)
    assert np.array_equal(model.predict_proba(X), whole)


def test_a_pool_too_large_for_memory_is_refused_before_the_work(table, monkeypatch):
    schema, X, y = table
    monkeypatch.setattr("tanbark.memory.UNCHECKED_BYTES", 0)
    monkeypatch.setattr("tanbark.counts.accumulator.check_free_memory", lambda *_: None)
    monkeypatch.setattr("tanbark.memory.usable_memory", lambda: 1000.0)
    said = r"^pooling 4 members over \d+ distinct rows needs .* but 1,000 bytes may be used .*; .* lower max_members$"
    with pytest.raises(ValueError, match=said):
        AdditiveBN(encoder=schema).fit(X, y)


def test_what_a_member_finds_impossible_is_as_good_as_impossible_and_explained_as_a_whole():
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0]] * 5)
    y = np.array([0, 0, 0, 1, 1, 1] * 5)
    model = AdditiveBN(parameters="ml", held_out=False).fit(X, y)
    proba = model.predict_proba([[0, 0], [1, 1]])
    assert 0 < proba[0, 1] < 1e-100
    found = softmax(model.explain([[0, 0], [1, 1]]).sum(axis=1), axis=1)
    np.testing.assert_allclose(found, proba, rtol=1e-9)


def test_explanations_follow_probabilities_however_small():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(60, int), np.ones(40, int)]
    X = (np.repeat((y ^ (rng.random(100) < 0.03))[:, None], 150, 1) ^ (rng.random((100, 150)) < 0.02)).astype(int)
    model = AdditiveBN(ess=1e-6).fit(X, y)
    asked = np.vstack([rng.permutation(np.r_[np.ones(k), np.zeros(150 - k)]) for k in range(0, 151, 10)]).astype(int)
    told = log_softmax(model.explain(asked).sum(axis=1), axis=1)
    assert told.min() < -300
    np.testing.assert_allclose(told, model.predict_log_proba(asked), rtol=1e-9)


@pytest.mark.parametrize("weak", [*WEAK, MEMBERS[:1]], ids=[*WEAK, "list"])
@pytest.mark.parametrize("link", ["log", "linear"])
@pytest.mark.parametrize("parameters", ["dirichlet", "ml"])
def test_weights_are_certified_where_everything_is_certain_or_impossible(weak, link, parameters):
    y = np.r_[np.zeros(31, int), np.ones(17, int)]
    grid = np.array([[a, b] for a in range(4) for b in range(4)])
    for X, classes in ((np.repeat(y[:, None], 6, 1), y), (grid, (grid[:, 0] > grid[:, 1]) + 0), (grid, np.ones(16))):
        for weight in (1.0, 1e5, 1e95):
            model = AdditiveBN(weak=weak, link=link, parameters=parameters, ess=1e-3)
            model.fit(X, classes, sample_weight=np.full(len(X), weight))
            assert model.optimality_gap_ < 1e-6
            assert model.weights_.sum() == pytest.approx(1.0)


def test_one_distinct_row_is_not_held_out():
    model = AdditiveBN(weak=[BoostedBN(), SuperParent(), TAN()]).fit([["a", "b"]] * 30, ["k"] * 30)
    assert model.predict([["a", "b"]]).tolist() == ["k"]


def test_the_first_tree_is_that_of_tan_whatever_the_parameters(table):
    schema, X, y = table
    first = AdditiveBN(weak="tan", parameters="laplace", encoder=schema).fit(X, y).members_[0]
    assert first.parents == TAN(parameters="laplace", encoder=schema).fit(X, y).network_.parents


def test_settings_changed_after_learning_change_nothing_until_it_learns_again(table, tmp_path):
    _, X, y = table
    model = AdditiveBN(max_members=3, class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(link="linear", max_members=1, class_prior=None, ess=1.0)
    tanbark.save(model, tmp_path / "m")
    assert np.array_equal(model.predict_proba(X), before)
    assert np.array_equal(tanbark.load(tmp_path / "m").predict_proba(X), before)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weights", lambda a: a[:-1]),
        ("weights", lambda a: -a),
        ("own", lambda a: a[:-1]),
        ("pairs", lambda a: a[:1, :, :1]),
        ("pairs", lambda a: a + 1.0),
        ("learned_prior", lambda a: np.full_like(a, np.nan)),
        ("super_parents", lambda a: a + 7),
        ("super_parents", lambda a: a[::-1]),
        ("super_parents", lambda a: a + 0.5),
        ("weights", lambda a: 2 * a),
        ("prior_ratio", lambda a: a[:-1]),
        ("prior_ratio", lambda a: np.full_like(a, np.nan)),
        ("log_prior", lambda a: a[:-1]),
    ],
)
def test_a_file_whose_arrays_do_not_fit_is_damaged(table, tmp_path, monkeypatch, name, change):
    schema, X, y = table
    model = AdditiveBN(encoder=schema).fit(X, y)
    # Files of earlier versions hold the tables that follow from the counts.
    members = replace(model.model_.members, estimator=None)
    model.model_ = replace(model.model_, members=members)
    assert_damaged_if_changed(model, name, change, tmp_path / "m", monkeypatch)


def test_a_row_impossible_to_a_given_classifier_gets_that_classifiers_prior():
    X = np.array([["1", "1"], ["0", "0"], ["1", "1"]], object)
    model = AdditiveBN(weak=[TAN(parameters="ml")], held_out=False).fit(X, [0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([["0", "1"]]), [[1 / 3, 2 / 3]])
    np.testing.assert_allclose(softmax(model.explain([["0", "1"]]).sum(axis=1), axis=1), [[1 / 3, 2 / 3]])


def test_columns_that_all_but_decide_the_class_have_one_pool_whatever_their_order():
    frame = pd.DataFrame([list("202121"), list("120210"), list("011001")], columns=list("abcdef"))
    order = list("bafecd")
    settings = {"link": "linear", "parameters": "softened", "ess": 1e-6, "held_out": False}
    one = pd.Series(AdditiveBN(**settings).fit(frame, [0, 1, 0]).weights_, list("abcdef"))
    other = pd.Series(AdditiveBN(**settings).fit(frame[order], [0, 1, 0]).weights_, order)
    np.testing.assert_allclose(other[list("abcdef")], one, atol=1e-8)


def test_whether_it_explains_is_decided_by_what_was_learned(table):
    schema, X, y = table
    linear = AdditiveBN(encoder=schema, link="linear").fit(X, y).set_params(link="log")
    with pytest.raises(AttributeError, match=r"only a logarithmic pool \(link='log'\)"):
        linear.explain(X)
    log = AdditiveBN(encoder=schema).fit(X, y).set_params(link="linear", weak=[AODE()])
    np.testing.assert_allclose(softmax(log.explain(X).sum(axis=1), axis=1), log.predict_proba(X), rtol=1e-9)
    assert not hasattr(AdditiveBN(weak=3), "explain")


def test_members_that_are_fitted_again_do_not_change_the_pool(random_table):
    schema, codes, y = random_table(0, 200, (2, 3, 2), 2)
    X, labels = schema.decode(codes), np.array(schema.classes)[y]
    given = NaiveBayes(encoder=schema).fit(X, labels)
    pool = AdditiveBN(weak=[given, TAN(encoder=schema).fit(X, labels)], encoder=schema).fit(X, labels)
    before = pool.predict_proba(X)
    for member in (given, *pool.members_):
        member.fit(X, labels[::-1])
    np.testing.assert_array_equal(pool.predict_proba(X), before)
