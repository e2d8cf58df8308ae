from collections import Counter

import numpy as np
import pytest

from tanbark.datasets import balance_scale, lenses, monks, mux6, three_of_9


@pytest.mark.parametrize("generate", [balance_scale, monks, mux6, three_of_9, lenses])
def test_every_row_and_label_is_that_of_the_published_file(generate, published_rows, text_rows):
    dataset = generate()
    assert text_rows(dataset) == published_rows(dataset.name)


def test_the_balance_scale_has_the_published_class_counts():
    # UCI: 49 balanced (7.84 %), 288 left and 288 right (46.08 % each).
    assert Counter(balance_scale().y) == {"L": 288, "B": 49, "R": 288}


# Problem 1: a share 1/3 + 2/3 * 1/4 = 1/2 of 432. Problem 2: the coefficient of t^2 in (t + 2)^3 (t + 1)^2 (t + 3).
# Problem 3: 3/4 * 2/3 * 432 = 216 rows for the second condition, 1/4 * 1/3 * 1/3 * 432 = 12 more for the first.
@pytest.mark.parametrize(("problem", "positive"), [(1, 216), (2, 142), (3, 228)])
def test_each_monks_problem_has_432_distinct_rows_and_the_known_positives(problem, positive):
    X, y = monks(problem)
    assert X.shape == (432, 6)
    assert len(np.unique(X, axis=0)) == 432
    assert np.bincount(y).tolist() == [432 - positive, positive]


@pytest.mark.parametrize("problem", [0, 4, "1"])
def test_another_monks_problem_is_refused(problem):
    with pytest.raises(ValueError, match="problem must be 1, 2 or 3"):
        monks(problem)


def test_the_multiplexer_reads_the_data_bit_at_its_address():
    X, y = mux6()
    for address, data_bit in {(0, 0): 2, (0, 1): 3, (1, 0): 4, (1, 1): 5}.items():
        rows = (X[:, :2] == address).all(axis=1)
        np.testing.assert_array_equal(y[rows], X[rows, data_bit])
    assert y.sum() == 32


def test_three_of_9_has_as_many_negatives_as_there_are_words_without_three_ones_in_a_row():
    # Such words of length n end in 0, 01 or 011, so their number is the sum of the three before: 1, 2, 4, 7, ..., 274.
    words = [1, 2, 4]
    while len(words) <= 9:
        words.append(sum(words[-3:]))
    X, y = three_of_9()
    assert X.shape == (512, 9)
    assert (y == 0).sum() == words[9] == 274


def test_the_lenses_have_the_published_class_counts():
    assert Counter(lenses().y) == {"none": 15, "soft": 5, "hard": 4}


def test_integer_attributes_are_int64_and_string_attributes_are_str():
    assert balance_scale().X.dtype == np.int64
    assert {type(value) for value in lenses().X.ravel()} == {str}
