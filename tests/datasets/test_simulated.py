import csv
from itertools import product

import numpy as np
import pytest

from tanbark.datasets import led7, waveform21


def lit_segments():
    X, y = led7(n=500, noise=0)
    patterns = np.array([X[y == digit][0] for digit in range(10)])
    np.testing.assert_array_equal(X, patterns[y])
    return patterns


def test_the_best_classifier_of_led7_is_right_74_percent_of_the_time():
    # Breiman et al. (1984): the Bayes error is 0.26. Here it is summed over all 128 displays.
    displays = np.array(list(product((0, 1), repeat=7)))
    inverted = (displays[:, None, :] != lit_segments()).sum(axis=2)
    likelihood = 0.1**inverted * 0.9 ** (7 - inverted)
    assert likelihood.max(axis=1).sum() / 10 == pytest.approx(0.74, abs=0.005)


def test_the_published_led7_lights_the_same_segments_most_often(shared_data):
    with (shared_data / "led7.csv").open(newline="") as lines:
        rows = np.array(list(csv.reader(lines))[1:], dtype=int)
    majority = [rows[rows[:, 7] == digit, :7].mean(axis=0) > 0.5 for digit in range(10)]
    np.testing.assert_array_equal(lit_segments(), majority)


def test_led7_inverts_a_tenth_of_the_segments_and_draws_digits_evenly():
    X, y = led7(n=20_000)
    # Five standard errors: sqrt(0.09 / 140000) = 0.0008 and sqrt(0.09 / 20000) = 0.0021.
    assert (lit_segments()[y] != X).mean() == pytest.approx(0.1, abs=0.004)
    np.testing.assert_allclose(np.bincount(y) / len(y), 0.1, atol=0.011)


def log_likelihood_of_waves(X):
    """Return log p(x | class) by the trapezium rule over u, up to a constant."""
    i = np.arange(1, 22)
    h = [np.maximum(6 - abs(i - peak), 0) for peak in (7, 15, 11)]
    u = np.linspace(0, 1, 101)[:, None]
    weights = np.full(101, 1.0)
    weights[[0, -1]] = 0.5
    columns = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        means = u * h[a] + (1 - u) * h[b]
        exponent = X @ means.T - (means**2).sum(axis=1) / 2
        top = exponent.max(axis=1, keepdims=True)
        columns.append(top[:, 0] + np.log(np.exp(exponent - top) @ weights))
    return np.column_stack(columns)


def test_the_best_classifier_of_waveform21_is_right_86_percent_of_the_time():
    # Breiman et al. (1984) give 0.14 for the Bayes error. Five standard errors of 5000 rows are 0.025.
    X, y = waveform21()
    assert X.shape == (5000, 21)
    assert (log_likelihood_of_waves(X).argmax(axis=1) == y).mean() == pytest.approx(0.86, abs=0.025)


def test_waveform21_has_the_class_means_of_equal_mixtures():
    X, y = waveform21(n=30_000)
    i = np.arange(1, 22)
    first, second, third = (np.maximum(6 - abs(i - peak), 0) for peak in (7, 15, 11))
    means = [(first + second) / 2, (first + third) / 2, (second + third) / 2]
    # The largest variance of a value is 1 + 36/12 = 4, so a mean of 10,000 has a standard error of at most 0.02.
    for label, mean in enumerate(means):
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.1)


@pytest.mark.parametrize("draw", [led7, waveform21])
def test_the_seed_decides_the_rows(draw):
    assert draw(n=50, random_state=3) == draw(n=50, random_state=3)
    assert draw(n=50, random_state=3) != draw(n=50, random_state=4)


@pytest.mark.parametrize("draw", [led7, waveform21])
@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_a_number_of_rows_that_is_not_a_positive_integer_is_refused(draw, n):
    with pytest.raises(ValueError, match="n must be a positive integer"):
        draw(n=n)


@pytest.mark.parametrize("noise", [-0.1, 1.1, float("nan")])
def test_noise_that_is_not_a_probability_is_refused(noise):
    with pytest.raises(ValueError, match="noise must be a probability"):
        led7(noise=noise)
