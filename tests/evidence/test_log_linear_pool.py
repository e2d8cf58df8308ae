"""Log-linear pools: weights of least penalised loss, under their bounds."""

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

from tanbark.evidence.log_linear_pool import MIN_PROBABILITY, RIDGE, centred_logs, pool_members, pool_weights


def members(rows, classes, seed, quality):
    """Return classes, and log scores of members whose shares of the truth are given."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    truth = np.eye(classes)[y]
    return y, [share * truth + rng.normal(size=(rows, classes)) for share in quality]


def penalised(weights, scores, y, each):
    """Return the loss that the weights minimise, written down from its formula."""
    logs = [np.maximum(log_softmax(s, axis=1), np.log(MIN_PROBABILITY)) for s in scores]
    pooled = log_softmax(sum(w * log for w, log in zip(weights, logs)), axis=1)
    away = np.asarray(weights) - 1 / len(scores)
    return -(each * pooled[np.arange(len(y)), y]).sum() + RIDGE / 2 * (away**2).sum()


@pytest.mark.parametrize(("classes", "quality"), [(2, (1, 2, 0.5)), (4, (2, 0, -1)), (3, (0.1,))])
def test_no_other_weights_have_a_smaller_loss(classes, quality):
    y, scores = members(150, classes, 1, quality)
    each = np.random.default_rng(2).uniform(0.2, 3, 150)
    weights = pool_weights(scores, y, each)
    assert (weights >= 0).all()
    least = penalised(weights, scores, y, each)
    # The loss is convex: at the minimum under the bounds, no step along an axis that is allowed decreases it.
    step = 1e-3
    for i in range(len(weights)):
        for direction in (step, -step):
            other = weights.copy()
            other[i] = max(other[i] + direction, 0.0)
            assert penalised(other, scores, y, each) >= least - 1e-7 * abs(least)


def test_members_that_mislead_get_no_weight():
    y, scores = members(300, 3, 3, (2, -2))
    weights = pool_weights(scores, y, np.ones(300))
    assert weights[1] == 0
    assert weights[0] > 0.5


def test_a_weight_is_a_repetition():
    y, scores = members(80, 3, 4, (1, 1.5))
    times = np.random.default_rng(5).integers(1, 4, 80)
    repeated = pool_weights([np.repeat(s, times, axis=0) for s in scores], np.repeat(y, times), np.ones(times.sum()))
    np.testing.assert_allclose(pool_weights(scores, y, times.astype(float)), repeated, rtol=1e-5)


def test_no_member_has_a_veto():
    certain = np.array([[0.0, -1e9], [0.0, -np.inf]])
    logs = centred_logs(certain)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(logs[:, 0] - logs[:, 1], -np.log(MIN_PROBABILITY))


def test_a_pool_is_the_weighted_product_of_probabilities():
    _, scores = members(20, 3, 6, (1, 1))
    pooled = pool_members(scores, np.array([0.7, 0.4]))
    product = 0.7 * log_softmax(scores[0], axis=1) + 0.4 * log_softmax(scores[1], axis=1)
    np.testing.assert_allclose(log_softmax(pooled, axis=1), product - logsumexp(product, axis=1, keepdims=True))
