"""Intervals are merged with the least change."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from tanbark.export.interval_merging import merge_intervals


def cost(values, weights, starts):
    """Return the weighted sum of squared distances from the means of the groups."""
    total = 0.0
    for a, b in pairwise([*starts, len(values)]):
        mean = np.average(values[a:b], weights=weights[a:b])
        total += float(weights[a:b] @ (values[a:b] - mean) ** 2)
    return total


def all_partitions(n, groups):
    return [(0, *cuts) for cuts in combinations(range(1, n), groups - 1)]


@pytest.mark.parametrize("seed", range(12))
def test_no_partition_into_as_many_groups_changes_less(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    values, weights = rng.normal(size=n).round(int(rng.integers(0, 3))) + 100, rng.integers(1, 9, n) / 3
    for groups in range(1, n + 1):
        merging = merge_intervals(values, weights, groups, 0.0)
        least = min(cost(values, weights, starts) for starts in all_partitions(n, groups))
        assert cost(values, weights, merging.starts) == pytest.approx(least, abs=1e-9)
        for mean, (a, b) in zip(merging.means, pairwise([*merging.starts, n])):
            assert mean == pytest.approx(np.average(values[a:b], weights=weights[a:b]), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_there_are_as_few_groups_as_the_tolerance_allows(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=9), rng.integers(1, 5, 9).astype(float)
    for tolerance in (0.0, 0.1, 0.3, 0.6, 5.0):
        found = len(merge_intervals(values, weights, 9, tolerance).starts)
        changes = [
            min(np.sqrt(cost(values, weights, starts) / weights.sum()) for starts in all_partitions(9, groups))
            for groups in range(1, 10)
        ]
        assert found == next(k for k, change in enumerate(changes, 1) if change <= tolerance + 1e-9)


def test_equal_values_are_one_group_and_no_limit_merges_nothing():
    values = np.array([0.1, 0.1, 0.1, 0.7, 0.7])
    assert merge_intervals(values, np.ones(5), 5, 0.0).starts == (0, 3)
    assert merge_intervals(values, np.ones(5), None, 1.0).starts == (0, 1, 2, 3, 4)


def test_intervals_without_rows_cost_nothing():
    values, weights = np.array([1.0, 50.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0, 0.0])
    merging = merge_intervals(values, weights, 4, 0.0)
    group = merging.group_of(4)
    assert merging.means[group[0]] == 1.0
    assert merging.means[group[2]] == 2.0
    nothing = merge_intervals(values, np.zeros(4), 2, 0.0)
    assert nothing.starts == (0,)
    assert nothing.means == (14.0,)
