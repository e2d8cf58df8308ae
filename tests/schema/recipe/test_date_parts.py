"""The parts of dates, compared with the datetime module."""

import datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanbark.schema.recipe.date_parts import part_codes, part_columns, part_name, varying_parts

EPOCH = datetime.datetime(1970, 1, 1)
MOMENTS = st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2300, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def as_days(moments):
    return np.array([(moment - EPOCH) / datetime.timedelta(days=1) for moment in moments])


@given(st.lists(MOMENTS, min_size=1, max_size=9))
def test_weekdays_months_and_hours_are_those_of_the_calendar(moments):
    days = as_days(moments)
    assert part_codes(days, "weekday").tolist() == [moment.weekday() for moment in moments]
    assert part_codes(days, "month").tolist() == [moment.month - 1 for moment in moments]
    assert part_codes(days, "hour").tolist() == [moment.hour for moment in moments]


def test_missing_dates_have_no_parts():
    assert [part_codes(np.array([np.nan]), part).tolist() for part in ("weekday", "month", "hour")] == [[-1]] * 3
    assert varying_parts(np.array([np.nan, np.nan])) == varying_parts(np.array([])) == ()


@given(st.lists(MOMENTS, min_size=1, max_size=4))
def test_a_part_varies_if_two_dates_differ_in_it(moments):
    parts = {"weekday": datetime.datetime.weekday, "month": lambda one: one.month, "hour": lambda one: one.hour}
    expected = tuple(name for name, of in parts.items() if len({of(moment) for moment in moments}) > 1)
    assert varying_parts(as_days(moments)) == expected


def test_weekdays_and_months_have_all_their_levels_in_order():
    moments = [datetime.datetime(2024, 3, 1, 6), datetime.datetime(2024, 1, 7, 23)]  # a Friday and a Sunday
    weekday, month, hour = part_columns(as_days(moments), "seen", ["weekday", "month", "hour"])
    assert weekday.levels() == DAYS
    assert month.levels() == MONTHS
    assert [DAYS[at] for at in weekday.index()] == ["Fri", "Sun"]
    assert [MONTHS[at] for at in month.index()] == ["Mar", "Jan"]
    assert hour.floats().tolist() == [6.0, 23.0]
    assert [one.name for one in (weekday, month, hour)] == ["seen (weekday)", "seen (month)", "seen (hour)"]


def test_the_name_of_a_part_names_the_column_and_the_part():
    assert part_name("signed up", "month") == "signed up (month)"
