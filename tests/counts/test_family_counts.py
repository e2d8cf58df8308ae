from collections import Counter

import numpy as np
import pytest

from tanbark.counts import count_family
from tanbark.counts import family_counts as family


def by_definition(schema, codes, y, columns, weights=None):
    counted = Counter()
    for i in range(len(y)):
        values = [int(codes[u, i]) for u in columns]
        if all(v < schema.arity[u] for v, u in zip(values, columns, strict=True)):
            counted[(int(y[i]), *values)] += 1 if weights is None else weights[i]
    return counted


@pytest.mark.parametrize("columns", [(), (2,), (0, 2), (3, 1, 0)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_family_is_counted_over_its_complete_rows(random_table, monkeypatch, columns, sparse):
    schema, codes, y = random_table(1, 400, (3, 4, 2, 5), 3, 0.1)
    if sparse:
        monkeypatch.setattr(family, "MAX_BINCOUNT_CELLS", 0)
        codes, y = codes[:, :6], y[:6]
    counts = count_family(schema, codes, y, columns)
    expected = by_definition(schema, codes, y, columns)
    cells = [tuple(int(x) for x in np.unravel_index(key, counts.shape)) for key in counts.keys]
    assert dict(zip(cells, counts.counts.tolist(), strict=True)) == dict(expected)
    assert counts.dense().sum() == sum(expected.values())
    assert counts.dense().dtype.kind == "i"


@pytest.mark.parametrize(("rows", "most_cells"), [(300, family.MAX_BINCOUNT_CELLS), (6, 0)])
def test_weights_are_summed_in_a_family(random_table, monkeypatch, rows, most_cells):
    monkeypatch.setattr(family, "MAX_BINCOUNT_CELLS", most_cells)
    schema, codes, y = random_table(2, rows, (3, 4, 2), 2, 0.1)
    weights = np.random.default_rng(0).random(rows)
    dense = count_family(schema, codes, y, (0, 1, 2), weights).dense()
    for cell, weight in by_definition(schema, codes, y, (0, 1, 2), weights).items():
        assert dense[cell] == pytest.approx(weight, rel=1e-12)


def test_missing_values_can_count_as_a_level(random_table):
    schema, codes, y = random_table(3, 300, (3, 4), 2, 0.2)
    dense = count_family(schema, codes, y, (0, 1), missing_as_level=True).dense()
    assert dense.shape == (2, 4, 5)
    assert dense.sum() == 300
    assert dense[:, 3, 4].sum() == ((codes[0] == 255) & (codes[1] == 255)).sum()


def test_a_dense_table_of_excessive_size_is_refused(random_table):
    schema, codes, y = random_table(4, 100, (200,) * 7, 2)
    counts = count_family(schema, codes, y, range(7))
    assert counts.counts.sum() == 100
    with pytest.raises(ValueError, match="use the sparse counts"):
        counts.dense()
