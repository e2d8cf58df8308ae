"""Forgetting is arithmetic on counts; drift is a log loss that is not what it was."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import estimator_checks_generator

import tanbark
from tanbark import AODE, KDB, TAN, AveragedTAN, Counts, Encoder, ForestAN, NaiveBayes, Stream
from tanbark.classifiers.stream import DriftStatistic

CLASSIFIERS = [NaiveBayes, TAN, ForestAN, AODE, AveragedTAN]


def table(rows, seed, flip=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    X = np.where(rng.random((rows, 4)) < 1 - 4 * flip, y[:, None], rng.integers(0, 3, (rows, 4)))
    return pd.DataFrame(X, columns=list("abcd")).astype(str), pd.Series(y).map({0: "p", 1: "q", 2: "r"})


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 120), st.lists(st.integers(1, 99), max_size=6, unique=True), st.integers(0, 1000))
def test_a_window_has_the_counts_of_the_last_rows_whatever_the_chunks(window, cuts, seed):
    X, y = table(100, seed)
    stream = Stream(NaiveBayes(), window=window)
    for part in np.split(np.arange(100), sorted(cuts)):
        stream.partial_fit(X.iloc[part], y.iloc[part])
    schema = stream.model_.schema_
    assert stream.model_.counts_ == NaiveBayes(encoder=schema).fit(X[-window:], y[-window:]).counts_
    assert stream.model_.counts_.class_counts.dtype == np.int64
    assert stream.rows_ == 100


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_that_learns_from_counts_forgets(classifier):
    X, y = table(300, 1)
    stream = Stream(classifier(), window=120)
    for start in range(0, 300, 50):
        stream.partial_fit(X.iloc[start : start + 50], y.iloc[start : start + 50])
    recent = classifier(encoder=stream.model_.schema_).fit(X[-120:], y[-120:])
    assert np.array_equal(stream.predict_proba(X), recent.predict_proba(X))
    assert np.array_equal(stream.predict(X), recent.predict(X))
    aged = Stream(classifier(encoder=stream.model_.schema_), half_life=40)
    for start in range(0, 300, 50):
        aged.partial_fit(X.iloc[start : start + 50], y.iloc[start : start + 50])
    weights = 0.5 ** (np.arange(299, -1, -1) / 40)
    weighed = classifier(encoder=stream.model_.schema_).fit(X, y, weights)
    np.testing.assert_allclose(aged.predict_log_proba(X), weighed.predict_log_proba(X), rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 59), max_size=6, unique=True), st.floats(0.5, 1e6))
def test_how_rows_are_cut_into_chunks_makes_no_difference_to_fading(cuts, half_life):
    X, y = table(60, 7)
    schema = Encoder().fit(X, y).schema_
    stream = Stream(NaiveBayes(encoder=schema), half_life=half_life)
    for part in np.split(np.arange(60), sorted(cuts)):
        stream.partial_fit(X.iloc[part], y.iloc[part])
    expected = np.zeros(3)
    for age, label in enumerate(reversed(y.tolist())):
        expected["pqr".index(label)] += 0.5 ** (age / half_life)
    np.testing.assert_allclose(stream.model_.counts_.class_counts, expected, rtol=1e-12)


def test_levels_and_classes_that_come_and_go_stay_in_the_schema():
    X, y = table(90, 2)
    stream = Stream(TAN(), window=30)
    first, last = y != "r", y == "r"
    stream.partial_fit(X[first], y[first]).partial_fit(X[last], y[last])
    assert stream.classes_.tolist() == ["p", "q", "r"]
    stream.partial_fit(X[first][:30], y[first][:30])
    assert stream.model_.counts_.class_counts[2] == 0
    assert stream.model_.counts_.class_counts.sum() == 30


def test_log_loss_and_accuracy_are_those_of_the_model_before():
    X, y = table(200, 3)
    stream = Stream(TAN()).partial_fit(X[:100], y[:100])
    assert np.isnan([stream.log_loss_, stream.accuracy_, stream.drift_]).all()
    before = TAN().fit(X[:100], y[:100])
    stream.partial_fit(X[100:], y[100:])
    assert stream.log_loss_ == pytest.approx(log_loss(y[100:], before.predict_proba(X[100:])))
    assert stream.accuracy_ == pytest.approx(before.score(X[100:], y[100:]))


def test_a_class_that_never_came_costs_the_log_of_the_rows():
    X, y = table(60, 4)
    stream = Stream(NaiveBayes()).partial_fit(X[y != "r"], y[y != "r"])
    rows = stream.rows_
    stream.partial_fit(X[y == "r"], y[y == "r"])
    assert stream.log_loss_ == pytest.approx(np.log(rows + 1))
    assert stream.accuracy_ == 0.0


def test_drift_is_standard_normal_while_nothing_changes_and_large_when_it_does():
    X, y = table(6000, 5)
    stream = Stream(NaiveBayes())
    found = []
    for start in range(0, 6000, 50):
        stream.partial_fit(X.iloc[start : start + 50], y.iloc[start : start + 50])
        found.append(stream.drift_)
    steady = np.array(found[20:])
    assert np.abs(steady).max() < 5
    # Of 50 rows and the 50 before them every second figure is new.
    steady = steady[::2]
    assert stats.kstest(steady, "norm").pvalue > 0.001
    changed = y.map({"p": "q", "q": "r", "r": "p"})
    assert stream.partial_fit(X[:50], changed[:50]).drift_ > 8


@pytest.mark.parametrize("chunk", [1, 7, 100, 300])
def test_false_alarms_are_rare_whatever_the_chunks(chunk):
    X, y = table(2000, 11)
    stream = Stream(NaiveBayes(encoder=Encoder().fit(X, y).schema_))
    found = []
    for start in range(0, 2000, chunk):
        stream.partial_fit(X.iloc[start : start + chunk], y.iloc[start : start + chunk])
        found.append(stream.drift_)
    settled = np.array(found[600 // chunk :])
    assert (settled > 5).mean() < 0.001
    assert abs(settled.mean()) < 1


def test_a_window_may_be_narrowed_but_not_set_once_rows_have_been_forgotten():
    X, y = table(100, 12)
    schema = Encoder().fit(X, y).schema_
    stream = Stream(NaiveBayes(encoder=schema), window=60).partial_fit(X[:70], y[:70])
    stream.set_params(window=40).partial_fit(X[70:], y[70:])
    assert stream.model_.counts_ == NaiveBayes(encoder=schema).fit(X[-40:], y[-40:]).counts_
    late = Stream(NaiveBayes()).partial_fit(X[:70], y[:70]).set_params(window=40)
    with pytest.raises(ValueError, match=r"^window was set after rows had been learned without one"):
        late.partial_fit(X[70:], y[70:])
    assert late.model_.counts_.class_counts.sum() == 70


def test_it_goes_on_from_a_model_that_is_fitted():
    X, y = table(100, 13)
    model = NaiveBayes().fit(X[:60], y[:60])
    stream = Stream(model).partial_fit(X[60:], y[60:])
    assert stream.model_.counts_.class_counts.sum() == 100
    assert stream.log_loss_ == pytest.approx(log_loss(y[60:], model.predict_proba(X[60:])))
    assert model.counts_.class_counts.sum() == 60
    assert Stream(model).fit(X[60:], y[60:]).model_.counts_.class_counts.sum() == 40
    with pytest.raises(ValueError, match=r"^a window needs the rows that were learned"):
        Stream(model, window=10).partial_fit(X, y)


def test_the_first_chunk_is_read_once():
    X, y = table(20, 14)
    reader = pa.Table.from_pandas(X, preserve_index=False).to_reader()
    assert Stream(TAN(), window=5).partial_fit(reader, y).rows_ == 20
    with pytest.warns(UserWarning, match="1 row without a class is dropped") as said:
        Stream(NaiveBayes(), window=3).partial_fit(X[:3], [None, "p", "q"])
    assert len(said) == 1


def test_a_window_recovers_from_a_change_and_a_long_memory_does_not():
    X, y = table(2000, 6)
    changed = y.map({"p": "q", "q": "r", "r": "p"})
    short, long = Stream(NaiveBayes(), window=200), Stream(NaiveBayes())
    for start in range(0, 2000, 100):
        labels = y if start < 1500 else changed
        part = slice(start, start + 100)
        short.partial_fit(X[part], labels[part])
        long.partial_fit(X[part], labels[part])
    assert short.accuracy_ > 0.8
    assert long.accuracy_ < 0.2


def test_a_chunk_that_cannot_be_learned_changes_nothing():
    X, y = table(60, 8)
    stream = Stream(TAN(class_prior=[0.5, 0.5]), window=20).partial_fit(X[y != "r"], y[y != "r"])
    before, of_model = dict(stream.__dict__), dict(stream.model_.__dict__)
    with pytest.raises(ValueError, match=r"^class_prior must be 3 probabilities"):
        stream.partial_fit(X, y)
    assert stream.__dict__ == before
    assert stream.model_.__dict__ == of_model
    assert len(stream._remembered_rows) == 1
    stream.partial_fit(X[:0], y[:0])
    assert stream.__dict__ == before


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Stream(KDB(k=2)), TypeError, "KDB"),
        (lambda: Stream("tan"), TypeError, "^model must be one of tanbark's classifiers, got 'str'$"),
        (lambda: Stream(TAN(), window=0), ValueError, "^window must be a whole number of at least 1, got 0$"),
        (lambda: Stream(TAN(), half_life=-1), ValueError, "^half_life must be a positive number of rows, got -1$"),
        (lambda: Stream(TAN(), window=5, half_life=5), ValueError, "^give window or half_life, not both$"),
    ],
)
def test_settings_that_cannot_be_are_refused(make, kind, message):
    X, y = table(10, 9)
    for learn in ("fit", "partial_fit"):
        with pytest.raises(kind, match=message):
            getattr(make(), learn)(X, y)


def test_aco_goes_on_from_its_tree():
    X, y = table(400, 10)
    stream, plain = Stream(TAN(restructure="aco"), window=1000), TAN(restructure="aco")
    for start in range(0, 400, 50):
        stream.partial_fit(X.iloc[start : start + 50], y.iloc[start : start + 50])
        plain.partial_fit(X.iloc[start : start + 50], y.iloc[start : start + 50])
        assert stream.model_.restructure_stats_ == plain.restructure_stats_
        assert stream.model_.tree_edges_ == plain.tree_edges_


def test_a_level_that_never_came_is_foreseen_as_missing():
    X, y = table(80, 15)
    model = NaiveBayes().fit(X, y)
    stream = Stream(NaiveBayes()).partial_fit(X, y)
    new = X.assign(a="elsewhere")
    stream.partial_fit(new, y)
    assert stream.log_loss_ == pytest.approx(log_loss(y, model.predict_proba(X.assign(a=None))))


def test_the_comparison_is_that_of_two_means():
    rng = np.random.default_rng(0)
    before, after = rng.exponential(1.0, 700), rng.exponential(1.3, 200)
    surprise = DriftStatistic(1e12)
    for part in (before[:300], before[300:], after):
        surprise = surprise.followed_by(part, np.ones(len(part)))
    error = before.std() * np.sqrt(1 / 200 + 1 / 700)
    assert surprise.excess == pytest.approx((after.mean() - before.mean()) / error)
    fading = DriftStatistic(100.0)
    for part in (before[:300], before[300:], after):
        fading = fading.followed_by(part, np.ones(len(part)))
    weights = np.r_[np.full(300, 0.5**4), np.ones(400)]
    mean = np.average(before, weights=weights)
    spread = np.average((before - mean) ** 2, weights=weights)
    error = np.sqrt(spread * (1 / 200 + 1 / weights.sum()))
    assert fading.excess == pytest.approx((after.mean() - mean) / error)
    few = DriftStatistic(1e12).followed_by(before, np.ones(700)).followed_by(after[:30], np.ones(30))
    error = before[:630].std() * np.sqrt(1 / 100 + 1 / 630)
    assert few.excess == pytest.approx((np.r_[before[630:], after[:30]].mean() - before[:630].mean()) / error)


@pytest.mark.parametrize("settings", [{}, {"window": 50}, {"half_life": 50.0}])
def test_it_is_a_scikit_learn_estimator(settings):
    for estimator, check in estimator_checks_generator(Stream(NaiveBayes(), **settings)):
        # Rows repeated are older by as many rows, rows that weigh more are not.
        if "half_life" not in settings or "sample_weight_equivalence" not in str(check):
            check(estimator)


def test_a_window_forgets_a_weight_however_large():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (400, 3)), rng.integers(0, 2, 400)
    stream = Stream(TAN(), window=50)
    for at in range(0, 400, 40):
        part = slice(at, at + 40)
        weight = np.full(40, 1e8 + 0.1 if at == 0 else 0.1)
        stream.partial_fit(X[part], y[part], sample_weight=weight)
    schema = stream.model_.schema_
    last = Counts.of(schema, schema.encode(X[-50:]), schema.encode_target(y[-50:]), np.full(50, 0.1))
    np.testing.assert_allclose(stream.model_.counts_.table, last.table, rtol=1e-12, atol=0)


def test_a_half_life_next_to_nothing_remembers_the_last_row():
    X, y = np.array([[0], [1], [1]]), np.array([0, 1, 1])
    stream = Stream(NaiveBayes(), half_life=1e-320).partial_fit(X, y)
    assert stream.model_.counts_.class_counts.tolist() == [0, 1]


def chunks_of(rows, seed):
    """Return chunks with missing values, levels and classes that come late, and numbers that grow."""
    X, y = table(rows, seed)
    X = X.assign(size=np.arange(rows) * 1.5, late=np.where(np.arange(rows) < rows / 2, "old", "new"))
    X = X.mask(np.random.default_rng(seed).random(X.shape) < 0.05)
    y = y.where((y != "r") | (np.arange(rows) > rows / 3), "p")
    return [(X.iloc[start : start + 40], y.iloc[start : start + 40]) for start in range(0, rows, 40)]


def state_of(stream):
    """Return everything that a stream has learned."""
    return (stream.rows_, stream.log_loss_, stream.accuracy_, stream.drift_, stream.classes_.tolist())


@pytest.mark.parametrize("again", ["saved", "pickled"])
@pytest.mark.parametrize("how", [{}, {"window": 130}, {"half_life": 90.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classifier", [NaiveBayes(), TAN(ess=3.0), AveragedTAN(encoder=Encoder(missing="state"))])
def test_a_stream_that_was_stopped_goes_on_as_if_it_had_not(classifier, how, weighted, again, tmp_path):
    stopped, going = (Stream(classifier, **how) for _ in range(2))
    rng = np.random.default_rng(0)
    for i, (X, y) in enumerate(chunks_of(400, 3)):
        # Chunks with weights and without them are remembered together.
        weights = rng.random(len(y)) if weighted and i % 3 == 1 else None
        going.partial_fit(X, y, sample_weight=weights)
        stopped.partial_fit(X, y, sample_weight=weights)
        if again == "saved":
            tanbark.save(stopped, tmp_path / "stream")
            stopped = tanbark.load(tmp_path / "stream")
        else:
            stopped = pickle.loads(pickle.dumps(stopped))
        assert isinstance(stopped, Stream)
        np.testing.assert_equal(state_of(stopped), state_of(going))
        assert stopped.model_.counts_ == going.model_.counts_
        assert np.array_equal(stopped.predict_proba(X), going.predict_proba(X))
        assert list(stopped.feature_names_in_) == list(going.feature_names_in_)
    assert stopped.get_params()["window"] == going.window
    assert stopped.model.get_params(deep=False).keys() == classifier.get_params(deep=False).keys()
    # A new fit starts from the same settings.
    X, y = table(100, 1)
    assert np.array_equal(stopped.fit(X, y).predict_proba(X), going.fit(X, y).predict_proba(X))


def test_a_stream_keeps_the_settings_of_its_next_fit_apart_from_those_of_its_model(tmp_path):
    X, y = table(100, 1)
    prior = TAN().fit(X, y).counts_
    stream = Stream(AveragedTAN(prior=prior), half_life=50).partial_fit(X, y)
    stream.set_params(model__ess=2.5, model__prior=prior * 3)
    tanbark.save(stream, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert (again.model.ess, again.model_.ess) == (2.5, 10.0)
    assert (again.model.prior, again.model_.prior) == (prior * 3, prior)


def test_a_stream_that_learned_nothing_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        tanbark.save(Stream(TAN()), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
