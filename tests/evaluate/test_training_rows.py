"""Whether rows are recognised as those that a model learned from."""

import numpy as np
import pytest

from tanbark import TAN, Encoder, EvidenceBN, NaiveBayes
from tanbark.evaluate.model_evaluation import NO_CLASS, UNKNOWN_CLASS
from tanbark.evaluate.training_rows import TrainingRowsCheck


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 80), rng.normal(size=80).round(2)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.choice(["no", "yes"], 80)


def found(model, X, truth):
    check = TrainingRowsCheck(model)
    for part in np.array_split(np.arange(len(X)), 3):
        check.add(model.encode(X[part]), truth[part])
    return check.found


@pytest.mark.parametrize("missing", ["marginalize", "state"])
@pytest.mark.parametrize("classifier", [EvidenceBN, NaiveBayes, TAN])
def test_training_rows_are_found_in_any_order(rows, classifier, missing):
    X, y = rows
    model = classifier(encoder=Encoder(missing=missing)).fit(X, y)
    order = np.random.default_rng(1).permutation(80)
    assert found(model, X[order], model.schema_.encode_target(y[order]))


def test_other_rows_are_not_found(rows):
    X, y = rows
    model = NaiveBayes().fit(X, y)
    truth = model.schema_.encode_target(y)
    assert not found(model, X[1:], truth[1:])
    assert not found(model, np.vstack([X, X[:1]]), np.append(truth, truth[0]))
    assert not found(model, X, 1 - truth)
    changed = X.copy()
    changed[5, 0] = 1.0 if X[5, 0] == 0.0 else 0.0
    assert not found(model, changed, truth)
    truth[3] = UNKNOWN_CLASS
    assert not found(model, X, truth)
    assert not TrainingRowsCheck(model).found


def test_rows_without_a_class_are_left_out_as_in_training(rows):
    X, y = rows
    model = NaiveBayes().fit(X[10:], y[10:])
    truth = model.schema_.encode_target(y)
    truth[:10] = NO_CLASS
    assert found(model, X, truth)


@pytest.mark.parametrize("class_weight", ["balanced", {"no": 3, "yes": 0.7}])
@pytest.mark.parametrize("classifier", [EvidenceBN, NaiveBayes, TAN])
def test_weights_of_classes_do_not_hide_training_rows(rows, classifier, class_weight):
    X, y = rows
    model = classifier(class_weight=class_weight).fit(X, y)
    truth = model.schema_.encode_target(y)
    assert found(model, X, truth)
    assert not found(model, X[1:], truth[1:])
    assert not found(model, X, 1 - truth)


def test_training_rows_are_found_with_their_weights(rows):
    X, y = rows
    weights = np.random.default_rng(2).random(80)
    weights[:3] = 0
    model = NaiveBayes().fit(X, y, weights)
    codes, truth = model.encode(X), model.schema_.encode_target(y)
    for each, expected in ((weights, True), (weights[::-1], False), (None, False)):
        check = TrainingRowsCheck(model)
        check.add(codes, truth, each)
        assert check.found == expected
