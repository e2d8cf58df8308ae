"""Comparison of classifiers: the same folds, failures are listed, and the best comes first."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tanbark import TAN, Encoder, NaiveBayes
from tanbark.datasets import lenses
from tanbark.evaluate import METRICS, Comparison, compare, cross_validate, learning_curve
from tanbark.evaluate import folds as counting
from tanbark.evaluate.metrics import calibration_error


def sampled_table(rows=90, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return np.column_stack([np.where(rng.random(rows) < 0.7, y, rng.integers(0, 3, rows)) for _ in range(4)]), y


class Fails(ClassifierMixin, BaseEstimator):
    """Fails in folds that train on the first row, or in every fold, with a message on two lines."""

    def __init__(self, always=True):
        self.always = always

    def fit(self, X, y):
        if self.always or X[0, 0] == 9:
            raise RuntimeError("there is\n  no way")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_each_classifier_gets_the_result_of_its_own_cross_validation():
    X, y = sampled_table()
    models = {
        "NB": NaiveBayes(),
        "TAN": TAN(),
        "state": TAN(encoder=Encoder(missing="state")),
        "none": DummyClassifier(),
    }
    found = compare(models, X, y, folds=3, repeats=2)
    assert list(found) == list(models)
    assert len(found) == 4
    for name, model in models.items():
        alone = cross_validate(model, X, y, folds=3, repeats=2)
        assert found[name].shared == alone.shared == 6 * (name != "none")
        for a, b in zip(found[name].folds, alone.folds, strict=True):
            assert np.array_equal(a.rows, b.rows)
            assert np.array_equal(a.log_probabilities, b.log_probabilities)


def test_encoders_that_differ_in_one_of_many_columns_are_distinguished():
    X = np.column_stack([sampled_table()[0]] * 252)
    y = sampled_table()[1]
    all_columns = np.arange(X.shape[1])
    models = {
        "all": NaiveBayes(encoder=Encoder(categorical=all_columns)),
        "all but one": NaiveBayes(encoder=Encoder(categorical=np.where(all_columns == 6, 7, all_columns))),
    }
    found = compare(models, X, y, folds=2)
    assert (found["all"].shared, found["all but one"].shared) == (2, 0)


@pytest.mark.parametrize("max_bytes", [0, 3000, 20_000])
def test_counts_that_take_too_much_memory_are_computed_again(max_bytes, monkeypatch):
    X, y = sampled_table()
    expected = compare({"NB": NaiveBayes(), "TAN": TAN()}, X, y, folds=3, repeats=3)
    monkeypatch.setattr("tanbark.evaluate.folds.MAX_COUNTS_BYTES", max_bytes)
    monkeypatch.setattr("tanbark.evaluate.cross_validation.MAX_COUNTS_BYTES", max_bytes)
    counted = []
    count = counting.FoldCounts.count
    monkeypatch.setattr(counting.FoldCounts, "count", lambda self, rows: counted.append(1) or count(self, rows))
    found = compare({"NB": NaiveBayes(), "TAN": TAN()}, X, y, folds=3, repeats=3)
    assert len(counted) > 9 or max_bytes == 20_000
    for name in found:
        assert found[name].shared == 9
        for a, b in zip(found[name].folds, expected[name].folds, strict=True):
            assert np.array_equal(a.log_probabilities, b.log_probabilities)


def test_the_ranking_is_from_best_to_worst_with_the_p_values_of_the_differences_from_the_best():
    X, y = sampled_table()
    found = compare({"none": DummyClassifier(), "TAN": TAN(), "NB": NaiveBayes()}, X, y, folds=5)
    for metric in METRICS:
        ranked = found.ranking(metric)
        together = metric == "calibration_error"
        means = [
            calibration_error(*found[rank.name].pooled) if together else np.mean(found[rank.name].score(metric))
            for rank in ranked
        ]
        assert means == sorted(means, reverse=metric == "auc")
        assert [rank.mean for rank in ranked] == pytest.approx(means, abs=1e-12)
        best = found[ranked[0].name].score(metric)
        assert ranked[0].p_value == 1.0
        for rank in ranked[1:]:
            difference = found[rank.name].score(metric) - best
            error = np.sqrt(difference.var(ddof=1) * (1 / 5 + 1 / 4))
            expected = 2 * stats.t.sf(abs(difference.mean()) / error, 4) if error > 1e-12 else 0.0
            assert rank.p_value == pytest.approx(expected, abs=1e-9)
    first, second = found["TAN"].score("log_loss"), found["none"].score("log_loss")
    assert found.p_value("TAN", "none", test="paired") == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert found.p_value("TAN", "none", test="wilcoxon") == pytest.approx(stats.wilcoxon(first - second).pvalue)
    assert found.p_value("TAN", "none") == found.p_value("none", "TAN")


def test_a_failing_classifier_is_listed_with_the_reason_and_the_others_continue():
    X, y = sampled_table()
    calls = []
    models = {"bad": Fails(), "TAN": TAN(), "no odds": LinearSVC(), "ess": TAN(ess=0), "at times": Fails(always=False)}
    X[0, 0] = 9
    found = compare(models, X, y, folds=3, progress=lambda *call: calls.append(call))
    assert list(found) == ["TAN"]
    assert found.failures["bad"] == "RuntimeError: there is no way"
    assert found.failures["at times"] == "RuntimeError: there is no way"
    assert found.failures["no odds"].startswith("TypeError: LinearSVC does not predict probabilities")
    assert found.failures["ess"].startswith("ValueError: ess must be a positive number")
    with pytest.raises(KeyError, match="'bad' failed: RuntimeError: there is no way"):
        found["bad"]
    with pytest.raises(KeyError, match="unheard"):
        found["unheard"]
    assert "bad" not in found
    assert [rank.name for rank in found.ranking()] == ["TAN"]
    assert "bad      failed: RuntimeError: there is no way" in str(found)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)
    assert calls[-1] == ("at times", 15, 15)


def test_a_comparison_in_which_all_fail_lists_every_failure():
    X, y = sampled_table()
    found = compare({"a": Fails(), "b": LinearSVC()}, X, y, folds=3)
    assert list(found) == []
    assert list(found.failures) == ["a", "b"]
    assert found.ranking() == []
    assert "a failed: " in str(found)


def test_a_table_of_all_metrics_shows_every_classifier_best_first():
    X, y = lenses()
    found = compare({"none": DummyClassifier(), "TAN": TAN()}, X, y, folds=4)
    head, first, second = str(found).splitlines()
    assert all(metric in head for metric in METRICS)
    assert first.startswith("TAN ")
    assert second.startswith("none")
    assert f"{found['TAN'].mean('brier'):.4f} ± {found['TAN'].standard_error('brier'):.4f}" in first
    assert repr(found) == str(found)


def test_p_values_use_the_folds_in_which_the_metric_is_defined():
    X, y = sampled_table(30)
    models = {"TAN": TAN(), "tree": DecisionTreeClassifier(random_state=0), "NB": NaiveBayes()}
    with pytest.warns(UserWarning, match="fewer than the 30 folds"):
        alone = compare(models, X, y, folds=30)
    ranked = alone.ranking("auc")
    assert np.isnan([rank.mean for rank in ranked]).all()
    assert np.isnan([rank.p_value for rank in ranked[1:]]).all()
    assert "nan ± nan" in str(alone)
    y[:] = 0
    y[:4] = 1
    with pytest.warns(UserWarning, match="the class 1 has 4 rows"):
        some = compare(models, X, y, folds=6)
    first, second = some["TAN"].score("auc"), some["tree"].score("auc")
    known = ~np.isnan(first)
    assert known.sum() == 4
    expected = stats.ttest_rel(first[known], second[known]).pvalue
    assert some.p_value("TAN", "tree", "auc", "paired") == pytest.approx(expected)


def test_classifiers_without_a_score_come_last():
    X, y = sampled_table(30)
    good = cross_validate(NaiveBayes(), X, y, folds=3)
    none = replace(good, folds=tuple(replace(fold, truth=np.zeros_like(fold.truth)) for fold in good.folds))
    for results in ({"none": none, "good": good}, {"good": good, "none": none}):
        first, last = Comparison(results, {}).ranking("auc")
        assert (first.name, last.name) == ("good", "none")
        assert np.isnan([last.mean, last.standard_error, last.p_value]).all()


def test_a_learning_curve_is_cross_validation_with_each_share_on_the_same_test_rows():
    X, y = sampled_table()
    models = {"TAN": TAN(), "tree": DecisionTreeClassifier(random_state=0)}
    calls = []
    found = learning_curve(models, X, y, shares=(0.2, 1.0), folds=3, progress=lambda *call: calls.append(call))
    assert list(found) == [0.2, 1.0]
    for share, comparison in found.items():
        for name, model in models.items():
            alone = cross_validate(model, X, y, folds=3, share=share)
            assert comparison[name].test_to_train == pytest.approx(1 / (2 * share), rel=0.1)
            for a, b in zip(comparison[name].folds, alone.folds, strict=True):
                assert np.array_equal(a.log_probabilities, b.log_probabilities)
    for a, b in zip(found[0.2]["TAN"].folds, found[1.0]["tree"].folds, strict=True):
        assert np.array_equal(a.rows, b.rows)
    assert calls[-1] == ("tree", 12, 12)
    assert {total for _, _, total in calls} == {12}


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda X, y: compare({}, X, y), "models is empty; give at least one classifier"),
        (lambda X, y: learning_curve({"TAN": TAN()}, X, y, shares=()), "shares is empty"),
        (
            lambda X, y: learning_curve({"TAN": TAN()}, X, y, shares=(1.0, 0)),
            "share must be above 0 and at most 1, got 0",
        ),
        (lambda X, y: compare({"TAN": TAN()}, X, y, folds=1), "folds must be a whole number of at least 2"),
        (lambda X, y: compare({"TAN": TAN()}, X, y, n_jobs=0), "n_jobs must be a whole number other than 0"),
        (lambda X, y: compare({"TAN": TAN()}, X, y[1:]), "X has 90 rows, but y has 89"),
        (
            lambda X, y: compare({"TAN": TAN()}, X, np.zeros(90, int)),
            "y has a single class, 0; at least two are needed",
        ),
        (lambda X, y: compare({"TAN": TAN()}, X, y, folds=3).ranking("accuracy"), "there is no metric 'accuracy'"),
        (
            lambda X, y: compare({"a": TAN(), "b": TAN()}, X, y, folds=3).p_value("a", "b", test="anova"),
            "test must be 'corrected' or 'paired' or 'wilcoxon', got 'anova'",
        ),
    ],
)
def test_invalid_arguments_are_refused_before_any_work(ask, words):
    with pytest.raises(ValueError, match=words):
        ask(*sampled_table())


def test_identical_models_do_not_differ():
    X, y = sampled_table()
    found = compare({"a": TAN(), "b": TAN()}, X, y, folds=3)
    for test in ("corrected", "paired", "wilcoxon"):
        assert found.p_value("a", "b", "error", test) == 1.0
