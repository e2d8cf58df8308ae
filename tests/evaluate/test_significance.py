"""Tests of significance: scipy, statsmodels, plain enumeration, and the worked examples of the literature."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from tanbark.evaluate.significance import (
    WinTieLoss,
    against_control,
    corrected_t,
    critical_difference,
    friedman,
    hommel,
    nemenyi,
    paired_t,
    wilcoxon,
    win_tie_loss,
)

# Demšar (2006), Table 6: the AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on fourteen data sets. On wine two are printed
# as 0.975, but ranked second and third, as the mean ranks 2.893 and 1.964 confirm: they were not equal before rounding.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)

scores = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=20).map(
    lambda pairs: np.array(pairs).T / 1000.0
)


# One data set


@given(scores)
@settings(max_examples=40)
def test_the_paired_t_test_is_that_of_scipy(pair):
    a, b = pair
    assume(np.ptp(np.round(a - b, 9)) > 0)
    assert paired_t(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-6, abs=1e-12)


@given(scores, st.floats(0.0, 2.0))
@settings(max_examples=40)
def test_the_corrected_t_test_divides_the_statistic_by_the_root_of_one_and_folds_times_the_ratio(pair, ratio):
    a, b = pair
    assume(np.ptp(np.round(a - b, 9)) > 0)
    # t = mean / sqrt((1/J + n2/n1) s^2) = t of the paired test / sqrt(1 + J n2/n1), with J - 1 degrees of freedom.
    t = stats.ttest_rel(a, b).statistic / math.sqrt(1.0 + len(a) * ratio)
    assert corrected_t(a, b, ratio) == pytest.approx(2.0 * stats.t.sf(abs(t), len(a) - 1), rel=1e-6, abs=1e-12)


def test_the_corrected_t_test_by_hand():
    # Differences 1, 2, 3 (mean 2, variance 1), one test row for two training rows: t = 2 / sqrt(1/3 + 1/2).
    # With two degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2).
    t = 2.0 / math.sqrt(5.0 / 6.0)
    assert corrected_t([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], 0.5) == pytest.approx(1.0 - t / math.sqrt(2.0 + t * t))


def test_scores_equal_up_to_rounding_do_not_differ_and_a_constant_difference_is_certain():
    a = np.array([0.1 + 0.2, 0.7, 0.4])
    b = np.array([0.3, 0.1 + 0.6, 0.1 + 0.3])
    assert (a != b).any()
    for test in (paired_t, wilcoxon, lambda a, b: corrected_t(a, b, 1 / 9)):
        assert test(a, b) == 1.0
    assert paired_t([0.3, 0.2, 0.4], [0.2, 0.1, 0.3]) == 0.0
    assert corrected_t([0.3, 0.2, 0.4], [0.2, 0.1, 0.3], 1 / 9) == 0.0


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([1.0], [2.0], "at least two folds"),
        ([], [], "at least two folds"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "must be two lists of equal length"),
        ([[1.0, 2.0]], [[1.0, 2.0]], "must be two lists of equal length"),
        ([1.0, np.nan], [1.0, 2.0], "must be finite"),
        ([1.0, np.inf], [1.0, np.inf], "must be finite"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(a, b, words):
    with pytest.raises(ValueError, match=words):
        paired_t(a, b)


def test_wins_ties_and_losses_by_hand():
    clear, unclear = np.array([0.1, 0.2, 0.1, 0.2]), np.array([0.5, 0.1, 0.9, 0.2])
    a, b = [clear, clear + 0.5, clear, unclear], [clear + 0.5, clear, clear, clear]
    a[0] = a[0] + [0.01, 0.0, 0.0, 0.01]
    assert win_tie_loss(a, b) == WinTieLoss(1, 2, 1)
    assert win_tie_loss(a[:1], b[:1]) == WinTieLoss(1, 0, 0)
    assert win_tie_loss(a[:1], b[:1], higher_is_better=True) == WinTieLoss(0, 0, 1)
    assert win_tie_loss([], []) == WinTieLoss(0, 0, 0)
    assert str(win_tie_loss(a, b)) == "1/2/1"
    with pytest.raises(ValueError, match="shorter"):
        win_tie_loss(a, b[:2])


def test_the_level_and_the_correction_determine_ties():
    # Differences 1, 2, 3: t = 2 sqrt(3) has p = 0.0742, corrected by 1/2 t = 2.19 has p = 0.160.
    a, b = [np.array([0.0, 0.0, 0.0])], [np.array([1.0, 2.0, 3.0])]
    assert win_tie_loss(a, b).ties == 1
    assert win_tie_loss(a, b, level=0.075).wins == 1
    assert win_tie_loss(a, b, level=0.073).ties == 1
    assert win_tie_loss(a, b, level=0.075, test_to_train=0.5).ties == 1
    assert win_tie_loss(a, b, level=0.17, test_to_train=0.5).wins == 1


# Two classifiers on several data sets


def test_wilcoxon_of_demsars_table_two():
    # R+ = 93 and R- = 12 of fourteen sets, zeros split and one pair of ties; 21 would do at 5 %, 12 at 2 % (the
    # exact table has T = 15 there), so that the p-value is below 0.02.
    assert 0.001 < wilcoxon(DEMSAR[:, 0], DEMSAR[:, 1]) < 0.02
    ranks = stats.rankdata(np.round(np.abs(DEMSAR[:, 0] - DEMSAR[:, 1]), 6))
    assert ranks[DEMSAR[:, 1] > DEMSAR[:, 0]].sum() + 1.5 == 93.0
    # The normal approximation, corrected for two ties of two.
    error = math.sqrt((14 * 15 * 29 - 2 * (2**3 - 2) / 2) / 24)
    expected = math.erfc((93 - 14 * 15 / 4) / error / math.sqrt(2.0))
    assert wilcoxon(DEMSAR[:, 0], DEMSAR[:, 1]) == pytest.approx(expected)


@given(st.lists(st.integers(1, 200), min_size=2, max_size=9, unique=True), st.integers(0, 2**9 - 1))
@settings(max_examples=30)
def test_wilcoxon_without_ties_enumerates_all_signs(sizes, signs):
    difference = np.array(sizes) * [1 if signs >> i & 1 else -1 for i in range(len(sizes))] / 1000.0
    ranks = stats.rankdata(sizes)
    seen = ranks[difference > 0].sum()
    sums = np.array([np.dot(ranks, chosen) for chosen in itertools.product((0, 1), repeat=len(sizes))])
    expected = min(1.0, 2 * min((sums >= seen).mean(), (sums <= seen).mean()))
    assert wilcoxon(difference, np.zeros(len(sizes))) == pytest.approx(expected)


@given(scores.map(lambda pair: pair[:, :6]))
@settings(max_examples=8)
def test_wilcoxon_is_that_of_scipy_on_whole_numbers_where_no_rounding_hides_ties(pair):
    a, b = np.round(pair * 1000).astype(int) // 100
    assume((a != b).any())
    expected = stats.wilcoxon(a - b, zero_method="zsplit").pvalue
    assert wilcoxon(a / 10.0 + 0.3, b / 10.0 + 0.3) == pytest.approx(expected)


# Several classifiers on several data sets


def test_friedman_of_demsars_table_six():
    found = friedman(DEMSAR, higher_is_better=True)
    assert found.ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert found.data_sets == 14
    assert found.chi_square == pytest.approx(9.28, abs=0.006)
    assert found.f == pytest.approx(3.69, abs=0.006)
    # The critical value of F(3, 39) at 5 % is 2.85 in the paper.
    assert 0.01 < found.f_p < 0.05
    assert stats.f.sf(2.85, 3, 39) == pytest.approx(0.05, abs=5e-4)


def test_nemenyi_of_demsars_table_six():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, level=0.1) == pytest.approx(1.12, abs=0.005)
    pairs = nemenyi(friedman(DEMSAR, higher_is_better=True))
    # At 5 % not even the best and the worst differ significantly; at 10 % C4.5 is worse than both with m.
    assert (pairs >= 0.05).all()
    assert {(i, j) for i, j in itertools.combinations(range(4), 2) if pairs[i, j] < 0.1} == {(0, 1), (0, 3)}
    assert np.array_equal(pairs, pairs.T)
    assert np.array_equal(np.diagonal(pairs), np.ones(4))


def test_critical_values_are_those_of_demsars_table_five():
    five = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    ten = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    for level, table in ((0.05, five), (0.1, ten)):
        for many, value in enumerate(table, start=2):
            unit = math.sqrt(many * (many + 1) / (6 * 30))
            assert critical_difference(many, 30, level) / unit == pytest.approx(value, abs=1.1e-3)


def test_demsars_control_is_worse_than_both_variants_with_m_by_hommels_procedure():
    # Section 3.2.2 has z = 2.416, 2.342 and 0.512 against C4.5, of which the first two are significant. By hand, the
    # largest of Simes' tests of the sets that a hypothesis is in is that of the pair with the third: 2p, 2p, and p.
    found = against_control(friedman(DEMSAR, higher_is_better=True), control=0)
    p = [math.erfc(z / math.sqrt(2.0)) for z in (2.416, 2.342, 0.512)]
    assert found[[0, 3, 1, 2]] == pytest.approx([1.0, 2 * p[0], 2 * p[1], p[2]], abs=2e-3)
    assert (found < 0.05).tolist() == [False, True, False, True]


@given(st.integers(2, 6).flatmap(lambda k: st.lists(st.permutations(range(k)), min_size=2, max_size=8)))
@settings(max_examples=40)
def test_friedman_without_ties_is_that_of_scipy(ranks):
    table = np.array(ranks, float)
    found = friedman(table)
    if table.shape[1] > 2:
        expected = stats.friedmanchisquare(*table.T)
        assert found.chi_square == pytest.approx(expected.statistic, abs=1e-9)
        assert found.chi_square_p == pytest.approx(expected.pvalue, abs=1e-9)
    else:
        sums = table.sum(axis=0) + len(table)
        expected = 2.0 / len(table) * np.square(sums).sum() - 9.0 * len(table)
        assert found.chi_square == pytest.approx(expected, abs=1e-9)
    assert found.ranks == pytest.approx(table.mean(axis=0) + 1)


@given(st.integers(2, 5).flatmap(lambda k: st.lists(st.permutations(range(k)), min_size=2, max_size=8)))
@settings(max_examples=40)
def test_iman_and_davenports_statistic_is_the_f_of_an_analysis_of_variance_of_the_ranks(ranks):
    table = np.array(ranks, float) + 1
    sets, many = table.shape
    between = sets * np.square(table.mean(axis=0) - table.mean()).sum()
    rest = np.square(table - table.mean()).sum() - between
    found = friedman(table)
    if rest < 1e-9:
        assert found.f == math.inf
        assert found.f_p == 0.0
    else:
        expected = between / (many - 1) / (rest / ((many - 1) * (sets - 1)))
        assert found.f == pytest.approx(expected, abs=1e-9)
        assert found.f_p == pytest.approx(stats.f.sf(expected, many - 1, (many - 1) * (sets - 1)), abs=1e-9)


def test_higher_or_lower_is_better_turns_ranks_around_and_nothing_else():
    low, high = friedman(DEMSAR), friedman(DEMSAR, higher_is_better=True)
    assert low.ranks == pytest.approx(5.0 - high.ranks)
    assert low.chi_square == pytest.approx(high.chi_square)
    assert friedman(-DEMSAR).ranks.tolist() == high.ranks.tolist()


def test_scores_equal_up_to_rounding_share_their_ranks():
    found = friedman([[0.1 + 0.2, 0.3, 0.5], [1e9, 2e9, 3e9]])
    assert found.ranks.tolist() == [1.25, 1.75, 3.0]


def test_identical_classifiers_do_not_differ():
    found = friedman(np.ones((5, 3)))
    assert (found.chi_square, found.f, found.f_p, found.chi_square_p) == (0.0, 0.0, 1.0, 1.0)
    assert nemenyi(found).tolist() == np.ones((3, 3)).tolist()
    assert against_control(found, 1).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("table", [[1.0, 2.0], [[1.0], [2.0]], np.empty((0, 3)), [[1.0, np.nan], [1.0, 2.0]]])
def test_tables_that_cannot_be_ranked_are_refused(table):
    with pytest.raises(ValueError, match=r"with at least two classifiers|must be finite"):
        friedman(table)


# Hommel


def closed_testing(p_values):
    """Return Hommel's adjusted p-values by their meaning.

    A hypothesis is rejected where Simes' test rejects every set of hypotheses that it is in, so that its adjusted
    p-value is the largest of theirs: min over i of |set| p_(i) / i.
    """
    adjusted = [0.0] * len(p_values)
    for size in range(1, len(p_values) + 1):
        for members in itertools.combinations(range(len(p_values)), size):
            ordered = sorted(p_values[i] for i in members)
            simes = min(size * p / (rank + 1) for rank, p in enumerate(ordered))
            for i in members:
                adjusted[i] = max(adjusted[i], simes)
    return adjusted


probability = st.one_of(st.floats(0.0, 1.0), st.integers(0, 20).map(lambda k: k / 20))


@given(st.lists(probability, min_size=1, max_size=6))
@settings(max_examples=40)
def test_hommels_procedure_is_closed_testing_with_simes_test(p_values):
    assert hommel(p_values) == pytest.approx(closed_testing(p_values), abs=1e-12)


def test_hommels_procedure_on_forty_p_values_is_that_of_r():
    # R's p.adjust(p, "hommel"), from the tests of statsmodels.
    p = [0.00116, 0.00924, 0.01075, 0.01437, 0.01784, 0.01918, 0.02751, 0.02871, 0.03054, 0.03246]
    p += [0.04259, 0.06879, 0.0691, 0.08081, 0.08593, 0.08993, 0.09386, 0.09412, 0.09718, 0.09758]
    p += [0.09781, 0.09788, 0.13282, 0.20191, 0.21757, 0.24031, 0.26061, 0.26762, 0.29474, 0.32901]
    p += [0.41386, 0.51479, 0.52461, 0.53389, 0.56276, 0.62967, 0.72178, 0.73403, 0.87182, 0.95384]
    expected = [0.0464, 0.25872, 0.29025, 0.3495714285714286, 0.41032, 0.44114, 0.57771, 0.60291, 0.618954, 0.6492]
    expected += [0.7402725, 0.86749, 0.86749, 0.88891, 0.8971477777777778, 0.8993, *[0.9175375] * 6, *[0.95384] * 18]
    order = np.random.default_rng(0).permutation(40)
    assert hommel(np.array(p)[order]) == pytest.approx(np.array(expected)[order])


def test_hommels_procedure_without_statsmodels_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.stats.multitest", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tanbark\[papers\]'"):
        hommel([0.1, 0.2])


@pytest.mark.parametrize("p_values", [[], [0.5, np.nan], [0.5, 1.5], [-0.1], [[0.1, 0.2]]])
def test_invalid_p_values_are_refused(p_values):
    with pytest.raises(ValueError, match="p-values must be numbers from 0 to 1"):
        hommel(p_values)
