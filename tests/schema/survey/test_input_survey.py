"""A survey of streamed rows reads text, dates and identifiers as an encoder reads the whole table."""

import datetime
import pickle
import warnings

import narwhals as nw
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Encoder, Recipe
from tanbark.schema import Survey
from tanbark.schema.recipe.recipe import InputColumn

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
        bins=draw(st.sampled_from(["quantile", "width", "mdlp"])),
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
