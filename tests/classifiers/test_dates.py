"""Columns of dates in every classifier: inputs, predictions, explanations, warnings and what they show."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tanbark import Encoder, EvidenceBN, MarkovBlanketSelector, NaiveBayes, Schema, Stream, load, save
from tanbark.classifiers.registry import REGISTRY
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting

ROWS = 240
RNG = np.random.default_rng(5)
HOURS = RNG.integers(0, 700 * 24, ROWS)
SEEN = pd.Timestamp("2022-01-01") + pd.to_timedelta(HOURS, unit="h")
X = pd.DataFrame({"seen": SEEN, "size": RNG.normal(size=ROWS).round(1), "colour": RNG.choice(["red", "blue"], ROWS)})
Y = np.where(RNG.random(ROWS) < 0.1, "p", np.where(SEEN.month < 6, "p", "q"))
INPUTS = ["seen", "size", "colour"]
COLUMNS = ["seen", "seen (weekday)", "seen (month)", "seen (hour)", "size", "colour"]
SOURCES = [0, 0, 0, 0, 1, 2]
LATER = X.assign(seen=X.seen.where(np.arange(ROWS) >= 12, pd.Timestamp("2030-01-01")))
FIRST, LAST = SEEN.min(), SEEN.max()
OUTSIDE = (
    f"column 'seen': 12 of 240 dates lie outside the range seen in training ({FIRST:%Y-%m-%d %H:%M} to "
    f"{LAST:%Y-%m-%d %H:%M})"
)


@pytest.fixture(scope="module")
def models():
    """Return a fitted classifier of each kind."""
    return {name: entry.classifier().fit(X, Y) for name, entry in REGISTRY.items()}


# Inputs


@pytest.mark.parametrize("name", REGISTRY)
def test_the_features_are_the_columns_of_the_table(models, name):
    model = models[name]
    assert model.feature_names_in_.tolist() == INPUTS
    assert model.n_features_in_ == 3
    assert list(model.schema_.names) == COLUMNS
    assert model.schema_.source_index.tolist() == SOURCES


@pytest.mark.parametrize("name", REGISTRY)
def test_dates_of_every_kind_of_table_give_the_same_predictions(models, name):
    expected = models[name].predict_proba(X)
    frames = [
        pl.from_pandas(X),
        pa.Table.from_pandas(X),
        X.assign(seen=X.seen.astype(object)),
        X.assign(seen=X.seen.dt.to_pydatetime()),
        X.assign(seen=X.seen.dt.tz_localize("UTC").dt.tz_convert("America/New_York")),
        X.assign(seen=X.seen.astype(str)),
        X.assign(seen=X.seen.dt.strftime("%Y-%m-%dT%H:%M:%SZ")),
    ]
    for frame in frames:
        np.testing.assert_array_equal(models[name].predict_proba(frame), expected)


@pytest.mark.parametrize("name", REGISTRY)
def test_a_saved_model_reads_dates(models, name, tmp_path):
    model = models[name]
    save(model, tmp_path / "m.tanbark")
    for other in (load(tmp_path / "m.tanbark"), pickle.loads(pickle.dumps(model))):
        assert other.feature_names_in_.tolist() == INPUTS
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


GROWING = [name for name, entry in REGISTRY.items() if hasattr(entry.classifier(), "partial_fit")]


@pytest.mark.parametrize("name", GROWING)
def test_dates_can_be_learned_in_parts(name):
    model = REGISTRY[name].classifier().partial_fit(X[:120], Y[:120], classes=["p", "q"]).partial_fit(X[120:], Y[120:])
    assert model.feature_names_in_.tolist() == INPUTS
    assert model.counts_.class_counts.sum() == ROWS
    dates = model.schema_.columns[0]
    assert dates.texts_of([dates.low, dates.high]) == [f"{one:%Y-%m-%d %H:%M}" for one in (FIRST, LAST)]


def test_a_stream_learns_dates():
    stream = Stream(NaiveBayes(), half_life=100)
    for start in range(0, ROWS, 60):
        stream.partial_fit(X[start : start + 60], Y[start : start + 60], classes=["p", "q"])
    assert stream.n_features_in_ == 3
    assert stream.predict(X).shape == (ROWS,)


def test_a_markov_blanket_consists_of_columns_of_the_table():
    selector = MarkovBlanketSelector().fit(X, Y)
    assert selector.n_features_in_ == 3
    assert selector.get_support().shape == (3,)
    assert selector.get_support()[0]
    assert list(selector.get_feature_names_out()) == [n for n, kept in zip(INPUTS, selector.get_support()) if kept]
    assert selector.transform(X).shape == (ROWS, selector.get_support().sum())


# Explanations


@pytest.mark.parametrize("name", ["naive-bayes", "tan", "evidence-bn"])
def test_weights_of_evidence_can_be_summed_by_column_of_the_table(models, name):
    model = models[name]
    weights = model.explain(X)
    assert weights.shape == (ROWS, 1 + len(COLUMNS), 2)
    by_input = np.zeros((ROWS, 3, 2))
    for u, source in enumerate(SOURCES):
        by_input[:, source] += weights[:, 1 + u]
    scores = weights[:, 0] + by_input.sum(axis=1)
    posterior = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior, model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_a_shape_shows_dates_and_takes_dates_as_given():
    model = EvidenceBN(encoder=Encoder(n_bins=4)).fit(X, Y)
    quarters = np.sort(HOURS)[[59, 119, 179]]  # the inverted-CDF quantiles of 240 values
    cuts = [f"{pd.Timestamp('2022-01-01') + pd.Timedelta(hours=int(hours)):%Y-%m-%d %H:%M}" for hours in quarters]
    shape = model.shape("seen")
    assert shape.labels[:2] == (f"<= {cuts[0]}", f"({cuts[0]}, {cuts[1]}]")
    assert cuts[2] in str(shape)
    child = next((u for u, above in enumerate(model.model_.parents) if 0 in above), None)
    if child is not None:
        name = COLUMNS[child]
        by_stamp = model.shape(name, given={"seen": pd.Timestamp("2022-02-03")})
        for same in ("2022-02-03", datetime.date(2022, 2, 3), np.datetime64("2022-02-03")):
            np.testing.assert_array_equal(model.shape(name, given={"seen": same}).evidence, by_stamp.evidence)
        with pytest.raises(ValueError, match="column 'seen' holds dates, but got 'soon'"):
            model.shape(name, given={"seen": "soon"})


def test_sampled_rows_hold_dates_that_encode_to_their_codes():
    schema = NaiveBayes(encoder=Encoder(n_bins=5)).fit(X, Y).schema_
    codes = np.array([[0, 4, 255], *[[255] * 3] * 5], np.uint8)
    rows = schema.decode(codes, 0)
    assert isinstance(rows[0, 0], datetime.datetime)
    assert rows[2, 0] is None
    own = Schema([schema.columns[0]], schema.classes)
    again = own.encode(pd.DataFrame({"seen": rows[:, 0]}))
    assert again.tolist() == [[0, 4, 255]]


# Dates outside the range of training


@pytest.mark.parametrize("name", REGISTRY)
def test_a_prediction_warns_once_of_dates_outside_the_range_of_training(models, name):
    for method in ("predict", "predict_proba"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(models[name], method)(LATER)
        assert [str(w.message) for w in caught] == [OUTSIDE]


def test_one_date_outside_the_range_is_in_the_singular(models):
    with pytest.warns(UserWarning, match="column 'seen': 1 of 1 date lies outside the range seen in training"):
        models["naive-bayes"].predict(LATER[:1])


def test_neither_the_ends_of_the_range_nor_missing_dates_warn(models):
    models["naive-bayes"].predict(X.assign(seen=[FIRST, LAST, None, pd.NaT] * 60))


def test_learning_further_dates_does_not_warn():
    model = NaiveBayes().partial_fit(X, Y).partial_fit(LATER, Y)
    assert model.schema_.columns[0].texts_of([model.schema_.columns[0].high])[0].startswith("2030-01-01")
    model.predict(LATER)
    schema = NaiveBayes().fit(X, Y).schema_
    NaiveBayes(encoder=schema).fit(LATER, Y)
    EvidenceBN().fit(X, Y).update(LATER, Y)


def test_a_model_that_saw_no_dates_has_no_range():
    nothing = X.assign(seen=pd.NaT)
    NaiveBayes().fit(nothing, Y).predict(X)


def test_the_dates_of_several_calls_can_be_collected(models):
    model = models["naive-bayes"]
    with collecting(UnreadableValues()) as collected:
        for start in range(0, ROWS, 50):
            model.predict(LATER[start : start + 50])
    assert collected.notes() == [OUTSIDE]
    again = pickle.loads(pickle.dumps(collected))
    again.merge(collected)
    assert again.notes() == [OUTSIDE.replace("12 of 240", "24 of 480")]


# Dates without parts


def test_the_number_alone_is_one_column():
    model = NaiveBayes(encoder=Encoder(dates="number")).fit(X, Y)
    assert list(model.schema_.names) == INPUTS
    assert model.schema_.columns[0].is_date


def test_ignored_dates_do_not_change_predictions():
    model = NaiveBayes(encoder=Encoder(dates="ignore")).fit(X, Y)
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict_proba(LATER), model.predict_proba(X))
