"""Metrics agree with scikit-learn, or with plain Python where it has no counterpart."""

import math
from inspect import signature

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as peers

from tanbark.evaluate import METRICS
from tanbark.evaluate.metrics import (
    HIGHER_IS_BETTER,
    N_CONFIDENCE_BINS,
    auc,
    brier,
    calibration_error,
    error,
    log_loss,
    log_score,
)


@st.composite
def predictions(draw, least=2, most=6):
    """Draw true classes and probabilities of 64ths, so that zeros and ties are frequent and every sum is exact."""
    many, rows = draw(st.integers(least, most)), draw(st.integers(1, 30))
    cuts = draw(
        st.lists(st.lists(st.integers(0, 64), min_size=many - 1, max_size=many - 1), min_size=rows, max_size=rows)
    )
    bounds = np.column_stack([np.zeros(rows), np.sort(np.array(cuts), axis=1), np.full(rows, 64)])
    truth = draw(st.lists(st.integers(0, many - 1), min_size=rows, max_size=rows))
    return np.array(truth), np.diff(bounds, axis=1) / 64.0


def logs(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def first_of_the_most_probable(row):
    return max(range(len(row)), key=lambda k: (row[k], -k))


@given(predictions())
@settings(max_examples=40)
def test_error_is_one_minus_the_accuracy_with_ties_to_the_first_class(sampled):
    truth, probabilities = sampled
    said = [first_of_the_most_probable(row) for row in probabilities.tolist()]
    assert error(truth, logs(probabilities)) == pytest.approx(1.0 - peers.accuracy_score(truth, said), abs=1e-15)


@given(predictions())
@settings(max_examples=40)
def test_log_loss_equals_scikit_learns_with_zeros_and_absent_classes(sampled):
    truth, probabilities = sampled
    expected = peers.log_loss(truth, probabilities, labels=np.arange(probabilities.shape[1]))
    assert log_loss(truth, logs(probabilities)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(predictions())
@settings(max_examples=40)
def test_log_score_is_the_sum_of_equation_thirty(sampled):
    truth, probabilities = sampled
    given_to_truth = [row[k] for row, k in zip(probabilities.tolist(), truth, strict=True)]
    assume(min(given_to_truth) > 0)
    expected = math.fsum(-math.log(p) for p in given_to_truth)
    assert log_score(truth, logs(probabilities)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_loss_of_a_row_is_bounded():
    truth, impossible = np.array([0, 1]), logs(np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert log_score(truth, impossible) == pytest.approx(52 * math.log(2))
    assert log_loss(truth, impossible) == pytest.approx(26 * math.log(2))
    assert log_score(truth, np.array([[0.0, -1e5], [0.0, -1e5]])) == pytest.approx(52 * math.log(2))


@given(predictions())
@settings(max_examples=40)
def test_brier_is_the_unhalved_sum_over_classes_of_scikit_learn(sampled):
    truth, probabilities = sampled
    labels = np.arange(probabilities.shape[1])
    if "scale_by_half" not in signature(peers.brier_score_loss).parameters:
        pytest.skip("scikit-learn before 1.7 has no Brier score of many classes")
    expected = peers.brier_score_loss(truth, probabilities, labels=labels, scale_by_half=False)
    assert brier(truth, logs(probabilities)) == pytest.approx(expected, abs=1e-12)


@given(predictions(2, 2))
@settings(max_examples=50)
def test_auc_of_two_classes_is_that_of_scikit_learn(sampled):
    truth, probabilities = sampled
    assume(0 < truth.sum() < len(truth))
    assert auc(truth, logs(probabilities)) == pytest.approx(peers.roc_auc_score(truth, probabilities[:, 1]), abs=1e-12)


@given(predictions(3, 4))
@settings(max_examples=40)
def test_auc_of_more_is_scikit_learns_mean_of_each_class_against_the_rest(sampled):
    truth, probabilities = sampled
    classes = probabilities.shape[1]
    assume(len(np.unique(truth)) == classes)
    expected = peers.roc_auc_score(truth, probabilities, multi_class="ovr", average="macro", labels=np.arange(classes))
    assert auc(truth, logs(probabilities)) == pytest.approx(expected, abs=1e-12)


@given(predictions())
@settings(max_examples=50)
def test_auc_counts_the_pairs_of_rows_in_order_and_leaves_out_classes_without_both_kinds(sampled):
    truth, probabilities = sampled
    areas = []
    for k in [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1]):
        inside, outside = probabilities[truth == k, k], probabilities[truth != k, k]
        pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in inside for b in outside]
        areas += [sum(pairs) / len(pairs)] if pairs else []
    found = auc(truth, logs(probabilities))
    assert math.isnan(found) if not areas else found == pytest.approx(sum(areas) / len(areas), abs=1e-12)


@given(predictions())
@settings(max_examples=40)
def test_calibration_error_is_that_of_plain_loops_over_fifteen_intervals(sampled):
    truth, probabilities = sampled
    inside = [[] for _ in range(15)]
    for row, k in zip(probabilities.tolist(), truth, strict=True):
        best = first_of_the_most_probable(row)
        # No multiple of 1/64 is a bound between intervals, except 0 and 1.
        interval = next(i for i in range(15) if row[best] <= (i + 1) / 15 + 1e-9)
        inside[interval].append((row[best], best == k))
    expected = 0.0
    for members in inside:
        if members:
            confidence = sum(p for p, _ in members) / len(members)
            accuracy = sum(right for _, right in members) / len(members)
            expected += len(members) / len(truth) * abs(accuracy - confidence)
    assert N_CONFIDENCE_BINS == 15
    assert calibration_error(truth, logs(probabilities)) == pytest.approx(expected, abs=1e-12)


def test_correct_certainty_is_calibrated_and_wrong_certainty_is_not():
    certain = logs(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert calibration_error(np.array([0, 1]), certain) == 0.0
    assert calibration_error(np.array([1, 0]), certain) == 1.0


def test_a_class_without_rows_changes_no_metric_except_auc():
    truth = np.array([0, 0, 1])
    two = np.array([[0.7, 0.3], [0.4, 0.6], [0.2, 0.8]])
    three = np.column_stack([two, np.zeros(3)])
    for name in set(METRICS) - {"auc"}:
        assert METRICS[name](truth, logs(three)) == METRICS[name](truth, logs(two)), name
    assert auc(truth, logs(three)) == auc(truth, logs(two))


@pytest.mark.parametrize("name", METRICS)
def test_better_predictions_are_better_by_every_metric(name):
    truth = np.array([0, 1, 0, 1])
    good = np.log([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.2, 0.8]])
    better, worse = METRICS[name](truth, good), METRICS[name](truth, good[:, ::-1])
    assert better > worse if name in HIGHER_IS_BETTER else better < worse


@given(predictions(), st.data())
@settings(max_examples=60)
@pytest.mark.parametrize("metric", [*METRICS, "log_score"])
def test_a_weight_is_a_repetition_of_the_row(metric, drawn, data):
    truth, probabilities = drawn
    measure = METRICS.get(metric, log_score)
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(truth), max_size=len(truth))))
    expected = measure(np.repeat(truth, weights), np.repeat(logs(probabilities), weights, axis=0))
    found = measure(truth, logs(probabilities), weights.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
