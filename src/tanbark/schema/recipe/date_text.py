"""Dates and times in text: ISO, ``13/02/2024``, ``13.2.2024``, ``13 Feb 2024``, and times of day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cache
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.read.raw_columns import MICROSECONDS_PER_DAY, days_of_microseconds, read_temporal_objects
from tanbark.schema.recipe.number_text import as_arrow_strings

TIME_OF_DAY = "time of day"
"""The format of times without a date."""
UNAMBIGUOUS_FORMATS = ("year-month-day", "day.month.year", "month name", TIME_OF_DAY)
"""Formats of which a text can have only one."""
AMBIGUOUS_FORMATS = ("month/day/year", "day/month/year")
"""Formats that 01/02/2024 has both."""
DATE_FORMATS = (*UNAMBIGUOUS_FORMATS, *AMBIGUOUS_FORMATS)

DATE_EXAMPLES = {
    "year-month-day": "dates such as 2024-12-31",
    "day.month.year": "dates such as 31.12.2024",
    "month name": "dates such as 31 Dec 2024",
    "month/day/year": "dates such as 12/31/2024",
    "day/month/year": "dates such as 31/12/2024",
    TIME_OF_DAY: "times such as 18:30",
}
"""Expected values of each format, for messages."""

EPOCH = date(1970, 1, 1).toordinal()
MAX_DATE_LENGTH = 40
MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
    "december",
)
_MONTH_NUMBER = {n: m for m, name in enumerate(MONTHS, start=1) for n in (name, name[:3])} | {"sept": 9}

_SECONDS = r"(?::(?P<second>[0-9]{2}(?:[.,][0-9]{1,9})?))?"
_CLOCK = rf"(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}}){_SECONDS}(?:\s?(?P<half>[AaPp])[Mm])?"
_ZONE = r"(?:\s?(?:(?P<utc>Z|UTC|GMT)|(?P<zone>[+-])(?P<zone_hours>[0-9]{2}):?(?P<zone_minutes>[0-9]{2})?))?"
_TIME = rf"(?:(?:T|,?\s+){_CLOCK}{_ZONE})?"
_YEAR, _MONTH, _DAY = r"(?P<year>[0-9]{4})", r"(?P<month>[0-9]{1,2})", r"(?P<day>[0-9]{1,2})"
_FIRST, _SECOND = r"(?P<separator>[-/])", r"(?P=separator)"
_PATTERNS = {
    "year-month-day": _YEAR + _FIRST + _MONTH + _SECOND + _DAY + _TIME,
    "day.month.year": rf"{_DAY}\.\s?{_MONTH}\.\s?{_YEAR}{_TIME}",
    "month name": (
        rf"(?:{_DAY}(?:st|nd|rd|th)?[ .-]{{1,2}}(?P<name>[A-Za-z]{{3,9}})[ .,-]{{1,2}}"
        r"|(?P<name2>[A-Za-z]{3,9})\.?\s(?P<day2>[0-9]{1,2})(?:st|nd|rd|th)?,?\s)"
        rf"{_YEAR}{_TIME}"
    ),
    "day/month/year": _DAY + _FIRST + _MONTH + _SECOND + _YEAR + _TIME,
    "month/day/year": _MONTH + _FIRST + _DAY + _SECOND + _YEAR + _TIME,
    TIME_OF_DAY: _CLOCK,
}


@cache
def _pattern(date_format: str) -> re.Pattern[str]:
    return re.compile(rf"{_PATTERNS[date_format]}\Z")


def date_in(text: str, date_format: str) -> float | None:
    """Return the date that a text holds, or None if it holds anything else.

    Parameters
    ----------
    text : str
        The text. Blanks around it do not matter.
    date_format : str
        One of `DATE_FORMATS`. A time of day, and an offset from UTC, may follow the date.

    Returns
    -------
    days : float or None
        Days since 1970-01-01 UTC; for a time of day, hours since midnight.

    Examples
    --------
    >>> date_in("1970-01-02T12:00Z", "year-month-day"), date_in("3.1.1970", "day.month.year")
    (1.5, 2.0)
    >>> date_in("31/12/2024", "month/day/year"), date_in("6:30 PM", "time of day")
    (None, 18.5)
    """
    text = text.strip()
    found = _pattern(date_format).match(text) if len(text) <= MAX_DATE_LENGTH else None
    if found is None:
        return None
    parts = found.groupdict()
    seconds = _seconds(parts)
    if seconds is None:
        return None
    if date_format == TIME_OF_DAY:
        return seconds / 3600
    name = parts.get("name") or parts.get("name2")
    month = _MONTH_NUMBER.get(name.lower(), 0) if name else int(parts["month"])
    try:
        day = date(int(parts["year"]), month, int(parts.get("day") or parts["day2"]))
    except ValueError:
        return None
    return float(days_of_microseconds((day.toordinal() - EPOCH) * MICROSECONDS_PER_DAY + round(seconds * 1e6)))


def _seconds(parts: dict[str, str | None]) -> float | None:
    """Return the seconds since midnight UTC, or None if the time does not exist."""
    if parts["hour"] is None:
        return 0.0
    hour, minute, second = (
        int(parts["hour"]),
        int(parts["minute"] or 0),
        float((parts["second"] or "0").replace(",", ".")),
    )
    half = (parts["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + 12 * (half == "p")
    if hour > 23 or minute > 59 or second >= 60:
        return None
    seconds = 3600 * hour + 60 * minute + second
    if parts.get("zone"):
        zone_hours, zone_minutes = int(parts["zone_hours"] or 0), int(parts["zone_minutes"] or 0)
        if zone_hours > 23 or zone_minutes > 59:
            return None
        offset = 3600 * zone_hours + 60 * zone_minutes
        seconds -= offset if parts["zone"] == "+" else -offset
    return seconds


def date_formats_of(text: str) -> frozenset[str]:
    """Return the formats in which a text is a date.

    >>> sorted(date_formats_of("01/02/2024")), sorted(date_formats_of("20-29"))
    (['day/month/year', 'month/day/year'], [])
    """
    if len(text) > MAX_DATE_LENGTH + 2 or not any(c in text for c in ":/.- "):
        return frozenset()
    unique = next((name for name in UNAMBIGUOUS_FORMATS if date_in(text, name) is not None), None)
    if unique is not None:
        return frozenset((unique,))
    return frozenset(name for name in AMBIGUOUS_FORMATS if date_in(text, name) is not None)


def read_dates(texts: Sequence[str], date_format: str) -> NDArray[np.float64]:
    """Return the dates that texts hold, NaN for texts that hold anything else.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    date_format : str
        One of `DATE_FORMATS`.

    Returns
    -------
    days : ndarray of float64
        Days since 1970-01-01 UTC; for times of day, hours since midnight.

    Examples
    --------
    >>> read_dates(["1970-01-02", "?", "1970-02-30"], "year-month-day")
    array([ 1., nan, nan])
    """
    strings = as_arrow_strings(texts) if date_format == "year-month-day" else None
    by_arrow = None if strings is None else _read_iso_by_arrow(strings)
    if by_arrow is not None:
        return by_arrow
    found = (date_in(text, date_format) for text in texts)
    return np.array([nan if days is None else days for days in found], np.float64)


def days_of(value: Any, name: str) -> float:
    """Return a date as days since 1970-01-01 UTC; text must be in the ISO format.

    Parameters
    ----------
    value : datetime.date, numpy.datetime64, pandas.Timestamp or str
        The date.
    name : str
        Name of the column, for error messages.

    Returns
    -------
    days : float

    Raises
    ------
    ValueError
        If the value is not a date.

    Examples
    --------
    >>> days_of("1970-01-02T12:00", "seen"), days_of(date(1970, 1, 3), "seen")
    (1.5, 2.0)
    """
    days: float | None = None
    if isinstance(value, str):
        days = date_in(value, "year-month-day")
    elif isinstance(value, date | np.datetime64):
        days = float(read_temporal_objects([value], name).floats()[0])
    if days is None:
        raise ValueError(f"column {name!r} holds dates, but got {value!r}; give a date such as '2024-03-01'")
    return days


def _read_iso_by_arrow(strings: Any) -> NDArray[np.float64] | None:
    """Return the dates in texts, or None if one is not in the ISO format without an offset."""
    import pyarrow as pa
    import pyarrow.compute as pc

    shape = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?$"
    if not pc.all(pc.match_substring_regex(strings, shape)).as_py():
        return None
    try:
        stamps = pc.cast(strings, pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    microseconds = stamps.to_numpy(zero_copy_only=False).view(np.int64)
    days: NDArray[np.float64] = days_of_microseconds(microseconds)
    return days
