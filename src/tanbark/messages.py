"""Helpers for messages to users, free of heavy imports so that the command line starts quickly."""

import sys
import warnings
from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that is attributed to the nearest caller outside tanbark."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tanbark."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def first_repeated(names: Iterable[T]) -> T | None:
    """Return the first item that repeats an earlier one, or None if all are distinct.

    >>> first_repeated(["a", "b", "a", "b"])
    'a'
    """
    seen: set[T] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def counted(number: float, noun: str) -> str:
    """Return a number with a noun in the singular or plural.

    >>> counted(1, "row"), counted(1200, "row"), counted(2.5, "row")
    ('1 row', '1,200 rows', '2.5 rows')
    """
    return f"{number:,.10g} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """Return a share in percent, with enough digits to distinguish it from 0% and 100%.

    >>> percent(0.5), percent(0.99996), percent(1.0)
    ('50.0%', '99.996%', '100.0%')
    """
    for digits in (1, 2, 3):
        shown = f"{share:.{digits}%}"
        if share in (0.0, 1.0) or float(shown[:-1]) not in (0.0, 100.0):
            break
    return shown
