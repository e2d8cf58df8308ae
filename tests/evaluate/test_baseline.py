"""Predictions that ignore the attributes, compared with scikit-learn's DummyClassifier."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from tanbark import NaiveBayes
from tanbark.evaluate import Baseline, BaselineComparison, EvaluationAccumulator, Gain, cross_validate
from tanbark.evaluate.baseline import constant_predictions
from tanbark.evaluate.significance import standard_error


def table(effect, rows=300, seed=0):
    """Return a number, and a class of which it moves the log odds by `effect`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 1))
    return X, np.where(rng.random(rows) < 1 / (1 + np.exp(-effect * X[:, 0] - 0.7)), "yes", "no")


def test_the_baseline_is_the_dummy_classifier_of_scikit_learn():
    X, y = table(1.0)
    found = Baseline.of(cross_validate(NaiveBayes(), X, y, folds=5))
    dummy = DummyClassifier(strategy="prior").fit(X, y)
    assert found.commonest == dummy.predict(X)[0]
    assert found.share == dummy.score(X, y)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, dummy.predict_proba(X)))


def test_constant_predictions_are_on_the_same_folds():
    X, y = table(1.0)
    result = cross_validate(NaiveBayes(), X, y, folds=5, repeats=2)
    constant = constant_predictions(result)
    assert [fold.rows.tolist() for fold in constant.folds] == [fold.rows.tolist() for fold in result.folds]
    share = np.mean(y == "yes")
    for metric, expected in (("error", 1 - share), ("auc", 0.5), ("calibration_error", 0.0)):
        assert constant.mean(metric) == pytest.approx(expected, abs=1e-9)


def test_a_useful_model_has_no_notes_and_a_useless_one_has():
    useful = BaselineComparison.of(cross_validate(LogisticRegression(), *table(2.0), folds=5))
    assert useful.accuracy.is_clear
    assert useful.log_loss.is_clear
    assert useful.notes == ()
    useless = BaselineComparison.of(cross_validate(LogisticRegression(), *table(0.0), folds=5))
    assert [note.split(" is ")[0] for note in useless.notes] == ["the accuracy", "the log loss"]
    assert all("better than always predicting" in note for note in useless.notes)


def test_a_rare_class_can_be_informative_without_a_better_accuracy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = rng.random(2000) < 1 / (1 + np.exp(4 - 2 * X[:, 0]))
    [note] = BaselineComparison.of(cross_validate(LogisticRegression(), X, y, folds=5)).notes
    assert note.startswith("the accuracy")
    assert note.endswith("; the log loss is better")


@pytest.mark.parametrize(
    ("gain", "is_clear"),
    [(Gain(0.1, 0.04), True), (Gain(0.1, 0.06), False), (Gain(-0.1, 0.01), False), (Gain(0.1, float("nan")), False),
     (Gain(0.1, 0.0), True), (Gain(0.0, 0.0), False)],
)  # fmt: skip
def test_a_clear_gain_is_above_two_standard_errors(gain, is_clear):
    assert gain.is_clear == is_clear


def test_gains_over_folds_are_paired_differences():
    result = cross_validate(NaiveBayes(), *table(1.0), folds=5)
    found = BaselineComparison.of(result)
    shares = np.bincount(result.pooled[0]) / 300
    errors = [(fold.truth != shares.argmax()).mean() for fold in result.folds]
    losses = [-np.log(shares[fold.truth]).mean() for fold in result.folds]
    for gain, constant, metric in ((found.accuracy, errors, "error"), (found.log_loss, losses, "log_loss")):
        difference = np.array(constant) - result.score(metric)
        assert gain.difference == pytest.approx(difference.mean())
        assert gain.standard_error == pytest.approx(standard_error(difference, 1 / 4))


@pytest.mark.parametrize("batch", [7, 500])
def test_gains_over_rows_are_paired_differences(batch):
    rng = np.random.default_rng(0)
    labels = np.array(["a", "b", "c"])
    probabilities = rng.dirichlet([1, 1, 1], 200)
    y = labels[[rng.choice(3, p=p) for p in probabilities]].astype(object)
    y[:5] = "unknown"
    accumulator = EvaluationAccumulator(labels)
    for start in range(0, 200, batch):
        part = slice(start, start + batch)
        accumulator.add(np.log(probabilities[part]), accumulator.codes(y[part]))
    found = accumulator.result().baseline
    shares = np.array([np.mean(y[5:] == label) for label in labels])
    known = np.searchsorted(labels, y[5:].astype(str))
    right = probabilities[5:].argmax(axis=1) == known
    correct = np.r_[np.zeros(5), right.astype(float) - (known == shares.argmax())]
    losses = np.r_[np.zeros(5), np.log(probabilities[5:][np.arange(195), known]) - np.log(shares[known])]
    for gain, rows in ((found.accuracy, correct), (found.log_loss, losses)):
        assert gain.difference == pytest.approx(rows.mean())
        assert gain.standard_error == pytest.approx(rows.std(ddof=1) / np.sqrt(200))
    assert found.baseline.share == pytest.approx(shares.max() * 195 / 200)
    worst = 52 * np.log(2)
    assert found.baseline.log_loss == pytest.approx((-np.log(shares[known]).sum() + 5 * worst) / 200)


def test_rows_of_one_class_have_no_notes():
    accumulator = EvaluationAccumulator(["a", "b"])
    accumulator.add(np.log([[0.6, 0.4]] * 3), np.zeros(3, np.int64))
    found = accumulator.result().baseline
    assert (found.baseline.share, found.baseline.log_loss, found.notes) == (1.0, 0.0, ())
