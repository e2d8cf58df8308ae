import numpy as np
import pytest

from tanbark import Counts
from tanbark.counts.spark import from_cells, to_cells


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("rows", [0, 1, 300])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_from_cells_inverts_to_cells(random_table, order, rows, missing):
    schema, codes, y = random_table(1, rows, (2, 3, 1, 5), 3, missing)
    counts = Counts.of(schema, codes, y, order=order)
    assert from_cells(schema, order, *to_cells(counts)) == counts


@pytest.mark.parametrize("order", [1, 2])
def test_adding_cells_by_key_adds_counts(random_table, order):
    schema, codes, y = random_table(2, 400, (2, 3, 4), 3, 0.1)
    sums = {}
    for part in np.array_split(np.arange(len(y)), 7):
        cells = to_cells(Counts.of(schema, codes[:, part], y[part], order=order))
        for key, count in zip(*(c.tolist() for c in cells), strict=True):
            sums[key] = sums.get(key, 0) + count
    keys = np.array(list(sums), np.int64)
    together = from_cells(schema, order, keys, np.array(list(sums.values())))
    assert together == Counts.of(schema, codes, y, order=order)


def test_cells_contain_no_symmetric_duplicates_and_no_zeros(random_table):
    schema, codes, y = random_table(3, 1, (2, 3, 4), 2)
    keys, counts = to_cells(Counts.of(schema, codes, y))
    assert len(keys) == 1 + 3 + 3  # the class, the values, their pairs
    assert counts.tolist() == [1] * 7
