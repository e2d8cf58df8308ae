"""A survey of streamed rows reads text, dates and identifiers as an encoder reads the whole table."""

import datetime
import pickle
import random
import warnings

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Encoder, Recipe
from tanbark.schema import Survey
from tanbark.schema.recipe.recipe import InputColumn
from tanbark.schema.survey import input_survey

DAY = datetime.datetime(2023, 11, 28, 22)
HOURS = st.integers(0, 24 * 400).map(lambda hours: DAY + datetime.timedelta(hours=hours))
MARKS = st.sampled_from(["", "NA", "n/a", "#N/A", "NaN", " null", "?", "-", "--", ".", "None", "missing", "unknown"])
JUNK = st.sampled_from(["n.k.", "see note", "x", "1,2,3", "€", "12 kg", "2024-02-30", "007"])
NUMBER = st.integers(-2000, 5000)


def written(value, style):
    return {
        "plain": f"{value}",
        "fraction": f" {value / 8} ",
        "thousands": f"{value:,}",
        "money": f"${value:,}" if value >= 0 else f"(${-value:,})",
        "percent": f"{value}%",
        "comma": f"{value},5",
        "bound": f"<{abs(value)}",
        "above": f"{abs(value)}+",
    }[style]


STYLES = ["plain", "fraction", "thousands", "money", "percent", "comma", "bound", "above"]
TEXTS = {
    **{style: NUMBER.map(lambda v, style=style: written(v, style)) for style in STYLES},
    "mixed": st.tuples(NUMBER, st.sampled_from(STYLES)).map(lambda pair: written(*pair)),
    "iso": HOURS.map(lambda one: one.strftime("%Y-%m-%d")),
    "iso with time": HOURS.map(lambda one: one.isoformat()),
    "slashes": HOURS.map(lambda one: one.strftime("%m/%d/%Y")),
    "dots": HOURS.map(lambda one: one.strftime("%d.%m.%Y %H:%M")),
    "clock": HOURS.map(lambda one: one.strftime("%H:%M")),
    "words": st.sampled_from(["red", "green", "blue", "yes", "True", "none", "20-29", "May 2024"]),
}
TYPED = {
    "stamp": (pa.timestamp("us"), HOURS),
    "zone": (pa.timestamp("ms", "Asia/Tokyo"), HOURS),
    "day": (pa.date32(), HOURS.map(lambda one: one.date())),
    "span": (pa.duration("s"), st.integers(0, 99).map(lambda hours: datetime.timedelta(hours=hours))),
    "clock type": (pa.time64("us"), HOURS.map(lambda one: one.time())),
    "int": (pa.int64(), st.integers(-3, 99)),
    "float": (pa.float64(), st.integers(-3, 99).map(lambda v: v / 4)),
    "bool": (pa.bool_(), st.booleans()),
    "nothing": (pa.null(), st.none()),
    "decimal": (pa.decimal128(9, 1), st.integers(-3, 99)),
    "stored": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["1", "2", "2,5", "NA", "a"])),
}


@st.composite
def tables(draw):
    """Return a table of up to 150 rows with text of several kinds, typed columns, identifiers and a class."""
    distinct = draw(st.integers(1, 12))
    rows = distinct * draw(st.integers(1, 12))
    columns = {}
    for name in draw(
        st.lists(st.sampled_from(sorted([*TEXTS, *TYPED, "id", "number", "note"])), min_size=1, max_size=4, unique=True)
    ):
        if name == "id":
            columns[name] = [f"patient {row % draw(st.sampled_from([rows, max(rows - 20, 1)]))}" for row in range(rows)]
        elif name == "number":
            numbers = list(range(7, 7 + rows))
            columns[name] = pa.array(numbers) if draw(st.booleans()) else list(map(str, numbers))
        elif name == "note":
            columns[name] = [f"{'a long remark about what was seen ' * 2}{row // 2}" for row in range(rows)]
        else:
            stored, values = TYPED.get(name, (pa.string(), TEXTS.get(name)))
            values = st.one_of(values, values, values, st.none())
            if name in TEXTS:
                values = st.one_of(values, values, MARKS)
                values = st.one_of(*[values] * draw(st.sampled_from([1, 9])), JUNK)
            chosen = draw(st.lists(values, min_size=distinct, max_size=distinct))
            columns[name] = pa.array((chosen * rows)[:rows], stored)
    columns["y"] = pa.array([draw(st.sampled_from(["a", "b", None])) for _ in range(min(rows, 9))] * rows)[:rows]
    return pa.table(columns)


@st.composite
def encoders(draw, names):
    kinds = ["ignored"] if names[0] in ("stamp", "zone", "day") else ["category", "ignored", "number"]
    inputs = draw(st.sampled_from([(), (InputColumn(names[0], draw(st.sampled_from(kinds))),)]))
    recipe = Recipe(
        decimal=draw(st.sampled_from(["auto", "auto", ".", ","])), day_first=draw(st.booleans()), inputs=inputs
    )
    return Encoder(
        coerce=draw(st.sampled_from([True, True, False, recipe])),
        categorical=draw(st.sampled_from(["auto", "auto", names[-1:]])),
        dates=draw(st.sampled_from(["expand", "expand", "number", "ignore"])),
        identifiers=draw(st.sampled_from(["drop", "keep"])),
        keep=draw(st.sampled_from([(), (names[0],)])),
        missing=draw(st.sampled_from(["marginalize", "state"])),
        bins=draw(st.sampled_from(["auto", "modl", "quantile", "width", "mdlp"])),
    )


def noted(learn):
    """Return the result or the error of a function, and its warnings in any order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = learn()
        except (ValueError, TypeError) as error:
            return type(error), str(error)
    return result, sorted(str(w.message) for w in caught)


def whole(encoder, table):
    y = nw.from_native(table.column("y"), series_only=True).alias("y")
    return noted(lambda: encoder.fit(table.drop_columns(["y"]), y).schema_)


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
                shuffle.choice([survey, *others]).merge(first)
                rest = others
            if not survey.settle():
                return survey.schema()

    return noted(learn)


@settings(max_examples=300)
@given(st.data(), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_schema_and_the_warnings_are_those_of_the_whole_table(data, workers, shuffle):
    table = data.draw(tables())
    encoder = data.draw(encoders([name for name in table.column_names if name != "y"]))
    batches = table.to_batches(data.draw(st.integers(1, 60)))
    assert surveyed(encoder, batches, table.schema, workers, shuffle) == whole(encoder, table)


@settings(max_examples=60)
@given(st.integers(0, 99), st.sampled_from([*STYLES[:6], "iso"]), st.integers(0, 2), st.randoms(use_true_random=False))
def test_more_texts_than_are_stored_give_the_same_schema_of_numbers_and_dates(seed, style, workers, shuffle):
    rng = np.random.default_rng(seed)
    values = rng.integers(-2000, 5000, 200).tolist()
    days = [str(np.datetime64("2024-01-01") + value) for value in values]
    texts = days if style == "iso" else [written(value, style) for value in values]
    texts[:6] = ["n/a", "-", "", "n/a", "?", "."]
    table = pa.table({"x": texts, "y": ["a", "b"] * 100})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_survey, "MAX_DISTINCT_LABELS", 20)
        found = surveyed(Encoder(coerce=True), table.to_batches(30), table.schema, workers, shuffle)
    assert found == whole(Encoder(coerce=True), table)


def test_a_category_of_more_texts_than_are_stored_is_an_identifier_or_an_error(monkeypatch):
    monkeypatch.setattr(input_survey, "MAX_DISTINCT_LABELS", 20)
    table = pa.table({"id": [f"p{n}" for n in range(60)], "size": [n / 4 for n in range(60)], "y": ["a", "b"] * 30})
    shuffle = random.Random(0)
    schema, notes = surveyed(Encoder(coerce=True, identifiers="drop"), table.to_batches(7), table.schema, 2, shuffle)
    assert schema.names == ("size",)
    assert notes == ["column 'id' looks like an identifier: left out; keep it with keep=['id']"]
    for encoder in (Encoder(coerce=True), Encoder(coerce=True, identifiers="drop", keep=["id"])):
        error, message = surveyed(encoder, table.to_batches(7), table.schema, 2, shuffle)
        assert error is ValueError
        assert message.startswith("column 'id' has more than")
    error, message = surveyed(
        Encoder(coerce=True, identifiers="drop"), table.drop_columns("size").to_batches(7), table.schema, 1, shuffle
    )
    assert error is ValueError


def test_a_survey_reports_given_columns_that_cannot_be_read():
    table = pa.table({"x": ["red", "blue", "1"] * 20, "y": ["a", "b"] * 30})
    encoder = Encoder(coerce=Recipe(inputs=[InputColumn("x", "number")]))
    expected = (
        "column 'x': expected numbers, but 40 of 60 values are not ('blue', 'red'); check that this is the right column"
    )
    assert surveyed(encoder, table.to_batches(7), table.schema, 2, random.Random(0)) == (ValueError, expected)
    assert whole(encoder, table) == (ValueError, expected)


def test_a_survey_raises_for_dates_that_are_errors():
    for values in (["2024-03-01", "2024-03-02"], [datetime.date(2024, 3, 1), datetime.date(2024, 3, 2)]):
        table = pa.table({"x": values, "y": ["a", "b"]})
        encoder = Encoder(coerce=True, dates="error")
        error, message = surveyed(encoder, table.to_batches(), table.schema, 0, random.Random(0))
        assert (error, message) == whole(encoder, table)
        assert error is TypeError
