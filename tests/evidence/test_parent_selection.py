"""The k-dependence structure, and structures that are given."""

import numpy as np
import pytest

from tanbark.evidence.parent_selection import (
    MAX_TABLE_CELLS,
    check_table_cells,
    corrected_information,
    given_parents,
    k_dependence_parents,
)

NAMES = ("a", "b", "c", "d")


def plain_information(table):
    """Return the mutual information of a table of weights times its total, less half the degrees of freedom."""
    rows, columns, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    out = -max((rows > 0).sum() - 1, 0) * max((columns > 0).sum() - 1, 0) / 2
    for i, j in np.argwhere(table > 0):
        out += table[i, j] * np.log(table[i, j] * total / (rows[i] * columns[j]))
    return out


def test_information_is_that_of_the_formula_over_complete_pairs():
    rng = np.random.default_rng(0)
    sizes = np.array([4, 6, 3])
    digits = np.array([rng.integers(0, size, 300) for size in sizes])
    classes, weights = rng.integers(0, 3, 300), rng.choice([0.5, 1.0, 2.0], 300)
    digits[0] = np.where(rng.random(300) < 0.5, classes, digits[0])
    found = corrected_information(digits, sizes, classes, weights, 3, 1)
    for a in range(3):
        for b in range(a + 1):
            known = (digits[a] < sizes[a] - 1) & (digits[b] < sizes[b] - 1)
            if a == b:
                table = np.zeros((sizes[a] - 1, 3))
                np.add.at(table, (digits[a][known], classes[known]), weights[known])
                expected = plain_information(table)
            else:
                tables = np.zeros((3, sizes[a] - 1, sizes[b] - 1))
                np.add.at(tables, (classes[known], digits[a][known], digits[b][known]), weights[known])
                expected = sum(map(plain_information, tables))
            np.testing.assert_allclose([found[a, b], found[b, a]], expected, rtol=1e-10, atol=1e-10)


def test_parents_are_the_best_earlier_attributes_with_positive_information():
    information = np.array(
        [[5.0, 2.0, 3.0, 1.0], [2.0, 9.0, 0.5, -1.0], [3.0, 0.5, 1.0, 4.0], [1.0, -1.0, 4.0, 0.0]],
    )
    parents, order = k_dependence_parents(information, 2, np.full(4, 3), [2] * 4, 2)
    assert order.tolist() == [1, 0, 2, 3]
    assert parents == ((1,), (), (0, 1), (2, 0))
    assert k_dependence_parents(information, 0, np.full(4, 3), [2] * 4, 2)[0] == ((), (), (), ())
    assert k_dependence_parents(information, 9, np.full(4, 3), [2] * 4, 2)[0] == ((1,), (), (0, 1), (2, 0))


def test_ties_go_to_the_order_of_the_columns():
    parents, order = k_dependence_parents(np.ones((4, 4)), 2, np.full(4, 3), [2] * 4, 2)
    assert order.tolist() == [0, 1, 2, 3]
    assert parents == ((), (0,), (0, 1), (0, 1))


def test_a_parent_that_would_make_the_table_too_large_is_passed_over():
    information = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]])
    sizes = np.array([MAX_TABLE_CELLS // 8, 3, 3])
    assert k_dependence_parents(information, 2, sizes, [2, 2, 9], 2)[0] == ((), (0,), (1,))


def test_given_edges_become_parents_in_their_order():
    assert given_parents(None, NAMES, 2) is None
    assert given_parents([], NAMES, 0) == ((), (), (), ())
    assert given_parents([("d", "a"), ("b", "a"), ("d", "b")], NAMES, 2) == ((3, 1), (3,), (), ())
    assert given_parents(np.array([["d", "a"], ["b", "a"]]), NAMES, 2) == ((3, 1), (), (), ())


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ("ab", "structure must be a list of pairs (parent, child) of column names, got 'ab'"),
        ({("a", "b")}, "structure must be a list of pairs (parent, child) of column names, got {('a', 'b')}"),
        (5, "structure must be a list of pairs (parent, child) of column names, got 5"),
        ([5], "structure must list pairs (parent, child) of column names, got 5"),
        ([None], "structure must list pairs (parent, child) of column names, got None"),
        ([("a", "b", "c")], "structure must list pairs (parent, child) of column names, got ('a', 'b', 'c')"),
        ([("a", "z")], "structure names 'z', which is not a column; the columns are a, b, c, d"),
        ([(["a"], "b")], "structure must list pairs (parent, child) of column names, got (['a'], 'b')"),
        ([(0, 1)], "structure must list pairs (parent, child) of column names, got (0, 1)"),
        ([("a", "a")], "structure makes 'a' its own parent"),
        ([("a", "b"), ("a", "b")], "structure lists the edge from 'a' to 'b' twice"),
        ([("a", "d"), ("b", "d"), ("c", "d")], "structure gives 'd' more than 2 parents; raise depth"),
        ([("a", "b"), ("b", "a")], "structure has a cycle through"),
        ([("a", "b"), ("b", "c"), ("c", "a")], "structure has a cycle through"),
    ],
)
def test_an_invalid_structure_gets_one_sentence(edges, sentence):
    with pytest.raises(ValueError, match="structure") as caught:
        given_parents(edges, NAMES, 2)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_the_cells_of_tables_with_parents_are_limited():
    check_table_cells((MAX_TABLE_CELLS, 2), "x")
    check_table_cells((2, MAX_TABLE_CELLS // 4, 2), "x")
    with pytest.raises(ValueError, match=r"^the table of 'x' and its parents has 1,048,578 cells, more than"):
        check_table_cells((3, MAX_TABLE_CELLS // 6 + 1, 2), "x")
    with pytest.raises(ValueError, match="give it fewer parents"):
        check_table_cells((10**5,) * 5, "x")
