import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Counts
from tanbark.counts import Tally


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=6), st.booleans(), st.sampled_from([1, 2]))
@pytest.mark.parametrize("arity", [(2, 3, 4), (300, 3)])
def test_rows_may_be_added_in_any_number_of_parts(arity, cuts, weighted, order):
    from tanbark import Category, Schema

    rng = np.random.default_rng(0)
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)], (0, 1))
    codes = np.array([rng.integers(0, r, 300) for r in arity], schema.dtype)
    codes[rng.random(codes.shape) < 0.1] = schema.missing_code
    y = rng.integers(0, 2, 300)
    weights = rng.random(300) if weighted else None
    tally = Tally(schema, order)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 300], strict=True):
        part = slice(start, stop)
        tally.add(np.ascontiguousarray(codes[:, part]), y[part], None if weights is None else weights[part])
    counts = tally.counts()
    table = np.zeros((2, *[schema.offset[-1]] * order), float if weighted else int)
    for i in range(300):
        held = [schema.offset[u] + codes[u, i] for u in range(len(arity)) if codes[u, i] < schema.arity[u]]
        places = np.ix_([y[i]], *[held] * order)
        table[places] += 1 if weights is None else weights[i]
    # Sums are computed in row order, so they are equal to the last bit.
    assert np.array_equal(counts.table, table)
    assert counts.table.dtype == table.dtype
    assert np.array_equal(
        counts.class_counts, [sum(1 if weights is None else weights[i] for i in np.flatnonzero(y == k)) for k in (0, 1)]
    )


def test_counts_are_not_changed_by_rows_added_later(random_table):
    schema, codes, y = random_table(1, 50, (2, 3), 2)
    tally = Tally(schema)
    tally.add(codes, y)
    before = tally.counts()
    tally.add(codes, y)
    assert before == Counts.of(schema, codes, y)
    assert tally.counts() == before + before


def test_rows_without_weights_may_follow_weighted_ones(random_table):
    schema, codes, y = random_table(1, 50, (2, 3), 2)
    tally = Tally(schema)
    tally.add(codes, y, np.full(50, 0.5))
    tally.add(codes, y)
    assert tally.counts() == Counts.of(schema, codes, y) * 1.5


@pytest.mark.parametrize("weights", [None, np.full(50, 0.25)])
def test_tallies_merge(random_table, weights):
    schema, codes, y = random_table(1, 50, (2, 3), 2)
    one, two = Tally(schema), Tally(schema)
    one.add(codes, y)
    two.add(codes, y, weights)
    one.merge(two)
    assert one.counts() == Counts.of(schema, codes, y) * (2 if weights is None else 1.25)


def test_invalid_rows_change_nothing(random_table):
    schema, codes, y = random_table(1, 50, (2, 3), 2)
    tally = Tally(schema)
    for bad in ((codes[:1], y), (codes, y[:-1]), (codes, y + 2), (codes, y, -np.ones(50))):
        with pytest.raises(ValueError, match="must"):
            tally.add(*bad)
    assert tally.counts() == Counts.zero(schema)
