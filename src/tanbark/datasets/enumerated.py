"""Datasets that hold every combination of their attributes' values, labelled by a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from tanbark.datasets.dataset import Dataset

_MONKS_SOURCE = (
    "Thrun et al. (1991), The MONK's problems: a performance comparison of different learning algorithms, "
    "Carnegie Mellon University, CMU-CS-91-197."
)


def balance_scale() -> Dataset:
    """Return the balance scale: 625 rows, four integers from 1 to 5, class L, B or R.

    The scale tips to the side with the larger weight times distance, and balances (B) if they are equal.

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
    """Return one of the three MONK's problems: 432 rows, six attributes, class 0 or 1.

    These are the complete test sets. They have no noise, also for the third problem. The class is 1 if

    1. a1 = a2 or a5 = 1;
    2. exactly two of the six attributes have their first value;
    3. (a5 = 3 and a4 = 1) or (a5 is not 4 and a2 is not 3).

    Parameters
    ----------
    problem : int
        1, 2 or 3.

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
        1: lambda a1, a2, a3, a4, a5, a6: a1 == a2 or a5 == 1,
        2: lambda *values: values.count(1) == 2,
        3: lambda a1, a2, a3, a4, a5, a6: (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3),
    }
    if problem not in rules:
        raise ValueError(f"problem must be 1, 2 or 3, not {problem!r}")
    attributes = {f"a{i}": range(1, size + 1) for i, size in enumerate((3, 3, 2, 3, 4, 2), start=1)}
    return _all_combinations(f"monks_{problem}", attributes, lambda *row: int(rules[problem](*row)), _MONKS_SOURCE)


def mux6() -> Dataset:
    """Return the multiplexer of six bits: 64 rows, class 0 or 1.

    Two address bits, the higher first, say which of the four data bits is the class.

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
    """Return three of nine: 512 rows of nine bits, class 1 if three neighbouring bits are all 1.

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
    """Return the contact lenses: 24 rows, four attributes, class none, soft or hard.

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


def _all_combinations(
    name: str, attributes: Mapping[str, Sequence[Any]], rule: Callable[..., Any], source: str
) -> Dataset:
    """Return the dataset of all combinations of the attributes' values, the last one running fastest."""
    rows = list(product(*attributes.values()))
    columns = dict(zip(attributes, zip(*rows)))
    return Dataset.from_columns(name, columns, [rule(*row) for row in rows], source=source)
