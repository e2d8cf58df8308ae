"""How the kinds of columns of text are found, each rule as it is documented."""

import datetime
import random
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Category, Counts, Encoder, Number, Recipe
from tanbark.schema.recipe.recipe import InputColumn


def read(values, **parameters):
    """Return how a column named x is read, its column of the schema, and the warnings."""
    table = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = (
            Encoder(**{"coerce": True, "bins": "quantile"} | parameters).fit(table, np.arange(len(table)) % 2).schema_
        )
    return schema.recipe.inputs[0], schema.columns[0], [str(w.message) for w in caught]


def kind(values, **parameters):
    return read(values, **parameters)[0].kind


NUMBERS = [str(n / 4) for n in range(1, 40)]

# Missing values


@pytest.mark.parametrize("marker", ["", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?", " n/a "])
def test_common_markers_are_missing_values_in_numbers_and_in_categories(marker):
    assert read([*NUMBERS, marker], missing="state")[::2] == (InputColumn("x", "number"), [])
    assert read([*NUMBERS, marker], missing="state")[1].missing
    one, column, _ = read(["a", "b", marker], missing="state")
    assert (one.kind, column.levels, column.missing) == ("category", ("a", "b"), True)


@pytest.mark.parametrize("marker", ["None", "none", "nil", "-", "--", ".", "missing", "Unknown"])
def test_other_markers_are_missing_values_only_in_numbers_and_dates(marker):
    assert read([*NUMBERS, marker], missing="state")[::2] == (InputColumn("x", "number"), [])
    one, column, _ = read(["2024-03-01", "2024-03-02", marker], missing="state")
    assert (one.kind, column.missing) == ("date", True)
    one, column, _ = read(["a", "b", marker], missing="state")
    assert (one.kind, column.levels, column.missing) == ("category", tuple(sorted(["a", "b", marker])), False)


def test_markers_can_be_added_and_replaced():
    assert read(["1.5", "-9", "2.5"], coerce=Recipe(missing=["-9"]))[1].low == 1.5
    assert read(["1.5", "-9", "2.5"] * 1000, coerce=Recipe(missing=["-9"]))[1].low == 1.5
    assert read(["a", "?"], coerce=Recipe(missing=["-9"]))[1].levels == ("?", "a")


def test_a_column_without_values_is_an_empty_category():
    assert read(["", "n/a", None])[1] == Category("x", ())


# Numbers


@pytest.mark.parametrize(("words", "expected"), [(10, "number"), (11, "category")])
def test_a_column_of_at_least_nine_tenths_numbers_is_numeric(words, expected):
    assert kind([str(n) for n in range(100, 190)] + [f"w{n}" for n in range(words)]) == expected


def test_missing_values_do_not_count_for_the_share_of_numbers():
    assert kind(["1", "2", "3"] + ["n/a"] * 97) == "number"


def test_a_note_has_the_five_commonest_values_that_are_not_numbers():
    words = ["n.k."] * 5 + ["see note"] * 4 + ["x"] * 3 + ["b"] * 2 + ["c"] * 2 + ["a"]
    commonest = "'n.k.', 'see note', 'x', 'b', 'c'"
    expected = f"column 'x': read as numbers; 17 of 217 values were not ({commonest}) and count as missing"
    one, column, notes = read([str(n) for n in range(200)] + words)
    assert notes == [expected]
    assert (column.low, column.high) == (0, 199)
    assert one == InputColumn("x", "number")
    assert read([*NUMBERS, "n.k."])[2] == [
        "column 'x': read as numbers; 1 of 40 values was not ('n.k.') and counts as missing"
    ]


@pytest.mark.parametrize("text", ["12,345", "1,234,567", "+5", " 1.23 ", "\t2\n", "1e3", "-7", "\u22127", ".5", "5."])
def test_numbers_may_have_separators_signs_and_blanks(text):
    assert kind([text, "1000"]) == "number"


@pytest.mark.parametrize("text", ["12,34", "1,2345", "1 234", "1'234", "12,34,567", "5 kg", "1.2.3"])
def test_other_forms_are_text(text):
    assert kind([text, text + " "], coerce=Recipe(decimal=".")) == "category"


def test_a_column_of_money_has_one_currency():
    one, column, _ = read(["$1,190.61", "$5", "1000", "($120)", "(3.5)"], bins="width")
    assert (one.kind, one.currency, column.low, column.high) == ("number", "$", -120, 1190.61)
    assert kind(["$5", "€6", "$7"]) == "category"


def test_parentheses_are_text_without_a_currency():
    assert kind(["(1)", "(2)", "(3)"]) == "category"
    assert read(["(120.5)", "678.9", "7.25"])[2] == [
        "column 'x' stays text because numbers in parentheses, as in '(120.5)', are negative only with a currency sign"
    ]


def test_several_currencies_are_named():
    assert read(["$5", "€6", "7"])[2] == ["column 'x' stays text because of several currencies, as in '$5'"]


def test_the_values_that_keep_a_column_from_being_dates_are_named():
    days = [f"2024-03-{n:02}" for n in range(1, 30)]
    reason = (
        "column 'x' stays text because 1 of 30 values is not a date ('2024-02-30'); name missing values with missing="
    )
    assert reason in read([*days, "2024-02-30"])[2]
    assert not any("stays text" in note for note in read([*days[:5], *(f"w{n}" for n in range(20))])[2])
    assert kind([*days, "soon"], coerce=Recipe(missing=["soon"])) == "date"


def test_percentages_are_numbers():
    one, column, notes = read(["73%", "8.5 %", "12"], categorical="auto")
    assert (one.kind, column.low, column.high, notes) == ("number", 8.5, 73, [])


def test_bounds_are_read_with_a_note():
    one, column, notes = read(["<0.5", "0.7", "3", "90+", "4.5", "<0.5", "6", "7"])
    assert (one.kind, column.low, column.high) == ("number", 0.5, 90)
    assert notes == ["column 'x': values such as '<0.5' are read as 0.5"]


def test_a_column_of_bounds_alone_is_text():
    assert kind(["<20", ">60", "20-60"]) == kind(["<20", ">60"]) == kind(["18+", "65+"]) == "category"
    assert kind(["<18", "18+", "17"] * 10) == "category"


def test_a_column_below_its_detection_limit_in_most_rows_holds_numbers():
    assert kind(["<0.01"] * 90 + ["0.02", "0.35"] * 5) == "number"


def test_a_decimal_comma_needs_a_value_that_cannot_be_a_thousands_separator():
    assert read(["1,234", "5,678"])[0].decimal == "."
    assert read(["1,234", "5,678"])[1] == Category("x", (1234, 5678))
    one, column, notes = read(["1,234", "5,67", "0,5"])
    assert (one.decimal, column.low, column.high) == (",", 0.5, 5.67)
    assert notes == ["column 'x': read with a decimal comma"]
    assert read(["0,125", "0,250"])[1].low == 0.125


def test_thousands_points_and_a_decimal_comma_are_read():
    assert read(["1.234,5", "980,00", "12"])[1].high == 1234.5


def test_the_point_is_the_decimal_separator_if_most_values_have_it():
    one, column, _ = read([*NUMBERS, "1,5"])
    assert (one.decimal, column.high) == (".", 9.75)


def test_a_given_decimal_separator_decides():
    assert read(["1,234", "5,678"], coerce=Recipe(decimal=","))[1].high == 5.678
    assert kind(["1,23", "5,67"], coerce=Recipe(decimal=".")) == "category"


def test_leading_zeros_are_text_with_a_note():
    one, column, notes = read(["01234", "80331", "10115"])
    assert (one.kind, column.levels) == ("category", ("01234", "10115", "80331"))
    assert notes == ["column 'x' stays text because of leading zeros, as in '01234'"]
    assert kind(["0", "0.5", "10"]) == "number"


def test_words_with_leading_zeros_need_no_note():
    assert read(["007", "bond", "q"])[2] == []


def test_few_whole_numbers_are_categories_with_numbers_as_levels():
    assert read(["3", "1", "2.0"])[1] == Category("x", (1, 2, 3))


# Dates


@pytest.mark.parametrize(
    ("values", "date_format"),
    [
        (["2024-03-01", "2023/12/31"], "year-month-day"),
        (["2024-03-01T12:30:00Z", "2023-12-31 08:00"], "year-month-day"),
        (["1.3.2024", "31.12.2023"], "day.month.year"),
        (["1 March 2024", "31-Dec-2023"], "month name"),
        (["31/12/2023", "01/03/2024"], "day/month/year"),
        (["12/31/2023", "03/01/2024"], "month/day/year"),
        (["08:30", "17:45"], "time of day"),
    ],
)
def test_a_column_is_of_dates_if_every_value_has_the_same_format(values, date_format):
    one, _, notes = read([*values, "n/a", "-", None])
    assert (one.kind, one.date_format, notes) == ("date", date_format, [])


@pytest.mark.parametrize(
    "values",
    [
        ["20-29", "30-39"],
        ["2024-03-01", "soon"],
        ["2024-03-01", "1.3.2024"],
        ["12/31/2023", "31/12/2023"],
        ["2024-03-01", "2024-02-30"],
        ["May 2024", "June 2024"],
        ["2024-03-01"] * 99 + ["2024"],
    ],
)
def test_otherwise_it_is_text(values):
    assert kind(values) == "category"


def test_ambiguous_dates_are_read_with_the_month_first_and_a_note():
    one, column, notes = read(["01/02/2024", "03/04/2024"])
    assert (one.date_format, column.texts_of([column.low, column.high])) == (
        "month/day/year",
        ["2024-01-02", "2024-03-04"],
    )
    assert notes == [
        "column 'x': dates such as '01/02/2024' are read as month/day/year; use day_first=True for day/month/year"
    ]
    one, column, notes = read(["01/02/2024", "03/04/2024"], coerce=Recipe(day_first=True))
    assert (one.date_format, column.texts_of([column.low]), notes) == ("day/month/year", ["2024-02-01"], [])


def test_one_unambiguous_date_decides_for_the_column():
    assert read(["01/02/2024", "13/02/2024"])[0].date_format == "day/month/year"
    assert read(["01/02/2024", "02/13/2024"], coerce=Recipe(day_first=True))[0].date_format == "month/day/year"


def test_dates_become_a_number_and_the_parts_that_vary():
    table = pd.DataFrame({"seen": ["2024-03-01 08:00", "2024-03-08 08:00", "2024-04-05 08:00"]})  # all are Fridays
    schema = Encoder(coerce=True).fit(table, [0, 1, 1]).schema_
    assert schema.names == ("seen", "seen (month)")
    assert [column.source for column in schema.columns] == [None, "seen"]
    assert schema.input_names == ("seen",)
    assert schema.source_index.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("dates", "names"),
    [
        ("expand", ("when", "when (weekday)", "when (month)", "when (hour)", "a")),
        ("number", ("when", "a")),
        ("ignore", ("a",)),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_the_parameter_dates_decides_what_dates_become(dates, names, typed):
    moments = [datetime.datetime(2024, 3, 1, 6), datetime.datetime(2024, 7, 6, 9), datetime.datetime(2025, 1, 1, 23)]
    table = pd.DataFrame({"when": moments if typed else [str(one) for one in moments], "a": ["p", "q", "p"]})
    schema = Encoder(dates=dates, coerce=not typed).fit(table, [0, 1, 0]).schema_
    assert schema.names == names
    assert schema.input_names == ("when", "a")
    assert schema.encode(table).shape == (len(names), 3)


@pytest.mark.parametrize("coerce", [True, False])
def test_dates_can_be_errors(coerce):
    table = pd.DataFrame({"when": ["2024-03-01"]}) if coerce else pd.DataFrame({"when": [pd.Timestamp("2024-03-01")]})
    with pytest.raises(TypeError, match="column 'when' holds dates or times; convert it to numbers"):
        Encoder(dates="error", coerce=coerce).fit(table, [1])


def test_dates_of_a_time_zone_count_in_utc():
    stamps = pd.to_datetime(["2024-03-01 06:00", "2024-03-02 06:00"]).tz_localize("Asia/Tokyo")  # nine hours ahead
    column = Encoder().fit(pd.DataFrame({"when": stamps}), [0, 1]).schema_.columns[0]
    assert column.texts_of([column.low, column.high]) == ["2024-02-29 21:00", "2024-03-01 21:00"]


def test_durations_are_numbers_of_days():
    spans = pd.DataFrame({"stay": pd.to_timedelta(np.arange(20) * 6, unit="h")})
    column = Encoder().fit(spans, [0, 1] * 10).schema_.columns[0]
    assert (column.low, column.high, column.is_date) == (0.0, 4.75, False)


@pytest.mark.parametrize("rows", [40, 5000])
def test_intervals_of_pandas_are_ordered_categories(rows):
    ages = pd.cut(np.arange(rows) % 40, [-1, 9, 19, 100])
    schema = Encoder(coerce=True).fit(pd.DataFrame({"age": ages}), np.arange(rows) % 2).schema_
    assert schema.columns == (Category("age", ("(-1, 9]", "(9, 19]", "(19, 100]")),)


# Columns that are never coerced


def test_declared_and_categorical_columns_and_booleans_are_not_coerced():
    table = pd.DataFrame(
        {
            "declared": pd.Categorical(["10", "2", "n/a"], categories=["2", "10", "n/a"]),
            "categorical": ["1.5", "2.5", "n/a"],
            "boolean": [True, False, True],
        }
    )
    schema = Encoder(coerce=True, categorical=["categorical"]).fit(table, [0, 1, 0]).schema_
    assert [column.levels for column in schema.columns] == [("2", "10", "n/a"), ("1.5", "2.5"), (False, True)]


@pytest.mark.parametrize("coerce", [True, False])
def test_dates_cannot_be_categories(coerce):
    table = pa.table({"d": pd.date_range("2024-01-01", periods=4), "y": ["a", "b"] * 2})
    encoder = Encoder(coerce=coerce, categorical=["d"])
    message = r"^column 'd' holds dates, which cannot be categories; convert them to text"
    with pytest.raises(TypeError, match=message):
        encoder.fit(table.drop_columns("y"), table["y"])
    with pytest.raises(TypeError, match=message):
        Counts.from_batches(table, "y", encoder=encoder)
    assert Encoder(coerce=coerce, categorical="all").fit(table.drop_columns("y"), table["y"]).schema_.columns[0].is_date


def test_the_class_is_not_coerced():
    schema = Encoder(coerce=True).fit(pd.DataFrame({"x": ["1.5", "2.5"]}), ["1,000", "$2"]).schema_
    assert schema.classes == ("$2", "1,000")


def test_without_coerce_text_is_a_category():
    table = pd.DataFrame({"x": ["1.5", "n/a"], "day": ["2024-03-01", "?"]})
    schema = Encoder().fit(table, [0, 1]).schema_
    assert [column.levels for column in schema.columns] == [("1.5", "n/a"), ("2024-03-01", "?")]
    assert schema.recipe is None


def test_a_given_column_replaces_the_detection():
    table = pd.DataFrame({"plz": ["01234", "80331"], "n": ["1.5", "2.5"], "gone": ["p", "q"], "b": ["yes", "no"]})
    inputs = [InputColumn("plz", "number"), InputColumn("gone", "ignored"), InputColumn("b", "boolean")]
    schema = Encoder(coerce=Recipe(inputs=inputs), categorical="auto").fit(table, [0, 1]).schema_
    assert schema.names == ("plz", "n", "b")
    assert schema.columns[0] == Category("plz", (1234, 80331))
    assert schema.columns[1] == Number("n", (1.5,), 1.5, 2.5)
    assert schema.columns[2].levels == (False, True)


# The same schema whatever the order of the rows and the type of the table

TEXTS = st.one_of(
    st.integers(-99, 9999).map(lambda v: f"{v:,}"),
    st.floats(0, 99).map(lambda v: f"{v:.2f}"),
    st.sampled_from(
        ["n/a", "-", "$5", "<5", "73%", "1,5", "x", "n.k.", "2024-03-01", "03/04/2024", "13/02/2024", "007"]
    ),
)


@st.composite
def columns(draw):
    few = draw(st.lists(TEXTS, min_size=1, max_size=9))
    return [
        *few,
        *draw(st.lists(st.sampled_from(few), max_size=40)),
        *map(str, range(100, draw(st.integers(100, 160)))),
    ]


@settings(max_examples=150)
@given(columns(), st.randoms(use_true_random=False))
def test_detection_does_not_depend_on_the_order_of_the_rows(values, shuffle):
    before = read(values)
    shuffle.shuffle(values)
    assert read(values) == before


def test_numbers_with_a_point_in_a_column_with_decimal_commas_are_named():
    assert read(["1,5"] * 30 + ["0.00"])[2][0] == (
        "column 'x': read as numbers; 1 of 31 values was not ('0.00') and counts as missing"
    )


def test_examples_do_not_depend_on_the_order_of_thousands_of_unreadable_values():
    words = [f"w{n}" for n in range(1500)] + ["z"] * 2
    values = words + [str(n) for n in range(14_000)]
    expected = "column 'x': read as numbers; 1,502 of 15,502 values were not ('z', 'w0', 'w1', 'w10', 'w100')"
    for seed in (0, 1):
        random.Random(seed).shuffle(values)
        assert read(values)[2][0].startswith(expected)


@settings(max_examples=100)
@given(columns(), columns())
def test_pandas_polars_and_arrow_give_the_same_schema(first, second):
    rows = min(len(first), len(second))
    texts = {"a": first[:rows], "b": second[:rows]}
    frames = [pd.DataFrame(texts), pd.DataFrame(texts, dtype="string"), pl.DataFrame(texts), pa.table(texts)]
    found = []
    for frame in frames:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schema = Encoder(coerce=True, identifiers="drop").fit(frame, np.arange(rows) % 2).schema_
            codes = schema.encode(frame).tolist()
        found.append((schema, [str(w.message) for w in caught], codes))
    assert all(one == found[0] for one in found)


@given(st.lists(st.one_of(st.none(), st.integers(-9, 9), st.floats(-1e6, 1e6)), min_size=1, max_size=60))
def test_numbers_in_text_give_the_same_column_as_typed_numbers(values):
    y = np.arange(len(values)) % 2
    text = pd.DataFrame({"x": pd.Series([None if v is None else repr(v) for v in values], dtype=object)})
    typed = pd.DataFrame({"x": pd.Series(values, dtype="float64")})
    if all(v is None for v in values):
        return
    expected = Encoder(coerce=True).fit(typed, y).schema_
    found = Encoder(coerce=True).fit(text, y).schema_
    assert found == expected
    assert (found.encode(text) == expected.encode(typed)).all()
    assert (found.encode(typed) == expected.encode(text)).all()


def test_invalid_unicode_is_text():
    words = [f"w{n}" for n in range(70)]
    one, column, _ = read(["\ud800", *words, "1.5"])
    assert (one.kind, len(column.levels)) == ("category", 72)
    assert kind(["\ud800", *(str(n / 4) for n in range(70))]) == "number"
