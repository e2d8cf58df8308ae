"""Cross-validation of all kinds of classifiers: results and refused input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tanbark import TAN, Encoder, EvidenceBN, NaiveBayes
from tanbark.datasets import lenses, tic_tac_toe
from tanbark.evaluate import cross_validate
from tanbark.evaluate.folds import Split, stratified_folds

ROWS = 60


# Classes and classifiers of all kinds


@pytest.mark.parametrize(
    "labels",
    [
        np.array([10, -3, 7]),
        np.array([10, 3, 7], np.uint8),
        np.array([2.0, 1.0, 3.0]),
        np.array(["b", "a", "c"]),
        np.array(["b", "a", "c"], object),
        np.array([True, False, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
@pytest.mark.parametrize("model", [TAN(), DecisionTreeClassifier(random_state=0)], ids=["TAN", "tree"])
def test_classes_of_all_kinds_keep_their_kind(labels, model, check, sampled_codes):
    codes, y = sampled_codes()
    found = check(model, codes, labels[y], folds=3)
    assert found.classes.tolist() == sorted(set(labels.tolist()))
    assert found.classes.dtype.kind == labels.dtype.kind
    check(model, codes, labels[y].tolist(), folds=3)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda y: pd.Series(y, name="grade"),
        lambda y: pd.Series(pd.Categorical(y, ["never", "yes", "no", "perhaps"])),
        lambda y: pl.Series("grade", y.tolist()),
        lambda y: pa.array(y.tolist()),
    ],
    ids=["series", "categorical", "polars", "arrow"],
)
def test_classes_are_those_that_occur_whatever_the_column_type(wrap, declared_frame):
    X, y = declared_frame()
    plain, found = (cross_validate(TAN(), X, column, folds=3) for column in (y, wrap(y)))
    assert found.classes.tolist() == ["no", "perhaps", "yes"]
    for a, b in zip(plain.folds, found.folds, strict=True):
        assert np.array_equal(a.log_probabilities, b.log_probabilities)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
        make_pipeline(TAN()),
    ],
    ids=["tree", "pipeline", "TAN in a pipeline"],
)
def test_classifiers_of_scikit_learn_can_be_evaluated(model, check, sampled_codes):
    codes, y = sampled_codes()
    found = check(model, codes, y, shared=0, folds=3)
    assert (found.fit_seconds > 0).all()
    assert (found.predict_seconds > 0).all()


class Notes(ClassifierMixin, BaseEstimator):
    """Gives one warning in every fold, and another in folds that train on the first row."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        warnings.warn("always so", DeprecationWarning, stacklevel=2)
        if X[0, 0] == 9:
            warnings.warn("now and then", UserWarning, stacklevel=2)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_a_warning_of_every_fold_is_passed_on_once(sampled_codes):
    codes, y = sampled_codes()
    codes[0, 0] = 9
    with pytest.warns(DeprecationWarning, match="always so") as seen:
        cross_validate(Notes(), codes, y, folds=3)
    assert len(seen) == 1


class WithoutLogarithms(ClassifierMixin, BaseEstimator):
    """Predicts the class frequencies, multiplied by a number, for every row."""

    def __init__(self, times=1.0):
        self.times = times

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.frequencies_ = counts / len(y)
        return self

    def predict_proba(self, X):
        return np.tile(np.float32(self.frequencies_ * self.times), (len(X), 1))


def test_a_classifier_without_predict_log_proba_can_be_evaluated(sampled_codes):
    codes, y = sampled_codes()
    found = cross_validate(WithoutLogarithms(), codes, y, folds=3)
    for fold in found.folds:
        rest = np.delete(y, fold.rows)
        expected = [(rest == k).mean() for k in range(3)]
        assert np.exp(fold.log_probabilities) == pytest.approx(np.tile(expected, (len(fold.rows), 1)), rel=1e-6)
        assert fold.log_probabilities.dtype == np.float64


def test_a_classifier_that_predicts_nan_is_refused(sampled_codes):
    with pytest.raises(ValueError, match="WithoutLogarithms predicts probabilities that are NaN"):
        cross_validate(WithoutLogarithms(times=np.nan), *sampled_codes(), folds=3)


def test_a_classifier_without_probabilities_is_refused_with_advice(sampled_codes):
    with pytest.raises(
        TypeError, match="LinearSVC does not predict probabilities; wrap it in a CalibratedClassifierCV"
    ):
        cross_validate(LinearSVC(), *sampled_codes(), folds=3)


def test_the_given_model_is_not_fitted(declared_frame):
    X, y = declared_frame()
    model = TAN()
    cross_validate(model, X, y, folds=3)
    assert not hasattr(model, "classes_")


# Results


def test_scores_are_those_of_each_fold_and_their_mean_and_enlarged_standard_error():
    X, y = lenses()
    found = cross_validate(TAN(), X, y, folds=4)
    assert len(found.score("error")) == 4
    wrong = [
        (found.classes[fold.log_probabilities.argmax(axis=1)] != np.asarray(y)[fold.rows]).mean()
        for fold in found.folds
    ]
    assert found.score("error") == pytest.approx(wrong)
    assert found.mean("error") == pytest.approx(np.mean(wrong))
    assert found.standard_error("error") == pytest.approx(np.std(wrong, ddof=1) * np.sqrt(1 / 4 + 1 / 3))
    assert "error" in repr(found)


def test_pooled_concatenates_the_predictions_of_all_folds(declared_frame):
    X, y = declared_frame()
    found = cross_validate(TAN(), X, y, folds=4, share=0.5)
    truth, said = found.pooled
    order = np.argsort(np.concatenate([fold.rows for fold in found.folds]))
    assert found.classes[truth[order]].tolist() == y.tolist()
    assert said.shape == (ROWS, 3)
    # Of three quarters of sixty rows half, and of each class rounded up.
    split = Split.of(stratified_folds(np.unique(y, return_inverse=True)[1], 4, 0))
    halves = [sum(-(-np.sum(y[split.outside(k)] == label) // 2) for label in found.classes) for k in range(4)]
    assert found.learned_from == pytest.approx(np.mean(halves))
    assert 22.5 <= found.learned_from <= 24


def test_folds_in_which_a_metric_is_undefined_are_left_out(sampled_codes):
    codes, y = sampled_codes(classes=2)
    y[:] = 0
    y[:4] = 1
    with pytest.warns(UserWarning, match="the class 1 has 4 rows, fewer than the 6 folds"):
        found = cross_validate(NaiveBayes(), codes, y, folds=6)
    known = found.score("auc")[~np.isnan(found.score("auc"))]
    assert len(known) == 4
    assert found.mean("auc") == pytest.approx(known.mean())
    assert found.standard_error("auc") == pytest.approx(known.std(ddof=1) * np.sqrt(1 / 4 + 1 / 5))


def test_a_metric_that_is_undefined_in_every_fold_is_nan():
    X, y = lenses()
    with pytest.warns(UserWarning, match="fewer than the 24 folds"):
        found = cross_validate(NaiveBayes(), X, y, folds=24)
    assert np.isnan(found.mean("auc"))
    assert np.isnan(found.standard_error("auc"))
    assert "auc nan" in repr(found)


def test_progress_is_reported_fold_by_fold(sampled_codes, declared_frame):
    X, y = declared_frame()
    calls = []
    for table in (X, sampled_codes()[0] + 0.5 * np.random.default_rng(0).random((ROWS, 5))):
        cross_validate(TAN(), table, y, folds=3, repeats=2, progress=lambda *call: calls.append(call))
    assert calls == [("cross-validating", k, 6) for k in range(1, 7)] * 2


# Bad input


def test_a_class_with_fewer_rows_than_folds_gives_a_warning(sampled_codes):
    codes, y = sampled_codes()
    y[:] = np.arange(ROWS) % 2
    y[5] = 2
    with pytest.warns(UserWarning, match="the class 2 has 1 row, fewer than the 3 folds: some folds have no row of it"):
        found = cross_validate(TAN(), codes, y, folds=3)
    assert sum(np.isin(5, fold.rows) for fold in found.folds) == 1
    y[6] = 3
    with pytest.warns(UserWarning, match="has 1 row, fewer than the 3 folds; 1 other class also has fewer"):
        cross_validate(TAN(), codes, y, folds=3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
        ({"folds": 2.0}, "folds must be a whole number"),
        ({"folds": 61}, "61 folds need at least as many rows, got 60"),
        ({"repeats": 0}, "repeats must be a whole number of at least 1, got 0"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"random_state": None}, "random_state must be a whole number of at least 0, got None"),
        ({"share": 0}, "share must be above 0 and at most 1, got 0"),
        ({"share": 1.5}, "share must be above 0 and at most 1, got 1.5"),
        ({"share": float("nan")}, "share must be above 0 and at most 1, got nan"),
        ({"share": "half"}, "share must be above 0 and at most 1, got 'half'"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0, or None, got 0"),
        ({"n_jobs": "all"}, "n_jobs must be a whole number other than 0, or None, got 'all'"),
    ],
)
@pytest.mark.parametrize("model", [TAN(), DecisionTreeClassifier()], ids=["TAN", "tree"])
def test_invalid_settings_are_refused_before_any_work(settings, words, model, sampled_codes):
    codes, y = sampled_codes()
    with pytest.raises(ValueError, match=words):
        cross_validate(model, codes, y, **settings)


def test_tables_that_cannot_be_split_are_refused(sampled_codes):
    codes, y = sampled_codes()
    with pytest.raises(ValueError, match="y has a single class, 'a'; at least two are needed"):
        cross_validate(TAN(), codes, np.full(ROWS, "a"))
    with pytest.raises(ValueError, match="X has 60 rows, but y has 59"):
        cross_validate(TAN(), codes, y[1:])
    with pytest.raises(ValueError, match="every value of the class 'y' is missing"):
        cross_validate(TAN(), codes, np.full(ROWS, np.nan))
    with pytest.raises(ValueError, match="10 folds need at least as many rows, got 0"):
        cross_validate(TAN(), codes[:0], y[:0])


@pytest.mark.parametrize("model", [TAN(), DecisionTreeClassifier()], ids=["TAN", "tree"])
def test_a_target_among_the_columns_is_refused_whichever_the_classifier(model, sampled_codes):
    codes, y = sampled_codes()
    X = pd.DataFrame(codes, columns=list("abcde")).assign(grade=y)
    with pytest.raises(ValueError, match="the target 'grade' is among the columns of X; drop it from X"):
        cross_validate(model, X, X["grade"])


def test_an_unknown_metric_is_refused_with_a_list_of_metrics(declared_frame):
    found = cross_validate(TAN(), *declared_frame(), folds=3)
    for ask in (found.score, found.mean, found.standard_error):
        with pytest.raises(
            ValueError, match="there is no metric 'accuracy'; the metrics are error, log_loss, brier, auc"
        ):
            ask("accuracy")


def test_invalid_settings_of_the_model_are_refused(declared_frame):
    with pytest.raises(ValueError, match="ess must be a positive number"):
        cross_validate(TAN(ess=-1.0), *declared_frame(), folds=3)
    with pytest.raises(ValueError, match="which the table does not have"):
        cross_validate(TAN(encoder=Encoder(categorical=["zz"])), *declared_frame(), folds=3)


# Weights of rows and of classes


def weighted_table():
    X, y = tic_tac_toe()
    return X, y, np.random.default_rng(0).integers(0, 4, len(y)).astype(float)


@pytest.mark.parametrize(
    "model",
    [TAN(), EvidenceBN(depth=0), make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())],
    ids=["TAN", "EvidenceBN", "pipeline"],
)
def test_weights_count_in_learning_and_in_the_metrics(model):
    X, y, weights = weighted_table()
    found = cross_validate(model, X, y, folds=3, sample_weight=weights)
    assert sorted(np.concatenate([fold.rows for fold in found.folds])) == np.flatnonzero(weights).tolist()
    last = {"logisticregression__sample_weight": None} if hasattr(model, "steps") else {"sample_weight": None}
    for at, fold in enumerate(found.folds):
        others = np.setdiff1d(np.flatnonzero(weights), fold.rows)
        fitted = clone(model).fit(X[others], y[others], **dict.fromkeys(last, weights[others]))
        np.testing.assert_allclose(fold.log_probabilities, fitted.predict_log_proba(X[fold.rows]), rtol=1e-12)
        wrong = fitted.predict(X[fold.rows]) != y[fold.rows]
        assert found.score("error")[at] == pytest.approx(np.average(wrong, weights=weights[fold.rows]))
    assert np.array_equal(found.pooled_weights, weights[np.concatenate([fold.rows for fold in found.folds])])


@pytest.mark.parametrize("classifier", [TAN, EvidenceBN])
@pytest.mark.parametrize("class_weight", ["balanced", {"negative": 2.5}])
def test_class_weights_are_those_of_the_training_rows_of_each_fold(classifier, class_weight):
    X, y, _ = weighted_table()
    X = pd.DataFrame(X).astype("category")
    model = classifier(class_weight=class_weight)
    found = cross_validate(model, X, y, folds=3)
    assert found.shared == 3
    for fold in found.folds:
        others = np.setdiff1d(np.arange(len(y)), fold.rows)
        counts = np.unique(y[others], return_counts=True)[1]
        factors = len(others) / (2 * counts) if class_weight == "balanced" else np.array([2.5, 1.0])
        fitted = classifier().fit(X.iloc[others], y[others], factors[(y[others] == "positive").astype(int)])
        expected = fitted.predict_proba(X.iloc[fold.rows])
        np.testing.assert_allclose(np.exp(fold.log_probabilities), expected, rtol=1e-6, atol=1e-9)


def test_a_weight_for_a_class_that_a_fold_lacks_is_no_error_but_one_for_an_unknown_class_is():
    X, y, _ = weighted_table()
    y = y.astype(object)
    y[5] = "draw"
    with pytest.warns(UserWarning, match="the class 'draw' has 1 row, fewer than the 3 folds"):
        found = cross_validate(TAN(class_weight={"draw": 2}), X, y, folds=3)
    assert found.mean("error") < 0.4
    with (
        pytest.warns(UserWarning, match="the class 'draw' has 1 row"),
        pytest.raises(ValueError, match=r"^class_weight names 'drew', which is not a class; the classes are 'draw'"),
    ):
        cross_validate(TAN(class_weight={"drew": 2}), X, y, folds=3)
