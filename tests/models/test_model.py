"""Rounded numbers as whole numbers, for files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark.models.model import from_steps, in_steps


@given(st.lists(st.integers(-(2**30), 2**30), max_size=30), st.sampled_from([1.0, 2.0**-9, 0.1]))
def test_multiples_of_a_step_come_back_from_unsigned_whole_numbers(numbers, step):
    values = np.array(numbers, float) * step
    stored = in_steps(values, step)
    assert stored.dtype in (np.uint16, np.uint32)
    assert np.array_equal(from_steps(stored, step), values)


def test_small_numbers_of_either_sign_stay_small():
    assert in_steps(np.array([0.0, -0.5, 0.5, -1.0, 1.0]), 0.5).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("value", [0.3, 2.0**40, np.inf, np.nan])
def test_other_numbers_stay_floats(value):
    values = np.array([0.5, value])
    with np.errstate(invalid="ignore"):
        stored = in_steps(values, 0.5)
    assert stored.dtype == np.float64
    np.testing.assert_array_equal(from_steps(stored, 0.5), values)
