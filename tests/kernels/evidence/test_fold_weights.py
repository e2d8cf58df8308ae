"""Folds that divide the weight of rows."""

import numpy as np
import pytest

from tanbark.kernels.evidence.fold_weights import deal_weights


def dealt_one_by_one(weights, folds):
    """Deal whole units in turn, then the fraction that is left of the row to the next fold."""
    out, fold = np.zeros((folds, len(weights))), 0
    for row, weight in enumerate(weights):
        while weight > 0:
            unit = min(weight, 1.0) if weight < 1 else 1.0
            out[fold, row] += unit
            weight -= unit
            fold = (fold + 1) % folds
    return out


@pytest.mark.parametrize("folds", [2, 3, 4, 5])
def test_units_are_dealt_in_turn_and_fractions_to_the_next_fold(folds):
    rng = np.random.default_rng(folds)
    for weights in (rng.integers(1, 12, 40).astype(float), rng.choice([0.25, 0.5, 1.0, 2.75, 9.5], 40)):
        found = deal_weights(weights, folds)
        assert np.array_equal(found, dealt_one_by_one(weights, folds))
        assert np.array_equal(found.sum(axis=0), weights)


def test_the_totals_of_the_folds_differ_by_at_most_one_unit():
    found = deal_weights(np.random.default_rng(0).integers(1, 30, 101).astype(float), 4).sum(axis=1)
    assert found.max() - found.min() <= 1


@pytest.mark.parametrize("folds", [3, 4, 5, 7])
@pytest.mark.parametrize("weight", [2.0**53 + 2, 1e17, 1e30, 3e99, 1e-30, 5e-324])
def test_enormous_and_tiny_weights_are_dealt_at_once(weight, folds):
    found = deal_weights(np.array([weight, 1.0]), folds)
    np.testing.assert_allclose(found.sum(axis=0), [weight, 1.0], rtol=1e-12)
    assert (found >= 0).all()
