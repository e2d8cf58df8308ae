"""Numbers in text: ``1,190.61``, ``$5``, ``73%``, ``(120)``, ``<0.5``, and ``1.190,61`` with a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CURRENCIES = "$\u00a2-\u00a5\u0e3f\u17db\u20a0-\u20c0\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6"
"""The currency signs, as in a character class of a regular expression."""
MIN_TEXTS_FOR_ARROW = 64
"""Shorter lists are read by Python, which starts faster."""
PLAIN_NUMBER = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?$"
"""A number without anything that needs interpretation."""


_PREFIXED_INTEGER = r"0[xX][0-9a-fA-F]{1,15}|0[bB][01]{1,62}"
"""A hexadecimal or binary integer."""


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    """Return the pattern of a number, with or without a currency sign, a percent sign or a bound."""
    point, comma = ("[.]", ",") if decimal == "." else (",", "[.]")
    # A number with thousands does not begin with zero: 0,125 has a decimal comma.
    digits = rf"(?:[1-9][0-9]{{0,2}}(?:{comma}[0-9]{{3}})+|[0-9]+)(?:{point}[0-9]*)?|{point}[0-9]+"
    number = rf"(?:{digits})(?:[eE][+-]?[0-9]+)?"
    sign = "[-+\u2212]"
    money = f"[{CURRENCIES}]"
    usual = rf"(?P<bound>[<>]?)\s*(?P<sign>{sign}?)\s*(?P<before>{money}?)\s*(?P<inner>{sign}?)(?P<number>{number})"
    usual += rf"\s*(?P<after>{money}?)\s*(?P<percent>%?)(?P<more>[+]?)"
    in_brackets = rf"\(\s*(?P<first>{money}?)\s*(?P<loss>{number})\s*(?P<last>{money}?)\s*\)"
    return re.compile(rf"(?:{usual}|{in_brackets})\Z")


def is_currency(text: str) -> bool:
    """Return whether a text is one currency sign.

    >>> is_currency("€"), is_currency("EUR")
    (True, False)
    """
    return re.fullmatch(f"[{CURRENCIES}]", text) is not None


class NumberInText(NamedTuple):
    """A number that was read from text.

    Attributes
    ----------
    value : float
    currency : str
        The currency sign, empty if there is none.
    bracketed : bool
        Whether it is in parentheses, which mean a negative amount of money.
    bounded : bool
        Whether the text gives only a bound, as in ``<5`` or ``90+``.
    """

    value: float
    currency: str = ""
    bracketed: bool = False
    bounded: bool = False


def number_in(text: str, decimal: str = ".") -> NumberInText | None:
    """Return the number that a text holds, or None if it holds anything else.

    Parameters
    ----------
    text : str
        The text. Blanks around it do not matter.
    decimal : {".", ","}, default="."
        The decimal separator; the other one separates thousands.

    Returns
    -------
    number : NumberInText or None

    Examples
    --------
    >>> number_in("$1,190.61").value, number_in("(€ 12)").value, number_in("73%").value, number_in("<5").value
    (1190.61, -12.0, 73.0, 5.0)
    >>> number_in("1,19"), number_in("1,19", decimal=",").value
    (None, 1.19)
    """
    text = text.strip()
    found = _pattern(decimal).match(text)
    if found is None:
        # DuckDB reads such integers in CSV files as numbers.
        return NumberInText(float(int(text, 0))) if re.fullmatch(_PREFIXED_INTEGER, text) else None
    bracketed = found["loss"] is not None
    if bracketed:
        signs, digits, currencies = "-", found["loss"], found["first"] + found["last"]
    else:
        signs, digits, currencies = found["sign"] + found["inner"], found["number"], found["before"] + found["after"]
    bounded = not bracketed and bool(found["bound"] or found["more"])
    if len(currencies) > 1 or len(signs) > 1 or (found["bound"] and found["more"]):
        return None
    value = float(digits.replace(",", "") if decimal == "." else digits.replace(".", "").replace(",", "."))
    if value in (float("inf"), float("-inf")):
        return None
    return NumberInText(-value if signs in ("-", "\u2212") else value, currencies, bracketed, bounded)


def has_leading_zeros(text: str) -> bool:
    """Return whether a text is a whole number with leading zeros, such as a postal code.

    >>> has_leading_zeros("01234"), has_leading_zeros("0"), has_leading_zeros("0.5")
    (True, False, False)
    """
    text = text.strip()
    return len(text) > 1 and text[0] == "0" and text.isdecimal()


def read_numbers(texts: Sequence[str], decimal: str = ".", currency: str = "") -> NDArray[np.float64]:
    """Return the numbers that texts hold, NaN for texts that hold anything else.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    decimal : {".", ","}, default="."
        The decimal separator.
    currency : str, default=""
        The currency sign of the column. Other signs are not numbers, and amounts in parentheses are numbers only if
        there is a currency.

    Returns
    -------
    numbers : ndarray of float64

    Examples
    --------
    >>> read_numbers(["1,000", " 2.5 ", "n.k.", "€3"])
    array([1000. ,    2.5,    nan,    nan])
    """
    strings = as_arrow_strings(texts) if decimal == "." else None
    if strings is not None:
        return _read_plain_by_arrow(texts, strings, currency)
    return np.array([_value(text, decimal, currency) for text in texts], np.float64)


def _value(text: str, decimal: str, currency: str) -> float:
    number = number_in(text, decimal)
    if number is None or number.currency not in ("", currency) or (number.bracketed and not currency):
        return nan
    return number.value


def as_arrow_strings(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array; None for few texts, which Python reads faster, and for invalid Unicode."""
    import pyarrow as pa

    try:
        return pa.array(texts, pa.large_string()) if len(texts) >= MIN_TEXTS_FOR_ARROW else None
    except UnicodeEncodeError:
        return None


def _read_plain_by_arrow(texts: Sequence[str], strings: Any, currency: str) -> NDArray[np.float64]:
    """Return the numbers in texts; Arrow reads those that need no interpretation."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.match_substring_regex(strings, PLAIN_NUMBER)
    numbers: NDArray[np.float64] = np.array(pc.cast(pc.if_else(plain, strings, None), pa.float64()), np.float64)
    rest = np.flatnonzero(~plain.to_numpy(zero_copy_only=False) | ~np.isfinite(numbers))
    numbers[rest] = [_value(texts[at], ".", currency) for at in rest.tolist()]
    return numbers
