import pickle
import random
import warnings
from decimal import Decimal

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.schema import Encoder, Survey
from tanbark.schema.read.class_column import read_target, usable_rows
from tanbark.schema.read.raw_columns import InfiniteValueError
from tanbark.schema.read.table_reader import read_table
from tanbark.schema.survey import column_survey as seen_labels
from tanbark.schema.survey import column_survey as seen_numbers
from tanbark.schema.survey import streaming_quantiles as order_statistics

FINITE = st.floats(allow_nan=True, allow_infinity=False)
MEASURED = st.one_of(FINITE, st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 0.1, 1.0, 2.0, 1e16]))
VALUES = {
    "float": (pa.float64(), st.one_of(MEASURED, st.integers(-3, 3).map(float))),
    "single": (pa.float32(), st.floats(width=32, allow_infinity=False)),
    "whole": (pa.float64(), st.integers(0, 12).map(float)),
    "int": (pa.int64(), st.one_of(st.integers(-3, 9), st.integers(-(2**63), 2**63 - 1))),
    "small": (pa.int8(), st.integers(-5, 9)),
    "wide": (pa.int64(), st.integers(2**60, 2**60 + 300)),
    "edge": (pa.int64(), st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 4])),
    "unsigned": (pa.uint64(), st.one_of(st.integers(0, 12), st.integers(0, 2**64 - 1))),
    "decimal": (pa.decimal128(20, 5), st.decimals(-(10**9), 10**9, places=5)),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.text(max_size=3)),
    "word": (pa.large_string(), st.sampled_from([f"w{i}" for i in range(30)])),
    "stored": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from("abcdefghijkl")),
    "coded": (pa.dictionary(pa.int8(), pa.int64()), st.integers(0, 20)),
    "nothing": (pa.null(), st.none()),
    "holes": (pa.float64(), st.none()),
    "none": (pa.int32(), st.none()),
    "no decimal": (pa.decimal128(5, 2), st.none()),
    "no label": (pa.dictionary(pa.int8(), pa.int64()), st.none()),
}
CLASSES = {
    "text": (pa.string(), st.sampled_from(["no", "yes", "maybe"])),
    "int": (pa.int64(), st.sampled_from([3, 1, 2])),
    "bool": (pa.bool_(), st.booleans()),
    "float": (pa.float64(), st.sampled_from([0.0, 1.0, float("nan")])),
    "stored": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from("zyx")),
}


@st.composite
def tables(draw):
    """Return a table with columns of several types, a class and some nulls."""
    rows = draw(st.integers(0, 40))

    def column(stored, values):
        held = st.one_of(values, values, st.none())
        return pa.array(draw(st.lists(held, min_size=rows, max_size=rows)), stored)

    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4, unique=True))
    columns = {kind: column(*VALUES[kind]) for kind in kinds}
    columns["y"] = column(*CLASSES[draw(st.sampled_from(sorted(CLASSES)))])
    return pa.table(columns)


@st.composite
def encoders(draw, names):
    return Encoder(
        categorical=draw(st.one_of(st.sampled_from(["auto", "all"]), st.lists(st.sampled_from(names), unique=True))),
        bins=draw(st.sampled_from(["auto", "modl", "quantile", "width", "mdlp"])),
        n_bins=draw(st.just("auto") | st.integers(1, 9)),
        max_levels=draw(st.sampled_from([2, 3, 7, 255])),
        missing=draw(st.sampled_from(["marginalize", "state"])),
        unseen=draw(st.sampled_from(["marginalize", "error"])),
    )


def noted(learn):
    """Return the result or the error of a function, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = learn()
        except (ValueError, TypeError) as error:
            return type(error), str(error)
    return result, getattr(result, "class_dtype", None), [str(w.message) for w in caught]


def whole(encoder, table):
    X = table.drop_columns(["y"])
    y = nw.from_native(table.column("y"), series_only=True).alias("y")
    # `fit` refuses a table without rows, of which a survey may be one part.
    return noted(lambda: encoder.learn(*usable_rows(read_table(X), read_target(y), None)))


def surveyed(encoder, batches, schema, workers, shuffle):
    """Return the schema from surveys of several workers, with batches and merges in random order."""

    def learn():
        survey = Survey(encoder, "y", schema)
        while True:
            parts = [survey, *(pickle.loads(pickle.dumps(survey.fresh())) for _ in range(workers))]
            mixed = list(batches)
            shuffle.shuffle(mixed)
            for batch in mixed:
                shuffle.choice(parts).see(batch)
            rest = parts[1:]
            shuffle.shuffle(rest)
            while rest:
                first, *others = rest
                target = shuffle.choice([survey, *others])
                target.merge(first)
                rest = others
            if not survey.settle():
                return survey.schema()

    return noted(learn)


def quantiles(values, n):
    """Return the inverted-CDF quantiles at 1/n, 2/n, ... by definition."""
    return np.unique(np.sort(values)[[-(-j * len(values) // n) - 1 for j in range(1, n)]])


def limit(monkeypatch, values, few, cells):
    monkeypatch.setattr(seen_numbers, "MAX_DISTINCT_NUMBERS", values)
    monkeypatch.setattr(order_statistics, "MAX_GATHERED_VALUES", few)
    monkeypatch.setattr(order_statistics, "MAX_COUNTERS", cells)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_schema_is_that_of_the_whole_table(data, workers, shuffle):
    table = data.draw(tables())
    encoder = data.draw(encoders([n for n in table.column_names if n != "y"]))
    size = data.draw(st.integers(1, 41))
    values, few, cells = data.draw(
        st.sampled_from([(2**16, 2**20, 2**20), (10, 5, 2**16), (10, 0, 2**14), (12, 2, 64)])
    )
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, values, few, cells)
        found = surveyed(encoder, table.to_batches(size), table.schema, workers, shuffle)
    assert found == whole(encoder, table)


@pytest.mark.parametrize("few", [0, 100, 2**20])
@pytest.mark.parametrize("n_bins", [2, 5, 1000])
@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=5000),
        np.random.default_rng(1).integers(-(2**62), 2**62, 5000),
        np.random.default_rng(2).integers(0, 2**64 - 1, 5000, np.uint64),
        np.where(np.arange(5000) % 10 < 9, 0.0, np.random.default_rng(3).random(5000)),
        1e300 * np.random.default_rng(4).normal(size=5000) ** 3,
    ],
    ids=["normal", "integers", "unsigned", "mostly zero", "huge"],
)
def test_quantiles_of_many_values_are_those_of_the_sorted_column(monkeypatch, values, n_bins, few):
    limit(monkeypatch, 100, few, 2**14)
    batches = pa.table({"x": values, "y": ["a", "b"] * 2500}).to_batches(700)
    survey = Survey(Encoder(n_bins=n_bins), "y", batches[0].schema)
    passes = 1
    for batch in batches:
        survey.see(batch)
    while survey.settle():
        passes += 1
        for batch in batches:
            survey.see(batch)
    column = survey.schema().columns[0]
    expected = quantiles(values.astype(float), n_bins)
    assert column.cuts == tuple(expected[expected < values.astype(float).max()])
    assert (column.low, column.high) == (values.astype(float).min(), values.astype(float).max())
    if few == 2**20:
        assert passes == 2


def test_the_memory_of_a_survey_does_not_grow_with_the_rows():
    survey = Survey(Encoder(n_bins=65_000), "y", pa.schema([("x", pa.float64()), ("y", pa.bool_())]))
    rng = np.random.default_rng(0)
    batches = [pa.record_batch({"x": rng.normal(size=200_000), "y": [True] * 200_000}) for _ in range(7)]
    while True:
        for batch in batches:
            survey.see(batch)
        assert len(pickle.dumps(survey)) < 20e6
        if not survey.settle():
            break
    values = np.concatenate([batch.column("x").to_numpy() for batch in batches])
    assert survey.schema().columns[0].cuts == tuple(quantiles(values, 65_000))


def test_declared_levels_keep_their_order_and_all_count():
    stored = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), ["s", "m", "l", "xl"], ordered=True)
    batch = pa.record_batch({"size": stored, "y": ["a", "b"]})
    survey = Survey(None, "y", batch.schema)
    survey.see(batch)
    assert not survey.settle()
    assert survey.schema().columns[0].levels == ("s", "m", "l", "xl")


def test_levels_declared_in_different_orders_raise():
    survey = Survey(None, "y", pa.schema([("size", pa.dictionary(pa.int8(), pa.string(), True)), ("y", pa.string())]))
    for levels in (["s", "m"], ["m", "s"]):
        stored = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), levels, ordered=True)
        batch = pa.record_batch({"size": stored, "y": ["a"]})
        if levels[0] == "s":
            survey.see(batch)
        else:
            with pytest.raises(ValueError, match="column 'size' declares different levels"):
                survey.see(batch)


@pytest.mark.parametrize("sign", [1, -1])
def test_infinity_raises_the_same_message(sign):
    table = pa.table({"x": [1.0, sign * np.inf, 2.5], "y": ["a", "b", "a"]})
    expected = whole(Encoder(), table)
    assert issubclass(expected[0], ValueError)
    assert surveyed(Encoder(), table.to_batches(), table.schema, 0, random.Random(0)) == expected


def test_infinity_in_a_row_without_a_class_does_not_matter():
    table = pa.table({"x": [1.0, np.inf, 2.5], "y": ["a", None, "a"]})
    assert surveyed(Encoder(), table.to_batches(), table.schema, 1, random.Random(0)) == whole(Encoder(), table)


@pytest.mark.parametrize("values", [[b"a", None], [[1], None]])
def test_an_unsupported_value_raises_the_same_message(values):
    table = pa.table({"x": values, "y": ["a", "b"]})
    expected = whole(Encoder(), table)
    assert expected[0] is TypeError
    assert surveyed(Encoder(), table.to_batches(), table.schema, 0, random.Random(0)) == expected


def test_a_class_that_is_all_missing_raises_the_same_message():
    table = pa.table({"x": [1.0, 2.0], "y": pa.nulls(2, pa.string())})
    expected = whole(Encoder(), table)
    assert "every value of the class 'y' is missing" in expected[1]
    assert surveyed(Encoder(), table.to_batches(), table.schema, 0, random.Random(0)) == expected


@pytest.mark.parametrize("values", [np.arange(300), np.arange(300).astype(str), np.arange(300) / 7])
def test_a_category_with_too_many_values_raises(monkeypatch, values):
    monkeypatch.setattr(seen_labels, "MAX_DISTINCT_LABELS", 256)
    monkeypatch.setattr(seen_numbers, "MAX_DISTINCT_LABELS", 256)
    table = pa.table({"id": values, "y": ["a", "b"] * 150})
    survey = Survey(Encoder(categorical="all"), "y", table.schema)
    with pytest.raises(ValueError, match=r"column 'id' has more than 256 distinct values; .* ignore="):
        survey.see(table)
    Survey(Encoder(categorical="all"), "y", table.append_column("z", table["y"]).schema, ignore=["id"])


def test_mdlp_with_too_many_values_raises(monkeypatch):
    monkeypatch.setattr(seen_numbers, "MAX_DISTINCT_LABELS", 256)
    table = pa.table({"x": np.arange(300) / 7, "y": ["a", "b"] * 150})
    survey = Survey(Encoder(bins="mdlp"), "y", table.schema)
    survey.see(table)
    with pytest.raises(ValueError, match=r"column 'x' has more than 256 distinct values, too many .*mdlp"):
        survey.settle()


def test_rows_that_differ_between_passes_raise(monkeypatch):
    limit(monkeypatch, 10, 0, 2**14)
    table = pa.table({"x": np.arange(100) / 7, "y": ["a", "b"] * 50})
    survey = Survey(None, "y", table.schema)
    survey.see(table)
    assert survey.settle()
    survey.see(table[:50])
    with pytest.raises(ValueError, match="the first pass read 100 rows, but a later pass read 50"):
        survey.settle()
    survey = Survey(None, "y", table.schema)
    survey.see(table)
    assert survey.settle()
    survey.see(table.set_column(0, "x", pa.array(np.zeros(100))))
    with pytest.raises(ValueError, match="the rows differ between passes"):
        survey.settle()


def test_later_passes_need_only_the_unfinished_columns(monkeypatch):
    limit(monkeypatch, 10, 0, 2**14)
    table = pa.table({"a": ["p", "q"] * 50, "x": np.arange(100) / 7, "y": ["a", "b"] * 50})
    survey = Survey(None, "y", table.schema)
    survey.see(table)
    assert survey.settle()
    assert survey.names == ("x", "y")
    survey.see(table.select(["y", "x"]))


@pytest.mark.parametrize(
    ("target", "ignore", "message"),
    [
        ("z", (), "no column 'z'"),
        ("y", ("z",), "no column 'z'"),
        ("y", ("y",), "'y' is the class"),
        ("y", ("x",), "no columns are left to learn from"),
    ],
)
def test_unknown_columns_raise_and_are_named(target, ignore, message):
    with pytest.raises(ValueError, match=message):
        Survey(None, target, pa.schema([("x", pa.float64()), ("y", pa.string())]), ignore)


def test_a_column_that_changes_raises_and_is_named():
    survey = Survey(None, "y", pa.schema([("x", pa.float64()), ("y", pa.string())]))
    with pytest.raises(ValueError, match="some rows lack the column 'x'"):
        survey.see(pa.table({"y": ["a"]}))
    with pytest.raises(ValueError, match="column 'x' has type int64 in some rows"):
        survey.see(pa.table({"x": [1], "y": ["a"]}))


def test_decimals_are_rounded_as_python_rounds_them():
    values = [Decimal("0.1"), Decimal("0.3"), Decimal("12345678901234.56789")]
    table = pa.table({"x": pa.array(values, pa.decimal128(30, 5)), "y": ["a", "b", "a"]})
    survey = Survey(Encoder(n_bins=3), "y", table.schema)
    survey.see(table)
    assert not survey.settle()
    assert survey.schema().columns[0].cuts == (0.1, 0.3)
    assert survey.schema().columns[0].high == 12345678901234.56789


def test_labels_that_other_rows_do_not_declare_raise():
    declared = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["p", "q"]), ordered=True)
    batches = [pa.record_batch({"a": declared, "y": ["n", "m"]}), pa.record_batch({"a": ["z", "z"], "y": ["n", "m"]})]
    survey = Survey(None, "y", batches[0].schema)
    for batch in batches:
        survey.see(batch)
    with pytest.raises(
        ValueError, match=r"^column 'a' declares its levels in some rows, but other rows hold the undeclared level 'z'"
    ):
        survey.settle()


def test_the_error_of_infinite_values_can_be_pickled():
    error = InfiniteValueError("x")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
