"""Distinct rows, sorted, with summed weights."""

from collections import Counter

import numpy as np
import pytest

from tanbark import Category, Counts, Schema
from tanbark.counts import Rows


def as_counter(rows):
    weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
    seen = Counter()
    for i, weight in enumerate(weights):
        seen[(int(rows.classes[i]), *np.minimum(rows.codes[:, i], rows.schema.arity).tolist())] += float(weight)
    return seen


@pytest.mark.parametrize("arity", [(2, 3), (2,) * 70, (300, 300, 300, 300, 300, 300, 300, 300)])
def test_distinct_rows_are_in_ascending_order_for_any_order_of_the_rows(arity, random_table):
    schema, codes, y = random_table(0, 300, arity, 3, holes=0.1)
    weights = np.random.default_rng(1).integers(1, 4, 300).astype(float)
    rows = Rows(schema, codes, y, weights)
    distinct = rows.distinct
    assert as_counter(distinct) == as_counter(rows)
    assert len(distinct.classes) == len(as_counter(rows))
    clipped = np.minimum(distinct.codes, schema.arity[:, None]).T.tolist()
    keys = [(k, *c) for k, c in zip(distinct.classes, clipped, strict=True)]
    assert keys == sorted(keys)
    order = np.random.default_rng(2).permutation(300)
    shuffled = Rows(schema, codes[:, order], y[order], weights[order]).distinct
    repeated = Rows(schema, np.repeat(codes, weights.astype(int), axis=1), np.repeat(y, weights.astype(int))).distinct
    for other in (shuffled, repeated):
        assert np.array_equal(other.codes, distinct.codes)
        assert np.array_equal(other.classes, distinct.classes)
        assert np.array_equal(other.weights, distinct.weights)


def test_weights_of_equal_rows_have_the_same_sum_in_any_order():
    """In floating point, 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1."""
    schema = Schema([Category("a", (0, 1))], classes=(0, 1))
    orders = ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1])
    sums = [Rows(schema, np.zeros((1, 3), np.uint8), np.zeros(3, int), np.array(w)).distinct.weights for w in orders]
    assert sums[0] == pytest.approx([0.6])
    assert len({s.item() for s in sums}) == 1


def test_no_rows_give_no_distinct_rows():
    schema = Schema([Category("a", (0, 1))], classes=(0, 1))
    empty = Rows(schema, np.zeros((1, 0), schema.dtype), np.zeros(0, np.int64))
    assert empty.distinct.codes.shape == (1, 0)


def test_take_returns_the_chosen_rows(random_table):
    schema, codes, y = random_table(0, 10, (2, 3), 2)
    some = Rows(schema, codes, y, np.arange(10.0)).take(np.arange(10) % 2 == 0)
    assert np.array_equal(some.codes, codes[:, ::2])
    assert np.array_equal(some.weights, np.arange(0.0, 10, 2))
    assert np.array_equal(some.classes, y[::2])


def test_rows_under_an_extended_schema_have_the_same_counts():
    old = Schema([Category("a", ("p", "r")), Category("b", tuple(range(250)))], ("no", "yes"))
    new = Schema(
        [Category("a", ("o", "p", "q", "r"), missing=True), Category("b", tuple(range(300)))], ("maybe", "no", "yes")
    )
    rng = np.random.default_rng(0)
    codes = np.array([rng.choice([0, 1, 255], 90), rng.choice([*range(250), 255], 90)], np.uint8)
    rows = Rows(old, codes, rng.integers(0, 2, 90), rng.random(90))
    extended = rows.under(new)
    assert (extended.schema, extended.codes.dtype) == (new, np.uint16)
    assert rows.under(old) is rows
    expected = Counts.of(old, rows.codes, rows.classes, rows.weights).under(new)
    assert Counts.of(new, extended.codes, extended.classes, extended.weights) == expected
