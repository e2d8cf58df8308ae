"""Evaluation of a fitted classifier on labelled rows, compared with scikit-learn and with definitions."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import sem
from sklearn import metrics as peer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from tanbark import TAN, NaiveBayes
from tanbark.evaluate import EvaluationAccumulator, cross_validate, evaluate_model, model_evaluation
from tanbark.evaluate.metrics import calibration_error

LARGEST_LOSS = 52 * np.log(2)
FIGURES = (
    "rows", "unlabelled_rows", "unknown_rows", "accuracy", "accuracy_standard_error", "log_loss",
    "log_loss_standard_error", "known_log_loss", "brier", "auc", "calibration_error", "confusion", "predicted",
)  # fmt: skip


def drawn(rows=200, classes=3, seed=0):
    """Return probabilities, and classes of which each is drawn with its probability."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(classes, 0.7), rows)
    labels = np.array(["ant", "bee", "cow", "dog", "eel"])[:classes]
    y = np.array([rng.choice(labels, p=p) for p in probabilities])
    return probabilities, labels, y


def evaluated(probabilities, labels, y, batch=None):
    accumulator = EvaluationAccumulator(labels)
    batch = batch or len(y)
    for start in range(0, len(y), batch):
        part = slice(start, start + batch)
        with np.errstate(divide="ignore"):
            accumulator.add(np.log(probabilities[part]), accumulator.codes(y[part]))
    return accumulator.result()


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("batch", [None, 1, 7, 64])
def test_every_figure_is_that_of_scikit_learn(classes, batch):
    probabilities, labels, y = drawn(classes=classes)
    found = evaluated(probabilities, labels, y, batch)
    predicted = labels[probabilities.argmax(axis=1)]
    assert (found.rows, found.unlabelled_rows, found.unknown_rows) == (200, 0, 0)
    assert found.classes.tolist() == labels.tolist()
    assert found.accuracy == pytest.approx(peer.accuracy_score(y, predicted))
    assert found.log_loss == pytest.approx(peer.log_loss(y, probabilities, labels=labels))
    assert found.known_log_loss == pytest.approx(found.log_loss)
    one_hot = (y[:, None] == labels).astype(float)
    assert found.brier == pytest.approx(np.square(probabilities - one_hot).sum(axis=1).mean())
    scores = probabilities[:, 1] if classes == 2 else probabilities
    assert found.auc == pytest.approx(peer.roc_auc_score(y, scores, multi_class="ovr", labels=labels))
    assert found.confusion.tolist() == peer.confusion_matrix(y, predicted, labels=labels).tolist()
    precision, recall, _, support = peer.precision_recall_fscore_support(y, predicted, labels=labels)
    assert found.precision == pytest.approx(precision)
    assert found.recall == pytest.approx(recall)
    assert found.support.tolist() == support.tolist()
    codes = np.searchsorted(labels, y)
    assert found.calibration_error == pytest.approx(calibration_error(codes, np.log(probabilities)))


def test_standard_errors_are_those_of_a_mean_over_rows():
    probabilities, labels, y = drawn()
    codes = np.searchsorted(labels, y)
    found = evaluated(probabilities, labels, y, 17)
    assert found.accuracy_standard_error == pytest.approx(sem(probabilities.argmax(axis=1) == codes))
    assert found.log_loss_standard_error == pytest.approx(sem(-np.log(probabilities[np.arange(200), codes])))


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 41), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_batches_change_no_figure(seed, rows, batch, classes):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(classes, 0.3), rows)
    labels = np.arange(classes)
    y = rng.integers(0, classes + 1, rows).astype(float)
    y[rng.random(rows) < 0.2] = np.nan
    y[0] = 0
    whole, parts = (evaluated(probabilities, labels, y, size) for size in (None, batch))
    for name in FIGURES:
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-12, err_msg=name)


def test_rows_without_a_class_are_left_out():
    probabilities, labels, y = drawn()
    missing = np.arange(200) % 3 == 0
    found = evaluated(probabilities, labels, np.where(missing, None, y), 10)
    assert found.unlabelled_rows == missing.sum()
    alone = evaluated(probabilities[~missing], labels, y[~missing])
    for name in FIGURES:
        if name != "unlabelled_rows":
            np.testing.assert_allclose(getattr(found, name), getattr(alone, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_of_unknown_classes_are_those_of_a_class_with_probability_zero(classes):
    probabilities, labels, y = drawn(classes=classes)
    unknown = np.arange(200) % 10 == 0
    y = np.where(unknown, "yak", y)
    found = evaluated(probabilities, labels, y, 30)
    predicted = labels[probabilities.argmax(axis=1)]
    assert (found.rows, found.unknown_rows) == (200, 20)
    assert found.accuracy == pytest.approx(peer.accuracy_score(y, predicted))
    with_yak = np.column_stack([probabilities, np.zeros(200)])
    true_probabilities = with_yak[np.arange(200), [[*labels, "yak"].index(label) for label in y]]
    losses = np.minimum(-np.log(np.maximum(true_probabilities, 1e-300)), LARGEST_LOSS)
    assert found.log_loss == pytest.approx(losses.mean())
    assert found.log_loss_standard_error == pytest.approx(sem(losses))
    assert found.known_log_loss == pytest.approx(losses[~unknown].mean())
    one_hot = (y[:, None] == np.array([*labels, "yak"])).astype(float)
    assert found.brier == pytest.approx(np.square(with_yak - one_hot).sum(axis=1).mean())
    chosen = [1] if classes == 2 else range(classes)
    areas = [peer.roc_auc_score(y == labels[k], probabilities[:, k]) for k in chosen]
    assert found.auc == pytest.approx(np.mean(areas))
    everything = peer.confusion_matrix(y, predicted, labels=[*labels, "yak"])
    assert found.confusion.tolist() == everything[:-1, :-1].tolist()
    assert found.predicted.tolist() == everything[:, :-1].sum(axis=0).tolist()
    precision, recall, _, _ = peer.precision_recall_fscore_support(y, predicted, labels=labels, zero_division=0)
    assert found.precision == pytest.approx(precision)
    assert found.recall == pytest.approx(recall)


def test_a_certain_mistake_has_the_largest_loss_there_is():
    found = evaluated(np.array([[1.0, 0.0], [1.0, 0.0]]), ["a", "b"], np.array(["a", "b"]))
    assert found.log_loss == pytest.approx(LARGEST_LOSS / 2)
    assert found.brier == pytest.approx(1.0)


def test_classes_without_rows_or_predictions_have_no_recall_or_precision():
    found = evaluated(np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0]]), ["a", "b", "c"], np.array(["a", "b"]))
    np.testing.assert_array_equal(found.precision, [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(found.recall, [1.0, 0.0, np.nan])
    assert found.support.tolist() == [1, 1, 0]


def test_a_single_row_has_neither_standard_errors_nor_an_auc():
    found = evaluated(np.array([[0.25, 0.75]]), ["a", "b"], np.array(["b"]))
    assert (found.accuracy, found.log_loss) == (1.0, pytest.approx(-np.log(0.75)))
    assert np.isnan([found.accuracy_standard_error, found.log_loss_standard_error, found.auc]).all()


@pytest.mark.parametrize("model", [TAN(), LogisticRegression()], ids=["tanbark", "scikit-learn"])
def test_a_fitted_model_is_evaluated_as_cross_validation_evaluates_it(model, sampled_codes):
    codes, y = sampled_codes(rows=120)
    validated = cross_validate(model, codes, y, folds=3)
    for fold in validated.folds:
        rest = np.setdiff1d(np.arange(120), fold.rows)
        found = evaluate_model(model.fit(codes[rest], y[rest]), codes[fold.rows], y[fold.rows])
        place = validated.folds.index(fold)
        assert found.accuracy == pytest.approx(1 - validated.score("error")[place])
        for name in ("log_loss", "brier", "auc", "calibration_error"):
            assert getattr(found, name) == pytest.approx(validated.score(name)[place], rel=1e-6), name


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda y: pd.Series(y, name="grade"),
        lambda y: pd.Series(pd.Categorical(y, ["never", "yes", "no", "perhaps"])),
        lambda y: pl.Series("grade", y.tolist()),
        lambda y: pa.array(y.tolist()),
    ],
    ids=["list", "series", "categorical", "polars", "arrow"],
)
def test_classes_may_be_in_any_container(make, declared_frame):
    X, y = declared_frame()
    model = NaiveBayes().fit(X, y)
    assert evaluate_model(model, X, make(y)).log_loss == evaluate_model(model, X, y).log_loss


def test_batches_without_any_class_or_row_are_accepted():
    accumulator = EvaluationAccumulator([0, 1])
    for y in ([None, None], [np.nan], [], [1, None]):
        accumulator.add(np.log(np.full((len(y), 2), 0.5)), accumulator.codes(np.array(y, object)))
    found = accumulator.result()
    assert (found.rows, found.unlabelled_rows, found.log_loss) == (1, 4, pytest.approx(np.log(2)))


def test_what_cannot_be_evaluated_is_refused_in_a_sentence(declared_frame, monkeypatch):
    X, y = declared_frame()
    model = TAN().fit(X, y)
    with pytest.raises(ValueError, match=r"^X has 60 rows, but y has 59$"):
        evaluate_model(model, X, y[1:])
    with pytest.raises(ValueError, match=r"^no row has a class; there is nothing to evaluate$"):
        evaluate_model(model, X, np.full(60, None))
    with pytest.raises(
        ValueError,
        match=r"^no row has a class that the model knows; the known classes are 'no', 'perhaps', 'yes'$",
    ):
        evaluate_model(model, X, np.arange(60) % 3)
    with pytest.raises(TypeError, match=r"^LinearSVC does not predict probabilities; wrap it in a CalibratedClassif"):
        evaluate_model(LinearSVC().fit([[0], [1]], [0, 1]), [[0], [1]], [0, 1])
    accumulator = EvaluationAccumulator(["a", "b"])
    with pytest.raises(ValueError, match=r"^log_probabilities must have the shape \(1, 2\), got \(1, 3\)$"):
        accumulator.add(np.zeros((1, 3)), accumulator.codes(["a"]))
    with pytest.raises(ValueError, match=r"^log_probabilities has values that are NaN$"):
        accumulator.add(np.full((1, 2), np.nan), accumulator.codes(["a"]))

    def refuse(needed, task, advice):
        if needed > 1000:
            raise ValueError(f"{task} needs too much; {advice}")

    monkeypatch.setattr(model_evaluation, "check_free_memory", refuse)
    with pytest.raises(ValueError, match=r"^the area under the ROC curve of 60 rows needs too much; evaluate on fewer"):
        evaluate_model(model, X, y)
    with pytest.raises(ValueError, match=r"^the confusion matrix of 50 classes needs too much"):
        EvaluationAccumulator(range(50))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("batch", [200, 7])
def test_a_weight_counts_a_row_so_often(classes, batch):
    probabilities, labels, y = drawn(classes=classes)
    y = np.where(np.arange(200) % 20 == 3, "yak", y)
    weights = np.random.default_rng(1).integers(0, 4, 200)
    accumulator = EvaluationAccumulator(labels)
    for start in range(0, 200, batch):
        part = slice(start, start + batch)
        accumulator.add(np.log(probabilities[part]), accumulator.codes(y[part]), weights[part])
    found = accumulator.result()
    expected = evaluated(np.repeat(probabilities, weights, axis=0), labels, np.repeat(y, weights))
    assert found.rows == (weights > 0).sum()
    assert found.unknown_rows == ((weights > 0) & (y == "yak")).sum()
    assert found.weight == expected.weight == expected.rows == weights.sum()
    for name in (*FIGURES[3:], "support", "precision", "recall"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, err_msg=name)


def test_weights_must_be_valid_and_given_for_all_rows_or_for_none():
    probabilities, labels, y = drawn()
    accumulator = EvaluationAccumulator(labels)
    accumulator.add(np.log(probabilities), accumulator.codes(y), np.ones(200))
    with pytest.raises(ValueError, match="either all rows have weights, or none has"):
        accumulator.add(np.log(probabilities), accumulator.codes(y))
    with pytest.raises(ValueError, match="sample_weight must be non-negative"):
        accumulator.add(np.log(probabilities), accumulator.codes(y), np.full(200, -1.0))
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\), expected \(200,\)"):
        accumulator.add(np.log(probabilities), accumulator.codes(y), np.ones(3))


def test_a_model_is_evaluated_with_weights():
    probabilities, _, y = drawn()
    model = TAN().fit(probabilities, y)
    weights = np.arange(200) % 3
    found = evaluate_model(model, probabilities, y, sample_weight=weights)
    expected = evaluate_model(model, np.repeat(probabilities, weights, axis=0), np.repeat(y, weights))
    assert found.accuracy == pytest.approx(expected.accuracy, rel=1e-12)
    assert found.log_loss_standard_error == pytest.approx(expected.log_loss_standard_error, rel=1e-12)
