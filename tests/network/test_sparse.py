import pickle

import numpy as np
import pytest

from tanbark.network import SparseTable


def sparse(shape=(3, 2, 4, 2), class_axis=1, keys=(0, 5, 11)):
    rng = np.random.default_rng(0)
    classes = 1 if class_axis is None else shape[class_axis]
    rows = np.log(rng.dirichlet(np.ones(shape[-1]), (len(keys), classes)))
    return SparseTable(shape, class_axis, np.array(keys), rows, np.log(rng.dirichlet(np.ones(shape[-1]), classes)))


def test_written_out_every_configuration_has_its_row():
    table = sparse()
    dense = table.dense()
    assert dense.shape == (3, 2, 4, 2)
    for i in range(3):
        for k in range(2):
            for j in range(4):
                key = 4 * i + j
                row = table.rows[[0, 5, 11].index(key)] if key in (0, 5, 11) else table.default
                assert np.array_equal(dense[i, k, j], row[k])


@pytest.mark.parametrize("class_axis", [0, 1, 2, None])
def test_looking_up_is_reading_what_is_written_out(class_axis):
    table = sparse(class_axis=class_axis, keys=(1, 2, 5))
    values = tuple(np.indices((3, 2, 4)).reshape(3, -1))
    assert np.array_equal(table.at(values), table.dense()[values])


def test_nothing_of_it_can_be_changed():
    table = pickle.loads(pickle.dumps(sparse()))
    for array in (table.keys, table.rows, table.default):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_what_is_too_large_to_write_out_says_so():
    with pytest.raises(ValueError, match=r"^a table of shape \(1024, 1024, 1024, 2\) has 2,147,483,648 cells"):
        sparse((1024, 1024, 1024, 2), None).dense()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": (5, 0, 11)}, "ascending"),
        ({"keys": (0, 0, 11)}, "ascending"),
        ({"keys": (-1, 0, 11)}, "none of its 12 configurations"),
        ({"keys": (0, 5, 12)}, "none of its 12 configurations"),
        ({"keys": (0.0, 5.0, 11.0)}, "whole numbers"),
        ({"shape": (2**31, 2, 2**31, 2)}, "more cells than can be numbered"),
        ({"shape": (2, 2), "class_axis": 0}, "needs an attribute"),
    ],
)
def test_what_is_no_sparse_table_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        sparse(**change)


def test_rows_of_another_shape_are_refused():
    table = sparse()
    for rows, default in ((table.rows[:2], table.default), (table.rows, table.default[:1])):
        with pytest.raises(ValueError, match="another shape"):
            SparseTable(table.shape, table.class_axis, table.keys, rows, default)


def test_keys_whose_differences_overflow_are_not_in_order():
    """Each difference of neighbours, as a whole number of 64 bits, is positive, and the ends are configurations."""
    keys = (5, -(2**63), -10, 7)
    with pytest.raises(ValueError, match="in ascending order"):
        sparse(keys=keys)
