"""EvidenceBN: fits of any table, updates, given structures, and bad input."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import tanbark
from evidence.plain_evidence import mixed_frame
from tanbark import Encoder, EvidenceBN
from tanbark.evidence.penalised_weights import Setting

FIXED = {"weight_penalty": 30.0, "correction_penalty": 10.0, "edge_penalty": 30.0}


def assert_sensible(model, X):
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert not np.isnan(model.predict_log_proba(X)).any()
    evidence = model.explain(X)
    assert not np.isnan(evidence).any()
    np.testing.assert_allclose(softmax(evidence.sum(axis=1), axis=1), proba, rtol=1e-9, atol=1e-12)
    assert np.isfinite(model.weights_).all()
    assert (model.weights_ >= 0).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"depth": -1}, "depth must be a whole number of at least 0, got -1"),
        ({"depth": 1.5}, "depth must be a whole number of at least 0, got 1.5"),
        ({"depth": "2"}, "depth must be a whole number of at least 0, got '2'"),
        ({"weight_penalty": 0}, "weight_penalty must be a positive number (from 1e-100 to 1e+100), got 0"),
        ({"weight_penalty": -1}, "weight_penalty must be a positive number (from 1e-100 to 1e+100), got -1"),
        ({"correction_penalty": float("nan")}, "correction_penalty must be a positive number"),
        ({"correction_penalty": float("inf")}, "correction_penalty must be a positive number"),
        ({"edge_penalty": "x"}, "edge_penalty must be a positive number (from 1e-100 to 1e+100), got 'x'"),
        ({"edge_penalty": True}, "edge_penalty must be a positive number"),
        ({"edge_penalty": 1e-300}, "edge_penalty must be a positive number"),
        ({"edge_penalty": 10**400}, "edge_penalty must be a positive number"),
        ({"structure": 7}, "structure must be a list of pairs (parent, child) of column names, got 7"),
        ({"structure": {("length", "age")}}, "structure must be a list of pairs (parent, child) of column names, got"),
        ({"structure": [{"length", "age"}]}, "structure must list pairs (parent, child) of column names, got"),
        (
            {"structure": [("length", "width")]},
            "structure names 'width', which is not a column; the columns are length",
        ),
        ({"structure": [("age", "age")]}, "structure makes 'age' its own parent"),
        ({"structure": [("town", "age"), ("town", "age")]}, "structure lists the edge from 'town' to 'age' twice"),
        ({"structure": [("length", "age"), ("age", "length")]}, "structure has a cycle through"),
        ({"structure": [("length", "age")], "depth": 0}, "structure gives 'age' more than 0 parents; raise depth"),
        ({"class_prior": [0.5, 0.6, 0.1]}, "class_prior must be 3 probabilities that sum to 1"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
    ],
)
def test_bad_parameters_get_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match=r"must|structure") as caught:
        EvidenceBN(**settings).fit(*mixed_frame(60, 0))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_structure_whose_tables_would_be_enormous_gets_one_sentence():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 15, (50, 12)).astype(str), columns=list("abcdefghijkl"))
    model = EvidenceBN(depth=11, structure=[(parent, "l") for parent in "abcdefghijk"])
    with pytest.raises(ValueError, match=r"^the table of 'l' and its parents has [\d,]+ cells, more than 1,048,576"):
        model.fit(X, rng.integers(0, 2, 50))


def test_a_given_structure_is_used_in_its_order():
    edges = [("town", "age"), ("length", "age"), ("length", "colour")]
    model = EvidenceBN(structure=edges, **FIXED).fit(*mixed_frame(80, 0))
    # The edges of a child come in their order, the children in that of the columns.
    assert model.edges_ == [("length", "colour"), ("town", "age"), ("length", "age")]
    assert model.model_.parents[4] == (3, 0)
    assert model.weights_.shape == (3, 5)
    alone = EvidenceBN(structure=[], **FIXED).fit(*mixed_frame(80, 0))
    assert alone.edges_ == []
    assert np.array_equal(alone.predict_proba(mixed_frame(80, 0)[0]), no_depth().predict_proba(mixed_frame(80, 0)[0]))


def no_depth():
    return EvidenceBN(depth=0, **FIXED).fit(*mixed_frame(80, 0))


@pytest.mark.parametrize("depth", [0, 1, 10])
def test_any_depth_can_be_asked_for(depth):
    X, y = mixed_frame(60, 1)
    model = EvidenceBN(depth=depth).fit(X, y)
    assert_sensible(model, X)
    assert len(model.weights_) <= min(depth, 4) + 1
    assert max(map(len, model.model_.parents)) <= depth


def extreme_tables():
    rng = np.random.default_rng(0)
    X, y = mixed_frame(60, 2)
    lonely = y.copy()
    lonely[7] = 9
    odd = X.assign(constant=1.5, same="x", nothing=np.nan, none=None)
    wild = pd.DataFrame(
        {
            "normal": rng.normal(size=60),
            "two": np.where(rng.random(60) < 0.5, -1.0, 1.0),
            "outlier": np.where(np.arange(60) < 2, -1.0, 0.5),
            "uniform": rng.uniform(-1, 1, 60),
        }
    )
    return {
        "one row": (X[:1], y[:1], None),
        "two rows": (X[:2], [0, 1], None),
        "one class": (X, np.zeros(60, int), None),
        "a class for each row": (X[:12], np.arange(12), None),
        "a class of one row": (X, lonely, None),
        "constant and missing columns": (odd, y, None),
        "nothing but missing values": (odd[["nothing", "none"]], y, None),
        **{f"numbers of {size}": (wild / 6 * size, y, None) for size in (1e308, 1e-308, 5e-324)},
        "huge numbers": (wild[["two", "outlier", "uniform"]] * 1.7e308, y, None),
        **{f"weights of {size}": (X, y, np.full(60, size)) for size in (1e-30, 1e30, 1e98, 5e-324)},
        **{f"random weights to {size}": (X, y, rng.random(60) * size) for size in (1e-30, 1.0, 1e30)},
        "weights of all sizes": (X, y, 10.0 ** rng.uniform(-30, 30, 60)),
    }


EXTREME = extreme_tables()


@pytest.mark.filterwarnings("ignore:every row occurs at least twice", "ignore:the weights of .* sum to")
@pytest.mark.parametrize("missing", ["marginalize", "state"])
@pytest.mark.parametrize("name", EXTREME)
def test_extreme_tables_give_sensible_models(name, missing, tmp_path):
    X, y, weights = EXTREME[name]
    model = EvidenceBN(encoder=Encoder(missing=missing)).fit(X, y, weights)
    assert_sensible(model, X)
    tanbark.save(model, tmp_path / "m")
    assert np.array_equal(tanbark.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))


def test_tables_of_more_columns_than_rows_are_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 300))
    assert_sensible(EvidenceBN(n_jobs=2).fit(X, rng.integers(0, 2, 50)), X)


@pytest.mark.filterwarnings("ignore:every row occurs at least twice")
def test_huge_weights_and_many_parents_give_sensible_models():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (80, 8)).astype(str), columns=list("abcdefgh"))
    model = EvidenceBN(depth=7, structure=[(parent, "h") for parent in "abcdefg"])
    assert_sensible(model.fit(X, rng.integers(0, 3, 80), np.full(80, 1e98)), X)


@pytest.mark.parametrize("penalty", [1e-100, 1e-6, 1e100])
def test_extreme_penalties_give_sensible_models(penalty):
    X, y = mixed_frame(60, 3)
    penalties = dict.fromkeys(FIXED, penalty)
    assert_sensible(EvidenceBN(**penalties).fit(X, y), X)
    assert_sensible(EvidenceBN(ess=penalty).fit(X, y), X)


def test_a_category_of_thousands_of_levels_is_learned():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": (np.arange(6000) % 5000).astype(str), "x": rng.normal(size=6000)})
    y = (X.x > 0).to_numpy()
    model = EvidenceBN(encoder=Encoder(max_levels=6000), **FIXED)
    with pytest.warns(UserWarning, match="identifier"):
        model.fit(X, y)
    assert_sensible(model, X[:100])
    assert (model.predict(X) == y).mean() > 0.95


def test_infinite_numbers_get_one_sentence():
    X, y = mixed_frame(60, 4)
    X.loc[3, "age"] = np.inf
    with pytest.raises(ValueError, match=r"^column 'age': Input X contains infinity"):
        EvidenceBN().fit(X, y)


@pytest.mark.filterwarnings("ignore:the weights of .* sum to")
def test_with_little_weight_weights_are_near_one_and_there_are_no_folds():
    X, y = mixed_frame(40, 5)
    light = EvidenceBN().fit(X, y, np.full(40, 0.04)).model_
    assert [setting for setting, _, _ in light.settings] == [Setting(2, 30.0, 100.0, None)]
    np.testing.assert_allclose(light.weights, 1, atol=0.2)
    assert np.abs(light.coefficients).max() < 0.1


def test_rows_of_less_than_unit_weight_are_cross_validated():
    X, y = mixed_frame(60, 5)
    model = EvidenceBN().fit(X, y, np.full(60, 0.9)).model_
    assert len(model.settings) > 5
    assert sum(share for _, _, share in model.settings) == pytest.approx(1)


def test_a_given_class_prior_survives_updates():
    """Also one that equals the learned prior at first."""
    X, y = mixed_frame(60, 6, classes=2)
    y = np.arange(60) % 2
    even = EvidenceBN(class_prior=[0.5, 0.5], **FIXED).fit(X, y)
    skewed = EvidenceBN(class_prior=[0.9, 0.1], **FIXED).fit(X, y)
    learned = EvidenceBN(**FIXED).fit(X, y)
    for model in (even, skewed, learned):
        model.update(X[:20], np.zeros(20, int))
    np.testing.assert_allclose(np.exp(even.class_log_prior_), [0.5, 0.5])
    np.testing.assert_allclose(np.exp(skewed.class_log_prior_), [0.9, 0.1])
    np.testing.assert_allclose(np.exp(learned.class_log_prior_), [51 / 82, 31 / 82])
    for model in (even, skewed):
        shifted = learned.predict_log_proba(X) - learned.class_log_prior_ + model.class_log_prior_
        np.testing.assert_allclose(model.predict_proba(X), softmax(shifted, axis=1), rtol=1e-9)


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_an_update_counts_all_rows_and_keeps_what_was_fitted(missing):
    X, y = mixed_frame(120, 7)
    weights = np.random.default_rng(0).choice([1.0, 2.0, 0.5], 120)
    model = EvidenceBN(encoder=Encoder(missing=missing)).fit(X[:70], y[:70], weights[:70])
    before = model.model_
    model.update(X[70:], y[70:], weights[70:])
    after = model.model_
    for u, above in enumerate(after.parents):
        expected = np.zeros_like(after.joints[u])
        codes = np.minimum(model.encode(X), after.schema.arity[:, None])
        for row in range(120):
            if codes[u, row] < after.schema.arity[u]:
                digits = [after.questions.digits[p][codes[p, row]] for p in above]
                expected[(*digits, codes[u, row], y[row])] += weights[row]
        np.testing.assert_allclose(after.joints[u], expected, atol=1e-12)
    np.testing.assert_allclose(after.counts.class_counts, np.bincount(y, weights))
    totals = np.bincount(y, weights) + 1
    np.testing.assert_allclose(np.exp(after.learned_log_prior), totals / totals.sum())
    assert after.questions is before.questions
    assert after.parents is before.parents
    assert np.array_equal(after.weights, before.weights)
    assert np.array_equal(after.coefficients, before.coefficients)
    assert_sensible(model, X)


def test_the_order_of_rows_and_chunks_of_updates_does_not_matter():
    X, y = mixed_frame(120, 8)
    shuffled = np.random.default_rng(1).permutation(np.arange(60, 120))
    found = []
    for order in ([np.arange(60, 120)], [shuffled], [np.arange(60, 80), np.arange(80, 120)]):
        model = EvidenceBN(**FIXED).fit(X[:60], y[:60])
        for rows in order:
            model.update(X.iloc[rows], y[rows])
        found.append(model.predict_proba(X))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_weights_of_updates_count_like_repeated_rows():
    X, y = mixed_frame(90, 9)
    weights = np.random.default_rng(1).integers(0, 4, 30)
    weighted, repeated = (EvidenceBN(**FIXED).fit(X[:60], y[:60]) for _ in range(2))
    weighted.update(X[60:], y[60:], weights)
    again = np.repeat(np.arange(60, 90), weights)
    repeated.update(X.iloc[again], y[again])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)


def test_updates_without_rows_change_nothing():
    X, y = mixed_frame(60, 10)
    model = EvidenceBN(**FIXED).fit(X, y)
    before = model.model_
    assert model.update(X[:0], y[:0]) is model
    assert model.model_ is before
    model.update(X[:5], y[:5], np.zeros(5))
    assert model.model_ is before


def test_new_levels_count_as_missing_in_updates():
    X, y = mixed_frame(60, 11)
    new, missing = X[:10].assign(colour="ultraviolet"), X[:10].assign(colour=None)
    encoder = Encoder(missing="marginalize")
    found = [EvidenceBN(encoder=encoder, **FIXED).fit(X, y).update(rows, y[:10]) for rows in (new, missing)]
    assert found[0].schema_ == EvidenceBN(encoder=encoder, **FIXED).fit(X, y).schema_
    assert np.array_equal(found[0].predict_proba(X), found[1].predict_proba(X))


def test_unknown_classes_of_updates_get_one_sentence():
    X, y = mixed_frame(60, 12)
    model = EvidenceBN(**FIXED).fit(X, y)
    before = model.model_
    with pytest.raises(
        ValueError, match=r"^an update cannot add the new class 7 to EvidenceBN; fit again with all rows$"
    ):
        model.update(X[:2], [0, 7])
    assert model.model_ is before


def test_copies_of_all_rows_get_a_warning():
    X, y = mixed_frame(90, 15)
    twice = pd.concat([X, X]), np.tile(y, 2)
    with pytest.warns(UserWarning, match=r"^every row occurs at least twice .* divide the weights by their mean$"):
        EvidenceBN(**FIXED).fit(*twice)
    with pytest.warns(UserWarning, match="every row occurs at least twice"):
        EvidenceBN(**FIXED).fit(X, y, np.full(90, 3.0))


def test_a_given_penalty_is_used_by_every_setting():
    X, y = mixed_frame(120, 16)
    for name, value in (("weight_penalty", 7.0), ("correction_penalty", 7.0), ("edge_penalty", 7.0)):
        tried = [s for s, _, _ in EvidenceBN(**{name: value}).fit(X, y).model_.settings if s is not None]
        left_out = [s for s in tried if getattr(s, name) != value]
        # Edges have corrections only if codes have them.
        assert all(name == "edge_penalty" and s.correction_penalty is None for s in left_out)
        assert len(tried) > 3


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_a_missing_parent_can_be_given_to_a_shape(missing):
    X, y = mixed_frame(200, 17)
    edges = [("length", "age"), ("colour", "age")]
    model = EvidenceBN(structure=edges, encoder=Encoder(missing=missing), **FIXED).fit(X, y)
    for parent in ("length", "colour"):
        for nothing in (None, np.nan, pd.NA, pd.NaT):
            assert model.shape("age", given={parent: nothing}).rows.sum() == X[parent].isna().sum()
    with pytest.raises(ValueError, match=r"^attribute must be a column name or a position, got True$"):
        model.shape(True)
    with pytest.raises(ValueError, match="given must map names of parents to values"):
        model.shape("age", given=["length"])
    for several in ([1.0], np.array([1.0, 2.0]), pd.Series([1.0])):
        with pytest.raises(ValueError, match=r"^given must map 'length' to a single value, got"):
            model.shape("age", given={"length": several})
    assert model.shape(np.int64(4)).attribute == "age"


def test_saved_models_update_alike(tmp_path):
    X, y = mixed_frame(90, 13)
    model = EvidenceBN(structure=[("length", "age")], class_prior=[0.2, 0.3, 0.5]).fit(X[:60], y[:60])
    tanbark.save(model, tmp_path / "m")
    loaded = tanbark.load(tmp_path / "m")
    assert loaded.get_params()["structure"] == [("length", "age")]
    for one in (model, loaded):
        one.update(X[60:], y[60:])
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_streams_and_counts_are_refused_in_one_sentence():
    X, y = mixed_frame(30, 14)
    for method in ("partial_fit", "fit_counts"):
        with pytest.raises(AttributeError, match=r"^EvidenceBN learns its weights from rows; call fit with all rows"):
            getattr(EvidenceBN().fit(X, y), method)


@pytest.mark.usefixtures("threads_for_few_rows")
@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_threads_and_the_order_of_rows_change_no_bit(missing):
    X, y = mixed_frame(150, 15)
    weights = np.random.default_rng(0).choice([0.25, 1.0, 3.0], 150)
    order = np.random.default_rng(1).permutation(150)
    encoder = Encoder(missing=missing)
    one = EvidenceBN(n_jobs=1, encoder=encoder).fit(X, y, weights)
    two = EvidenceBN(n_jobs=2, encoder=encoder).fit(X.iloc[order], y[order], weights[order])
    assert one.model_.settings == two.model_.settings
    assert np.array_equal(one.weights_, two.weights_)
    assert np.array_equal(one.model_.coefficients, two.model_.coefficients)
    assert np.array_equal(one.explain(X), two.explain(X))


PLAIN_PYTHON = """
import sys
import numpy as np
from evidence.plain_evidence import mixed_frame
from tanbark import EvidenceBN
X, y = mixed_frame(14, 16, 2)
X = X[["length", "colour"]]
np.save(sys.argv[1], EvidenceBN(depth=1, weight_penalty=9, correction_penalty=9, edge_penalty=9).fit(X, y).explain(X))
"""


def test_a_model_learned_without_compilation_is_the_same(tmp_path):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    file = tmp_path / "explained.npy"
    subprocess.run([sys.executable, "-c", PLAIN_PYTHON, file], env=environment, check=True)
    X, y = mixed_frame(14, 16, 2)
    X = X[["length", "colour"]]
    model = EvidenceBN(depth=1, weight_penalty=9, correction_penalty=9, edge_penalty=9).fit(X, y)
    np.testing.assert_allclose(np.load(file), model.explain(X), rtol=0, atol=1e-12)


def test_without_edges_their_penalty_is_not_varied():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 15, "b": list("xyx") * 20})
    y = ["no", "no", "yes", "yes", "no"] * 12
    settings = [setting for setting, _, _ in EvidenceBN(depth=0).fit(X, y).model_.settings if setting is not None]
    assert settings
    assert {setting.edge_penalty for setting in settings} == {None}


def test_constant_columns_give_no_evidence():
    X, y = mixed_frame(120, 18)
    X = X.assign(text="same", number=2.5, nothing=np.nan)
    for settings in ({}, FIXED):
        for missing in ("marginalize", "state"):
            model = EvidenceBN(encoder=Encoder(missing=missing), **settings).fit(X, y)
            assert np.abs(model.explain(X)[:, 1:6]).max() > 0
            # What is left is rounding.
            np.testing.assert_allclose(model.explain(X)[:, 6:], 0, atol=1e-12)


def test_parents_that_an_attribute_does_not_have_get_no_weight():
    edges = [("length", "age"), ("colour", "age"), ("length", "town")]
    X, y = mixed_frame(120, 19)
    model = EvidenceBN(structure=edges, **FIXED).fit(X, y)
    names = list(X.columns)
    n_parents = [sum(child == name for _, child in edges) for name in names]
    expected = [[depth <= n for n in n_parents] for depth in range(3)]
    assert (model.weights_ > 0).tolist() == expected


def test_weights_that_sum_to_less_than_two_rows_are_noted():
    X, y = mixed_frame(60, 20)
    with pytest.warns(
        UserWarning, match=r"^the weights of 60 distinct rows sum to 1, .* divide the weights by their mean"
    ):
        EvidenceBN().fit(X, y, np.full(60, 1 / 60))


def test_the_order_of_rows_with_fractional_weights_changes_no_bit():
    X, y = mixed_frame(90, 21)
    weights = np.random.default_rng(0).exponential(size=90)
    order = np.random.default_rng(1).permutation(90)
    model = EvidenceBN(**FIXED).fit(X, y, weights)
    other = EvidenceBN(**FIXED).fit(X.iloc[order], y[order], weights[order])
    assert np.array_equal(model.predict_proba(X), other.predict_proba(X))


def test_attributes_of_joint_models_are_refused_by_name():
    X, y = mixed_frame(60, 22)
    model = EvidenceBN(**FIXED).fit(X, y)
    for name in ("sample", "network_"):
        with pytest.raises(AttributeError, match=f"^EvidenceBN has no '{name}', since it has no joint distribution"):
            getattr(model, name)
