"""Whether the differences between classifiers are more than luck.

Over the folds of one data set: `paired_t`, as many papers have it, which takes folds for independent; `corrected_t`
(Nadeau and Bengio 2003), which does not. Over data sets, after Demšar (2006): `wilcoxon` for two classifiers,
`friedman` for more, and then `nemenyi` for all pairs or `against_control` for all against one, whose p-values Hommel's
procedure adjusts.

References
----------
Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
Hommel, G. (1988). A stagewise rejective multiple test procedure based on a modified Bonferroni test. Biometrika 75.
Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Array = NDArray[np.float64]


def paired_t(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of the paired t-test on the scores of two classifiers in the same folds.

    Folds share training rows, so that it finds differences too often (Dietterich 1998); see `corrected_t`.

    >>> round(paired_t([0.10, 0.12, 0.11, 0.14], [0.12, 0.15, 0.12, 0.17]), 4)
    0.0182
    """
    return corrected_t(a, b, 0.0)


def corrected_t(a: ArrayLike, b: ArrayLike, test_to_train: float) -> float:
    """Return the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio 2003).

    The variance of the mean difference is taken ``1/folds + test_to_train`` times that of a fold, instead of
    ``1/folds`` times.

    Parameters
    ----------
    a, b : array of shape (folds,)
        Scores of two classifiers in the same folds, of all repetitions.
    test_to_train : float
        How many rows are tested for each that is learned from: 1/9 with ten folds.
    """
    difference = _pairs(a, b)
    folds = len(difference)
    if folds < 2:
        raise ValueError("a t-test needs the scores of at least two folds")
    if not np.ptp(difference):
        # Scores that differ by the same everywhere: certainty, or no difference at all.
        return 0.0 if difference.any() else 1.0
    error = standard_error(difference, test_to_train)
    return float(2.0 * stats.t.sf(np.abs(difference.mean()) / error, folds - 1))


def standard_error(values: Array, test_to_train: float) -> float:
    """Return the standard error of the mean of values of folds that share training rows (Nadeau and Bengio 2003)."""
    return float(np.sqrt(values.var(ddof=1) * (1.0 / len(values) + test_to_train)))


def wilcoxon(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test on the scores of two classifiers on data sets.

    The ranks of equal scores are split between both sides, as Demšar (2006) has it.
    """
    difference = _pairs(a, b)
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)


def _pairs(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the differences of two lists of scores that belong together."""
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"scores to compare come in pairs, got {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("scores to compare must be finite; leave out what failed")
    return _rounded(first - second, np.abs([first, second]).max(initial=0.0))


def _rounded(values: Array, largest: ArrayLike) -> Array:
    """Return values to twelve digits of the largest score, so that what differs by rounding alone is equal."""
    unit = np.where(largest, largest, 1.0)
    rounded: Array = np.round(values / unit, 12) * unit
    return rounded


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of whether several classifiers are alike on data sets.

    Parameters
    ----------
    ranks : array of shape (classifiers,)
        The mean rank of each, 1 being the best.
    data_sets : int
    chi_square, chi_square_p : float
        Friedman's statistic as Demšar (2006) computes it.
    f, f_p : float
        The less conservative one of Iman and Davenport.
    """

    ranks: Array
    data_sets: int
    chi_square: float
    chi_square_p: float
    f: float
    f_p: float


def friedman(scores: ArrayLike, higher_is_better: bool = False) -> Friedman:
    """Return Friedman's test on scores of shape (data sets, classifiers).

    Equal scores share their ranks.
    """
    table = _table(scores)
    table = _rounded(table, np.abs(table).max(axis=1, keepdims=True))
    sets, many = table.shape
    ranks = stats.rankdata(-table if higher_is_better else table, axis=1).mean(axis=0)
    chi_square = 12.0 * sets / (many * (many + 1)) * (np.square(ranks).sum() - many * (many + 1) ** 2 / 4.0)
    chi_square = max(float(chi_square), 0.0)
    rest = sets * (many - 1) - chi_square
    f = (sets - 1) * chi_square / rest if rest > 1e-9 else float("inf")
    return Friedman(
        ranks,
        sets,
        chi_square,
        float(stats.chi2.sf(chi_square, many - 1)),
        float(f),
        float(stats.f.sf(f, many - 1, (many - 1) * (sets - 1))) if sets > 1 else 1.0,
    )


def critical_difference(classifiers: int, data_sets: int, level: float = 0.05) -> float:
    """Return by how much mean ranks must differ for Nemenyi's test to tell two classifiers apart.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = stats.studentized_range.isf(level, classifiers, np.inf)
    return float(quantile / np.sqrt(2.0) * _rank_error(classifiers, data_sets))


def nemenyi(test: Friedman) -> Array:
    """Return the p-value of each pair of classifiers, of shape (classifiers, classifiers), adjusted for all pairs."""
    many = len(test.ranks)
    apart = np.abs(test.ranks[:, None] - test.ranks) / _rank_error(many, test.data_sets)
    found: Array = stats.studentized_range.sf(apart * np.sqrt(2.0), many, np.inf)
    np.fill_diagonal(found, 1.0)
    return found


def against_control(test: Friedman, control: int) -> Array:
    """Return the p-value of each classifier against one, adjusted by Hommel's procedure; the control's own is 1."""
    many = len(test.ranks)
    z = (test.ranks - test.ranks[control]) / _rank_error(many, test.data_sets)
    others = np.arange(many) != control
    found = np.ones(many)
    found[others] = hommel(2.0 * stats.norm.sf(np.abs(z[others])))
    return found


def hommel(p_values: ArrayLike) -> Array:
    """Return p-values of several hypotheses adjusted by Hommel's procedure (needs statsmodels)."""
    try:
        from statsmodels.stats.multitest import multipletests
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Hommel's procedure needs statsmodels; install it with: pip install 'tanbark[papers]'"
        ) from error
    given = np.asarray(p_values, np.float64)
    if given.ndim != 1 or not len(given) or not ((given >= 0.0) & (given <= 1.0)).all():
        raise ValueError(f"p-values must be numbers from 0 to 1, got {p_values!r}")
    adjusted: Array = multipletests(given, method="hommel")[1]
    return adjusted


def _rank_error(classifiers: int, data_sets: int) -> float:
    """Return the standard error of the difference of two mean ranks."""
    return float(np.sqrt(classifiers * (classifiers + 1) / (6.0 * data_sets)))


def _table(scores: ArrayLike) -> Array:
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        raise ValueError(f"scores must be a table of data sets by at least two classifiers, got shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores to compare must be finite; leave out what failed")
    return table


@dataclass(frozen=True)
class WinTieLoss:
    """On how many data sets a classifier is better than another, no different, and worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def win_tie_loss(
    a: Sequence[ArrayLike],
    b: Sequence[ArrayLike],
    higher_is_better: bool = False,
    test_to_train: float = 0.0,
    level: float = 0.05,
) -> WinTieLoss:
    """Return how often classifier `a` is significantly better than `b`, by a t-test over folds.

    Parameters
    ----------
    a, b : sequence of arrays of shape (folds,)
        The scores on each data set.
    higher_is_better : bool
    test_to_train : float
        0 is the plain paired t-test; see `corrected_t`.
    level : float
    """
    wins = losses = 0
    for first, second in zip(a, b, strict=True):
        if corrected_t(first, second, test_to_train) < level:
            better = (np.subtract(first, second).mean() > 0) == higher_is_better
            wins += better
            losses += not better
    return WinTieLoss(int(wins), len(a) - int(wins) - int(losses), int(losses))
