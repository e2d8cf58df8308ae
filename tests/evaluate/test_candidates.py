"""Candidates for a comparison: names, cost model and construction."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from tanbark import TAN, Encoder
from tanbark.classifiers.registry import REGISTRY
from tanbark.datasets import lenses
from tanbark.evaluate import candidate_models, candidate_names, compare
from tanbark.evaluate.candidates import affordable, as_models, candidate_name, fold_seconds, new_models, table_shape


def test_small_tables_are_tried_with_all_classifiers_and_large_ones_with_the_fast():
    assert affordable(1_000, 20) == (candidate_names(), ())
    fast, slow = affordable(5_000_000, 50)
    assert "random-forest" in slow
    assert "naive-bayes" in fast
    assert "tan" in affordable(10**9, 1_000)[0]
    assert sorted(fast + slow) == sorted(candidate_names())


def test_the_expected_time_grows_with_the_table():
    for name in candidate_names():
        assert fold_seconds(name, 1_000, 10) <= fold_seconds(name, 100_000, 10) <= fold_seconds(name, 1_000_000, 10)
    # An exact search doubles with every column until it becomes greedy.
    assert fold_seconds("bayes-net", 10**6, 19) > 1.9 * fold_seconds("bayes-net", 10**6, 18)
    assert fold_seconds("bayes-net", 10**6, 20) < fold_seconds("bayes-net", 10**6, 19)


def test_models_are_constructed_by_name_with_the_encoder():
    encoder = Encoder(n_bins=3)
    models = new_models(candidate_names(), encoder)
    for name, entry in REGISTRY.items():
        assert type(models[name]) is entry.classifier
        assert models[name].encoder is encoder
    assert models["cart"][0].encoder is encoder
    assert [candidate_name(model) for model in models.values()] == list(candidate_names())
    with pytest.raises(ValueError, match=r"no classifier 'svm'; the names are evidence-bn, .*naive-bayes, tan"):
        new_models(["svm"])


def test_candidates_fit_the_size_of_the_table():
    X, _ = lenses()
    assert tuple(candidate_models(X)) == candidate_names()
    assert tuple(candidate_models(X, max_fold_seconds=0.0)) == ("naive-bayes", "tan")
    assert candidate_models(X, encoder=Encoder(n_bins=4))["tan"].encoder.n_bins == 4


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, list, lambda rows: pa.table(pd.DataFrame(rows))])
def test_the_shape_of_any_table_is_known(make):
    assert table_shape(make([[1, 2, 3], [4, 5, 6]])) == (2, 3)


def test_names_of_classifiers_are_those_of_their_class():
    class Own(TAN):
        pass

    assert candidate_name(Own()) == "tan"
    assert candidate_name(make_pipeline(RandomForestClassifier())) == "random-forest"
    assert candidate_name(LogisticRegression()) is None


def test_a_comparison_accepts_names():
    X, y = lenses()
    by_name = compare(["tan", "naive-bayes"], X, y, folds=4)
    by_model = compare(new_models(["tan", "naive-bayes"]), X, y, folds=4)
    assert list(by_name) == list(by_name.models) == ["tan", "naive-bayes"]
    for name in by_name:
        assert np.array_equal(by_name[name].score("log_loss"), by_model[name].score("log_loss"))


@pytest.mark.parametrize("models", ["tan", [TAN()], TAN(), None])
def test_models_of_other_types_are_refused(models):
    with pytest.raises(TypeError, match="models must map names to classifiers, or be a list of names, got"):
        as_models(models)
