"""The columns into which a date is expanded: the date as a number, the day of the week, the month and the hour."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.raw_columns import Labels, Numbers, RawColumn

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATE_PARTS = ("weekday", "month", "hour")
"""The parts of a date that become columns of their own if they vary."""
FIRST_WEEKDAY = 3
"""1970-01-01 was a Thursday."""


def part_name(name: str, part: str) -> str:
    """Return the name of the column for a part of a date.

    >>> part_name("signed up", "month")
    'signed up (month)'
    """
    return f"{name} ({part})"


def part_codes(days: NDArray[np.float64], part: str) -> NDArray[np.int64]:
    """Return the weekday (0 is Monday), the month (0 is January) or the hour of dates, -1 if missing.

    Parameters
    ----------
    days : ndarray of float64
        Days since 1970-01-01 UTC.
    part : {"weekday", "month", "hour"}
        The part to return.

    Returns
    -------
    codes : ndarray of int64

    Examples
    --------
    >>> part_codes(np.array([0.0, 31.75, np.nan]), "weekday"), part_codes(np.array([0.0, 31.75]), "hour")
    (array([ 3,  6, -1]), array([ 0, 18]))
    """
    missing = np.isnan(days)
    stamps = np.round(np.where(missing, 0.0, days) * 86_400e6).astype(np.int64).astype("datetime64[us]")
    whole = stamps.astype("datetime64[D]")
    if part == "weekday":
        codes = (whole.astype(np.int64) + FIRST_WEEKDAY) % len(WEEKDAYS)
    elif part == "month":
        codes = whole.astype("datetime64[M]").astype(np.int64) % len(MONTHS)
    else:
        codes = (stamps - whole).astype("timedelta64[h]").astype(np.int64)
    return np.where(missing, UNKNOWN, codes)


def varying_parts(days: NDArray[np.float64]) -> tuple[str, ...]:
    """Return the parts that differ between dates.

    >>> varying_parts(np.array([0.0, 7.0, 40.0]))
    ('weekday', 'month')
    """
    known = days[~np.isnan(days)]
    return tuple(part for part in DATE_PARTS if len(known) and np.ptp(part_codes(known, part)))


def part_columns(days: NDArray[np.float64], name: str, parts: Sequence[str]) -> list[RawColumn]:
    """Return the columns for parts of dates. Weekdays and months are categories with all their levels.

    Parameters
    ----------
    days : ndarray of float64
        Days since 1970-01-01 UTC.
    name : str
        Name of the column of dates.
    parts : sequence of {"weekday", "month", "hour"}
        The parts to return.

    Returns
    -------
    columns : list of Labels or Numbers
    """
    columns: list[RawColumn] = []
    for part in parts:
        codes = part_codes(days, part)
        if part == "hour":
            hours = np.where(codes < 0, np.nan, codes).reshape(-1, 1)
            columns.append(Numbers(hours, 0, part_name(name, part)))
        else:
            levels = list(WEEKDAYS if part == "weekday" else MONTHS)
            columns.append(Labels(levels, codes, part_name(name, part), declared=True))
    return columns
