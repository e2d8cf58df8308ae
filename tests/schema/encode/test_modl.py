import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Encoder
from tanbark.datasets import iris
from tanbark.schema.encode import modl
from tanbark.schema.encode.modl import MIN_CELLS, RowClasses

QUICK = settings(deadline=None, database=None, max_examples=150)


def cuts_of(x, y, weights, classes, *max_intervals):
    return modl.modl_cuts(x, RowClasses(y, classes), weights, *max_intervals)


def partition_weight(groups, classes):
    """Return the product of Boullé's prior and likelihood of a partition, up to a constant, as an exact fraction."""
    n, intervals = sum(map(len, groups)), len(groups)
    weight = Fraction(1, math.comb(n + intervals - 1, intervals - 1))
    for group in groups:
        counts = [group.count(c) for c in range(classes)]
        arrangements = math.factorial(len(group)) // math.prod(map(math.factorial, counts))
        weight /= math.comb(len(group) + classes - 1, classes - 1) * arrangements
    return weight


def all_partitions(pairs):
    """Yield every set of cut points between distinct values, and the classes of the rows in each interval."""
    values = sorted({x for x, _ in pairs})
    for n_cuts in range(len(values)):
        for cuts in itertools.combinations(values[:-1], n_cuts):
            edges = [-math.inf, *cuts, math.inf]
            yield list(cuts), [[c for x, c in pairs if a < x <= b] for a, b in itertools.pairwise(edges)]


columns = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=MIN_CELLS)


@QUICK
@given(columns, st.integers(1, 10))
def test_no_other_set_of_cut_points_is_more_probable(pairs, max_intervals):
    x, y = np.array(pairs).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modl, "MIN_INTERVALS", 1)
        found = cuts_of(x.astype(float), y, None, 3, max_intervals)
    weights = {
        tuple(cuts): partition_weight(groups, 3) for cuts, groups in all_partitions(pairs) if len(cuts) < max_intervals
    }
    assert weights[tuple(found)] == max(weights.values())


@QUICK
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 1)), min_size=1, max_size=300))
def test_there_are_three_intervals_wherever_there_are_three_cells(pairs):
    x, y = np.array(pairs).T
    cuts = cuts_of(x.astype(float), y, None, 2)
    assert all(np.diff(cuts) > 0)
    assert set(cuts) <= set(x.tolist())
    assert len(cuts) == 0 or cuts[-1] < x.max()
    cells = max(MIN_CELLS, math.ceil(math.sqrt(len(x))))
    quantiles = set(np.quantile(x, np.arange(1, cells) / cells, method="inverted_cdf").tolist()) - {x.max()}
    assert len(cuts) >= min(2, len(quantiles))


def test_added_cut_points_make_three_intervals_of_equal_frequency():
    x = np.arange(1.0, 31)
    assert cuts_of(x, np.zeros(30, int), None, 1) == [10.0, 20.0]
    # 60 % of the rows have the same value: the rest is divided.
    assert cuts_of(np.append(np.zeros(60), np.arange(1.0, 41)), np.zeros(100, int), None, 1) == pytest.approx(
        [0.0, 20.0], abs=4
    )


def test_a_single_cut_point_that_separates_the_classes_is_kept():
    x = np.arange(200.0)
    cuts = cuts_of(x, (x > 150).astype(int), None, 2)
    assert len(cuts) == 2
    # The candidates are the quantiles at 1/32, 2/32....
    assert min(abs(cut - 150) for cut in cuts) <= 200 / MIN_CELLS


def test_a_column_that_matters_only_together_with_another_has_three_intervals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    schema = Encoder().fit(X, (X[:, 0] > 0) ^ (X[:, 1] > 0)).schema_
    assert [column.arity for column in schema.columns] == [3, 3]


def test_the_intervals_of_sepal_width_are_the_published_ones():
    # Boullé (2006), section 2: three intervals, and the classes of the rows in each.
    X, y = iris()
    width = np.asarray(X, float)[:, 1]
    species, codes = np.unique(y, return_inverse=True)
    cuts = cuts_of(width, codes, None, 3)
    assert cuts == [2.9, 3.3]
    assert len(species) == 3
    assert np.bincount(np.searchsorted(cuts, width)).tolist() == [57, 56, 37]


@QUICK
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=60))
def test_a_weight_is_a_repetition(rows):
    x, y, w = np.array([row for row in rows if row[2]] or [(0, 0, 1)]).T
    repeated = np.repeat(x, w).astype(float), np.repeat(y, w)
    assert cuts_of(x.astype(float), y, w.astype(float), 3) == cuts_of(*repeated, None, 3)


def test_the_order_of_rows_and_the_scale_of_values_do_not_matter():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 1000)
    x = rng.normal(size=1000) + y
    order = rng.permutation(1000)
    cuts = cuts_of(x, y, None, 4)
    assert len(cuts) > 2
    assert cuts_of(x[order], y[order], None, 4) == cuts
    assert cuts_of(8 * x, y, None, 4) == [8 * cut for cut in cuts]


def test_many_rows_are_cut_where_the_class_probabilities_change():
    rng = np.random.default_rng(2)
    n = 128**2
    x = rng.permutation(n)
    shares = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]])
    y = np.array([rng.choice(3, p=shares[4 * v // n]) for v in x])
    assert cuts_of(x.astype(float), y, None, 3) == [n / 4 - 1, n / 2 - 1, 3 * n / 4 - 1]


def test_a_column_without_values_or_with_one_value_has_no_cut_points():
    assert cuts_of(np.empty(0), np.empty(0, int), None, 2) == []
    assert cuts_of(np.full(50, 3.5), np.arange(50) % 2, None, 2) == []
