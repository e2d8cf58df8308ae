import pickle

import numpy as np
import pytest

from network.networks import network_with, random_tree, rows_with_every_pattern, whole_joint
from tanbark import Network
from tanbark.network import SparseTable


def sparse(shape=(3, 2, 4, 2), class_axis=1, keys=(0, 5, 11)):
    rng = np.random.default_rng(0)
    classes = 1 if class_axis is None else shape[class_axis]
    rows = np.log(rng.dirichlet(np.ones(shape[-1]), (len(keys), classes)))
    return SparseTable(shape, class_axis, np.array(keys), rows, np.log(rng.dirichlet(np.ones(shape[-1]), classes)))


def test_the_dense_table_has_the_row_of_every_configuration():
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
def test_looking_up_rows_equals_indexing_the_dense_table(class_axis):
    table = sparse(class_axis=class_axis, keys=(1, 2, 5))
    values = tuple(np.indices((3, 2, 4)).reshape(3, -1))
    assert np.array_equal(table.at(values), table.dense()[values])


def test_sparse_tables_are_read_only():
    table = pickle.loads(pickle.dumps(sparse()))
    for array in (table.keys, table.rows, table.default):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_table_that_is_too_large_for_a_dense_array_raises():
    with pytest.raises(ValueError, match=r"^a table of shape \(1024, 1024, 1024, 2\) has 2,147,483,648 cells"):
        sparse((1024, 1024, 1024, 2), None).dense()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": (5, 0, 11)}, "ascending"),
        ({"keys": (0, 0, 11)}, "ascending"),
        ({"keys": (-1, 0, 11)}, "outside its 12 configurations"),
        ({"keys": (0, 5, 12)}, "outside its 12 configurations"),
        ({"keys": (0.0, 5.0, 11.0)}, "must be int64"),
        ({"shape": (2**31, 2, 2**31, 2)}, "too many cells for 64-bit keys"),
        ({"shape": (2, 2), "class_axis": 0}, "needs at least one attribute"),
    ],
)
def test_invalid_arguments_raise(change, message):
    with pytest.raises(ValueError, match=message):
        sparse(**change)


def test_rows_of_the_wrong_shape_are_refused():
    table = sparse()
    for rows, default in ((table.rows[:2], table.default), (table.rows, table.default[:1])):
        with pytest.raises(ValueError, match="have the wrong shape"):
            SparseTable(table.shape, table.class_axis, table.keys, rows, default)


def test_unordered_keys_whose_differences_overflow_are_refused():
    """All differences of neighbouring keys are positive in 64-bit arithmetic, and both ends are valid keys."""
    keys = (5, -(2**63), -10, 7)
    with pytest.raises(ValueError, match="in ascending order"):
        sparse(keys=keys)


def sparse_pair(seed):
    """Return a network with sparse tables, and the same network with dense tables."""
    rng = np.random.default_rng(seed)
    parents, arity = [(5,), (5, 0), (1, 5, 0), (2, 1), (3, 5), ()], [3, 2, 4, 2, 3, 3]
    if seed % 2:  # the class has parents
        parents, arity = [(), (0,), (1, 0), (2, 5, 1), (5, 3), (2, 0)], [3, 2, 4, 2, 3, 3]
    dense = network_with(parents, arity, rng)
    tables = list(dense.log_tables)
    for node, above in enumerate(parents):
        attributes = [arity[p] for p in above if p != 5]
        if not attributes:
            continue
        classes = 3 if 5 in above else 1
        keys = np.flatnonzero(rng.random(int(np.prod(attributes))) < 0.5)
        rows = np.log(rng.dirichlet(np.ones(arity[node]), (len(keys), classes)))
        default = np.log(rng.dirichlet(np.ones(arity[node]), classes))
        shape = tuple(arity[v] for v in (*above, node))
        tables[node] = SparseTable(shape, above.index(5) if 5 in above else None, keys, rows, default)
    dense_tables = [t.dense() if isinstance(t, SparseTable) else t for t in tables]
    return Network(dense.schema, dense.structure, tuple(tables)), Network(
        dense.schema, dense.structure, tuple(dense_tables)
    )


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_results_of_sparse_and_dense_tables_are_identical(seed):
    sparse, dense = sparse_pair(seed)
    rows = np.tile(rows_with_every_pattern(sparse.schema, seed), 5)
    assert sum(isinstance(t, SparseTable) for t in sparse.log_tables) >= 4
    for settings in ({}, {"max_table": 0}):
        assert np.array_equal(sparse.log_joint(rows, **settings), dense.log_joint(rows, **settings))
        assert np.array_equal(sparse.standard_error(rows, **settings), dense.standard_error(rows, **settings))
        assert np.array_equal(sparse.evidence(rows, **settings), dense.evidence(rows, **settings))
    assert whole_joint(sparse).sum() == pytest.approx(1.0)
    for name in sparse.names:
        assert np.array_equal(sparse.table(name), dense.table(name))
    for one, other in zip(sparse.sample(200, 3), dense.sample(200, 3), strict=True):
        assert np.array_equal(one, other)
    again = pickle.loads(pickle.dumps(sparse))
    assert np.array_equal(again.log_joint(rows), dense.log_joint(rows))


def test_a_tree_with_a_sparse_table_uses_general_inference():
    tree = random_tree(2, 0)
    table = tree.log_tables[1]
    every = SparseTable(table.shape, 1, np.arange(table.shape[0]), table.copy(), table[0].copy())
    network = Network(tree.schema, tree.structure, (tree.log_tables[0], every, tree.log_tables[2]))
    assert network.tree is None
    rows = rows_with_every_pattern(tree.schema)
    np.testing.assert_allclose(network.log_joint(rows), tree.log_joint(rows), rtol=1e-13)


def test_a_sparse_table_with_the_class_on_the_wrong_axis_is_refused():
    tree = random_tree(2, 0)
    table = tree.log_tables[1]
    swapped = table.swapaxes(0, 1)
    assert swapped.shape != table.shape or table.shape[0] == 3
    wrong = SparseTable(
        table.shape, 0, np.empty(0, np.int64), np.empty((0, table.shape[0], table.shape[2])), table[:, 0]
    )
    with pytest.raises(ValueError, match="has the class on axis 0, its parents require 1"):
        Network(tree.schema, tree.structure, (tree.log_tables[0], wrong, tree.log_tables[2]))
