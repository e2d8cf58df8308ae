"""Lookups of additive tables against plain indexing."""

import numpy as np
import pytest

from tanbark.evidence.additive_tables import AdditiveTables

PARENTS = ((), (0,), (0, 1), (2, 1, 0))


def random_tables(seed, dtype=np.uint8, rows=700):
    """Return tables of attributes of 3, 1, 5 and 2 codes, and codes of which some are missing or unseen."""
    rng = np.random.default_rng(seed)
    arity = (3, 1, 5, 2)
    digits = tuple(np.append(rng.integers(0, 2, a), 2) if a > 2 else np.arange(a + 1, dtype=np.int64) for a in arity)
    shapes = [(*(digits[p][-1] + 1 for p in above), a + 1, 3) for above, a in zip(PARENTS, arity)]
    codes = np.stack([rng.integers(0, a + 2, rows) for a in arity]).astype(dtype)
    codes[rng.random(codes.shape) < 0.1] = np.iinfo(dtype).max
    return AdditiveTables(tuple(rng.normal(size=shape) for shape in shapes), PARENTS, digits), codes


def plain_entry(tables, codes, u, row):
    code = [min(int(codes[v, row]), len(tables.digits[v]) - 1) for v in range(len(codes))]
    return tables.tables[u][(*(tables.digits[p][code[p]] for p in tables.parents[u]), code[u])]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_entries_are_those_of_plain_indexing(dtype):
    tables, codes = random_tables(0, dtype)
    entries = tables.entries(codes)
    assert entries.shape == (700, 5, 3)
    assert not entries[:, 0].any()
    for row in range(0, 700, 7):
        for u in range(4):
            assert np.array_equal(entries[row, 1 + u], plain_entry(tables, codes, u, row))


def test_scores_are_the_sums_of_the_entries():
    tables, codes = random_tables(1)
    scores = np.full((700, 3), 0.5)
    tables.add_to(scores, codes)
    np.testing.assert_allclose(scores, 0.5 + tables.entries(codes).sum(axis=1), atol=1e-12)


@pytest.mark.usefixtures("threads_for_few_rows")
def test_threads_and_batches_change_no_bit():
    tables, codes = random_tables(2, rows=1500)
    expected = np.zeros((1500, 3))
    tables.add_to(expected, codes, 1)
    for n_jobs in (2, 3):
        found = np.zeros((1500, 3))
        tables.add_to(found, codes, n_jobs)
        assert np.array_equal(found, expected)
        assert np.array_equal(tables.entries(codes, n_jobs), tables.entries(codes, 1))
    alone = np.zeros((1, 3))
    tables.add_to(alone, np.ascontiguousarray(codes[:, 777:778]))
    assert np.array_equal(alone[0], expected[777])


def test_no_rows_have_no_scores():
    tables, codes = random_tables(3)
    none = np.ascontiguousarray(codes[:, :0])
    assert tables.entries(none).shape == (0, 5, 3)
    tables.add_to(np.zeros((0, 3)), none)
