"""The constant of the approximate conditional log likelihood against exact results."""

import numpy as np
import pytest
from scipy.special import polygamma

from tanbark.scores.conditional_scores import BETA_SAMPLES, beta, fitted_beta


def standard_error(joint):
    """Return the standard error of a slope by least squares, for errors of any variance (White 1980)."""
    x, y = np.log(joint).sum(axis=0), np.log(joint.sum(axis=0))
    x, y = x - x.mean(), y - y.mean()
    return np.sqrt((x**2 * (y - (x @ y) / (x @ x) * x) ** 2).sum()) / (x @ x)


@pytest.mark.parametrize("classes", [2, 3, 5, 12, 26])
def test_beta_is_the_ratio_of_two_trigammas_up_to_sampling_error(classes):
    """A sum of exponentials is independent of their shares, so the slope is Var(log sum) / Var(log of one)."""
    joint = np.random.default_rng(1).standard_exponential((classes, BETA_SAMPLES))
    exact = -polygamma(1, classes) / polygamma(1, 1)
    assert abs(beta(classes) - exact) < 4 * standard_error(joint)
    assert abs(beta(classes, samples=1000, seed=3) - exact) < 4 * standard_error(joint) * np.sqrt(BETA_SAMPLES / 1000)


def test_two_uniform_samples_give_the_constant_of_the_earlier_paper():
    """Carvalho et al. (2011) have beta = (pi^2 - 18) / 24 for two classes."""
    joint = np.random.default_rng(2).random((2, BETA_SAMPLES))
    assert abs(fitted_beta(joint) - (np.pi**2 - 18) / 24) < 4 * standard_error(joint)


def test_beta_of_one_class_is_minus_one():
    assert beta(1) == -1.0


def test_the_same_seed_gives_the_same_beta():
    assert beta(4, 500, 1) == beta.__wrapped__(4, 500, 1)
    assert beta(4, 500, 1) != beta(4, 500, 2)
