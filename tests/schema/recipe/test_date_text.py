"""Dates in text, compared with the datetime module."""

import calendar
import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark.schema.read.table_reader import read_column
from tanbark.schema.recipe.date_text import DATE_FORMATS, date_formats_of, date_in, days_of, read_dates

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MOMENTS = st.datetimes(datetime.datetime(1000, 1, 1), datetime.datetime(9999, 12, 30))
ZONES = st.integers(-12 * 60, 14 * 60).map(lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes)))
MONTHS = calendar.month_name[1:]


def days(moment):
    """Return the days since 1970 of a moment, UTC if it has no time zone."""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return pytest.approx((moment - EPOCH) / datetime.timedelta(days=1), rel=1e-15, abs=1e-15)


@given(MOMENTS)
def test_iso_moments_read_back(moment):
    assert date_in(moment.isoformat(), "year-month-day") == days(moment)
    assert date_in(moment.isoformat(" "), "year-month-day") == days(moment)
    assert date_in(f" {moment.date().isoformat()} ", "year-month-day") == days(
        moment.replace(hour=0, minute=0, second=0, microsecond=0)
    )


@given(MOMENTS.map(lambda moment: moment.replace(microsecond=0)), ZONES)
def test_an_offset_is_converted_to_utc(moment, zone):
    moment = moment.replace(tzinfo=zone)
    for text in (moment.isoformat(), moment.strftime("%Y-%m-%d %H:%M:%S %z")):
        assert date_in(text, "year-month-day") == days(datetime.datetime.fromisoformat(moment.isoformat()))


def test_z_is_utc():
    assert date_in("2024-03-01T12:00Z", "year-month-day") == days(datetime.datetime(2024, 3, 1, 12))


@given(MOMENTS.map(lambda moment: moment.replace(second=0, microsecond=0)))
def test_other_formats_read_as_strptime_reads_them(moment):
    y, m, d, clock = moment.year, moment.month, moment.day, f"{moment.hour:02}:{moment.minute:02}"
    half = f"{moment.hour % 12 or 12}:{moment.minute:02} {'AM' if moment.hour < 12 else 'PM'}"
    texts = {
        f"{d}.{m}.{y} {clock}": "day.month.year",
        f"{d:02}. {m:02}. {y} {clock}": "day.month.year",
        f"{d:02}/{m:02}/{y} {clock}": "day/month/year",
        f"{m}/{d}/{y}, {half}": "month/day/year",
        f"{m:02}-{d:02}-{y} {half}": "month/day/year",
        f"{y}/{m}/{d} {clock}": "year-month-day",
        f"{d} {MONTHS[m - 1]} {y} {clock}": "month name",
        f"{d}-{MONTHS[m - 1][:3].upper()}-{y} {clock}": "month name",
        f"{MONTHS[m - 1][:3]} {d}, {y} {half}": "month name",
    }
    for text, name in texts.items():
        assert date_in(text, name) == days(moment)
        assert name in date_formats_of(text)


@given(st.times().map(lambda time: time.replace(microsecond=0)))
def test_a_time_of_day_is_a_number_of_hours(time):
    expected = (time.hour * 3600 + time.minute * 60 + time.second) / 3600
    assert date_in(time.isoformat(), "time of day") == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2024-02-30",
            "2024-13-01",
            "2024-00-10",
            "0000-01-01",
            "2024-1",
            "2024",
            "20240301",
            "2024-03/01",
            "24-03-01",
        ),
        *("2024-03-01 24:00", "2024-03-01 12:60", "2024-03-01T12:00:60", "2024-03-01 13:00 PM", "2024-03-01 0:30 AM"),
        *("2024-03-01T12:00+24:00", "2024-03-01T12:00+01:60", "31.4.2024", "31/31/2024", "29 Feb 2023", "1 Foo 2024"),
        *("20-29", "1-2", "May 2024", "2024-03-01 tomorrow", "1/2/24", "", "-", "1.5", "12:61", "25:00", "x" * 100),
    ],
)
def test_anything_else_is_not_a_date(text):
    assert date_formats_of(text) == frozenset()
    assert all(date_in(text, name) is None for name in DATE_FORMATS)


def test_only_dates_with_slashes_or_dashes_and_a_small_day_are_ambiguous():
    assert date_formats_of("01/02/2024") == date_formats_of("1-2-2024") == {"month/day/year", "day/month/year"}
    assert date_formats_of("13/02/2024") == {"day/month/year"}
    assert date_formats_of("02/13/2024") == {"month/day/year"}
    assert date_formats_of("01.02.2024") == {"day.month.year"}


@given(st.text(max_size=60), st.sampled_from(DATE_FORMATS))
def test_no_text_raises(text, date_format):
    date_in(text, date_format)
    date_formats_of(text)


@given(st.text("0123456789-/.: TZapm+", max_size=25), st.sampled_from(DATE_FORMATS))
def test_no_text_of_the_characters_of_dates_raises(text, date_format):
    date_in(text, date_format)
    date_formats_of(text)


ISO = st.one_of(MOMENTS.map(str), MOMENTS.map(lambda one: one.date().isoformat()), st.just("2024-02-30"), st.just("x"))


@given(st.lists(st.one_of(MOMENTS.map(str), MOMENTS.map(lambda one: one.date().isoformat())), min_size=64, max_size=80))
def test_long_lists_are_read_by_arrow_as_short_ones_are_by_python(texts):
    one_by_one = [date_in(text, "year-month-day") for text in texts]
    assert read_dates(texts, "year-month-day").tolist() == one_by_one


@given(st.lists(ISO, min_size=64, max_size=80))
def test_long_lists_with_other_texts_are_read_by_python(texts):
    expected = [np.nan if text in ("2024-02-30", "x") else date_in(text, "year-month-day") for text in texts]
    np.testing.assert_array_equal(read_dates(texts, "year-month-day"), expected)


@given(st.lists(st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)), min_size=1, max_size=9))
def test_text_objects_and_arrays_of_all_units_give_exactly_the_same_numbers(moments):
    whole = [moment.replace(microsecond=0) for moment in moments]
    expected = [date_in(moment.isoformat(), "year-month-day") for moment in whole]
    for unit in ("s", "ms", "us", "ns"):
        assert read_column(np.array(whole, f"datetime64[{unit}]"), "when").floats().tolist() == expected
    assert read_column(np.array(whole, object), "when").floats().tolist() == expected
    assert read_column(pa.array(whole), "when").floats().tolist() == expected
    assert read_column(pd.Series(whole).dt.tz_localize("UTC"), "when").floats().tolist() == expected


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-01T12:00",
        datetime.datetime(2024, 3, 1, 12),
        datetime.datetime(2024, 3, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        np.datetime64("2024-03-01T12"),
        pd.Timestamp(2024, 3, 1, 12),
    ],
)
def test_one_date_of_any_type_is_a_number_of_days(value):
    assert days_of(value, "when") == days(datetime.datetime(2024, 3, 1, 12))


@pytest.mark.parametrize("value", ["soon", "01/02/2024", 19_000, [1], b"2024-03-01"])
def test_a_value_that_is_no_date_raises(value):
    with pytest.raises(ValueError, match=r"^column 'when' holds dates, but got .*; give a date such as '2024-03-01'$"):
        days_of(value, "when")
