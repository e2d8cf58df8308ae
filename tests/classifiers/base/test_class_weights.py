"""Weights and prior probabilities of classes, by label."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.class_weight import compute_class_weight

import tanbark
from tanbark import TAN, BayesNet, Counts, EvidenceBN, MarkovBlanketSelector, NaiveBayes, Stream
from tanbark.classifiers.base.class_weights import factors_of_classes, log_prior_of
from tanbark.classifiers.prequential_update import pending_update
from tanbark.counts import Rows
from tanbark.datasets import lenses, tic_tac_toe

WEIGHTS = {"hard": 3, "soft": 2}


def repeated(X, y, weights):
    times = np.array([weights.get(label, 1) for label in np.asarray(y).tolist()])
    return np.repeat(X, times, axis=0), np.repeat(y, times)


@pytest.mark.parametrize("seed", range(5))
def test_balanced_weights_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 50)
    weights = rng.uniform(0.1, 3.0, 50)
    for given in None, weights:
        expected = compute_class_weight("balanced", classes=np.arange(4), y=y, sample_weight=given)
        found = factors_of_classes("balanced", range(4), np.bincount(y, given))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_balanced_weights_are_computed_from_the_classes_that_occur():
    assert factors_of_classes("balanced", "abc", np.array([6, 0, 2])).tolist() == [8 / 12, 1.0, 2.0]


def test_counts_and_rows_multiply_each_class_by_its_factor():
    X, y = lenses()
    schema = TAN().fit(X, y).schema_
    rows = Rows(schema, schema.encode(X), schema.encode_target(y))
    factors = np.array([3.0, 0.5, 1.0])
    again = rows.reweighted(factors).reweighted(factors)
    assert again.each.tolist() == [{"hard": 9.0, "none": 0.25, "soft": 1.0}[label] for label in y.tolist()]
    for order in 1, 2:
        counts = Counts.of(schema, rows.codes, rows.classes, order=order)
        expected = Counts.of(schema, rows.codes, rows.classes, again.each, order)
        assert counts.reweighted(factors).reweighted(factors) == expected


def test_weights_that_exceed_what_counts_can_hold_are_refused():
    X, y = lenses()
    with pytest.raises(ValueError, match="the counts exceed 1e\\+100; use smaller weights"):
        TAN(class_weight={"hard": 1e100}).fit(X, y)


def test_a_class_prior_by_label_is_the_one_in_the_order_of_the_classes():
    X, y = lenses()
    by_label = TAN(class_prior={"soft": 0.5, "hard": 0.2, "none": 0.3}).fit(X, y)
    in_order = TAN(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    assert by_label.classes_.tolist() == ["hard", "none", "soft"]
    assert np.array_equal(by_label.predict_proba(X), in_order.predict_proba(X))


def test_a_uniform_class_prior_gives_every_class_the_same_probability():
    X, y = lenses()
    for classifier in TAN, EvidenceBN:
        uniform = classifier(class_prior="uniform").fit(X, y)
        np.testing.assert_allclose(np.exp(uniform.class_log_prior_), 1 / 3, rtol=1e-15)
        learned, shifted = classifier().fit(X, y), uniform.predict_proba(X)
        ratio = learned.predict_proba(X) / np.exp(learned.class_log_prior_)
        np.testing.assert_allclose(shifted, ratio / ratio.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("flat", "or 'uniform', got 'flat'"),
        ({"a": 0.5}, "but it leaves the class 'b' out"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, "but it names 'c', which is not a class; the classes are 'a', 'b'"),
        ({"a": 0.5, "b": 0.6}, "got {'a': 0.5, 'b': 0.6}"),
        ({"a": "x", "b": 0.6}, "got {'a': 'x', 'b': 0.6}"),
    ],
)
def test_an_invalid_class_prior_is_refused(prior, message):
    with pytest.raises(ValueError, match=rf"^class_prior must be 2 probabilities that sum to 1[^\n]*{message}$"):
        log_prior_of(prior, ["a", "b"])


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": {"hard": 3, "soft": 2.5}},
        {"class_weight": "balanced"},
        {"class_weight": {}},
        {"class_prior": "uniform"},
        {"class_prior": {"hard": 0.2, "none": 0.5, "soft": 0.3}},
    ],
)
def test_model_files_keep_them(settings, tmp_path):
    X, y = lenses()
    model = TAN(**settings).fit(X, y)
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert again.get_params(deep=False) == model.get_params(deep=False)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array([False, True]), np.array(["ab", "cd"])])
def test_model_files_keep_the_types_of_labels(labels, tmp_path):
    X, y = lenses()
    weights = {labels[1]: np.float32(2.5), labels.tolist()[0]: 2}
    model = NaiveBayes(class_weight=weights).fit(X, labels[(y == "none").astype(int)])
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m").class_weight
    assert again == {labels.tolist()[1]: 2.5, labels.tolist()[0]: 2}
    assert {type(label) for label in again} == {type(labels.tolist()[0])}


@pytest.mark.parametrize("settings", [{}, {"window": 9}, {"half_life": 5.0}])
def test_a_stream_weighs_classes_like_rows_but_scores_each_row_once(settings):
    X, y = lenses()
    schema = TAN().fit(X, y).schema_
    weighed, by_class = (
        Stream(TAN(encoder=schema), **settings),
        Stream(TAN(encoder=schema, class_weight=WEIGHTS), **settings),
    )
    for some in np.split(np.arange(24), [7, 12, 19]):
        by_class.partial_fit(X[some], y[some])
        if hasattr(weighed, "model_"):
            before = weighed.model_.predict_proba(X[some])
            given = before[np.arange(len(some)), np.searchsorted(weighed.classes_, y[some])]
            np.testing.assert_allclose(by_class.log_loss_, -np.log(given).mean(), rtol=1e-9)
        weighed.partial_fit(X[some], y[some], sample_weight=[WEIGHTS.get(label, 1) for label in y[some]])
        np.testing.assert_allclose(by_class.predict_proba(X), weighed.predict_proba(X), rtol=1e-9)


def test_a_class_that_has_not_arrived_yet_may_be_weighted_unless_all_classes_are_listed():
    X, y = lenses()
    first = y != "hard"
    schema = TAN().fit(X, y).schema_
    model = TAN(class_weight=WEIGHTS).partial_fit(X[first], y[first]).partial_fit(X[~first], y[~first])
    assert model.counts_.class_counts.tolist() == [12.0, 15.0, 10.0]
    stream = Stream(TAN(class_weight=WEIGHTS)).partial_fit(X[first], y[first]).partial_fit(X[~first], y[~first])
    assert stream.model_.counts_ == model.counts_
    for learn in (
        lambda: TAN(class_weight=WEIGHTS).partial_fit(X[first], y[first], classes=["none", "soft"]),
        lambda: TAN(class_weight={"firm": 2}, encoder=schema).partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"^class_weight names '(hard|firm)', which is not a class; the classes"):
            learn()


def test_an_update_of_evidence_weighs_classes_like_rows():
    X, y = tic_tac_toe()
    weights = {"positive": 1, "negative": 3}
    each = np.array([weights[label] for label in y.tolist()], float)
    fixed = {"weight_penalty": 30.0, "correction_penalty": 10.0, "edge_penalty": 30.0}
    weighed = EvidenceBN(**fixed).fit(X[::2], y[::2], each[::2]).update(X[1::2], y[1::2], each[1::2])
    by_class = EvidenceBN(class_weight=weights, **fixed).fit(X[::2], y[::2]).update(X[1::2], y[1::2])
    assert by_class.counts_ == weighed.counts_
    assert np.array_equal(by_class.predict_proba(X), weighed.predict_proba(X))
    with pytest.raises(ValueError, match=r"^class_weight='balanced' depends on all rows"):
        by_class.set_params(class_weight="balanced").update(X, y)


@pytest.mark.parametrize("half_life", [None, 10.0])
def test_a_pending_update_weighs_each_class_once(half_life):
    X, y = lenses()
    X = pd.DataFrame(X, columns=[*"abcd"])
    by_class = TAN(class_weight=WEIGHTS).fit(X, y)
    model = TAN(encoder=by_class.schema_)
    model.fit(*repeated(X, y, WEIGHTS))
    update = pending_update(by_class, half_life)
    update.add(X, y.tolist())
    assert update.accuracy == by_class.score(X, y)
    update.apply()
    if half_life is None:
        assert by_class.counts_ == model.counts_ * 2
    else:
        fade = 0.5 ** (np.arange(23, -1, -1) / half_life)
        codes, classes = model.schema_.encode(X), model.schema_.encode_target(y)
        each = fade * [WEIGHTS.get(label, 1) for label in y.tolist()]
        expected = model.counts_ * 0.5 ** (24 / half_life) + Counts.of(model.schema_, codes, classes, each)
        np.testing.assert_allclose(by_class.counts_.table, expected.table, rtol=1e-12)
    with pytest.raises(ValueError, match=r"^class_weight='balanced' depends on all rows"):
        pending_update(TAN(class_weight="balanced").fit(X, y))


def test_a_stream_refuses_balanced_weights():
    X, y = lenses()
    with pytest.raises(ValueError, match=r"^class_weight='balanced' depends on all rows"):
        Stream(TAN(class_weight="balanced")).fit(X, y)


@pytest.mark.filterwarnings("ignore:.* parents and a table of")
def test_the_markov_blanket_is_that_of_the_weighted_rows():
    X, y = tic_tac_toe()
    weights = {"negative": 4}
    by_class = MarkovBlanketSelector(class_weight=weights).fit(X, y)
    expected = BayesNet(ess=1.0).fit(*repeated(X, y, weights))
    assert by_class.log_score_ == pytest.approx(expected.log_score_, rel=1e-12)
    assert by_class.network_.edges == expected.network_.edges


def test_the_numbers_of_balanced_rows_are_not_mistaken_for_copies():
    # Every distinct row occurs 2 or 3 times, and the classes have different sizes.
    X = np.repeat(np.arange(60)[:, None] // 2, 2 + np.arange(60) % 2, axis=0).astype(str)
    y = np.repeat(np.arange(60) % 2, 2 + np.arange(60) % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EvidenceBN(class_weight="balanced").fit(X, y)
    with pytest.warns(UserWarning, match="every row occurs at least twice"):
        EvidenceBN(class_weight="balanced").fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
