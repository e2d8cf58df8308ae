"""Adding rows to a Burt table, compared with products of indicator matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.immutable import read_only
from tanbark.kernels.count.pair_counts import add_rows


@pytest.mark.parametrize("count_type", [np.int64, np.float64])
@pytest.mark.parametrize("code_type", [np.uint8, np.uint16])
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 300), st.integers(0, 99))
def test_adding_rows_adds_their_pairs_to_the_table(code_type, count_type, arity, classes, rows, seed):
    rng = np.random.default_rng(seed)
    missing = np.iinfo(code_type).max
    codes = np.stack([np.where(rng.random(rows) < 0.2, missing, rng.integers(0, r, rows)) for r in arity]).astype(
        code_type
    )
    y = rng.integers(0, classes, rows).astype(np.uint16)
    indicator = np.concatenate([codes[u] == np.arange(r)[:, None] for u, r in enumerate(arity)]).astype(np.int64)
    table = rng.integers(0, 10**6, (classes, sum(arity), sum(arity))).astype(count_type)
    before, out = table.copy(), np.full_like(table, -1)
    add_rows(codes, y, read_only(np.cumsum([0, *arity])), read_only(table), out)
    assert np.array_equal(
        out, before + np.stack([indicator[:, y == k] @ indicator[:, y == k].T for k in range(classes)])
    )
    assert np.array_equal(table, before)
