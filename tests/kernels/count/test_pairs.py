"""Intrinsics agree with their plain versions, and kernels with and without compilation."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from tanbark.kernels.runtime.intrinsics import equal_mask, equal_mask_plain, popcount, popcount_plain


@njit
def _compiled_popcount(word):
    return popcount(word)


@njit
def _compiled_mask(codes, start, value):
    return equal_mask(codes, start, value)


@given(st.integers(0, 2**64 - 1))
def test_popcount_and_its_plain_version_count_the_bits(word):
    assert _compiled_popcount(np.uint64(word)) == popcount_plain(np.uint64(word)) == bin(word).count("1")


@pytest.mark.parametrize("start", [0, 1, 63])
def test_equal_mask_and_its_plain_version_agree_with_a_comparison(start):
    codes = np.random.default_rng(start).integers(0, 3, 200, dtype=np.uint8)
    expected = sum(1 << i for i in range(64) if codes[start + i] == 2)
    assert int(_compiled_mask(codes, start, np.uint8(2))) == expected
    assert int(equal_mask_plain(codes, start, np.uint8(2))) == expected


SCRIPT = """
import numpy as np
from tanbark import TAN
rng = np.random.default_rng(0)
X = rng.integers(0, 3, (150, 4)).astype(object)
X[rng.random(X.shape) < 0.1] = None
y = rng.integers(0, 2, 150)
for weights in (None, rng.integers(0, 3, 150)):
    model = TAN().fit(X, y, sample_weight=weights)
    print(*model.predict_proba(X).ravel().tolist(), *model.explain(X[:20]).ravel().tolist())
"""


def test_results_are_equal_without_compilation():
    def run(**environment):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return np.array(done.stdout.split(), float)

    np.testing.assert_allclose(run(), run(NUMBA_DISABLE_JIT="1"), rtol=1e-12, atol=1e-12)
