"""The adapter for River: its checks pass, and a stream of rows is the batch of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import checks, datasets, evaluate, metrics, naive_bayes
from sklearn.base import clone

from tanbark import AODE, KDB, TAN, Encoder, NaiveBayes, Stream
from tanbark.classifiers import REGISTRY
from tanbark.river import RiverClassifier

CLASSIFIERS = [NaiveBayes, TAN, AODE]
ROW_BY_ROW = [entry.classifier for entry in REGISTRY.values() if hasattr(entry.classifier(), "partial_fit")]
WARM_UP = 25


def named_checks():
    for classifier in CLASSIFIERS:
        for i, check in enumerate(checks.yield_checks(RiverClassifier(classifier(), warm_up=WARM_UP))):
            yield pytest.param(classifier, check, id=f"{classifier.__name__}-{i}-{check.__name__}")


@pytest.mark.filterwarnings("ignore:column .* became a category")
@pytest.mark.parametrize(("classifier", "check"), list(named_checks()))
def test_the_checks_of_river_pass(classifier, check):
    check(RiverClassifier(classifier(), warm_up=WARM_UP))


def test_no_check_of_river_is_skipped():
    assert RiverClassifier(TAN())._unit_test_skips() == set()


def stream(rows=120, seed=0):
    """Return rows with categories, whole numbers, measurements and missing values of all kinds, and their classes."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(rows):
        label = "abc"[rng.integers(3)]
        x = {
            "sky": ["sun", "rain", "fog"][rng.integers(3) if rng.random() < 0.5 else "abc".index(label)],
            "wind": int(rng.integers(4)),
            "degrees": float(rng.normal(loc="abc".index(label))),
            "wet": bool(rng.random() < 0.5),
        }
        for name in list(x):
            kind = rng.integers(12)
            if kind == 0:
                del x[name]
            elif kind == 1:
                x[name] = None
            elif kind == 2 and name in ("wind", "degrees"):
                x[name] = math.nan
        names = list(x)
        rng.shuffle(names)
        found.append(({name: x[name] for name in names}, label))
    return found


def frame_of(rows):
    frame = pd.DataFrame([x for x, _ in rows], dtype=object)
    return frame[sorted(frame.columns)], [y for _, y in rows]


def trained(model, rows, **how):
    adapter = RiverClassifier(model, **how)
    for x, y in rows:
        adapter.learn_one(x, y)
    return adapter


@pytest.mark.parametrize("classifier", ROW_BY_ROW)
def test_a_stream_is_the_batch_of_its_rows_under_the_schema_of_the_first(classifier):
    rows = stream()
    adapter = trained(classifier(), rows, warm_up=60)
    schema = Encoder(bins="quantile").fit(*frame_of(rows[:60])).schema_
    X, y = frame_of(rows)
    batch = classifier(encoder=schema).fit(X, y)
    assert adapter.features_ == schema.names
    np.testing.assert_array_equal(adapter.model_.counts_.table, batch.counts_.table)
    one_by_one = [list(adapter.predict_proba_one(x).values()) for x, _ in rows]
    np.testing.assert_allclose(one_by_one, batch.predict_proba(X), rtol=1e-12)
    assert list(adapter.predict_proba_one(rows[0][0])) == ["a", "b", "c"]


def test_the_counts_are_those_of_pandas():
    rows = [({"sky": x["sky"]}, y) for x, y in stream() if x.get("sky")]
    adapter = trained(TAN(), rows, warm_up=30)
    seen = pd.crosstab([y for _, y in rows], [x["sky"] for x, _ in rows])
    np.testing.assert_array_equal(adapter.model_.counts_.values, seen)


@pytest.mark.parametrize("many", [1, 2, 3, 30, 59])
def test_during_the_warm_up_the_model_is_the_one_of_all_rows_so_far(many):
    rows = stream()
    adapter = trained(NaiveBayes(), rows[:many], warm_up=60)
    X, y = frame_of(rows[:many])
    batch = NaiveBayes(encoder=Encoder(bins="quantile", max_levels=65_000)).fit(X, y)
    expected = dict(zip(batch.classes_.tolist(), batch.predict_proba(X[-1:])[0]))
    assert adapter.predict_proba_one(rows[many - 1][0]) == pytest.approx(expected, rel=1e-12)


def test_before_the_first_row_there_are_no_probabilities():
    adapter = RiverClassifier(TAN())
    assert adapter.predict_proba_one({"a": 1}) == {}
    assert adapter.predict_one({"a": 1}) is None
    assert adapter.predict_proba_many(pd.DataFrame({"a": [1, 2]})).shape == (2, 0)


def test_rows_without_any_feature_are_learned_once_there_is_one():
    adapter = trained(NaiveBayes(), [({}, "p"), ({"a": None}, "p"), ({"a": math.nan}, "q")], warm_up=2)
    assert adapter.predict_proba_one({}) == {}
    adapter.learn_one({"a": "x"}, "q")
    adapter.learn_one({}, "p")
    np.testing.assert_array_equal(adapter.model_.counts_.class_counts, [3, 2])
    assert adapter.features_ == ("a",)


@pytest.mark.filterwarnings("ignore:ignoring the feature")
@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 40), max_size=4), st.integers(1, 50))
def test_counts_do_not_depend_on_how_a_stream_is_split_into_frames(cuts, warm_up):
    rows = stream(40)
    whole = trained(NaiveBayes(), rows, warm_up=warm_up)
    ends = [0, *sorted(cuts), len(rows)]
    parts = RiverClassifier(NaiveBayes(), warm_up=warm_up)
    for start, stop in itertools.pairwise(ends):
        part = rows[start:stop]
        X = pd.DataFrame([x for x, _ in part], dtype=object)
        parts.learn_many(X, pd.Series([y for _, y in part], dtype=object))
    assert parts.features_ == whole.features_
    assert parts.model_.counts_ == whole.model_.counts_


def test_many_rows_are_predicted_as_one_by_one():
    rows = stream()
    adapter = trained(TAN(), rows, warm_up=50)
    X = pd.DataFrame([x for x, _ in rows], index=range(7, 127))
    found = adapter.predict_proba_many(X)
    assert found.index.equals(X.index)
    for (x, _), (_, row) in zip(rows, found.iterrows()):
        assert adapter.predict_proba_one(x) == pytest.approx(row.to_dict())


@pytest.mark.parametrize("warm_up", [5, 200])
def test_a_weight_of_three_is_the_row_three_times_and_of_zero_no_row(warm_up):
    rows = stream(40)
    weighed = RiverClassifier(NaiveBayes(), warm_up=warm_up)
    for i, (x, y) in enumerate(rows):
        weighed.learn_one(x, y, w=1 if i < 10 else 3)
        weighed.learn_one({"sky": "snow"}, y, w=0)
    repeated = trained(NaiveBayes(), rows[:10] + [row for row in rows[10:] for _ in range(3)], warm_up=warm_up)
    if warm_up == 5:
        np.testing.assert_array_equal(weighed.model_.counts_.table, repeated.model_.counts_.table)
    np.testing.assert_array_equal(weighed.model_.counts_.class_counts, repeated.model_.counts_.class_counts)
    with pytest.raises(ValueError, match="w must be a finite number of at least 0, got -1"):
        weighed.learn_one(*rows[0], w=-1)


def test_a_feature_that_comes_after_the_warm_up_is_ignored_with_one_warning():
    rows = stream()
    plain = trained(TAN(), rows, warm_up=40)
    late = trained(TAN(), rows[:80], warm_up=40)
    with pytest.warns(
        UserWarning, match="ignoring the feature 'moon', which first appeared after the warm-up of 40 rows"
    ):
        late.learn_one({**rows[80][0], "moon": "full"}, rows[80][1])
    for x, y in rows[81:]:
        late.learn_one({**x, "moon": "full"}, y)
    assert late.model_.counts_ == plain.model_.counts_
    assert late.predict_proba_one({**rows[0][0], "moon": "new"}) == plain.predict_proba_one(rows[0][0])


def test_after_the_warm_up_the_network_has_the_names_of_the_features():
    rows = [({("deep", 1): x.get("sky"), "class": x.get("wind")}, y) for x, y in stream()]
    network = trained(TAN(), rows, warm_up=50).model_.network_
    assert set(network.parents) == {"('deep', 1)", "class", "class_"}


def test_a_model_that_needs_rows_says_why():
    with pytest.raises(TypeError, match="KDB cannot learn row by row: KDB with k=2 counts families"):
        RiverClassifier(KDB(k=2))
    with pytest.raises(ValueError, match="warm_up must be a whole number of at least 1, got 0"):
        RiverClassifier(TAN(), warm_up=0)


def test_a_row_that_does_not_fit_changes_nothing():
    rows = stream()
    adapter = trained(TAN(), rows, warm_up=50)
    before = adapter.model_.counts_
    for x in ({"degrees": "warm"}, {"degrees": math.inf}, {"degrees": [1]}):
        with pytest.raises((ValueError, TypeError), match="'degrees'"):
            adapter.learn_one(x, "a")
    assert adapter.model_.counts_ == before
    early = trained(TAN(), rows[:20], warm_up=50)
    before = early.model_.counts_
    with pytest.raises(ValueError, match="the feature 'degrees' mixes numbers with strings"):
        early.learn_one({"degrees": "warm"}, "a")
    early.learn_one(*rows[20])
    assert early.model_.counts_.class_counts.sum() == 21


@pytest.mark.parametrize("warm_up", [10, 1000])
def test_a_stream_with_a_window_counts_only_its_window(warm_up):
    rows = [({"sky": x["sky"]}, y) for x, y in stream(200) if x.get("sky")]
    adapter = trained(Stream(NaiveBayes(), window=50), rows, warm_up=warm_up)
    seen = pd.crosstab([y for _, y in rows[-50:]], [x["sky"] for x, _ in rows[-50:]])
    np.testing.assert_array_equal(adapter.model_.model_.counts_.values, seen)
    assert adapter.predict_proba_one({"sky": "sun"}) == pytest.approx(
        dict(zip("abc", adapter.model_.model_.predict_proba([["sun"]])[0]))
    )


def test_new_levels_and_classes_come_at_any_time():
    rows = [({"sky": "sun"}, "p"), ({"sky": "rain"}, "q")] * 10
    adapter = trained(TAN(), rows, warm_up=5)
    adapter.learn_one({"sky": "fog"}, "new")
    np.testing.assert_array_equal(adapter.model_.counts_.values, [[1, 0, 0], [0, 0, 10], [0, 10, 0]])
    assert list(adapter.predict_proba_one({"sky": "fog"})) == ["new", "p", "q"]


def test_the_given_model_stays_as_it_is():
    model = TAN()
    adapter = trained(model, stream(), warm_up=20)
    assert not hasattr(model, "counts_")
    assert adapter.clone().model_ is None
    assert repr(clone(model)) in repr(adapter)


def test_naive_bayes_agrees_with_that_of_river_except_for_the_prior():
    """On binary features with one row added to each cell, both estimate (n + 1) / (n of the class + 2)."""
    ours = RiverClassifier(NaiveBayes(parameters="laplace", encoder=Encoder(categorical="all")), warm_up=WARM_UP)
    theirs = naive_bayes.BernoulliNB(alpha=1)
    for x, y in datasets.Phishing().take(300):
        x = {name: value > 0.5 for name, value in x.items()}
        if ours.model_ is not None and len(ours.model_.classes_) == 2 and ours._first is None:
            p, q = ours.predict_proba_one(x), theirs.predict_proba_one(x)
            prior = dict(zip([False, True], np.exp(ours.model_.class_log_prior_)))
            odds = p[True] / prior[True] * prior[False] / p[False]
            share = theirs.p_class(True)
            assert odds == pytest.approx(q[True] / share * (1 - share) / q[False], rel=1e-6)
        ours.learn_one(x, y)
        theirs.learn_one(x, y)


@pytest.mark.parametrize(("dataset", "rows"), [(datasets.Phishing, 600), (datasets.ImageSegments, 600)])
def test_a_tree_predicts_streams_better_than_rivers_gaussian_naive_bayes(dataset, rows):
    def accuracy(model):
        return evaluate.progressive_val_score(dataset().take(rows), model, metrics.Accuracy()).get()

    assert accuracy(RiverClassifier(TAN(), warm_up=100)) > accuracy(naive_bayes.GaussianNB())


def test_the_buffer_of_rows_without_known_features_is_bounded():
    model = RiverClassifier(NaiveBayes(), warm_up=10)
    model.learn_many(pd.DataFrame({"a": [None] * 3000}), pd.Series(["p"] * 3000))
    assert model.model_ is None
    assert len(model._first) == 1000
    model.learn_one({"a": "x"}, None)
    model.learn_many(pd.DataFrame({"a": ["x", "y"] * 10}), pd.Series(["p", "q"] * 10))
    assert model.model_.counts_.value(0).tolist() == [[10, 0], [0, 10]]


def test_other_objects_are_refused_at_once():
    from sklearn.naive_bayes import GaussianNB

    for model in (TAN, GaussianNB()):
        with pytest.raises(TypeError, match="model must be a tanbark classifier, such as TAN"):
            RiverClassifier(model)


def test_errors_of_predictions_name_the_feature():
    model = RiverClassifier(TAN(), warm_up=20)
    for i in range(40):
        model.learn_one({"height": i / 7, "b": "xy"[i % 2]}, i % 2)
    with pytest.raises(ValueError, match="the feature 'height'"):
        model.predict_proba_one({"height": float("inf"), "b": "x"})


def test_a_row_must_be_a_dict_and_a_weight_a_number():
    model = RiverClassifier(TAN())
    with pytest.raises(TypeError, match="a row must be a dict of features, got 'list'"):
        model.learn_one([1, 2], 1)
    with pytest.raises(ValueError, match="w must be a finite number of at least 0, got 'a'"):
        model.learn_one({"a": 1}, 1, w="a")


@pytest.mark.filterwarnings("ignore:column .* became a category")
def test_class_weights_count_each_row_as_often_before_and_after_the_warm_up():
    by_class = RiverClassifier(TAN(class_weight={"c": 3}), warm_up=WARM_UP)
    weighed = RiverClassifier(TAN(), warm_up=WARM_UP)
    for x, label in stream():
        by_class.learn_one(x, label)
        weighed.learn_one(x, label, w=3.0 if label == "c" else 1.0)
    assert by_class.model_.counts_ == weighed.model_.counts_
    assert by_class.model_.class_weight == {"c": 3}
