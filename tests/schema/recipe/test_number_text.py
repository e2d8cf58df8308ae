"""Numbers in text: every way in which Python writes a number reads back as that number."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark import Category, Counts
from tanbark.schema.recipe.number_text import has_leading_zeros, is_currency, number_in, read_numbers
from tanbark.schema.recipe.text_profile import shape_of
from tanbark.sources import files

WHOLE = st.integers(-(10**15), 10**15)
REAL = st.floats(-1e12, 1e12, allow_nan=False)
BLANKS = st.sampled_from(["", " ", "\t", "\u00a0", "  "])


def swapped(text):
    """Return a number with the roles of the comma and the point exchanged."""
    return text.translate({ord(","): ".", ord("."): ","})


@given(WHOLE, BLANKS, BLANKS)
def test_whole_numbers_with_and_without_thousands_separators_read_back(value, before, after):
    for text in (f"{value}", f"{value:,}", f"{value:+}", f"{value:+,}"):
        assert number_in(before + text + after).value == value


@given(REAL, st.integers(0, 8))
def test_fractions_read_back_as_python_reads_them(value, digits):
    for text in (f"{value!r}", f"{value:.{digits}f}", f"{value:.{digits}e}", f"{value:.{digits}E}", f"{value:g}"):
        assert number_in(text).value == float(text)


@given(REAL, st.integers(0, 8))
def test_thousands_and_fractions_read_back_with_either_decimal_separator(value, digits):
    expected = float(f"{value:.{digits}f}")
    assert number_in(f"{value:,.{digits}f}").value == expected
    assert number_in(swapped(f"{value:,.{digits}f}"), decimal=",").value == expected


@given(st.integers(0, 10**9), st.sampled_from("$€£¥"))
def test_amounts_of_money_read_back_whatever_the_place_of_the_sign(value, sign):
    for text in (f"{sign}{value:,}", f"{sign} {value}", f"{value:,}{sign}", f"{value} {sign}"):
        assert number_in(text)[:2] == (value, sign)
    for text in (f"-{sign}{value:,}", f"{sign}-{value}", f"({sign}{value:,})", f"( {value} {sign} )"):
        assert number_in(text)[:2] == (-value, sign)


@given(REAL)
def test_a_percentage_is_the_number_before_the_sign(value):
    assert number_in(f"{value}%").value == number_in(f"{value} %").value == value


@given(st.integers(0, 10**6))
def test_bounds_read_as_the_number_with_a_mark(value):
    for text in (f"<{value}", f"> {value}", f"{value}+"):
        assert (number_in(text).value, number_in(text).bounded) == (value, True)
    assert not number_in(f"{value}").bounded


@pytest.mark.parametrize(("text", "value"), [("0x1f", 31), (" 0XFF ", 255), ("0b101", 5)])
def test_hexadecimal_and_binary_integers_are_numbers_as_in_csv_files(text, value, tmp_path):
    assert number_in(text).value == value
    (tmp_path / "t.csv").write_text(f"x,y\n{text},a\n")
    assert Counts.from_batches(files(tmp_path / "t.csv"), "y").schema.columns == (Category("x", (value,)),)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "-",
            "+",
            ".",
            ",",
            "%",
            "$",
            "()",
            "<",
            "e5",
            "n/a",
            "inf",
            "nan",
            "Infinity",
            "1e999",
            "0x",
            "0o17",
            "-0x1f",
        ),
        *(
            "1,2",
            "12,34",
            "1,2345",
            "1234,567",
            ",123",
            "1,,234",
            "0,125",
            "00,125",
            "1 2",
            "1_000",
            "1.2.3",
            "1e",
            "5 kg",
        ),
        *("$$5", "$5€", "--5", "+-5", "-$-5", "<5+", "<<5", "5++", "(-5)", "(5", "5)", "20-29", "5-", "٣", "½", "²"),
    ],
)
def test_anything_else_is_not_a_number(text):
    assert number_in(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("1,5", 1.5), ("0,125", 0.125), ("1.234,5", 1234.5), (",5", 0.5), ("12.345", 12345.0)]
)
def test_with_a_decimal_comma_the_point_separates_thousands(text, value):
    assert number_in(text, ",").value == value


@pytest.mark.parametrize("text", ["1.5", "1,234.5", "1.23", "0.125"])
def test_with_a_decimal_comma_a_decimal_point_is_not_a_number(text):
    assert number_in(text, ",") is None


@given(st.text(max_size=60), st.sampled_from(".,"))
def test_no_text_raises(text, decimal):
    number = number_in(text, decimal)
    assert number is None or math.isfinite(number.value)
    shape_of(text)
    has_leading_zeros(text)


@given(st.text("0123456789.,-+()<>%$€ eE\u2212", max_size=12), st.sampled_from(".,"))
def test_no_text_of_the_characters_of_numbers_raises(text, decimal):
    number = number_in(text, decimal)
    assert number is None or math.isfinite(number.value)


NUMBER_LIKE = st.one_of(
    REAL.map(repr), WHOLE.map("{:,}".format), WHOLE.map("${:,}".format), st.text("0123456789.,e-+ %", max_size=8)
)


@given(st.lists(NUMBER_LIKE, min_size=64, max_size=90))
def test_long_lists_are_read_by_arrow_as_short_ones_are_by_python(texts):
    one_by_one = np.concatenate([read_numbers([text], ".", "$") for text in texts])
    np.testing.assert_array_equal(read_numbers(texts, ".", "$"), one_by_one)


def test_a_column_has_one_currency_sign():
    np.testing.assert_array_equal(read_numbers(["$5", "5", "€5"], currency="$"), [5, 5, np.nan])


def test_parentheses_are_negative_only_in_a_column_of_money():
    np.testing.assert_array_equal(read_numbers(["(5)"], currency="$"), [-5])
    np.testing.assert_array_equal(read_numbers(["(5)"]), [np.nan])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("01", True), ("00", True), (" 007 ", True), ("0", False), ("0.5", False), ("10", False), ("-01", False)],
)
def test_leading_zeros_are_those_of_whole_numbers(text, expected):
    assert has_leading_zeros(text) is expected


def test_a_currency_sign_is_one_character_of_the_currency_block():
    assert [is_currency(text) for text in ("$", "€", "₹", "x", "", "EUR", "$$")] == [True] * 3 + [False] * 4
