"""Profiles of text: merging them in any order gives the profile of all rows."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark.schema.recipe import text_profile
from tanbark.schema.recipe.text_profile import NumberFormat, Shape, TextProfile, shape_of

TEXTS = st.sampled_from(
    [
        "1",
        "2.5",
        "1,234",
        "1,5",
        "$5",
        "€5",
        "(5)",
        "<5",
        "9+",
        "007",
        "x",
        "2024-03-01",
        "1/2/2024",
        "13/2/2024",
    ]
)
COUNTED = st.dictionaries(TEXTS, st.integers(1, 9), max_size=8)


def profile_of(counted):
    profile = TextProfile()
    profile.see(list(counted), list(counted.values()))
    return profile


def decisions(profile):
    """Return everything that is decided from a profile."""
    written = profile.number_format("auto")
    return (
        profile.rows,
        written,
        [profile.number_format(decimal) for decimal in ".,"],
        [profile.date_format(day_first) for day_first in (True, False)],
        profile.reason_for_text(),
        profile.bound(),
        None if written is None else profile.not_numbers(written),
    )


@given(st.lists(COUNTED, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_merged_profiles_are_the_profile_of_all_rows(parts, shuffle):
    total = sum(map(Counter, parts), Counter())
    merged = TextProfile()
    shuffle.shuffle(parts)
    for part in parts:
        merged.merge(profile_of(part))
    assert decisions(merged) == decisions(profile_of(total))


def test_the_number_of_stored_examples_is_limited(monkeypatch):
    monkeypatch.setattr(text_profile, "MAX_TEXTS_PER_SHAPE", 3)
    words = {f"w{n}": n for n in range(1, 20)}
    profile = profile_of(words | {str(n): 1 for n in range(2000)})
    assert profile.not_numbers(NumberFormat(".", "")) == (sum(words.values()), ["w19", "w18", "w17"])


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("5", Shape(point=True, comma=True)),
        ("5.25", Shape(point=True)),
        ("5.250", Shape(point=True, comma=True)),
        ("0.250", Shape(point=True)),
        ("5,25", Shape(comma=True, has_comma=True)),
        ("5,250", Shape(point=True, comma=True, has_comma=True)),
        ("0,250", Shape(comma=True, has_comma=True)),
        ("$5", Shape(point=True, comma=True, currency="$")),
        ("($5)", Shape(point=True, comma=True, currency="$", bracketed=True)),
        ("<5", Shape(point=True, comma=True, bounded=True)),
        ("05", Shape(point=True, comma=True, leading_zeros=True)),
        ("2024-03-01", Shape(dates=frozenset(["year-month-day"]))),
        ("red", Shape()),
    ],
)
def test_the_shape_of_a_text_is_what_it_can_be_read_as(text, shape):
    assert shape_of(text) == shape


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_the_shapes_of_many_texts_are_found_by_arrow(texts):
    many = [*texts, *(str(n) for n in range(100)), *(f"{n}.25" for n in range(99)), *(f"{n}.250" for n in range(99))]
    assert text_profile._shapes(many) == [shape_of(text) for text in many]
