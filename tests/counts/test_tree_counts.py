"""Counts along a tree equal those of the whole Burt table."""

import numpy as np
import pytest

from tanbark.counts import Counts, Rows, count_tree
from tanbark.parameters import tree_tables

PARENT = (2, -1, 1, 1, -1)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_values_and_pairs_along_the_tree_equal_those_of_all_pairs(random_table, missing):
    schema, codes, y = random_table(0, 300, (3, 2, 4, 3, 2), 3, missing)
    weights = np.random.default_rng(1).random(300)
    few, all_pairs = count_tree(Rows(schema, codes, y), PARENT, weights), Counts.of(schema, codes, y, weights)
    np.testing.assert_allclose(few.values, all_pairs.values, rtol=1e-12)
    assert few.order == 1  # only pairs along edges are stored
    for u, v in [(0, 2), (2, 1), (3, 1)]:
        np.testing.assert_allclose(few.pair(u, v), all_pairs.pair(u, v), rtol=1e-12)
        np.testing.assert_allclose(few.pair(v, u), all_pairs.pair(v, u), rtol=1e-12)
    tables = (tree_tables(counts, PARENT, "dirichlet", 10.0) for counts in (few, all_pairs))
    for a, b in zip(*tables, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


@pytest.mark.usefixtures("threads_for_few_rows")
def test_the_number_of_threads_does_not_change_the_counts(random_table):
    schema, codes, y = random_table(0, 500, (3, 2, 4, 3, 2), 3)
    weights = np.random.default_rng(1).random(500)
    one, two = (count_tree(Rows(schema, codes, y), PARENT, weights, n_jobs) for n_jobs in (1, 2))
    assert all(np.array_equal(one.pairs[edge], two.pairs[edge]) for edge in one.pairs)
