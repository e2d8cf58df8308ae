"""Conversion of numbers to codes, compared with numpy and Python sets."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.immutable import read_only
from tanbark.kernels.encode.number_columns import bin_numbers, has_few_whole_numbers, narrow_integers, occurring_values

QUICK = settings(deadline=None, database=None, max_examples=60)
numbers = st.one_of(st.just(math.nan), st.floats(-5, 5), st.integers(-5, 5).map(float))


def narrowed(rows, base, start=0, room=None):
    n = rows.shape[1]
    out = np.full((n, room or len(rows)), 7, np.uint8)
    reach = np.zeros(n, np.uint64)
    narrow_integers(read_only(np.asarray(rows, np.int64)), np.asarray(base, np.int64), start, out, reach)
    return out, reach


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 200])
def test_differences_from_the_base_are_written_column_by_column_for_any_number_of_rows(rows):
    base = np.array([-3, 0, 2**62])
    table = np.random.default_rng(rows).integers(0, 256, (rows, 3)) + base
    out, reach = narrowed(table, base)
    assert np.array_equal(out, (table - base).T)
    assert (reach < 256).all()


def test_a_chunk_is_written_at_its_start_and_nothing_else_changes():
    out, _ = narrowed(np.array([[1, 2], [3, 4]]), [0, 0], start=2, room=5)
    assert out.tolist() == [[7, 7, 1, 3, 7], [7, 7, 2, 4, 7]]


@QUICK
@given(st.lists(st.integers(0, 255), max_size=80))
def test_the_reach_is_the_union_of_all_bits_and_the_values_are_those_that_occur(distances):
    out, reach = narrowed(np.array(distances, np.int64).reshape(-1, 1), [0])
    assert int(reach[0]) == np.bitwise_or.reduce(np.array(distances, np.int64), initial=0)
    assert occurring_values(out[0], int(reach[0])).tolist() == sorted(set(distances))


@pytest.mark.parametrize("value", [256, -1, 2**40, -(2**63), 2**63 - 1])
def test_a_difference_that_does_not_fit_is_visible_in_the_reach(value):
    _, reach = narrowed(np.array([[3], [value], [5]]), [0])
    assert int(reach[0]) >= 256


@QUICK
@given(st.lists(numbers, max_size=40), st.sets(st.integers(-4, 4).map(float), max_size=6))
def test_bins_equal_numpys_searchsorted_and_a_number_equal_to_a_cut_is_in_the_lower_bin(values, cuts):
    column = np.array(values, np.float64).reshape(-1, 1)
    cuts = np.array(sorted(cuts), np.float64)
    out = np.empty(len(values), np.uint8)
    assert bin_numbers(read_only(column), 0, cuts, 255, out)
    expected = np.where(np.isnan(column[:, 0]), 255, np.searchsorted(cuts, column[:, 0], side="left"))
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
def test_an_infinite_number_is_reported(infinite):
    out = np.empty(3, np.uint8)
    assert not bin_numbers(read_only(np.array([[1.0], [infinite], [math.nan]])), 0, np.array([0.0]), 255, out)


def test_bins_beyond_255_fit_two_byte_codes():
    cuts = np.arange(1000.0)
    out = np.empty(2, np.uint16)
    assert bin_numbers(read_only(np.array([[0.0, 998.5], [0.0, np.nan]])), 1, cuts, 65535, out)
    assert out.tolist() == [999, 65535]


@QUICK
@given(st.lists(st.one_of(numbers, st.just(math.inf)), max_size=12), st.integers(1, 4))
def test_few_whole_numbers_agrees_with_a_set(values, most):
    known = {v for v in values if not math.isnan(v)}
    expected = all(math.isfinite(v) and v == int(v) for v in known) and len(known) <= most
    assert has_few_whole_numbers(read_only(np.array(values, np.float64).reshape(-1, 1)), 0, most) == expected
