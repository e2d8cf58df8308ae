"""Bins of numbers that are chosen automatically, and bins that are given for single columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import tanbark
from tanbark import TAN, Counts, Encoder, EvidenceBN, NaiveBayes, Stream
from tanbark.classifiers.registry import REGISTRY
from tanbark.schema import Category, Recipe
from tanbark.schema.recipe.recipe import InputColumn

RNG = np.random.default_rng(0)
ROWS = 300
CLASSES = RNG.integers(0, 2, ROWS)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(10, 90, ROWS),
        "income": RNG.normal(50.0, 20.0, ROWS) + 20 * CLASSES,
        "rating": RNG.integers(1, 6, ROWS),
        "city": RNG.choice(["Bern", "Rome"], ROWS),
        "seen": pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 365, ROWS), "D"),
    }
)
GIVEN = {"age": [18, 40, 65], "income": 8, "rating": [3], "seen": ["2024-04-01", pd.Timestamp("2024-07-01")]}


def cuts(schema, name):
    return schema.columns[schema.index(name)].cuts


def days(text):
    return (np.datetime64(text) - np.datetime64("1970-01-01")).astype(float)


# Automatic bins


def test_automatic_bins_are_quantiles_only_if_their_number_is_given():
    X, y = PEOPLE[["income"]], CLASSES
    eighths = np.quantile(X["income"], np.arange(1, 8) / 8, method="inverted_cdf").tolist()
    assert list(Encoder(n_bins=8).fit(X, y).schema_.columns[0].cuts) == eighths
    automatic, modl = (Encoder(bins=bins).fit(X, y).schema_ for bins in ("auto", "modl"))
    assert automatic == modl
    assert automatic != Encoder(bins="quantile").fit(X, y).schema_


@pytest.mark.parametrize("name", ["EvidenceBN", "BoostedTables", "EnsembleBN"])
def test_classifiers_that_learn_how_finely_to_distinguish_numbers_have_64_quantiles(name):
    encoder = getattr(tanbark, name)().usable_encoder()
    assert encoder.binning("x") == Encoder(bins="quantile", n_bins=64).binning("x")


def test_n_bins_limits_the_number_of_supervised_intervals():
    # Forty cells of equal frequency, ten steps of the class.
    x = np.arange(1600.0)
    y = x // 160 % 2
    for n_bins in (1, 2, 4, 32):
        schema = Encoder(bins="modl", n_bins=n_bins).fit(x[:, None], y).schema_
        assert schema.columns[0].arity == min(n_bins, 10)


@pytest.mark.parametrize("encoder", [None, Encoder(missing="state")])
def test_the_first_of_several_chunks_has_quantiles_of_its_rows(encoder):
    X = PEOPLE[["income"]]
    fifths = np.quantile(X["income"], np.arange(1, 5) / 5, method="inverted_cdf").tolist()
    grown = TAN(encoder=encoder).partial_fit(X, CLASSES)
    stream = Stream(NaiveBayes(encoder=encoder)).partial_fit(X, CLASSES)
    assert list(grown.schema_.columns[0].cuts) == list(stream.model_.schema_.columns[0].cuts) == fifths


def test_a_chosen_method_holds_for_the_first_chunk_too():
    chosen = TAN(encoder=Encoder(bins="modl")).partial_fit(PEOPLE[["income"]], CLASSES)
    assert chosen.schema_ == TAN().fit(PEOPLE[["income"]], CLASSES).schema_


def test_numbers_without_relation_to_the_class_are_hardly_ever_cut_by_it():
    # Without the three even intervals, which do not depend on the class, a number has a single interval.
    X, y = RNG.normal(size=(1000, 500)), RNG.integers(0, 2, 1000)
    found = Encoder(bins="modl").fit(X, y).schema_
    unsupervised = Encoder(bins="modl").fit(X, np.zeros(1000)).schema_
    different = sum(one.cuts != other.cuts for one, other in zip(found.columns, unsupervised.columns, strict=True))
    assert different <= 0.02 * 500


# Given bins


@pytest.mark.parametrize("name", sorted({entry.class_name for entry in REGISTRY.values()}))
def test_every_classifier_uses_given_bins(name):
    settings = {"search": "greedy"} if name in ("BayesNet", "AugmentedNaiveBayes") else {}
    model = getattr(tanbark, name)(encoder=Encoder(bins=GIVEN), **settings).fit(PEOPLE, CLASSES)
    assert cuts(model.schema_, "age") == (18.0, 40.0, 65.0)
    assert len(cuts(model.schema_, "income")) == 7
    assert cuts(model.schema_, "rating") == (3.0,)
    assert cuts(model.schema_, "seen") == (days("2024-04-01"), days("2024-07-01"))
    assert isinstance(model.schema_.columns[model.schema_.index("city")], Category)
    assert model.predict_proba(PEOPLE.head(3)).sum(axis=1) == pytest.approx(1.0)


def test_a_value_equal_to_a_cut_point_belongs_to_the_interval_below_it():
    schema = Encoder(bins={"age": [18, 40, 65]}).fit(PEOPLE[["age"]], CLASSES).schema_
    assert schema.columns[0].labels == ("<= 18", "(18, 40]", "(40, 65]", "> 65")
    assert schema.encode(pd.DataFrame({"age": [18, 19, 40, 65, 66]})).tolist() == [[0, 1, 1, 2, 3]]


def test_cut_points_beyond_the_data_make_empty_intervals():
    model = TAN(encoder=Encoder(bins={"age": [-5, 200]})).fit(PEOPLE[["age", "income"]], CLASSES)
    assert model.counts_.value(0).sum(axis=0).tolist() == [0, ROWS, 0]
    assert np.isfinite(model.predict_log_proba(pd.DataFrame({"age": [500, 30], "income": [40.0, 60.0]}))).all()


@pytest.mark.parametrize("bins", ["auto", "modl", GIVEN])
def test_a_streamed_table_has_the_same_bins(bins):
    table = pa.Table.from_pandas(PEOPLE.assign(member=CLASSES))
    encoder = Encoder(bins=bins)
    streamed = Counts.from_batches(table, "member", encoder=encoder).schema
    assert streamed.columns == encoder.fit(PEOPLE, CLASSES).schema_.columns


def test_a_streamed_column_with_many_numbers_has_the_same_bins():
    n = 150_000
    y = RNG.integers(0, 3, n)
    x = RNG.normal(size=n) + y
    x[RNG.random(n) < 0.1] = np.nan
    x[RNG.random(n) < 0.2] = 0.25
    table = pa.table({"x": pa.array(x, from_pandas=True), "y": y})
    streamed = Counts.from_batches(table.to_batches(7_000), "y").schema
    assert streamed.columns == Encoder().fit(pd.DataFrame({"x": x}), y).schema_.columns
    assert len(streamed.columns[0].cuts) > 5


def test_given_bins_survive_copies_and_files(tmp_path):
    model = EvidenceBN(encoder=Encoder(bins=GIVEN | {"seen": ["2024-04-01"]})).fit(PEOPLE, CLASSES)
    tanbark.save(model, tmp_path / "m.tanbark")
    loaded = tanbark.load(tmp_path / "m.tanbark")
    assert loaded.encoder.get_params() == model.encoder.get_params()
    assert clone(loaded).fit(PEOPLE, CLASSES).schema_ == model.schema_
    np.testing.assert_array_equal(loaded.predict_proba(PEOPLE), model.predict_proba(PEOPLE))


def test_a_grid_search_chooses_bins():
    grid = {"encoder__bins": ["quantile", "auto", {"income": [60.0]}]}
    search = GridSearchCV(NaiveBayes(), grid, scoring="neg_log_loss", cv=3).fit(PEOPLE[["income", "age"]], CLASSES)
    assert search.best_params_["encoder__bins"] in grid["encoder__bins"]


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("oak", "bins must be 'auto' or 'modl' or 'mdlp' or 'quantile' or 'width', got 'oak'"),
        (5, "bins must be 'auto', 'modl', .* or a dict from names of columns .*, got 5"),
        ({0: [3.0]}, "bins must be 'auto', .* got {0: "),
        ({"agee": [3]}, "bins names the column 'agee', which the table does not have; did you mean 'age'"),
        ({"age": []}, r"bins\['age'\] must be a list of cut points or a number of bins, got \[\]"),
        ({"age": "mdlp"}, r"bins\['age'\] must be a list of cut points or a number of bins, got 'mdlp'"),
        ({"age": 0}, r"bins\['age'\] must be from 1 to 65,000 bins, got 0"),
        ({"age": [40, 18]}, r"the cut points of column 'age' must be finite and ascending, got \[40, 18\]"),
        ({"age": [18, 18]}, "the cut points of column 'age' must be finite and ascending"),
        ({"age": [np.nan]}, "the cut points of column 'age' must be finite and ascending"),
        ({"age": ["x"]}, r"the cut points of column 'age' must be numbers, got \['x'\]"),
        ({"city": [1]}, "column 'city' does not hold numbers, so that it cannot be cut into intervals"),
        ({"age": [10**400]}, "a cut point of column 'age' is too large"),
        (
            {"age (month)": [3]},
            "bins names the column 'age \\(month\\)', which is not learned from; the columns are 'age'",
        ),
        ({"seen": [3]}, "column 'seen' holds dates, but got 3; give a date such as"),
    ],
)
def test_invalid_bins_raise_in_memory_and_streamed_and_change_nothing(bins, message):
    model = TAN().fit(PEOPLE, CLASSES)
    before = model.model_
    with pytest.raises(ValueError, match=message):
        model.set_params(encoder=Encoder(bins=bins)).fit(PEOPLE, CLASSES)
    assert model.model_ is before
    with pytest.raises(ValueError, match=message):
        Counts.from_batches(pa.Table.from_pandas(PEOPLE.assign(y=CLASSES)), "y", encoder=Encoder(bins=bins))


def test_dates_that_are_left_out_cannot_have_bins():
    with pytest.raises(ValueError, match="bins names the column 'seen', which is not learned from"):
        Encoder(dates="ignore", bins={"seen": 4}).fit(PEOPLE, CLASSES)


def test_a_column_cannot_have_bins_and_be_categorical():
    for categorical in (Encoder(categorical="all"), Encoder(coerce=Recipe(inputs=(InputColumn("age", "category"),)))):
        with pytest.raises(ValueError, match="column 'age' is declared categorical, so that it cannot be cut"):
            categorical.set_params(bins={"age": [3]}).fit(PEOPLE, CLASSES)
    with pytest.raises(ValueError, match="column 'age' is declared categorical, so that it cannot be cut"):
        Encoder(categorical=["age"], bins={"age": [3]}).fit(PEOPLE, CLASSES)


def test_a_column_with_given_bins_is_not_left_out_as_an_identifier():
    X = pd.DataFrame({"number": np.arange(100), "age": RNG.integers(10, 90, 100)})
    encoder = Encoder(identifiers="drop", bins={"number": [49.5]})
    assert encoder.fit(X, RNG.integers(0, 2, 100)).schema_.names == ("number", "age")
