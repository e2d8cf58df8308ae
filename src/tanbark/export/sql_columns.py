"""SQL text for names, values and columns that means the same to DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tanbark.schema import Category, Number
from tanbark.schema.encode.columns import Column, Label

MAX_SAFE_DIGITS = 15
"""SQLite converts decimal text with more significant digits to a neighbouring float now and then."""
MAX_EXACT_INTEGER = 2**53
"""Floats represent all integers below."""
MAX_BIGINT = 2**63
"""Integers of a database are smaller in magnitude."""


def quoted_name(name: str) -> str:
    """Return an identifier in double quotes.

    >>> print(quoted_name('the "old" one'))
    "the ""old"" one"
    """
    if not name:
        raise ValueError("a name is empty, which databases do not allow; rename the column or table")
    return f'"{_checked(name).replace(chr(34), chr(34) * 2)}"'


def quoted_text(text: str) -> str:
    """Return a string literal.

    >>> print(quoted_text("it's"))
    'it''s'
    """
    return f"'{_checked(text).replace(chr(39), chr(39) * 2)}'"


def _checked(text: str) -> str:
    """Return a text, or raise ValueError if a database cannot represent it."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"{text!r} contains a null character or a lone surrogate, which SQL cannot hold; rename it")
    return text


def number(value: float) -> str:
    """Return a number as text that every database converts to exactly this float.

    >>> number(0.1), number(3), number(1 / 3)
    ('0.1e0', '3', '(CAST(6004799503160661 AS DOUBLE PRECISION) / 18014398509481984)')
    """
    if math.isinf(value):
        raise ValueError(f"{value} cannot be written as a number in SQL; remove infinite levels and classes")
    if isinstance(value, int):
        return str(int(value))
    text = repr(float(value))
    digits = text.partition("e")[0].strip("-0").replace(".", "")
    numerator, denominator = value.as_integer_ratio()
    if len(digits) > MAX_SAFE_DIGITS and max(abs(numerator), denominator) < MAX_BIGINT:
        return f"(CAST({numerator} AS DOUBLE PRECISION) / {denominator})"
    return text if "e" in text else f"{text}e0"


def literals(labels: Sequence[Label]) -> list[str]:
    """Return literals of labels, all of one type: booleans, numbers or, if any is a string, text."""
    if all(isinstance(label, bool) for label in labels):
        return ["TRUE" if label else "FALSE" for label in labels]
    if any(isinstance(label, str) for label in labels):
        return [quoted_text(str(label)) for label in labels]
    return [number(int(label) if isinstance(label, bool) else label) for label in labels if not isinstance(label, str)]


def column_value(
    column: Column,
    values: Sequence[int],
    unseen: str,
    missing_texts: Sequence[str] = (),
    missing_numbers: Sequence[float] = (),
) -> str:
    """Return an expression of a value for each code of a column of the table ``t``.

    Parameters
    ----------
    column : Category or Number
        The column.
    values : sequence of int
        The value of each code; the last is that of missing and unseen values without a code of their own.
    unseen : {"marginalize", "error"}
        Whether labels that are not levels have the last value, or NULL.
    missing_texts : sequence of str, default=()
        Texts that count as missing, in any case, if they are not levels; blanks around them do not matter.
    missing_numbers : sequence of float, default=()
        Numbers that count as missing.

    Returns
    -------
    expression : str

    Examples
    --------
    >>> print(column_value(Category("sex", ("f", "m")), [0, 1, 2], "marginalize"))
    CASE CAST(t."sex" AS VARCHAR) || '' WHEN 'f' THEN 0 WHEN 'm' THEN 1 ELSE 2 END
    """
    missing = str(values[column.arity - 1 if column.missing else column.arity])
    name = f"t.{quoted_name(column.name)}"
    if isinstance(column, Number):
        as_float = _float(name)
        known = _interval_value(as_float, column.cuts, values)
        return _unless_missing(as_float, missing, known, True, missing_numbers)
    otherwise = "NULL" if unseen == "error" else str(values[column.arity])
    if column.other:
        otherwise = str(values[len(column.levels)])
    operand, is_float = _comparable(column, name)
    if missing_texts and otherwise != missing and isinstance(next(iter(column.levels), ""), str):
        marks = ", ".join(quoted_text(text.lower()) for text in missing_texts)
        otherwise = f"CASE WHEN LOWER(TRIM({operand})) IN ({marks}) THEN {missing} ELSE {otherwise} END"
    known = _level_value(operand, column, values, otherwise)
    if missing == otherwise and not missing_numbers:
        return known
    return _unless_missing(operand, missing, known, is_float, missing_numbers)


def _comparable(column: Category, name: str) -> tuple[str, bool]:
    """Return the expression to compare with the levels, and whether it is a float, which may be NaN."""
    levels = column.levels
    if len({isinstance(level, str) for level in levels}) == 2:
        raise ValueError(f"column {column.name!r} has both text and numbers as levels, which a database cannot hold")
    if not levels or all(isinstance(level, bool) for level in levels):
        return name, False
    if isinstance(levels[0], str):
        # The concatenation drops a collation of the column under which SQLite ignores case.
        return f"CAST({name} AS VARCHAR) || ''", False
    if any(abs(level) >= MAX_EXACT_INTEGER for level in levels if not isinstance(level, str)):
        return name, False
    return _float(name), True


def _level_value(operand: str, column: Category, values: Sequence[int], otherwise: str) -> str:
    """Return a CASE expression over the levels of a category."""
    pairs = zip(literals(column.levels), map(str, values), strict=False)
    cases = [f"WHEN {level} THEN {value}" for level, value in pairs if value != otherwise]
    return f"CASE {operand} {' '.join(cases)} ELSE {otherwise} END" if cases else otherwise


def _interval_value(operand: str, cuts: Sequence[float], values: Sequence[int]) -> str:
    """Return nested CASE expressions that find the interval of a number by bisection."""
    ends = [i for i in range(len(cuts)) if values[i] != values[i + 1]]

    def search(low: int, high: int) -> str:
        if low == high:
            return str(values[ends[low] if low < len(ends) else len(cuts)])
        middle = (low + high) // 2
        below, above = search(low, middle), search(middle + 1, high)
        return f"CASE WHEN {operand} <= {number(cuts[ends[middle]])} THEN {below} ELSE {above} END"

    return search(0, len(ends))


def _unless_missing(
    operand: str, missing: str, expression: str, is_float: bool, missing_numbers: Sequence[float]
) -> str:
    """Return `missing` for NULL, NaN and the given numbers, and an expression otherwise.

    PostgreSQL and DuckDB consider NaN larger than all numbers. Only NaN and its negative are both positive.
    """
    if expression == missing:
        return missing
    test = f"{operand} IS NULL" + (f" OR ({operand} > 0 AND -{operand} > 0)" if is_float else "")
    test += f" OR {operand} IN ({', '.join(map(number, missing_numbers))})" if missing_numbers else ""
    return f"CASE WHEN {test} THEN {missing} ELSE {expression} END"


def _float(name: str) -> str:
    return f"CAST({name} AS DOUBLE PRECISION)"
