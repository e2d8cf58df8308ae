"""Counts as arrays: nothing is lost, and what is not counts is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark import Category, Counts, Schema
from tanbark.counts.stored_counts import MAX_DENSE_BYTES, counts_from_arrays, counts_to_arrays

SCHEMA = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate((40, 30, 7))], ("no", "yes"))
SPARSE = {"class_counts", "table_gaps", "table_values"}


def counts(rows, seed=0, weights=None, order=2, schema=SCHEMA):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, r, rows) for r in schema.arity], schema.dtype).reshape(len(schema.arity), rows)
    return Counts.of(schema, codes, rng.integers(0, 2, rows), weights, order)


@given(rows=st.integers(0, 300), seed=st.integers(0, 9), weighted=st.booleans(), factor=st.sampled_from([1, 2**40]))
def test_sparse_counts_come_back_exactly(rows, seed, weighted, factor):
    weights = np.random.default_rng(seed).random(rows) if weighted else None
    given_counts = counts(rows, seed, weights) * factor
    arrays = counts_to_arrays(given_counts)
    assert arrays.keys() == SPARSE
    again = counts_from_arrays(SCHEMA, arrays)
    assert again == given_counts
    assert again.table.dtype == given_counts.table.dtype


def test_the_stored_cells_are_the_nonzero_ones_of_the_upper_triangle():
    given_counts = counts(20)
    arrays = counts_to_arrays(given_counts)
    expected = [
        (place, count)
        for place, count in enumerate(given_counts.table.ravel().tolist())
        if count and place // 77 % 77 <= place % 77
    ]
    places = np.cumsum(arrays["table_gaps"].astype(int)) - 1
    assert list(zip(places.tolist(), arrays["table_values"].tolist())) == expected
    assert arrays["table_values"].dtype == np.uint8


@pytest.mark.parametrize("order", [1, 2])
def test_small_tables_and_counts_of_single_values_are_dense(order):
    schema = SCHEMA if order == 1 else Schema(SCHEMA.columns[2:], SCHEMA.classes)
    given_counts = counts(50, order=order, schema=schema)
    assert given_counts.table.nbytes <= MAX_DENSE_BYTES
    arrays = counts_to_arrays(given_counts)
    assert arrays.keys() == {"class_counts", "table"}
    assert counts_from_arrays(schema, arrays) == given_counts


def test_dense_tables_of_any_size_are_read():
    """Earlier versions stored all tables densely."""
    given_counts = counts(100)
    arrays = {"class_counts": given_counts.class_counts, "table": given_counts.table}
    assert counts_from_arrays(SCHEMA, arrays) == given_counts


def test_counts_that_are_not_symmetric_are_refused():
    whole = counts(100)
    for u, v in ((0, 50), (50, 0)):
        table = whole.table.copy()
        table[0, u, v] = min(table[0, u, u], table[0, v, v]) - table[0, u, v]
        arrays = counts_to_arrays(Counts(SCHEMA, whole.class_counts, table))
        with pytest.raises(ValueError, match="the counts of pairs are not symmetric"):
            counts_from_arrays(SCHEMA, arrays)


def test_a_prefix_names_the_arrays():
    given_counts = counts(30)
    arrays = {f"prior_{name}": array for name, array in counts_to_arrays(given_counts).items()}
    assert counts_from_arrays(SCHEMA, arrays, "prior_") == given_counts
