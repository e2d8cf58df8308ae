"""Edge priors in every accepted form, and the messages for invalid ones."""

import numpy as np
import pandas as pd
import pytest

from tanbark.averaging import edge_prior_matrix

NAMES = ("age", "pulse", "sex")


def test_no_edge_prior_gives_every_edge_the_factor_one():
    assert np.array_equal(edge_prior_matrix(None, NAMES), np.ones((3, 3)))


def test_names_and_matrix_are_equivalent():
    by_name = edge_prior_matrix({("pulse", "age"): 2, frozenset({"sex", "age"}): 0}, NAMES)
    by_place = edge_prior_matrix([[7, 2, 0], [2, 7, 1], [0, 1, 7]], NAMES)
    assert np.array_equal(by_name, by_place)
    assert by_name[0, 1] == by_name[1, 0] == 2


def test_a_frame_is_read_by_its_names():
    by_place = np.array([[1, 2, 3], [2, 1, 4], [3, 4, 1.0]])
    frame = pd.DataFrame(by_place, NAMES, NAMES)
    assert np.array_equal(edge_prior_matrix(frame, NAMES), by_place)
    assert np.array_equal(edge_prior_matrix(frame.loc[::-1, ["pulse", "age", "sex"]], NAMES), by_place)
    assert edge_prior_matrix(pd.DataFrame(by_place), ("0", "1", "2"))[0, 1] == 2
    with pytest.raises(ValueError, match="row and column names are the columns of the table"):
        edge_prior_matrix(frame.rename(columns={"age": "height"}), NAMES)


def matrix(value):
    given = np.ones((3, 3))
    given[0, 1] = given[1, 0] = value
    return given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (matrix(-1.0), "the factor -1 for the edge between 'age' and 'pulse'; factors must be finite and at least 0"),
        (matrix(np.nan), "the factor nan"),
        (matrix(np.inf), "the factor inf"),
        (np.triu(np.full((3, 3), 2.0)), "must be symmetric"),
        (np.ones((2, 2)), "must be a 3 x 3 matrix"),
        (np.ones(3), "must be a 3 x 3 matrix"),
        (np.ones((2, 3, 3)), r"got an array of shape \(2, 3, 3\)"),
        (np.ones((3, 3)) * 1j, "must be a 3 x 3 matrix"),
        ({("age", "sex"): 10**400}, "got 1000"),
        ([["a"]], "must be a 3 x 3 matrix"),
        ("age", "must be a 3 x 3 matrix"),
        ({("age", "height"): 1.0}, "names 'height', which is not a column; the columns are 'age', 'pulse', 'sex'"),
        ({("age", "age"): 1.0}, "'age' and itself"),
        ({"age": 1.0}, "pairs of names to factors, got the key 'age'"),
        ({("age", "sex"): "much"}, "got 'much'"),
        ({("age", "sex"): np.nan}, "the factor nan for the edge between 'age' and 'sex'"),
        ({("age", "sex"): -2}, "the factor -2 for the edge between 'age' and 'sex'"),
        ({("age", "sex"): 2, ("sex", "age"): 3}, "two different factors"),
        ({("age", "sex"): 0, ("age", "pulse"): 0}, "no allowed edges connect 'age' with 'pulse'"),
        (np.zeros((3, 3)), "no allowed edges connect 'age' with 'pulse'"),
    ],
)
def test_an_invalid_prior_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        edge_prior_matrix(given, NAMES)
