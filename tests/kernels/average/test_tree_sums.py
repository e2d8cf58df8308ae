"""The tree sum compared with enumeration, with Kirchhoff's determinant in high precision, and with plain Python."""

import os
import subprocess
import sys

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from tanbark.immutable import read_only
from tanbark.kernels.average.tree_sums import averaged_log_likelihood, tree_sum
from tanbark.kernels.runtime import intrinsics
from tanbark.kernels.runtime.intrinsics import LANES


def scaled(log_weights):
    exponent = np.floor(log_weights / np.log(2.0))
    return read_only(np.exp(log_weights - exponent * np.log(2.0))), read_only(exponent)


def random_weights(n, spread, seed=0):
    draws = np.random.default_rng(seed).normal(size=(n, n)) * spread
    return np.triu(draws, 1) + np.triu(draws, 1).T


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_tree_sum_equals_the_sum_over_all_trees(all_trees, n):
    weights = np.exp(random_weights(n, 2.0))
    expected = sum(np.prod([weights[edge] for edge in tree]) for tree in all_trees(n))
    mantissa, exponent = tree_sum(read_only(weights), read_only(np.zeros((n, n))))
    assert mantissa * 2.0**exponent == pytest.approx(expected, rel=1e-14)


def test_a_single_node_has_the_empty_tree():
    assert tree_sum(read_only(np.ones((1, 1))), read_only(np.zeros((1, 1)))) == (1.0, 0.0)


def determinant(mantissa, exponent, bits):
    """Return Kirchhoff's determinant of the same weights in ball arithmetic, which bounds its own error."""
    n = len(mantissa)
    before, ctx.prec = ctx.prec, bits
    try:
        laplacian = arb_mat(n, n)
        for u in range(n):
            for v in range(u):
                weight = arb(float(mantissa[u, v])) * arb(2) ** int(exponent[u, v])
                laplacian[u, v] = laplacian[v, u] = -weight
        for u in range(n):
            laplacian[u, u] = -sum((laplacian[u, v] for v in range(n) if v != u), arb(0))
        minor = arb_mat([[laplacian[u, v] for v in range(1, n)] for u in range(1, n)])
        return minor.det()
    finally:
        ctx.prec = before


@pytest.mark.parametrize(
    ("n", "spread", "bits"), [(5, 1.0, 200), (10, 100.0, 20_000), (16, 1700.0, 120_000), (20, 500.0, 60_000)]
)
def test_the_tree_sum_equals_the_determinant_in_arbitrary_precision_where_slogdet_fails(n, spread, bits):
    mantissa, exponent = scaled(random_weights(n, spread))
    m, e = tree_sum(mantissa, exponent)
    exact = determinant(mantissa, exponent, bits)
    assert float(exact.rel_accuracy_bits()) > 100
    error = arb(float(m)) * arb(2) ** int(e) / exact - 1
    assert abs(float(error)) < 1e-15 * n
    weights = np.exp(np.clip(random_weights(n, spread), None, 700))
    with np.errstate(over="ignore", invalid="ignore"):
        laplacian = np.diag(weights.sum(axis=1)) - weights
        sign, logarithm = np.linalg.slogdet(laplacian[1:, 1:])
    if spread > 50:
        assert sign != 1 or not abs(logarithm - (np.log(m) + e * np.log(2.0))) < 1e-3


def test_edges_of_weight_zero_contribute_nothing(all_trees):
    weights = np.exp(random_weights(5, 1.0))
    weights[0, 1] = weights[1, 0] = weights[2, 4] = weights[4, 2] = 0.0
    expected = sum(np.prod([weights[edge] for edge in tree]) for tree in all_trees(5))
    exponent = np.where(weights > 0, 0.0, -1e300)
    m, e = tree_sum(read_only(np.where(weights > 0, weights, 1.0)), read_only(exponent))
    assert m * 2.0**e == pytest.approx(expected, rel=1e-14)


def test_the_result_of_a_row_does_not_depend_on_the_rows_in_other_lanes():
    """Eight pairs of a row and a class are computed side by side."""
    rng = np.random.default_rng(0)
    n, rows, classes, arity = 7, 3 * LANES + 5, 3, 4
    codes = rng.integers(0, arity, (n, rows)).astype(np.uint8)
    offset = np.arange(n + 1) * arity
    values, ratios = rng.normal(size=(n * arity, classes)), np.exp(rng.normal(size=(n * arity, n * arity, classes)))
    mantissa, exponent = (x[None] for x in scaled(random_weights(n, 30.0)))
    total = np.array([tree_sum(mantissa[0], exponent[0])])
    tables = [read_only(array) for array in (offset, values, ratios, mantissa, exponent, total)]
    all_rows = np.empty((rows, classes))
    averaged_log_likelihood(codes, *tables, 0, rows, all_rows)
    for start, stop in ((0, 1), (5, 6), (rows - 1, rows), (3, 14)):
        some_rows = np.empty((rows, classes))
        averaged_log_likelihood(codes, *tables, start, stop, some_rows)
        assert np.array_equal(some_rows[start:stop], all_rows[start:stop])


@njit
def add(m, e, a, f, b, g):
    intrinsics.add_product(m, e, 0, a, f, 0, b, g, 0)


@njit
def split(m, e, to_m, to_e):
    intrinsics.split(m, e, 0, to_m, to_e, 0)


lanes = st.lists(st.floats(1e-100, 1e100), min_size=LANES, max_size=LANES).map(np.array)
exponents = st.lists(st.integers(-3000, 3000), min_size=LANES, max_size=LANES).map(lambda e: np.array(e, float))


@settings(max_examples=100, deadline=None)
@given(m=lanes, e=exponents, a=lanes, f=exponents, b=lanes, g=exponents)
def test_the_vector_instructions_equal_their_plain_versions(m, e, a, f, b, g):
    compiled, plain = (m.copy(), e.copy()), (m.copy(), e.copy())
    add(*compiled, a, f, b, g)
    intrinsics.add_product_plain(*plain, 0, a, f, 0, b, g, 0)
    assert np.array_equal(compiled, plain)
    one, other = (np.empty(LANES), np.empty(LANES)), (np.empty(LANES), np.empty(LANES))
    split(m, e, *one)
    intrinsics.split_plain(m, e, 0, *other, 0)
    assert np.array_equal(one, other)
    assert ((one[0] >= 1) & (one[0] < 2)).all()


def test_the_kernels_also_run_without_compilation():
    code = (
        "import numpy as np; from tanbark.averaging import TreePosterior;"
        "p = TreePosterior(np.log(np.array([[1, 1, 2], [1, 1, 4], [2, 4, 1.0]])));"
        "print(round(float(np.exp(p.log_total)), 9), p.edge_probabilities[0, 1] * 14,"
        " p.draw(5, np.random.default_rng(0)).shape)"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.stdout.split() == ["14.0", "6.0", "(5,", "2,", "2)"], done.stderr
