"""Tests of significance for differences between classifiers.

Over the folds of one data set: `paired_t`, common in papers, which assumes independent folds; `corrected_t` (Nadeau and
Bengio 2003), which does not. Over data sets, following Demšar (2006): `wilcoxon` for two classifiers, `friedman` for
more, followed by `nemenyi` for all pairs or `against_control` for all against one, with p-values adjusted by Hommel's
procedure.

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

    It finds differences too often, because folds share training rows (Dietterich 1998); see `corrected_t`.

    Parameters
    ----------
    a, b : array of shape (folds,)
        Scores of the two classifiers.

    Returns
    -------
    float

    Examples
    --------
    >>> round(paired_t([0.10, 0.12, 0.11, 0.14], [0.12, 0.15, 0.12, 0.17]), 4)
    0.0182
    """
    return corrected_t(a, b, 0.0)


def corrected_t(a: ArrayLike, b: ArrayLike, test_to_train: float) -> float:
    """Return the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio 2003).

    The variance of the mean difference is estimated as ``1/folds + test_to_train`` times the variance over folds,
    instead of ``1/folds`` times.

    Parameters
    ----------
    a, b : array of shape (folds,)
        Scores of two classifiers in the same folds, of all repetitions.
    test_to_train : float
        Ratio of the number of test rows to the number of training rows: 1/9 with ten folds.

    Returns
    -------
    float
    """
    difference = _pairs(a, b)
    folds = len(difference)
    if folds < 2:
        raise ValueError("a t-test needs the scores of at least two folds")
    if not np.ptp(difference):
        # The variance is zero: the difference is either certain or zero.
        return 0.0 if difference.any() else 1.0
    error = standard_error(difference, test_to_train)
    return float(2.0 * stats.t.sf(np.abs(difference.mean()) / error, folds - 1))


def standard_error(values: Array, test_to_train: float) -> float:
    """Return the standard error of a mean over folds that share training rows (Nadeau and Bengio 2003).

    Parameters
    ----------
    values : array of shape (folds,)
    test_to_train : float
        See `corrected_t`.

    Returns
    -------
    float
    """
    return float(np.sqrt(values.var(ddof=1) * (1.0 / len(values) + test_to_train)))


def wilcoxon(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test on the scores of two classifiers on data sets.

    The ranks of equal scores are split between both sides, following Demšar (2006).

    Parameters
    ----------
    a, b : array of shape (data sets,)
        Scores of the two classifiers.

    Returns
    -------
    float
    """
    difference = _pairs(a, b)
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)


def _pairs(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the differences of paired scores. Raise ValueError if shapes differ or a score is not finite."""
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"scores must be two lists of equal length, got shapes {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("scores must be finite; leave out the folds or data sets that failed")
    return _rounded(first - second, np.abs([first, second]).max(initial=0.0))


def _rounded(values: Array, largest: ArrayLike) -> Array:
    """Round to twelve digits of the largest score, so that values that differ by rounding errors are equal."""
    unit = np.where(largest, largest, 1.0)
    rounded: Array = np.round(values / unit, 12) * unit
    return rounded


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of the hypothesis that several classifiers perform equally on data sets.

    Parameters
    ----------
    ranks : array of shape (classifiers,)
        The mean rank of each classifier, 1 being the best.
    data_sets : int
        Number of data sets.
    chi_square, chi_square_p : float
        Friedman's statistic as in Demšar (2006), and its p-value.
    f, f_p : float
        The less conservative statistic of Iman and Davenport, and its p-value.
    """

    ranks: Array
    data_sets: int
    chi_square: float
    chi_square_p: float
    f: float
    f_p: float


def friedman(scores: ArrayLike, higher_is_better: bool = False) -> Friedman:
    """Return Friedman's test on the scores of several classifiers on data sets.

    Parameters
    ----------
    scores : array of shape (data sets, classifiers)
        Equal scores share their ranks.
    higher_is_better : bool, default=False

    Returns
    -------
    Friedman
    """
    table = _table(scores)
    table = _rounded(table, np.abs(table).max(axis=1, keepdims=True))
    n_sets, k = table.shape
    ranks = stats.rankdata(-table if higher_is_better else table, axis=1).mean(axis=0)
    chi_square = 12.0 * n_sets / (k * (k + 1)) * (np.square(ranks).sum() - k * (k + 1) ** 2 / 4.0)
    chi_square = max(float(chi_square), 0.0)
    rest = n_sets * (k - 1) - chi_square
    f = (n_sets - 1) * chi_square / rest if rest > 1e-9 else float("inf")
    return Friedman(
        ranks,
        n_sets,
        chi_square,
        float(stats.chi2.sf(chi_square, k - 1)),
        float(f),
        float(stats.f.sf(f, k - 1, (k - 1) * (n_sets - 1))) if n_sets > 1 else 1.0,
    )


def critical_difference(classifiers: int, data_sets: int, level: float = 0.05) -> float:
    """Return the difference of mean ranks from which on Nemenyi's test is significant.

    Parameters
    ----------
    classifiers, data_sets : int
        Number of classifiers and of data sets.
    level : float, default=0.05
        Significance level.

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = stats.studentized_range.isf(level, classifiers, np.inf)
    return float(quantile / np.sqrt(2.0) * _rank_error(classifiers, data_sets))


def nemenyi(test: Friedman) -> Array:
    """Return the p-values of Nemenyi's test for all pairs of classifiers, adjusted for the number of pairs.

    Parameters
    ----------
    test : Friedman

    Returns
    -------
    array of shape (classifiers, classifiers)
    """
    n_classifiers = len(test.ranks)
    z = np.abs(test.ranks[:, None] - test.ranks) / _rank_error(n_classifiers, test.data_sets)
    p_values: Array = stats.studentized_range.sf(z * np.sqrt(2.0), n_classifiers, np.inf)
    np.fill_diagonal(p_values, 1.0)
    return p_values


def against_control(test: Friedman, control: int) -> Array:
    """Return the p-values of each classifier against a control, adjusted by Hommel's procedure.

    Parameters
    ----------
    test : Friedman
    control : int
        The index of the control.

    Returns
    -------
    array of shape (classifiers,)
        The p-value of the control itself is 1.
    """
    n_classifiers = len(test.ranks)
    z = (test.ranks - test.ranks[control]) / _rank_error(n_classifiers, test.data_sets)
    others = np.arange(n_classifiers) != control
    p_values = np.ones(n_classifiers)
    p_values[others] = hommel(2.0 * stats.norm.sf(np.abs(z[others])))
    return p_values


def hommel(p_values: ArrayLike) -> Array:
    """Return the p-values of several hypotheses, adjusted by Hommel's procedure (needs statsmodels).

    Parameters
    ----------
    p_values : array of shape (hypotheses,)

    Returns
    -------
    array of shape (hypotheses,)
    """
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
    """Return the standard error of the difference between two mean ranks."""
    return float(np.sqrt(classifiers * (classifiers + 1) / (6.0 * data_sets)))


def _table(scores: ArrayLike) -> Array:
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        raise ValueError(
            f"scores must have shape (data sets, classifiers), with at least two classifiers, got {table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError("scores must be finite; leave out the folds or data sets that failed")
    return table


@dataclass(frozen=True)
class WinTieLoss:
    """Number of data sets on which a classifier is significantly better, not different, and significantly worse.

    Parameters
    ----------
    wins, ties, losses : int
    """

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
    """Count the data sets on which classifier `a` is significantly better or worse than `b`, by a t-test over folds.

    Parameters
    ----------
    a, b : sequence of arrays of shape (folds,)
        The scores on each data set.
    higher_is_better : bool, default=False
    test_to_train : float, default=0.0
        0 is the plain paired t-test; see `corrected_t`.
    level : float, default=0.05
        Significance level.

    Returns
    -------
    WinTieLoss
    """
    wins = losses = 0
    for first, second in zip(a, b, strict=True):
        if corrected_t(first, second, test_to_train) < level:
            better = (np.subtract(first, second).mean() > 0) == higher_is_better
            wins += better
            losses += not better
    return WinTieLoss(int(wins), len(a) - int(wins) - int(losses), int(losses))
