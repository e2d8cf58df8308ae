"""Statistics of the texts of a column, from which its kind is decided: number, date or category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from tanbark.schema.recipe.date_text import AMBIGUOUS_FORMATS, UNAMBIGUOUS_FORMATS, date_formats_of
from tanbark.schema.recipe.number_text import PLAIN_NUMBER, as_arrow_strings, has_leading_zeros, number_in

MIN_NUMBER_SHARE = 0.9
"""Minimum share of numbers among the values of a column of numbers."""
MAX_TEXTS_PER_SHAPE = 1000
"""Number of distinct texts of each shape that are stored as examples."""
MAX_EXAMPLES = 5
"""Number of values named as examples."""


class Shape(NamedTuple):
    """What a text can be read as.

    Attributes
    ----------
    point : bool
        Whether it is a number with a decimal point.
    comma : bool
        Whether it is a number with a decimal comma.
    has_comma : bool
        Whether it has a comma.
    currency : str
        The currency sign of the number.
    bracketed, bounded : bool
        Whether the number is in parentheses, and whether it is only a bound.
    leading_zeros : bool
        Whether it is a whole number with leading zeros.
    dates : frozenset of str
        The formats in which it is a date.
    """

    point: bool = False
    comma: bool = False
    has_comma: bool = False
    currency: str = ""
    bracketed: bool = False
    bounded: bool = False
    leading_zeros: bool = False
    dates: frozenset[str] = frozenset()

    def is_number(self, decimal: str, currency: str) -> bool:
        """Return whether the text is a number in a column with this decimal separator and currency."""
        return (self.point if decimal == "." else self.comma) and (bool(currency) or not self.bracketed)


INTEGER = Shape(point=True, comma=True)
POINT = Shape(point=True)


def shape_of(text: str) -> Shape:
    """Return what a text can be read as.

    >>> shape_of("1,5").comma, shape_of("1,5").point, shape_of("$5").currency
    (True, False, '$')
    """
    point, comma = number_in(text, "."), number_in(text, ",")
    found = point or comma
    if found is None:
        return Shape(dates=date_formats_of(text))
    marks = found.currency, found.bracketed, found.bounded
    return Shape(point is not None, comma is not None, "," in text, *marks, has_leading_zeros(text))


class NumberFormat(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str
    currency: str


class TextProfile:
    """The shapes of the texts of a column, and how often each occurs. Profiles of parts of a column can be merged.

    Examples
    --------
    >>> profile = TextProfile()
    >>> profile.see(["$1,190", "$5", "n.k."], [40, 50, 10])
    >>> profile.number_format("auto")
    NumberFormat(decimal='.', currency='$')
    """

    def __init__(self) -> None:
        self.rows = 0.0
        self._rows: Counter[Shape] = Counter()
        self._texts: dict[Shape, Counter[str]] = {}

    def see(self, texts: Sequence[str], counts: Iterable[float]) -> None:
        """Add distinct texts, none of which stands for a missing value, and the number of rows of each."""
        examples: dict[Shape, list[tuple[float, str]]] = {}
        for text, shape, count in zip(texts, _shapes(texts), counts, strict=True):
            self.rows += count
            self._rows[shape] += count  # type: ignore[assignment]
            examples.setdefault(shape, []).append((-count, text))
        for shape, possible in examples.items():
            # The commonest texts are stored, whatever the order of the rows.
            stored = possible if len(possible) <= MAX_TEXTS_PER_SHAPE else nsmallest(MAX_TEXTS_PER_SHAPE, possible)
            for count, text in stored:
                self._add_example(shape, text, -count)

    def merge(self, other: TextProfile) -> None:
        """Add the profile of further rows."""
        for shape, rows in other._rows.items():
            self.rows += rows
            self._rows[shape] += rows
            for text, count in other._texts.get(shape, {}).items():
                self._add_example(shape, text, count)

    def _add_example(self, shape: Shape, text: str, count: float) -> None:
        texts = self._texts.setdefault(shape, Counter())
        if text in texts or len(texts) < MAX_TEXTS_PER_SHAPE:
            texts[text] += count  # type: ignore[assignment]

    def number_format(self, decimal: str) -> NumberFormat | None:
        """Return how the numbers of the column are written, or None if it is not a column of numbers.

        Bounds such as ``<5`` and ``90+`` are numbers if others are exact: either at least half of the rows, or at least
        as many distinct texts as there are bounds. The groups ``<18`` and ``18+`` are categories.

        Parameters
        ----------
        decimal : {"auto", ".", ","}
            The decimal separator. "auto" is a comma only if some value cannot be read otherwise, and most can.
        """
        currencies = {shape.currency for shape in self._rows} - {""}
        if len(currencies) > 1 or any(shape.leading_zeros for shape in self._rows):
            return None
        currency = "".join(currencies)
        choices = [NumberFormat(separator, currency) for separator in (".,") if decimal in ("auto", separator)]
        if decimal == "auto" and not any(shape.comma and not shape.point and shape.has_comma for shape in self._rows):
            choices = choices[:1]
        # The point is first, so that it wins a tie.
        best = max(choices, key=self._numbers)
        numbers = self._numbers(best)
        is_number = numbers > 0 and numbers >= MIN_NUMBER_SHARE * self.rows
        return best if is_number and self._has_exact_numbers(best) else None

    def _has_exact_numbers(self, written: NumberFormat) -> bool:
        """Return whether at least half of the rows with a number, or of the distinct numbers, are not just bounds."""
        exact_rows, bound_rows, exact_texts, bound_texts = 0.0, 0.0, 0, 0
        for shape, rows in self._rows.items():
            if shape.is_number(*written) and shape.bounded:
                bound_rows, bound_texts = bound_rows + rows, bound_texts + len(self._texts[shape])
            elif shape.is_number(*written):
                exact_rows, exact_texts = exact_rows + rows, exact_texts + len(self._texts[shape])
        return exact_rows >= bound_rows or exact_texts >= bound_texts

    def _numbers(self, written: NumberFormat) -> float:
        """Return the number of rows with a number in this format."""
        return sum(rows for shape, rows in self._rows.items() if shape.is_number(*written))

    def reason_for_text(self, decimal: str = "auto") -> str | None:
        """Return why a column that holds mostly numbers or dates stays text, or None if it holds mostly other text.

        Parameters
        ----------
        decimal : {"auto", ".", ","}, default="auto"
            The decimal separator.

        >>> profile = TextProfile()
        >>> profile.see(["80331", "01067"], [5, 5])
        >>> profile.reason_for_text()
        "because of leading zeros, as in '01067'"
        """
        numbers = sum(rows for shape, rows in self._rows.items() if shape.point or shape.comma)
        if numbers >= MIN_NUMBER_SHARE * self.rows:
            zeros = self._example(lambda shape: shape.leading_zeros)
            if zeros is not None:
                return f"because of leading zeros, as in {zeros!r}"
            wrong = None
            if decimal == ",":
                wrong = self._example(lambda shape: not shape.comma)
            elif decimal == ".":
                wrong = self._example(lambda shape: shape.comma and not shape.point)
            if wrong is not None:
                return f"because of another decimal separator than {decimal!r}, as in {wrong!r}"
            if len({shape.currency for shape in self._rows} - {""}) > 1:
                return f"because of several currencies, as in {self._example(lambda shape: bool(shape.currency))!r}"
            bracketed = self._example(lambda shape: shape.bracketed)
            if bracketed is not None:
                return f"because numbers in parentheses, as in {bracketed!r}, are negative only with a currency sign"
        formats = Counter[str]()
        for shape, rows in self._rows.items():
            formats.update(dict.fromkeys(shape.dates, rows))
        dates = max(formats.values(), default=0)
        if not 0 < dates < self.rows or dates < MIN_NUMBER_SHARE * self.rows:
            return None
        best = max(formats, key=lambda one: (formats[one], one))
        examples = self._commonest(shape for shape in self._rows if best not in shape.dates)
        be = "is not a date" if self.rows - dates == 1 else "are not dates"
        return (
            f"because {self.rows - dates:,.10g} of {self.rows:,.10g} values {be} "
            f"({', '.join(map(repr, examples))}); name missing values with missing="
        )

    def _example(self, chosen: Callable[[Shape], bool]) -> str | None:
        """Return the first text in alphabetical order with a chosen shape."""
        return min((min(self._texts[shape]) for shape in self._rows if chosen(shape)), default=None)

    def _commonest(self, shapes: Iterable[Shape]) -> list[str]:
        """Return the commonest texts with some shapes."""
        texts: Counter[str] = sum((self._texts[shape] for shape in shapes), Counter())
        return sorted(texts, key=lambda text: (-texts[text], text))[:MAX_EXAMPLES]

    def date_format(self, day_first: bool) -> tuple[str, bool] | None:
        """Return the format that all values have as dates, and whether another one is possible; None if there is none.

        Parameters
        ----------
        day_first : bool
            Whether 01/02/2024 is the first of February if no value of the column shows which it is.
        """
        if not self._rows:
            return None
        common = frozenset.intersection(*(shape.dates for shape in self._rows))
        order = (*UNAMBIGUOUS_FORMATS, *(reversed(AMBIGUOUS_FORMATS) if day_first else AMBIGUOUS_FORMATS))
        found = [name for name in order if name in common]
        return (found[0], len(found) > 1) if found else None

    def not_numbers(self, written: NumberFormat) -> tuple[float, list[str]]:
        """Return the number of rows without a number in this format, and the commonest such values."""
        failing = [shape for shape in self._rows if not shape.is_number(*written)]
        return sum(self._rows[shape] for shape in failing), self._commonest(failing)

    def bound(self) -> str | None:
        """Return the commonest value that is only a bound, or None if there is none."""
        texts = [(-rows, text) for shape in self._rows if shape.bounded for text, rows in self._texts[shape].items()]
        return min(texts)[1] if texts else None

    def example_date(self) -> str:
        """Return the first date in alphabetical order."""
        return min(text for texts in self._texts.values() for text in texts)


def _shapes(texts: Sequence[str]) -> list[Shape]:
    """Return the shape of each text; of many texts, Arrow finds the plain numbers."""
    strings = as_arrow_strings(texts)
    if strings is None:
        return [shape_of(text) for text in texts]
    import pyarrow.compute as pc

    integer = pc.match_substring_regex(strings, r"^[+-]?(0|[1-9][0-9]*)$").to_pylist()
    # Three digits after the point could be thousands.
    plain = pc.match_substring_regex(strings, PLAIN_NUMBER)
    point = pc.and_not(plain, pc.match_substring_regex(strings, r"^[^.]*(\.[0-9]{3})?$")).to_pylist()
    return [
        INTEGER if is_integer else POINT if has_point else shape_of(text)
        for text, is_integer, has_point in zip(texts, integer, point, strict=True)
    ]
