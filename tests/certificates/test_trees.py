"""Sums over all trees of a thousand nodes against closed forms, however far weights are apart."""

import mpmath
import numpy as np
import pytest

from tanbark.averaging import TreePosterior

LARGE = [
    (5, 1e6),
    (100, 1e6),
    pytest.param(1000, 1e6, marks=pytest.mark.long),
    pytest.param(1000, 1.0, marks=pytest.mark.long),
]


def products(n, spread):
    """Log numbers x for each node, and the posterior in which the edge u - v weighs x_u x_v."""
    logs = np.random.default_rng(n).uniform(-spread / 2, spread / 2, n).round(3)
    return logs, TreePosterior(np.add.outer(logs, logs))


def log_sum(logs):
    """The log of the sum of numbers in 50 digits."""
    top = mpmath.mpf(float(max(logs)))
    return top + mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(float(a)) - top) for a in logs))


@pytest.mark.parametrize(("n", "spread"), [(5, 1e6), (100, 1e6), (1000, 1e6), (1000, 1.0)])
def test_trees_whose_edges_are_products_sum_to_what_cayley_says(n, spread):
    """That is prod(x) (sum x)^(n - 2)."""
    logs, posterior = products(n, spread)
    with mpmath.workdps(50):
        exact = mpmath.fsum(mpmath.mpf(float(a)) for a in logs) + (n - 2) * log_sum(logs)
        # A sum of n log weights is a double of its own size.
        assert abs(posterior.log_total - exact) < 1e-15 * n * spread


@pytest.mark.parametrize(("n", "spread"), LARGE)
def test_edges_that_are_products_are_in_as_many_trees_as_their_ends_weigh(n, spread):
    """The share of trees with the edge u - v is (x_u + x_v) / sum x."""
    logs, posterior = products(n, spread)
    heaviest, faintest = int(np.argmax(logs)), int(np.argmin(logs))
    with mpmath.workdps(50):
        whole = log_sum(logs)
        for u, v in ((0, 1), (2, 3), (heaviest, faintest), (faintest, (faintest + 1) % n)):
            share = sum(mpmath.exp(mpmath.mpf(float(logs[end])) - whole) for end in (u, v))
            assert abs(posterior.edge_probabilities[u, v] - share) < 1e-9 * share + 1e-300
