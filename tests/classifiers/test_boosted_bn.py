"""BoostedBN is SAMME over tanbark's networks, stops in time, and gives honest probabilities."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import AdaBoostClassifier

import tanbark
from saved_models import assert_damaged_if_changed
from tanbark import TAN, BoostedBN, Category, NaiveBayes, Schema
from tanbark.datasets import tic_tac_toe
from tanbark.progress import listening

BASES = ["naive-bayes", "tan", "grown"]


def noisy_table(classes, rows=400, seed=0):
    """Whole numbers with a class that depends on them and a little on chance, and a schema for both."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rows, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2]) * classes // 7
    y = np.where(rng.random(rows) < 0.15, rng.integers(0, classes, rows), y)
    schema = Schema([Category(f"x{u}", (0, 1, 2)) for u in range(6)], tuple(range(classes)))
    return X, y, schema


def exclusive_or(rows=300, seed=0):
    """Two attributes that tell the class together and neither alone, and six that tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, 8))
    return pd.DataFrame(X, columns=list("abcdefgh")), X[:, 1] ^ X[:, 6]


class Scaled(ClassifierMixin, BaseEstimator):
    """A classifier that takes weights that sum to 1 for weights that sum to the number of rows."""

    def __init__(self, model=None):
        self.model = model

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.model_ = clone(self.model).fit(X, y, sample_weight * len(y) / sample_weight.sum())
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize(("base", "learner"), [("naive-bayes", NaiveBayes), ("tan", TAN)])
def test_it_is_the_adaboost_of_scikit_learn(base, learner, classes):
    X, y, schema = noisy_table(classes)
    ours = BoostedBN(base=base, n_estimators=8, patience=None, encoder=schema).fit(X, y)
    theirs = AdaBoostClassifier(Scaled(learner(ess=10.0, encoder=schema)), n_estimators=8).fit(X, y)
    rounds = len(theirs.estimators_)
    assert len(ours.networks_) == rounds > 2
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:rounds], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:rounds], rtol=1e-9)
    for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def plain_samme(X, y, classes, rounds, ess):
    """SAMME over naive Bayes, row by row; a missing value (-1) is left out of sums and products."""
    rows, n = X.shape
    weights, arity = np.ones(rows), X.max(axis=0) + 1
    errors, alphas, tally = [], [], np.zeros((rows, classes))
    for _ in range(rounds):
        score = np.zeros((rows, classes))
        for k in range(classes):
            score[:, k] = math.log(weights[y == k].sum() + ess / classes)
            for u in range(n):
                seen = [weights[(y == k) & (X[:, u] == v)].sum() + ess / classes / arity[u] for v in range(arity[u])]
                for i in range(rows):
                    score[i, k] += math.log(seen[X[i, u]] / sum(seen)) if X[i, u] >= 0 else 0.0
        vote = score.argmax(axis=1)
        error = weights[vote != y].sum() / weights.sum()
        if error >= 1 - 1 / classes:
            break
        errors.append(error)
        alphas.append(math.log((1 - errors[-1]) / errors[-1]) + math.log(classes - 1))
        weights[vote != y] *= math.exp(alphas[-1])
        weights *= rows / weights.sum()
        tally[np.arange(rows), vote] += alphas[-1]
    return errors, alphas, tally


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_it_is_samme_as_written_also_with_holes(classes, holes):
    X, y, schema = noisy_table(classes, 200, seed=1)
    X[np.random.default_rng(0).random(X.shape) < holes] = -1
    errors, alphas, tally = plain_samme(X, y, classes, 4, 10.0)
    model = BoostedBN(base="naive-bayes", n_estimators=4, patience=None, encoder=schema)
    holed = np.where(X < 0, None, X.astype(object))
    model.fit(holed, y)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, alphas, rtol=1e-9)
    expected = softmax(classes / (classes - 1) ** 2 * tally / sum(alphas), axis=1)
    np.testing.assert_allclose(model.predict_proba(holed), expected, rtol=1e-9)


@pytest.mark.parametrize("base", BASES)
def test_repeated_rows_are_weights_bit_for_bit(base):
    X, y, schema = noisy_table(3)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = BoostedBN(base=base, encoder=schema).fit(X, y, times)
    repeated = BoostedBN(base=base, encoder=schema).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert np.array_equal(weighted.held_out_losses_, repeated.held_out_losses_)
    assert np.array_equal(weighted.estimator_weights_, repeated.estimator_weights_)
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("parameters", ["dirichlet", "m"])
def test_the_order_of_named_columns_does_not_matter(base, parameters):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 3, (380, 6)), columns=list("uvwxyz"))
    y = (X.sum(axis=1) + (rng.random(380) < 0.2)) % 4
    turned = X[list("xzuywv")]
    a, b = (BoostedBN(base=base, parameters=parameters).fit(table, y) for table in (X, turned))
    np.testing.assert_allclose(b.predict_proba(turned), a.predict_proba(X), rtol=1e-9)


# Stopping


@pytest.mark.parametrize("base", ["naive-bayes", "tan"])
@pytest.mark.parametrize("patience", [1, 4])
def test_it_stops_when_held_out_rows_gain_nothing_and_keeps_the_best_round(base, patience):
    X, y = tic_tac_toe()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.1, rng.permutation(y), y)
    model = BoostedBN(base=base, n_estimators=300, patience=patience).fit(X, y)
    best = int(np.argmin(model.held_out_losses_))
    assert len(model.held_out_losses_) == best + 1 + patience < 300
    # All rows are boosted for as many rounds as were best.
    again = BoostedBN(base=base, n_estimators=best + 1, patience=None).fit(X, y)
    assert np.array_equal(model.estimator_weights_, again.estimator_weights_)
    assert model.temperature_ != again.temperature_
    assert np.array_equal(model.predict(X), again.predict(X))


def test_without_patience_nothing_is_held_out_and_every_round_is_kept():
    X, y, schema = noisy_table(3)
    model = BoostedBN(n_estimators=20, patience=None, encoder=schema).fit(X, y)
    assert len(model.networks_) == 20
    assert len(model.held_out_losses_) == 0
    assert model.temperature_ == 0.75


def test_few_rows_are_all_learned_from():
    X, y, schema = noisy_table(2, 29)
    assert len(BoostedBN(encoder=schema).fit(X, y).held_out_losses_) == 0


def test_a_perfect_first_network_is_the_only_one():
    X = np.repeat([[0], [1]], 50, axis=0)
    model = BoostedBN().fit(X, X[:, 0])
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.score(X, X[:, 0]) == 1.0


def test_a_class_that_nothing_tells_of_leaves_one_network():
    X = np.tile([[0], [1]], (60, 1))
    y = np.repeat([0, 1, 2], 40)
    model = BoostedBN(patience=None).fit(X, y)
    assert len(model.networks_) == 1
    assert model.estimator_errors_[0] == pytest.approx(2 / 3)
    assert np.isfinite(model.predict_proba(X)).all()


# What it is for


def test_boosting_learns_what_naive_bayes_cannot():
    X, y = tic_tac_toe()
    train = np.random.default_rng(0).random(len(y)) < 0.7
    one = NaiveBayes().fit(X[train], y[train]).score(X[~train], y[~train])
    many = BoostedBN(base="naive-bayes").fit(X[train], y[train])
    assert many.score(X[~train], y[~train]) > one + 0.2


@pytest.mark.parametrize("base", BASES)
def test_probabilities_are_honest_where_the_class_is_partly_chance(base):
    X, y, schema = noisy_table(2, 4000)
    model = BoostedBN(base=base, encoder=schema).fit(X[:2000], y[:2000])
    proba = model.predict_proba(X[2000:])
    sure, right = proba.max(axis=1), model.predict(X[2000:]) == y[2000:]
    assert sure.mean() == pytest.approx(right.mean(), abs=0.04)


def test_a_structure_with_nothing_to_gain_from_edges_stays_naive_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.where(rng.random((300, 5)) < 0.4, y[:, None], rng.integers(0, 6, (300, 5)))
    grown, naive = BoostedBN(base="grown").fit(X, y), BoostedBN(base="naive-bayes").fit(X, y)
    assert all(not network.edges for network in grown.networks_)
    assert np.array_equal(grown.predict_proba(X), naive.predict_proba(X))


def test_a_strong_edge_is_added_and_no_other():
    X, y = exclusive_or()
    model = BoostedBN(base="grown").fit(X, y)
    assert {frozenset(edge) for network in model.networks_ for edge in network.edges} == {frozenset("bg")}
    assert model.score(X, y) == 1.0
    assert BoostedBN(base="naive-bayes").fit(X, y).score(X, y) < 0.8


# The class prior


def test_a_class_that_cannot_be_has_probability_zero():
    X, y, schema = noisy_table(3)
    proba = BoostedBN(class_prior=[0.5, 0.5, 0.0], encoder=schema).fit(X, y).predict_proba(X)
    assert (proba[:, 2] == 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("prior", [None, [0.2, 0.3, 0.5]])
def test_a_class_that_was_never_seen_makes_no_nan(prior):
    X, y, schema = noisy_table(3)
    model = BoostedBN(parameters="ml", class_prior=prior, encoder=schema).fit(X, np.minimum(y, 1))
    assert np.isfinite(model.predict_proba(X)).all()


# Around it


@pytest.mark.parametrize("settings", [{"base": b} for b in BASES] + [{"patience": None}, {"class_prior": [0.7, 0.3]}])
def test_every_round_survives_saving(settings, tmp_path):
    X, y, _ = noisy_table(2)
    model = BoostedBN(n_estimators=6, **settings).fit(X, y)
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    for a, b in zip(model.staged_predict_proba(X), again.staged_predict_proba(X), strict=True):
        assert np.array_equal(a, b)
    assert [n.structure for n in again.networks_] == [n.structure for n in model.networks_]
    for name in ("estimator_weights_", "estimator_errors_", "held_out_losses_", "temperature_", "class_log_prior_"):
        assert np.array_equal(getattr(again, name), getattr(model, name))


def test_every_round_is_reported_to_the_context_and_shown_if_verbose(capsys):
    X, y, schema = noisy_table(2)
    reports = []
    with listening(lambda *report: reports.append(report)):
        model = BoostedBN(encoder=schema).fit(X, y)
    assert len(reports) == len(model.held_out_losses_) + len(model.networks_)
    number = r"\d+\.\d{4}"
    assert re.fullmatch(rf"round 1: error {number}, weight {number}, held-out loss {number}", reports[0][0])
    assert reports[0][1:] == (1, 50)
    assert re.fullmatch(rf"round {len(model.networks_)}: error {number}, weight {number}", reports[-1][0])
    assert capsys.readouterr() == ("", "")
    BoostedBN(encoder=schema, verbose=True).fit(X, y)
    assert "weight" in capsys.readouterr().err


def test_it_has_no_joint_and_says_why_it_needs_rows():
    model = BoostedBN().fit([[0], [1]], [0, 1])
    for name in ("predict_joint_log_proba", "score_samples", "sample", "explain"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=r"^BoostedBN learns from rows: boosting reweights them"):
        model.partial_fit([[0]], [0])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"base": "forest"}, ValueError, "base must be 'tan' or 'naive-bayes' or 'grown', got 'forest'"),
        ({"base": None}, ValueError, "base must be"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be a whole number of at least 1, got 0"),
        ({"n_estimators": 2.5}, ValueError, "n_estimators must be a whole number of at least 1, got 2.5"),
        ({"n_estimators": True}, ValueError, "n_estimators must be"),
        ({"patience": 0}, ValueError, "patience must be a whole number of at least 1, got 0"),
        ({"patience": 1.5}, ValueError, "patience must be a whole number of at least 1, got 1.5"),
        ({"patience": None, "base": "grown"}, ValueError, "patience must be a whole number with base='grown'"),
        ({"verbose": "yes"}, TypeError, "verbose must be True or False, got 'yes'"),
        ({"verbose": 2}, TypeError, "verbose must be True or False, got 2"),
        ({"parameters": "bayes"}, ValueError, "parameters must be"),
        ({"ess": 0}, ValueError, "ess must be"),
        ({"random_state": "x"}, TypeError, "random_state must be"),
        ({"random_state": -1}, ValueError, "random_state must be"),
        ({"class_prior": [1.0]}, ValueError, "class_prior must be 2 probabilities"),
    ],
)
def test_an_impossible_setting_gets_one_sentence(settings, error, message):
    with pytest.raises(error, match="^" + re.escape(message)) as caught:
        BoostedBN(**settings).fit([[0], [1]], [0, 1])
    assert "\n" not in str(caught.value)


def test_rows_that_all_weigh_nothing_are_refused():
    with pytest.raises(ValueError, match="sample_weight"):
        BoostedBN().fit([[0], [1]], [0, 1], [0, 0])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("estimator_weights", lambda a: a[:-1]),
        ("estimator_weights", lambda a: -a),
        ("estimator_weights", lambda a: a[:, None]),
        ("estimator_errors", lambda a: a[:-1]),
        ("log_prior", lambda a: np.full_like(a, np.nan)),
        ("prior_ratio", lambda a: a[:-1]),
    ],
)
def test_a_file_whose_votes_do_not_fit_is_damaged(tmp_path, monkeypatch, name, change):
    X, y = np.random.default_rng(0).integers(0, 3, (60, 3)), np.arange(60) % 2
    model = BoostedBN(patience=None, n_estimators=3).fit(X, y)
    assert_damaged_if_changed(model, name, change, tmp_path / "m", monkeypatch)
