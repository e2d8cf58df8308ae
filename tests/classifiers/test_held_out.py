"""Which rows are held out depends on the rows and the seed, and on nothing else."""

import numpy as np

from tanbark import Category, Schema
from tanbark.classifiers.boosting import held_out
from tanbark.counts import Rows


def table(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    schema = Schema([Category(name, tuple(range(5))) for name in "abcd"], ("no", "yes", "rare"))
    codes = rng.integers(0, 5, (4, rows)).astype(schema.dtype)
    codes[rng.random(codes.shape) < 0.05] = schema.missing_code
    y = rng.integers(0, 2, rows)
    y[:4] = 2
    return Rows(schema, codes, y).distinct


def chosen(rows, seed=0):
    """The held-out rows as a set of (values by name, class)."""
    return {
        (tuple(sorted(zip(rows.schema.names, column))), k)
        for column, k, out in zip(rows.codes.T.tolist(), rows.classes.tolist(), held_out(rows, seed))
        if out
    }


def test_a_fifth_of_each_class_is_held_out_but_of_a_rare_one_nothing():
    rows = table()
    held = held_out(rows, 0)
    for k in range(3):
        assert held[rows.classes == k].sum() == (rows.classes == k).sum() // 5
    assert not held[rows.classes == 2].any()


def test_of_few_rows_none_is_held_out():
    assert not held_out(table(29), 0).any()
    assert held_out(table(40), 0).any()


def test_the_order_of_columns_and_rows_does_not_matter():
    rows = table()
    order = [2, 0, 3, 1]
    turned = Schema([rows.schema.columns[u] for u in order], rows.schema.classes)
    other = Rows(turned, rows.codes[order][:, ::-1], rows.classes[::-1]).distinct
    assert chosen(other) == chosen(rows)


def test_another_seed_draws_other_rows():
    rows = table()
    one, two = held_out(rows, 0), held_out(rows, 1)
    assert 0.1 < (one & two).sum() / one.sum() < 0.3


def test_every_value_is_held_out_about_as_often_as_any_other():
    rows = table(20_000)
    held = held_out(rows, 0)
    for column in rows.codes:
        shares = [held[column == value].mean() for value in range(5)]
        assert 0.1 < min(shares) <= max(shares) < 0.3


def test_rows_that_differ_in_the_class_only_are_on_one_side():
    rng = np.random.default_rng(0)
    schema = Schema([Category(name, tuple(range(9))) for name in "abc"], ("no", "yes"))
    codes = rng.integers(0, 9, (3, 300)).astype(schema.dtype)
    rows = Rows(schema, np.hstack([codes, codes]), np.repeat([0, 1], 300)).distinct
    held = held_out(rows, 0)
    assert np.array_equal(held[rows.classes == 0], held[rows.classes == 1])
