"""Datasets that are enumerated by a rule or sampled from a known distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from tanbark.datasets.dataset import Dataset
from tanbark.shared_docs import insert_shared_docs

_SQUARES = tuple(
    f"{row}_{column}_square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
# The lines of three squares that win a game of tic-tac-toe.
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_CART_SOURCE = (
    "Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, Wadsworth, pp. {pages}."
)
_SEGMENTS = ("top", "upper_left", "upper_right", "middle", "lower_left", "lower_right", "bottom")
# The lit segments of each digit from 0 to 9, in the order of _SEGMENTS.
_DIGITS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")
_MONKS_SOURCE = (
    "Thrun et al. (1991), The MONK's problems: a performance comparison of different learning algorithms, "
    "Carnegie Mellon University, CMU-CS-91-197."
)


def tic_tac_toe() -> Dataset:
    """Return all final boards of tic-tac-toe: 958 rows, nine squares; the class is positive or negative.

    x moves first. A square is x, o or b (blank). The class is positive if x has won and negative otherwise.

    Returns
    -------
    Dataset

    References
    ----------
    D. W. Aha (1991). Incremental constructive induction: an instance-based approach. Proceedings of the Eighth
    International Workshop on Machine Learning, 117-121.

    Examples
    --------
    >>> tic_tac_toe()
    <Dataset tic_tac_toe: 958 rows, 9 features, 2 classes>
    """
    boards = sorted(_final_boards(), key=lambda board: ["xob".index(square) for square in board])
    labels = ["positive" if _has_won(board, "x") else "negative" for board in boards]
    source = "Aha (1991), Incremental constructive induction: an instance-based approach, Machine Learning Workshop 8."
    return Dataset.from_columns(
        "tic_tac_toe", dict(zip(_SQUARES, zip(*boards, strict=True), strict=True)), labels, source=source
    )


def balance_scale() -> Dataset:
    """Return the balance scale dataset: 625 rows, four integers from 1 to 5; the class is L, B or R.

    The scale tips to the side with the larger product of weight and distance, and balances (B) if they are equal.

    Returns
    -------
    Dataset

    References
    ----------
    R. S. Siegler (1976). Three aspects of cognitive development. Cognitive Psychology 8, 481-520.

    Examples
    --------
    >>> balance_scale()
    <Dataset balance_scale: 625 rows, 4 features, 3 classes>
    """

    def side(left_weight: int, left_distance: int, right_weight: int, right_distance: int) -> str:
        left, right = left_weight * left_distance, right_weight * right_distance
        return "L" if left > right else "R" if right > left else "B"

    names = ("left_weight", "left_distance", "right_weight", "right_distance")
    source = "Siegler (1976), Three aspects of cognitive development, Cognitive Psychology 8, 481-520."
    return _all_combinations("balance_scale", dict.fromkeys(names, range(1, 6)), side, source)


def monks(problem: int = 1) -> Dataset:
    """Return one of the three MONK's problems: 432 rows, six attributes; the class is 0 or 1.

    These are the complete test sets. They have no noise, not even in the third problem. The class is 1 if

    1. a1 = a2 or a5 = 1;
    2. exactly two of the six attributes have their first value;
    3. (a5 = 3 and a4 = 1) or (a5 is not 4 and a2 is not 3).

    Parameters
    ----------
    problem : int, default=1
        The problem: 1, 2 or 3.

    Returns
    -------
    Dataset

    References
    ----------
    S. B. Thrun et al. (1991). The MONK's problems: a performance comparison of different learning algorithms.
    Carnegie Mellon University, CMU-CS-91-197.

    Examples
    --------
    >>> monks(2)
    <Dataset monks_2: 432 rows, 6 features, 2 classes>
    """
    rules: dict[int, Callable[..., bool]] = {
        1: lambda a1, a2, _a3, _a4, a5, _a6: a1 == a2 or a5 == 1,
        2: lambda *values: values.count(1) == 2,
        3: lambda _a1, a2, _a3, a4, a5, _a6: (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3),
    }
    if problem not in rules:
        raise ValueError(f"problem must be 1, 2 or 3, got {problem!r}")
    attributes = {f"a{i}": range(1, size + 1) for i, size in enumerate((3, 3, 2, 3, 4, 2), start=1)}
    return _all_combinations(f"monks_{problem}", attributes, lambda *row: int(rules[problem](*row)), _MONKS_SOURCE)


def mux6() -> Dataset:
    """Return the six-bit multiplexer: 64 rows; the class is 0 or 1.

    Two address bits, the higher first, select the data bit (one of four) that is the class.

    Returns
    -------
    Dataset

    References
    ----------
    S. W. Wilson (1987). Classifier systems and the animat problem. Machine Learning 2, 199-228.

    Examples
    --------
    >>> mux6()
    <Dataset mux6: 64 rows, 6 features, 2 classes>
    """
    names = ("address_bit_1", "address_bit_2", "bit_0", "bit_1", "bit_2", "bit_3")
    source = "Wilson (1987), Classifier systems and the animat problem, Machine Learning 2, 199-228."
    return _all_combinations("mux6", dict.fromkeys(names, (0, 1)), lambda a, b, *data: data[2 * a + b], source)


def three_of_9() -> Dataset:
    """Return the three-of-nine dataset: 512 rows of nine bits; the class is 1 if three adjacent bits are 1.

    Returns
    -------
    Dataset

    References
    ----------
    R. S. Olson, W. La Cava, P. Orzechowski, R. J. Urbanowicz and J. H. Moore (2017). PMLB: a large benchmark suite for
    machine learning evaluation and comparison. BioData Mining 10:36.

    Examples
    --------
    >>> three_of_9()
    <Dataset three_of_9: 512 rows, 9 features, 2 classes>
    """

    def has_run_of_three(*bits: int) -> int:
        return int(any(bits[i : i + 3] == (1, 1, 1) for i in range(7)))

    attributes = {f"f{i}": (0, 1) for i in range(1, 10)}
    source = "Olson et al. (2017), PMLB: a large benchmark suite for machine learning, BioData Mining 10:36 (threeOf9)."
    return _all_combinations("three_of_9", attributes, has_run_of_three, source)


def lenses() -> Dataset:
    """Return the contact lenses dataset: 24 rows, four attributes; the class is none, soft or hard.

    Returns
    -------
    Dataset

    References
    ----------
    J. Cendrowska (1987). PRISM: an algorithm for inducing modular rules. International Journal of Man-Machine
    Studies 27, 349-370.

    Examples
    --------
    >>> lenses().frame().slice(0, 1).to_pylist()[0]["class"]
    'none'
    """

    def fitted(age: str, prescription: str, astigmatism: str, tears: str) -> str:
        if tears == "reduced":
            return "none"
        if astigmatism == "no":
            return "none" if (age, prescription) == ("presbyopic", "myope") else "soft"
        return "hard" if prescription == "myope" or age == "young" else "none"

    attributes = {
        "age": ("young", "pre-presbyopic", "presbyopic"),
        "spectacle_prescrip": ("myope", "hypermetrope"),
        "astigmatism": ("no", "yes"),
        "tear_prod_rate": ("reduced", "normal"),
    }
    source = (
        "Cendrowska (1987), PRISM: an algorithm for inducing modular rules, Int. J. Man-Machine Studies 27, 349-370."
    )
    return _all_combinations("lenses", attributes, fitted, source)


@insert_shared_docs
def led7(n: int = 3200, noise: float = 0.1, random_state: int = 0) -> Dataset:
    """Return readings of a faulty LED display: seven binary segments; the class is the digit from 0 to 9.

    The digits are equally likely. Each segment is inverted independently with probability `noise`. With ``noise=0.1``
    the accuracy of the optimal classifier is 74 %.

    Parameters
    ----------
    n : int, default=3200
        The number of rows.
    noise : float, default=0.1
        The probability that a segment is inverted.
    random_state : int, default=0
        The random seed.

    Returns
    -------
    Dataset

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and Regression Trees. Wadsworth,
    pp. 43-49 (LED display) and 49-55 (waveforms).

    Examples
    --------
    >>> led7(n=100)
    <Dataset led7: 100 rows, 7 features, 10 classes>
    """
    _check_rows(n)
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be a probability from 0 to 1, got {noise!r}")
    random = np.random.default_rng(random_state)
    lit = np.array([[int(segment) for segment in digit] for digit in _DIGITS])
    digits = random.integers(10, size=n)
    segments = lit[digits] ^ (random.random((n, 7)) < noise)
    return Dataset.from_columns(
        "led7", dict(zip(_SEGMENTS, segments.T, strict=True)), digits, source=_CART_SOURCE.format(pages="43-49")
    )


@insert_shared_docs
def waveform21(n: int = 5000, random_state: int = 0) -> Dataset:
    """Return noisy waveforms: 21 numeric attributes, three equally likely classes.

    There are three triangular base waves of height 6, with peaks at 7, 15 and 11. Each class mixes two of them: with u
    uniform on [0, 1] and e standard normal, attribute i is

        x_i = u h(i) + (1 - u) g(i) + e_i

    where (h, g) are the first and second wave in class 0, the first and third in class 1, and the second and third in
    class 2. The accuracy of the optimal classifier is about 86 %.

    Parameters
    ----------
    n : int, default=5000
        The number of rows.
    random_state : int, default=0
        The random seed.

    Returns
    -------
    Dataset

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and Regression Trees. Wadsworth,
    pp. 43-49 (LED display) and 49-55 (waveforms).

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
    return Dataset.from_columns("waveform21", columns, classes, source=_CART_SOURCE.format(pages="49-55"))


def _final_boards() -> set[str]:
    """Return the boards, each as nine letters, on which a game can end."""
    final: set[str] = set()
    boards, player, opponent = {"b" * 9}, "x", "o"
    while boards:
        moves = {
            board[:square] + player + board[square + 1 :]
            for board in boards
            for square in range(9)
            if board[square] == "b"
        }
        over = {board for board in moves if "b" not in board or _has_won(board, player)}
        final |= over
        boards = moves - over
        player, opponent = opponent, player
    return final


def _has_won(board: str, player: str) -> bool:
    """Return whether the player has three squares in a line."""
    return any(all(board[square] == player for square in line) for line in _LINES)


def _all_combinations(
    name: str, attributes: Mapping[str, Sequence[Any]], rule: Callable[..., Any], source: str
) -> Dataset:
    """Return the dataset of all combinations of attribute values; the last attribute varies fastest."""
    rows = list(product(*attributes.values()))
    columns = dict(zip(attributes, zip(*rows, strict=True), strict=True))
    return Dataset.from_columns(name, columns, [rule(*row) for row in rows], source=source)


def _check_rows(n: int) -> None:
    """Raise ValueError if the number of rows is not a positive integer."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
