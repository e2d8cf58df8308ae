"""BoostedTables: interactions, early stopping, settings and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from evidence.plain_evidence import mixed_frame
from tanbark import BoostedTables, Encoder


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1, got 0"),
        ({"max_depth": 9}, "max_depth must be at most 8, got 9"),
        ({"learning_rate": 0}, "learning_rate must be a positive number"),
        ({"subsample": 0}, "subsample must be a number above 0 and at most 1, got 0"),
        ({"subsample": 1.5}, "subsample must be a number above 0 and at most 1, got 1.5"),
        ({"subsample": float("nan")}, "subsample must be a number above 0 and at most 1, got nan"),
        ({"patience": 0}, "patience must be a whole number of at least 1, got 0"),
        ({"ess": -1}, "ess must be a positive number"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_parameters_get_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match="must be") as caught:
        BoostedTables(**settings).fit(*mixed_frame(60, 0))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_interactions_of_three_columns_are_learned():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 6)).astype(str)
    y = (X[:, 0] == "1") ^ (X[:, 1] == "1") ^ (X[:, 2] == "1")
    model = BoostedTables().fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) == 1.0


def test_probabilities_are_the_prior_plus_the_mean_of_the_tables():
    X, y = mixed_frame(150, 1)
    model = BoostedTables(n_estimators=20, max_depth=2).fit(X, y)
    assert len(model.n_tables_) == 5
    codes = model.schema_.encode(X)
    scores = np.tile(np.log((np.bincount(y) + 1) / (len(y) + 3)), (len(y), 1))
    for tables in model.model_.folds:
        for attributes, first, last, entries in zip(tables.attributes, tables.first, tables.last, tables.scores):
            cells = np.zeros(len(y), int)
            for i, (u, low, high) in enumerate(zip(attributes, first, last)):
                if u >= 0:
                    cells += ((codes[u] >= low) & (codes[u] <= high)).astype(int) << i
            scores += entries[cells] / 5
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), rtol=1e-9)


def test_shares_of_questions_are_those_of_the_tables():
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"noise": rng.normal(size=300), "rule": rng.normal(size=300), "same": ["x"] * 300})
    model = BoostedTables(n_estimators=40).fit(X, X["rule"].to_numpy() > 0.3).model_
    asked = [u for tables in model.folds for u in tables.attributes.ravel().tolist() if u >= 0]
    shares = model.question_shares()
    assert shares.tolist() == [asked.count(u) / len(asked) for u in range(3)]
    assert shares[1] > 0.5
    assert shares[2] == 0
    nothing = BoostedTables().fit(X[:1], ["a"]).model_.question_shares()
    assert nothing.tolist() == [0, 0, 0]


def test_no_patience_learns_all_tables_from_all_rows():
    X, y = mixed_frame(80, 2)
    assert BoostedTables(n_estimators=13, patience=None).fit(X, y).n_tables_ == [13]


def test_tables_are_not_more_than_allowed():
    X, y = mixed_frame(120, 3)
    model = BoostedTables(n_estimators=9, max_depth=3).fit(X, y)
    assert max(model.n_tables_) <= 9
    assert all(tables.attributes.shape[1] == 3 for tables in model.model_.folds)


def test_a_missing_number_without_missing_values_in_training_is_a_typical_one():
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"age": rng.normal(50, 10, 500), "noise": rng.normal(size=500)})
    y = np.where(X["age"] > 65, "old", np.where(X["age"] < 35, "young", "middle"))
    model = BoostedTables().fit(X, y)
    assert model.predict(pd.DataFrame({"age": [np.nan], "noise": [0.0]})).tolist() == ["middle"]
    # With missing values in training that are not a level, learning does the same.
    holed = X.assign(age=X["age"].where(rng.random(500) > 0.2))
    model = BoostedTables(encoder=Encoder(missing="marginalize")).fit(holed, y)
    assert model.predict(pd.DataFrame({"age": [np.nan], "noise": [0.0]})).tolist() == ["middle"]


def test_one_thread_and_two_give_the_same_bits():
    X, y = mixed_frame(300, 5)
    one, two = (BoostedTables(n_jobs=jobs).fit(X, y).predict_proba(X) for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_seeds_give_other_tables_of_about_the_same_quality():
    X, y = mixed_frame(300, 6)
    one, other = (BoostedTables(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 1))
    assert not np.array_equal(one, other)
    assert np.abs(one - other).mean() < 0.1


@pytest.mark.parametrize("y", [["a"], ["a", "a", "a"], ["a", "b"], ["a", "b", "c"]])
def test_very_few_rows_give_a_sensible_model(y):
    X = pd.DataFrame({"x": np.arange(len(y), dtype=float), "colour": ["red"] * len(y), "none": [None] * len(y)})
    proba = BoostedTables().fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
