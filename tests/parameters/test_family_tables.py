"""Tables of families of any size, against direct counting."""

import itertools

import numpy as np
import pytest

from parameters.published_formulas import FORMULAS
from tanbark import Category, Counts, Schema
from tanbark.counts import Rows
from tanbark.network import SparseTable
from tanbark.parameters import PARAMETERS
from tanbark.parameters.family_tables import family_table
from tanbark.parameters.tree_tables import attribute_table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parameters", FORMULAS)
@pytest.mark.parametrize(
    ("node", "parents"), [(2, (0, 1, 3)), (2, (1, 3, 0)), (0, (2, 1)), (3, (1, 0)), (1, (0, 3)), (3, (2,)), (0, (3,))]
)
def test_tables_follow_the_published_formulas_over_complete_rows_of_the_family(
    random_table, node, parents, parameters, weighted
):
    schema, codes, y = random_table(2, 60, (3, 2, 4), 3, holes=0.2)
    weights = np.random.default_rng(0).integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    counts = Counts.of(schema, codes, y, weights)
    table = family_table(counts, Rows(schema, codes, y, weights), node, parents, parameters, 5.0)
    arity = (3, 2, 4, 3)
    columns = [*(c.astype(int) for c in codes), y]
    complete = np.all([columns[v] < arity[v] for v in (node, *parents)], axis=0)
    own = columns[node] < arity[node]
    assert table.shape == tuple(arity[v] for v in (*parents, node))
    q = int(np.prod([arity[p] for p in parents]))
    for at in itertools.product(*(range(arity[p]) for p in parents)):
        here = complete & np.all([columns[p] == i for p, i in zip(parents, at, strict=True)], axis=0)
        for j in range(arity[node]):
            n = weights[here & (columns[node] == j)].sum()
            f = weights[own & (columns[node] == j)].sum() / weights[own].sum()
            expected = FORMULAS[parameters](n, weights[here].sum(), f, arity[node], q, 5.0)
            assert np.exp(table[(*at, j)]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_the_table_of_a_family_with_one_attribute_parent_equals_that_of_a_tree(random_table, parameters):
    schema, codes, y = random_table(3, 80, (3, 2, 4), 2)
    counts = Counts.of(schema, codes, y)
    table = family_table(counts, Rows(schema, codes, y), 2, (0, 3), parameters, 10.0)
    np.testing.assert_allclose(table, attribute_table(counts, 2, 0, parameters, 10.0), rtol=1e-14)


def wide(rows, arity, seed=0):
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)], (0, 1))
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, r, rows) for r in arity], schema.dtype)
    return Counts.of(schema, codes, y := rng.integers(0, 2, rows)), Rows(schema, codes, y)


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize(("node", "parents"), [(2, (0, 3, 1)), (2, (0, 1)), (3, (1, 0, 2))])
def test_the_table_is_sparse_and_equals_the_dense_one_if_few_configurations_occur(
    monkeypatch, parameters, node, parents
):
    counts, rows = wide(50, (60, 70, 9))
    table = family_table(counts, rows, node, parents, parameters, 10.0)
    monkeypatch.setattr("tanbark.parameters.family_tables.MAX_DENSE_RATIO", 10**9)
    dense = family_table(counts, rows, node, parents, parameters, 10.0)
    assert isinstance(dense, np.ndarray)
    if dense.size <= 2**16:
        assert isinstance(table, np.ndarray)
    else:
        assert isinstance(table, SparseTable)
        assert len(table.keys) <= 50
        assert np.array_equal(table.dense(), dense)


def test_a_large_table_is_dense_if_most_configurations_occur():
    counts, rows = wide(100_000, (100, 100, 4))
    assert isinstance(family_table(counts, rows, 2, (0, 1, 3), "dirichlet", 10.0), np.ndarray)
    counts, rows = wide(1_000, (100, 100, 4))
    assert isinstance(family_table(counts, rows, 2, (0, 1, 3), "dirichlet", 10.0), SparseTable)
