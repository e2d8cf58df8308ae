"""BayesNet and AugmentedNaiveBayes: what they find, predict, refuse and keep."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_wine

import tanbark
from tanbark import K2, KDB, AugmentedNaiveBayes, BayesNet, Encoder, NaiveBayes
from tanbark.classifiers.base import structure_search
from tanbark.progress import listening
from tanbark.structure.search import exact_or_greedy as search

BOTH = [BayesNet, AugmentedNaiveBayes]


def table(seed=0, rows=300, columns=5):
    """Return a table whose columns depend on one another, with names, and a class that depends on two of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rows, columns))
    for u in range(2, columns):
        X[:, u] = np.where(rng.random(rows) < 0.6, (X[:, u - 1] + X[:, u - 2]) % 3, X[:, u])
    y = np.where(rng.random(rows) < 0.8, (X[:, 0] + X[:, 3]) % 2, rng.integers(0, 2, rows))
    return pd.DataFrame(X, columns=list("abcdefghijklmnopqrstuvw")[:columns]), pd.Series(y, name="ill")


def log_joint(X, y, parents, names, row, ess):
    """Return ``log P(row, class)`` of a network by its definition, values of None being summed out."""
    data = np.column_stack([X, y])
    arity = data.max(axis=0) + 1
    at = {name: u for u, name in enumerate(names)}

    def term(node, full):
        here = np.ones(len(data), bool)
        for p in parents[node]:
            here &= data[:, at[p]] == full[at[p]]
        cells = float(np.prod([arity[at[p]] for p in (*parents[node], node)]))
        u = at[node]
        return np.log(((here & (data[:, u] == full[u])).sum() + ess / cells) / (here.sum() + ess * arity[u] / cells))

    options = [range(arity[u]) if value is None else [value] for u, value in enumerate(row)]
    totals = [[] for _ in range(arity[-1])]
    for full in itertools.product(*options, range(arity[-1])):
        totals[full[-1]].append(sum(term(node, full) for node in names))
    return [logsumexp(t) for t in totals]


@pytest.mark.parametrize("model", [BayesNet(), BayesNet(search="greedy"), AugmentedNaiveBayes()], ids=repr)
def test_probabilities_are_those_of_the_network_by_its_definition(model):
    X, y = table()
    model.fit(X, y)
    names = [*X.columns, "ill"]
    rows = X[:12].to_numpy(object).copy()
    rows[6:, 1::2] = None
    expected = [log_joint(X.to_numpy(), y.to_numpy(), model.network_.parents, names, row, model.ess) for row in rows]
    asked = pd.DataFrame(rows, columns=X.columns).astype("Int64")
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), expected, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(asked), softmax(expected, axis=1), rtol=1e-9)


def test_the_class_may_depend_on_attributes_and_hang_below_them():
    X, y = table()
    model = BayesNet(required=[("a", "ill"), ("d", "ill")]).fit(X, y)
    assert model.network_.parents["ill"] == ("a", "d")
    assert model.search_ == "exact"
    answer = model.network_.query("ill", {"a": 0, "d": 1})
    seen = y[(X.a == 0) & (X.d == 1)]
    assert answer[1] == pytest.approx((seen.sum() + 10 / 18) / (len(seen) + 10 / 9))


@pytest.mark.parametrize("kind", BOTH)
def test_what_a_search_finds_is_no_worse_than_what_anyone_could_name(kind):
    from tanbark.counts import Rows
    from tanbark.network import Structure
    from tanbark.scores import BDeu, Cases

    X, y = table(1)
    model = kind().fit(X, y)
    schema = model.schema_
    cases = Cases.of(Rows(schema, schema.encode(X), schema.encode_target(y)))
    assert model.log_score_ == pytest.approx(BDeu(10.0).total(cases, model.network_.structure), abs=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(200):
        order = [5, *rng.permutation(5)] if kind is AugmentedNaiveBayes else rng.permutation(6)
        parents = [()] * 6
        for place, node in enumerate(order):
            before = [int(p) for p in order[:place] if rng.random() < 0.5 or (kind is AugmentedNaiveBayes and p == 5)]
            parents[int(node)] = tuple(before)
        assert BDeu(10.0).total(cases, Structure(tuple(parents))) <= model.log_score_ + 1e-9


def test_wine_has_the_network_of_greatest_bic_that_gobnilp_published(reference):
    figures = reference("gobnilp_wine")
    measured, wine = load_wine(return_X_y=True)
    X = (measured > np.array(figures["cuts"])).astype(int)
    model = BayesNet(criterion="bic", search="exact").fit(X, wine)
    assert model.log_score_ == pytest.approx(figures["optimum"], abs=1e-6)


def test_an_augmented_naive_bayes_of_one_parent_is_naive_bayes():
    X, y = table()
    model, naive = AugmentedNaiveBayes(max_parents=1).fit(X, y), NaiveBayes(ess=10.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("criterion", ["bdeu", "bds", "bic", "aic", "k2", "cmdl"])
def test_every_criterion_is_searched_and_greedy_is_never_better(kind, criterion):
    X, y = table(2, rows=170, columns=4)
    greedy = kind(search="greedy", criterion=criterion, restarts=2).fit(X, y)
    assert greedy.search_ == "greedy"
    auto = kind(criterion=criterion).fit(X, y)
    assert auto.search_ == ("greedy" if criterion == "cmdl" else "exact")
    if criterion != "cmdl":
        assert greedy.log_score_ <= auto.log_score_ + 1e-9


def test_more_nodes_than_are_searched_exactly_are_climbed_to_with_a_warning(monkeypatch):
    monkeypatch.setattr(search, "MAX_EXACT_NODES", 5)
    X, y = table()
    with pytest.warns(UserWarning, match=r"6 nodes are more than the 5 .* search='exact'"):
        assert BayesNet().fit(X, y).search_ == "greedy"
    assert AugmentedNaiveBayes().fit(X, y).search_ == "exact"
    assert BayesNet(search="exact").fit(X, y).search_ == "exact"
    assert BayesNet(search="greedy").fit(X, y).search_ == "greedy"


REFUSED = [
    (BayesNet, {"search": "quick"}, "search must be 'auto' or 'exact' or 'greedy', got 'quick'"),
    (BayesNet, {"criterion": "mdl"}, "criterion must be 'bdeu' or .* got 'mdl'"),
    (BayesNet, {"search": "exact", "criterion": "cmdl"}, "'cmdl' is not; set search to 'greedy'"),
    (BayesNet, {"max_parents": -1}, "max_parents must be a whole number of at least 0, got -1"),
    (BayesNet, {"max_parents": 1.5}, "max_parents must be a whole number"),
    (BayesNet, {"tabu": -1}, "tabu must be a whole number of at least 0"),
    (BayesNet, {"restarts": "no"}, "restarts must be a whole number of at least 0"),
    (BayesNet, {"max_memory": 0}, "max_memory must be a number of bytes above 0, or None, got 0"),
    (BayesNet, {"max_memory": "8G"}, "max_memory must be a number of bytes above 0, or None, got '8G'"),
    (BayesNet, {"max_memory": 1000}, "exact search over 6 nodes needs .* in which . nodes fit.*search='greedy'"),
    (BayesNet, {"required": [("a", "b"), ("b", "a")]}, "the required edges form a cycle: .* -> "),
    (
        BayesNet,
        {"required": [("a", "ill")], "forbidden": [("a", "ill")]},
        "'a' to 'ill' is both forbidden and required",
    ),
    (
        BayesNet,
        {"required": [("a", "z")]},
        "required names the unknown node 'z'; the nodes are 'a', 'b', 'c', 'd', 'e', 'ill'",
    ),
    (BayesNet, {"forbidden": [("a", "a")]}, "forbidden has an edge from 'a' to itself"),
    (BayesNet, {"required": [("a", "b"), ("c", "b")], "max_parents": 1}, "'b' has 2 required parents, but max_parents"),
    (AugmentedNaiveBayes, {"max_parents": 0}, "max_parents must be at least 1, because the class"),
    (
        AugmentedNaiveBayes,
        {"forbidden": [("ill", "a")]},
        "'ill' to 'a' is forbidden, but .* use BayesNet",
    ),
    (
        AugmentedNaiveBayes,
        {"required": [("a", "ill")]},
        "'a' to 'ill' is required, but .* use BayesNet",
    ),
]


@pytest.mark.parametrize(("kind", "settings", "words"), REFUSED, ids=str)
def test_what_cannot_be_is_refused_in_a_sentence(kind, settings, words):
    X, y = table()
    model = kind(**settings)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "network_")


@pytest.mark.parametrize("edges", ["ab", 3, [("a", "b", "c")], ["ab"], [1]])
def test_edges_that_are_no_pairs_of_names_are_refused(edges):
    with pytest.raises(TypeError, match=r"required must be a list of pairs \(parent, child\) of names"):
        BayesNet(required=edges).fit(*table())


@pytest.mark.parametrize("kind", BOTH)
def test_restrictions_are_kept_by_both_searches(kind):
    X, y = table()
    edges = {"required": [("e", "a")], "forbidden": [("a", "b"), ("b", "a"), ("c", "d")], "max_parents": 2}
    for way in ("exact", "greedy"):
        model = kind(search=way, **edges).fit(X, y)
        found = {(p, child) for child, above in model.network_.parents.items() for p in above}
        assert ("e", "a") in found
        assert not found & set(edges["forbidden"])
        assert max(map(len, model.network_.parents.values())) <= 2


def test_a_class_prior_shifts_posteriors_also_where_the_class_has_parents(tmp_path):
    X, y = table()
    for model in (BayesNet(required=[("a", "ill")]), BayesNet(required=[("ill", "a")], forbidden=[("b", "ill")])):
        learned = model.fit(X, y)
        joint, prior = learned.predict_joint_log_proba(X), learned.class_log_prior_
        shifted = BayesNet(required=model.required, forbidden=model.forbidden, class_prior=[0.3, 0.7]).fit(X, y)
        expected = joint - prior + np.log([0.3, 0.7])
        np.testing.assert_allclose(shifted.predict_joint_log_proba(X), expected, rtol=1e-10)
        np.testing.assert_allclose(shifted.predict_proba(X), softmax(expected, axis=1), rtol=1e-10)
        parts = shifted.explain(X)
        np.testing.assert_allclose(softmax(parts.sum(axis=1), axis=1), shifted.predict_proba(X), rtol=1e-10)
        np.testing.assert_allclose(np.exp(shifted.class_log_prior_), [0.3, 0.7])
        path = tmp_path / "shifted.model"
        tanbark.save(shifted, path)
        again = tanbark.load(path)
        assert np.array_equal(again.predict_proba(X), shifted.predict_proba(X))
        assert np.array_equal(again.class_log_prior_, shifted.class_log_prior_)
        if shifted.network_.parents["ill"]:
            assert not hasattr(shifted, "sample")
            with pytest.raises(AttributeError, match="class_prior if the class depends on attributes"):
                _ = shifted.sample
        else:
            assert abs(shifted.sample(4000, random_state=0)[1].mean() - 0.7) < 0.05


def test_saving_and_pickling_keep_the_score_and_the_search(tmp_path):
    X, y = table()
    for model in (BayesNet().fit(X, y), AugmentedNaiveBayes(search="greedy").fit(X, y)):
        path = tmp_path / "kept.model"
        tanbark.save(model, path)
        for again in (tanbark.load(path), pickle.loads(pickle.dumps(model))):
            assert (again.log_score_, again.search_) == (model.log_score_, model.search_)
            assert again.network_.parents == model.network_.parents
            assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_missing_values_are_a_level_of_the_search_and_summed_out_of_predictions():
    X, y = table(rows=400)
    X = X.astype("Int64").mask(np.random.default_rng(0).random(X.shape) < 0.15)
    model = BayesNet().fit(X, y)
    assert model.schema_.arity.tolist() == [3] * 5
    levels = BayesNet().fit(X.fillna(3).astype(int), y)
    assert model.network_.parents == levels.network_.parents
    assert model.log_score_ == pytest.approx(levels.log_score_, abs=1e-9)
    for column in X.columns:
        rows = X[X.drop(columns=column).notna().all(axis=1) & X[column].isna()]
        assert len(rows)
        filled = [model.predict_joint_log_proba(rows.assign(**{column: value})) for value in range(3)]
        np.testing.assert_allclose(model.predict_joint_log_proba(rows), logsumexp(filled, axis=0), rtol=1e-10)


def test_progress_is_told_to_whoever_listens_and_shown_where_asked(capsys):
    X, y = table()
    heard = []
    with listening(lambda *report: heard.append(report)):
        BayesNet().fit(X, y)
        BayesNet(search="greedy").fit(X, y)
    assert heard[0][0].startswith("exact search over 6 nodes, which needs")
    assert any("log score" in words for words, _, _ in heard)
    assert [report[1:] for report in heard if report[0] == "finding the best parents"] == [(1, 1)]
    BayesNet(verbose=True).fit(X, y)
    BayesNet(search="greedy", verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert "finding the best parents" in shown
    assert "log score" in shown


@pytest.mark.filterwarnings("ignore:.*most of its probabilities")
def test_families_that_could_have_no_table_are_left_out_or_refused():
    X = np.repeat(np.arange(200), 3)[:, None].repeat(12, axis=1)
    y = X[:, 0] % 2
    encoder = Encoder(categorical="all")
    for model in (AugmentedNaiveBayes(), BayesNet(search="greedy"), BayesNet(criterion="bds", max_parents=10), K2()):
        model.set_params(encoder=encoder).fit(X, y)
        assert model.score(X, y) == 1.0
    required = [(f"x{u}", "class") for u in range(12)]
    with pytest.raises(ValueError, match="'class' and its required parents have more combinations"):
        BayesNet(search="greedy", required=required, encoder=encoder).fit(X, y)


def test_kdb_scores_no_better_than_the_best_augmented_naive_bayes():
    from tanbark.counts import Rows
    from tanbark.scores import BDeu, Cases

    X, y = table(3, rows=500, columns=7)
    model = AugmentedNaiveBayes().fit(X, y)
    cases = Cases.of(Rows(model.schema_, model.schema_.encode(X), model.schema_.encode_target(y)))
    for k in range(4):
        assert BDeu(10.0).total(cases, KDB(k=k).fit(X, y).network_.structure) <= model.log_score_ + 1e-9


@pytest.mark.parametrize("kind", BOTH)
def test_what_is_said_of_the_search_is_passed_on_to_it(kind, monkeypatch):
    passed = {}

    def spied(cases, score, restrictions, search, **settings):
        passed.update(settings, search=search)
        return searched_structure(cases, score, restrictions, search, **settings)

    searched_structure = structure_search.searched_structure
    monkeypatch.setattr(structure_search, "searched_structure", spied)
    said = {"search": "greedy", "tabu": 7, "restarts": 2, "n_jobs": 2, "max_memory": 2.0**33}
    kind(random_state=5, **said).fit(*table())
    passed.pop("progress")
    assert passed == {**said, "seed": 5}


def test_a_table_with_more_cells_than_rows_is_reported_with_its_cure():
    # The class is the sum of four digits, so that it has all of them as parents: 4 * 4**4 cells.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (600, 4))
    y = X.sum(axis=1) % 4
    message = (
        r"'class' has 4 parents and a table of 1,024 cells for 600 rows, so that most of its probabilities are "
        r"guesses; set criterion='bic'$"
    )
    with pytest.warns(UserWarning, match=message):
        BayesNet(required=[(f"x{u}", "class") for u in range(4)]).fit(X, y)
    with pytest.warns(UserWarning, match="guesses; require fewer edges"):
        BayesNet(criterion="bic", required=[(f"x{u}", "class") for u in range(4)]).fit(X, y)
    BayesNet(max_parents=3).fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_the_limit_on_parents_that_a_warning_names_is_enough(kind):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 6)), rng.integers(0, 2, 60)
    with pytest.warns(UserWarning, match=r"criterion='bic' or max_parents=\d$") as caught:
        kind(search="greedy", ess=1000.0, class_weight={0: 5, 1: 5}).fit(X, y)
    message = str(caught[0].message)
    assert " cells for 60 rows" in message
    kind(search="greedy", ess=1000.0, max_parents=int(message[-1])).fit(X, y)


def test_a_column_without_a_known_value_is_no_parent():
    X, y = table(rows=400)
    X["nothing"] = pd.Series([None] * 400, dtype=object)
    for kind in BOTH:
        model = kind().fit(X, y)
        assert all("nothing" not in above for above in model.network_.parents.values())
        known = kind().fit(X.drop(columns="nothing"), y)
        np.testing.assert_allclose(model.predict_proba(X), known.predict_proba(X.drop(columns="nothing")), rtol=1e-12)
