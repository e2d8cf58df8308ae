"""Datasets drawn at random from a known distribution."""

from __future__ import annotations

import numpy as np

from tanbark.datasets.dataset import Dataset

_SOURCE = "Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, Wadsworth, pp. {pages}."
_SEGMENTS = ("top", "upper_left", "upper_right", "middle", "lower_left", "lower_right", "bottom")
# The segments lit for each digit from 0 to 9, in the order of _SEGMENTS.
_DIGITS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")


def led7(n: int = 3200, noise: float = 0.1, random_state: int = 0) -> Dataset:
    """Return readings of a faulty LED display: seven segments that are 0 or 1, class the digit from 0 to 9.

    The digits are equally likely, and each segment is inverted with probability `noise`, independently.
    With `noise` 0.1 no classifier can be right more often than 74 % of the time.

    Parameters
    ----------
    n : int
        The number of rows.
    noise : float
        The probability that a segment is inverted.
    random_state : int
        The seed.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and Regression Trees. Wadsworth,
    pp. 43-49.

    Examples
    --------
    >>> led7(n=100)
    <Dataset led7: 100 rows, 7 features, 10 classes>
    """
    _check_rows(n)
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be a probability from 0 to 1, not {noise!r}")
    random = np.random.default_rng(random_state)
    lit = np.array([[int(segment) for segment in digit] for digit in _DIGITS])
    digits = random.integers(10, size=n)
    segments = lit[digits] ^ (random.random((n, 7)) < noise)
    return Dataset.from_columns("led7", dict(zip(_SEGMENTS, segments.T)), digits, source=_SOURCE.format(pages="43-49"))


def waveform21(n: int = 5000, random_state: int = 0) -> Dataset:
    """Return noisy waves: 21 numbers, three equally likely classes.

    There are three triangular base waves of height 6, with their peaks at 7, 15 and 11. Each class mixes two of them:
    with u uniform on [0, 1] and e standard normal, attribute i is

        x_i = u h(i) + (1 - u) g(i) + e_i

    where (h, g) are the first and second wave in class 0, the first and third in class 1, the second and third in
    class 2. No classifier can be right much more often than 86 % of the time.

    Parameters
    ----------
    n : int
        The number of rows.
    random_state : int
        The seed.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and Regression Trees. Wadsworth,
    pp. 49-55.

    Examples
    --------
    >>> waveform21(n=100)
    <Dataset waveform21: 100 rows, 21 features, 3 classes>
    """
    _check_rows(n)
    random = np.random.default_rng(random_state)
    waves = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    first, second = waves[[0, 0, 1]], waves[[1, 2, 2]]
    classes = random.integers(3, size=n)
    u = random.random((n, 1))
    values = u * first[classes] + (1 - u) * second[classes] + random.standard_normal((n, 21))
    columns = {f"x{i}": column for i, column in enumerate(values.T, start=1)}
    return Dataset.from_columns("waveform21", columns, classes, source=_SOURCE.format(pages="49-55"))


def _check_rows(n: int) -> None:
    """Refuse a number of rows that is not a positive integer."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a positive integer, not {n!r}")
