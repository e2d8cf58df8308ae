"""Helpers for messages to users, free of heavy imports so that the command line starts quickly."""

import difflib
import re
import sys
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

MIN_SIMILARITY = 0.9
"""Minimum similarity of two names that may be one name with a typing error."""
MIN_SIMILARITY_TO_SUGGEST = 0.65
"""Minimum similarity of a name that does not exist to one that is suggested instead."""


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that is attributed to the nearest caller outside tanbark."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("tanbark.", "contextlib")):
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


def first_values(values: Sequence[object], most: int = 10) -> str:
    """Return the first values of a sequence as text.

    >>> first_values(["a", "b", "c"], most=2)
    "'a', 'b', ..."
    """
    return ", ".join(map(repr, values[:most])) + (", ..." if len(values) > most else "")


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


def similar_name(name: str, others: Sequence[str]) -> str | None:
    """Return the name that is nearly the same, or None.

    Names with other digits are different names.

    >>> similar_name("Blood pressure", ["blood_pressure"]), similar_name("pressure_1", ["pressure_2"])
    ('blood_pressure', None)
    """
    plain = _letters_and_digits(name)
    for other in others:
        theirs = _letters_and_digits(other)
        same_digits = re.sub(r"\D", "", plain) == re.sub(r"\D", "", theirs)
        similarity = difflib.SequenceMatcher(None, plain, theirs).ratio()
        if plain == theirs or (same_digits and similarity >= MIN_SIMILARITY):
            return other
    return None


def same_name(name: str, others: Iterable[str]) -> str | None:
    """Return the name that differs at most in case, hyphens, underscores and blanks, or None.

    >>> same_name("AveragedTAN", ["tan", "averaged-tan"]), same_name("ta", ["tan"])
    ('averaged-tan', None)
    """
    plain = _letters_and_digits(name)
    return next((other for other in others if _letters_and_digits(other) == plain), None)


def suggestion(name: object, others: Iterable[object], otherwise: str) -> str:
    """Return a question for the name that was probably meant, or another text if none is similar.

    >>> suggestion("incmoe", ["age", "income"], "the columns are 'age', 'income'")
    "did you mean 'income'?"
    >>> suggestion("height", ["age", "income"], "the columns are 'age', 'income'")
    "the columns are 'age', 'income'"
    """
    if not isinstance(name, str):
        return otherwise
    of_plain = {_letters_and_digits(other): other for other in others if isinstance(other, str)}
    found = difflib.get_close_matches(_letters_and_digits(name), of_plain, 1, MIN_SIMILARITY_TO_SUGGEST)
    return f"did you mean {of_plain[found[0]]!r}?" if found else otherwise


def _letters_and_digits(name: str) -> str:
    """Return a name in lower case without blanks and punctuation, unless nothing else is left."""
    return "".join(c for c in name.casefold() if c.isalnum()) or name
