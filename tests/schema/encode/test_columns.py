import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.schema.encode.columns import Category, Number, column_from_dict

QUICK = settings(deadline=None, database=None, max_examples=60)
RNG = np.random.default_rng(0)


def test_a_category_has_a_code_for_each_level_and_for_other_and_for_missing():
    assert Category("a", ("p", "q")).arity == 2
    assert Category("a", ("p", "q"), other=True, missing=True).arity == 4
    assert Category("a", ("p", "q"), other=True, missing=True).labels == ("p", "q", "(other)", "(missing)")


def test_a_column_that_was_never_seen_still_has_one_code():
    column = Category("a", ())
    assert (column.arity, len(column.labels)) == (1, 1)


def test_levels_keep_their_order_and_become_plain_values():
    column = Category("a", (np.int64(3), np.int64(1)))
    assert column.levels == (3, 1)
    assert [type(level) for level in column.levels] == [int, int]
    assert list(column.codes_of([1, 3, 2])) == [1, 0, -1]


def test_an_unknown_label_gets_the_other_code_if_there_is_one():
    assert list(Category("a", ("p", "q"), other=True).codes_of(["q", "z"])) == [1, 2]


@pytest.mark.parametrize("other", [False, True])
def test_numbers_are_encoded_by_their_levels_in_any_order(other):
    column = Category("a", (5, 3.5, -1), other=other)
    unseen = 3 if other else -1
    found = column.codes_of_numbers(np.array([-1.0, 5.0, 3.5, 99.0, -99.0, math.nan]))
    assert found.tolist() == [2, 0, 1, unseen, unseen, -1]


def test_a_number_gets_the_other_code_even_without_levels():
    column = Category("a", (), other=True, missing=True)
    assert column.codes_of_numbers(np.array([1.5, math.nan])).tolist() == [0, -1]
    assert list(column.codes_of([1.5])) == [0]


@pytest.mark.parametrize(("levels", "values"), [(("p", "q"), [1]), ((1, 2), ["1"]), ((False, True), ["True"])])
def test_text_for_numbers_or_numbers_for_text_raises_and_names_the_column(levels, values):
    with pytest.raises(ValueError, match=r"^column 'age' holds (text|numbers), but the schema expects"):
        Category("age", levels).codes_of(values)


def test_numbers_for_text_raise_and_name_the_column():
    with pytest.raises(ValueError, match="column 'age' holds numbers, but the schema expects text"):
        Category("age", ("p",)).codes_of_numbers(np.array([math.nan, 1.0]))


def test_missing_numbers_are_accepted_in_a_text_column():
    assert Category("age", ("p",)).codes_of_numbers(np.array([math.nan, math.nan])).tolist() == [-1, -1]


def test_a_duplicate_level_raises():
    with pytest.raises(ValueError, match="column 'a': duplicate level 'p'; list each level once"):
        Category("a", ("p", "q", "p"))


@pytest.mark.parametrize("level", [None, math.nan, (1, 2), b"x", 1j])
def test_an_invalid_level_raises_and_names_the_column(level):
    with pytest.raises((ValueError, TypeError), match="column 'a'"):
        Category("a", ("p", level))


def test_decoding_a_category_gives_back_its_labels_and_none():
    column = Category("a", ("p", 2, True), other=True, missing=True)
    assert column.value_of(np.array([0, 1, 2, 3, 4, 255]), RNG).tolist() == ["p", 2, True, "(other)", None, None]


@QUICK
@given(st.sets(st.integers(-9, 9), max_size=6), st.lists(st.floats(-10, 10), max_size=20))
def test_a_number_lies_below_the_cut_it_equals(cuts, values):
    column = Number("a", tuple(sorted(cuts)))
    expected = [sum(cut < value for cut in cuts) for value in values]
    assert list(column.codes_of(values)) == expected
    assert column.arity == len(cuts) + 1 == len(column.labels)


def test_intervals_are_shown_closed_on_the_right():
    assert Number("a", (1, 2.5), missing=True).labels == ("<= 1", "(1, 2.5]", "> 2.5", "(missing)")
    assert Number("a", ()).labels == ("any number",)


@pytest.mark.parametrize("cuts", [(1, 1), (2, 1), (math.nan,), (math.inf,), (-math.inf, 0)])
def test_cuts_must_be_finite_and_ascending(cuts):
    with pytest.raises(ValueError, match="column 'a': cut points must be finite and ascending"):
        Number("a", cuts)


def test_text_for_numbers_raises_and_names_the_column():
    with pytest.raises(ValueError, match="column 'age' holds text, but the schema expects numbers"):
        Number("age", (1.0,)).codes_of(["x"])


def test_numbers_are_sampled_within_their_interval_and_the_training_range():
    column = Number("a", (0.0, 1.0), low=-2.0, high=5.0, missing=True)
    for code, low, high in [(0, -2.0, 0.0), (1, 0.0, 1.0), (2, 1.0, 5.0)]:
        drawn = column.value_of(np.full(4000, code), np.random.default_rng(1))
        assert ((drawn > low) & (drawn <= high)).all()
        assert (np.array(column.codes_of(drawn.tolist())) == code).all()
        assert drawn.mean() == pytest.approx((low + high) / 2, abs=5 * (high - low) / math.sqrt(12 * 4000))
    assert np.isnan(column.value_of(np.array([3, 255]), RNG)).all()


@pytest.mark.parametrize(
    "column",
    [
        Category("a", (1, 2)),
        Category("a", ("1", "2"), other=True),
        Category("a", (False, True), missing=True),
        Category("a", (1.5, 2.0)),
        Category("a", (2**62 + 1, -(2**62))),
        Category("a", ("", "é", "日本")),
        Category("a", ()),
        Number("a", (0.1, 1 / 3, 1e300), -5.0, 7.25, True),
        Number("a", ()),
    ],
)
def test_a_column_survives_json_with_the_types_of_its_labels(column):
    again = column_from_dict(json.loads(json.dumps(column.to_dict())))
    assert again == column
    assert hash(again) == hash(column)
    if isinstance(column, Category):
        assert [type(level) for level in again.levels] == [type(level) for level in column.levels]


def test_a_column_of_numpy_numbers_can_be_written_as_json():
    column = Number("a", (np.float32(1.5),), np.float32(0.5), np.int64(5))
    assert column_from_dict(json.loads(json.dumps(column.to_dict()))) == column


@pytest.mark.parametrize("level", ["(other)", "(other)_", "(missing)", "(missing)_"])
def test_labels_of_codes_are_distinct(level):
    labels = Category("a", (level, "b", "(other)__"), other=True, missing=True).labels
    assert len(set(labels)) == 5


@pytest.mark.parametrize("levels", [(1, 2), (1.5, 7.25), ("a", "(other)"), (False, True)])
def test_the_sampled_value_of_a_code_encodes_to_that_code(levels):
    column = Category("a", levels, other=True, missing=True)
    drawn = column.value_of(np.arange(3), np.random.default_rng(0)).tolist()
    assert column.codes_of(drawn) == [0, 1, 2]
    assert column.value_of(np.array([3]), np.random.default_rng(0)).tolist() == [None]


@pytest.mark.parametrize("flag", [-1, 2, 0.5, "x", None])
def test_flags_must_be_true_or_false(flag):
    with pytest.raises(ValueError, match="missing must be True or False"):
        Number("a", (1.0,), missing=flag)
    for name in ("other", "missing"):
        with pytest.raises(ValueError, match=f"{name} must be True or False"):
            Category("a", ("p", "q"), **{name: flag})
    assert Category("a", ("p",), missing=np.True_).missing is True


def test_a_level_too_large_for_a_float_raises():
    with pytest.raises(ValueError, match="a level is too large for a float"):
        Category("a", (1, 10**400))
