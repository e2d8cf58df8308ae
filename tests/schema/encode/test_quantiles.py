import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.schema.encode.quantiles import quantile_cuts, width_cuts

QUICK = settings(deadline=None, database=None, max_examples=150)
values = st.lists(st.integers(-6, 6).map(lambda v: v / 2), min_size=1, max_size=40)


def inner_quantiles(x, n_bins):
    """Return NumPy's distinct inverted-CDF quantiles without the largest value."""
    wanted = [np.quantile(x, j / n_bins, method="inverted_cdf") for j in range(1, n_bins)]
    return sorted({float(q) for q in wanted if q < x.max()})


@QUICK
@given(values, st.sampled_from([1, 2, 4, 8]))
def test_quantile_cuts_are_numpys_inverted_cdf_quantiles(x, n_bins):
    x = np.array(x)
    assert quantile_cuts(x, None, n_bins) == inner_quantiles(x, n_bins)


@QUICK
@given(values, st.integers(1, 9))
def test_each_quantile_cut_is_the_smallest_value_with_enough_rows_up_to_it(x, n_bins):
    x = np.array(x)
    expected = set()
    for j in range(1, n_bins):
        expected.add(next(float(v) for v in np.unique(x) if n_bins * int((x <= v).sum()) >= j * len(x)))
    assert quantile_cuts(x, None, n_bins) == sorted(expected - {float(x.max())})


@QUICK
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=20), st.integers(1, 7))
def test_a_weight_is_a_repetition_for_quantile_cuts(rows, n_bins):
    x, w = np.array(rows, np.float64).T
    assert quantile_cuts(x, w, n_bins) == quantile_cuts(np.repeat(x, w.astype(int)), None, n_bins)


@QUICK
@given(values, st.integers(1, 7), st.integers(-3, 3))
def test_weights_may_be_scaled_by_a_power_of_two(x, n_bins, power):
    x = np.array(x)
    assert quantile_cuts(x, np.full(len(x), 2.0**power), n_bins) == quantile_cuts(x, None, n_bins)


@pytest.mark.parametrize("weight", [0.1, 0.3, 1 / 3, 1.1])
@pytest.mark.parametrize("n_bins", [2, 3, 5])
def test_equal_weights_give_the_same_cuts_as_no_weights(weight, n_bins):
    for many in range(1, 31):
        x = np.arange(many, dtype=np.float64)
        assert quantile_cuts(x, np.full(many, weight), n_bins) == quantile_cuts(x, None, n_bins), many


def test_two_quantile_bins_cut_at_the_lower_median():
    assert quantile_cuts(np.array([4.0, 1.0, 3.0, 2.0]), None, 2) == [2.0]


def test_row_order_does_not_matter():
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 30, 200).astype(float), rng.integers(1, 5, 200).astype(float)
    shuffle = rng.permutation(200)
    assert quantile_cuts(x, w, 7) == quantile_cuts(x[shuffle], w[shuffle], 7)
    assert quantile_cuts(x, None, 7) == quantile_cuts(x[shuffle], None, 7)


@pytest.mark.parametrize("cut", [lambda x, n: quantile_cuts(x, None, n), width_cuts])
@pytest.mark.parametrize("x", [[], [3.0], [3.0, 3.0, 3.0]])
def test_no_values_or_a_single_value_have_no_cuts(cut, x):
    assert cut(np.array(x, np.float64), 4) == []


@pytest.mark.parametrize("cut", [lambda x, n: quantile_cuts(x, None, n), width_cuts])
def test_one_bin_has_no_cuts(cut):
    assert cut(np.arange(9.0), 1) == []


def test_ties_share_a_bin_and_their_cut_occurs_once():
    assert quantile_cuts(np.array([1.0] * 7 + [2.0, 2.0, 3.0]), None, 5) == [1.0, 2.0]


@QUICK
@given(values, st.integers(1, 9))
def test_width_cuts_are_numpys_histogram_edges(x, n_bins):
    x = np.array(x)
    edges = np.histogram_bin_edges(x, n_bins)[1:-1] if x.max() > x.min() else []
    assert width_cuts(x, n_bins) == pytest.approx(list(edges), abs=1e-12)


def test_the_range_of_a_column_may_exceed_the_largest_float():
    cuts = width_cuts(np.array([-1.6e308, 1.6e308]), 4)
    assert cuts == pytest.approx([-0.8e308, 0.0, 0.8e308])


def test_width_cuts_of_neighbouring_floats_stay_within_them():
    low, high = 1.0, np.nextafter(1.0, 2)
    assert width_cuts(np.array([low, high]), 5) == [low]
