"""Leave-one-out class priors of super-parent networks."""

import numpy as np
import pytest

from tanbark import Category, Counts, Schema
from tanbark.averaging import SuperParents
from tanbark.counts import Rows


@pytest.mark.parametrize("prior", ["ml", "laplace"])
def test_a_row_takes_one_unit_of_its_weight_out_of_its_class_or_all_there_is(prior):
    schema = Schema([Category("a", (0, 1))], classes=("one row", "half a row", "three rows", "many rows"))
    classes, weights = np.array([0, 1, 2, 3, 3]), np.array([1.0, 0.5, 3.0, 2.0, 0.25])
    rows = Rows(schema, np.zeros((1, 5), np.uint8), classes, weights)
    counts = Counts.of(schema, rows.codes, classes, weights)
    left = np.tile([1.0, 0.5, 3.0, 2.25], (5, 1)) - [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.5, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.25],
    ]
    seen = left + (prior == "laplace")
    found = SuperParents.left_out_log_prior(rows, counts, prior, 1.0)
    np.testing.assert_allclose(np.exp(found), seen / seen.sum(axis=1, keepdims=True), rtol=1e-14)
