"""The questions that codes answer: cuts at quantiles, digits of parents, and typical values."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from evidence.plain_evidence import encoded
from tanbark import Category, Number, Schema
from tanbark.evidence.questions import FINE_ENCODING, GRIDS, LEVELS, Questions, grid_leaves, typical_values


def cuts_of(grid):
    scale, shift = (Fraction(number).limit_denominator(3) for number in grid)
    ranks = [(Fraction(j, 2**LEVELS) - shift) / scale for j in range(1, 2**LEVELS)]
    return [rank for rank in ranks if 0 < rank < 1]


def test_the_cuts_of_all_grids_are_multiples_of_a_sixty_fourth():
    union = {cut for grid in GRIDS for cut in cuts_of(grid)}
    assert all((cut * FINE_ENCODING["n_bins"]).denominator == 1 for cut in union)
    assert len(union) < 100


def test_the_first_cuts_of_the_grids_are_a_half_three_quarters_and_a_quarter():
    halves = [(Fraction(1, 2) - Fraction(b).limit_denominator(3)) / Fraction(a).limit_denominator(3) for a, b in GRIDS]
    assert halves == [Fraction(1, 2), Fraction(3, 4), Fraction(1, 4)]


@pytest.mark.parametrize("rows", [7, 40, 64, 65, 100, 1000])
@pytest.mark.parametrize("ties", [False, True])
def test_leaves_of_quantile_codes_are_those_of_raw_values_cut_at_the_quantiles(rows, ties):
    rng = np.random.default_rng(rows)
    values = np.round(rng.exponential(size=rows), 1) + 0.05 if ties else rng.normal(size=rows)
    table = encoded(pd.DataFrame({"x": values}), rng.integers(0, 2, rows), "state")
    arity = int(table.schema.arity[0])
    assert arity <= 64
    code_weights = np.bincount(table.codes[0], minlength=arity).astype(float)
    ordered = np.sort(values)
    for grid in GRIDS:
        leaves = grid_leaves(code_weights, grid, LEVELS)[table.codes[0]]
        scale, shift = (Fraction(number).limit_denominator(3) for number in grid)
        below = sum((Fraction(j, 2**LEVELS) - shift) / scale <= 0 for j in range(1, 2**LEVELS))
        # The quantile at rank r is the least value up to which there are at least r of the rows.
        quantiles = [ordered[-(-rows * cut.numerator // cut.denominator) - 1] for cut in cuts_of(grid)]
        expected = below + (values[:, None] > np.array(quantiles)).sum(axis=1)
        assert np.array_equal(leaves, expected)


def test_weights_count_like_repeated_rows():
    weights = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])
    for grid in GRIDS:
        once = grid_leaves(weights, grid, LEVELS)
        repeated = grid_leaves(np.ones(int(weights.sum())), grid, LEVELS)
        last = np.cumsum(weights).astype(int) - 1
        first = last - weights.astype(int) + 1
        # A code lies right of the cuts that all of its rows lie right of.
        assert np.array_equal(once, repeated[first])


def test_rounding_errors_of_fractional_weights_move_no_cut():
    third = grid_leaves(np.full(48, 0.1), GRIDS[0], LEVELS)
    assert np.array_equal(third, grid_leaves(np.ones(48), GRIDS[0], LEVELS))


def test_numbers_have_four_digits_and_levels_of_missing_values_their_own():
    schema = Schema([Number("x", tuple(range(7)), 0, 8, missing=True), Number("z", (1.0,), 0, 2)], (0, 1))
    questions = Questions.learn(schema, [np.append(np.ones(8), 3.0), np.array([9.0, 1.0])])
    assert questions.digits[0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]
    # Nine of ten rows are in the first interval, right of which lie the ranks up to 9/10.
    assert questions.digits[1].tolist() == [0, 3, 4]
    assert questions.sizes.tolist() == [6, 5]
    assert [leaf.shape for leaf in questions.leaves] == [(3, 8), (3, 2)]


def test_rare_levels_of_parents_share_a_digit():
    weights = np.arange(20.0, 0, -1)
    schema = Schema([Category("c", tuple(range(20))), Category("d", tuple(range(16)))], (0, 1))
    questions = Questions.learn(schema, [weights[::-1], np.ones(16)])
    assert questions.digits[0].tolist() == [15] * 5 + [*range(15)] + [16]
    assert questions.digits[1].tolist() == list(range(17))


def test_codes_of_missing_and_unseen_values_have_the_last_digit():
    schema = Schema([Category("c", (0, 1, 2))], (0, 1))
    questions = Questions.learn(schema, [np.ones(3)])
    assert questions.digits_of(np.array([[0, 2, 3, 255]], np.uint8)).tolist() == [[0, 2, 3, 3]]


def test_a_node_whose_sibling_has_no_rows_asks_nothing():
    schema = Schema([Number("x", (1.0,), 0, 2, missing=True)], (0, 1))
    weights = np.array([6.0, 2.0, 1.0])
    questions = Questions.learn(schema, [weights])
    for path, leaf in zip(questions.paths(0, weights), questions.leaves[0]):
        asked = (path.nodes >= 0).sum(axis=0)
        # Two intervals part at one level only; all codes are asked whether they are missing.
        assert asked.tolist() == [2, 2, 1]
        parting = LEVELS - int(leaf[0] ^ leaf[1]).bit_length() + 1
        assert np.flatnonzero(path.nodes[:, 0] >= 0).tolist() == [0, parting]
    all_in_one = np.array([6.0, 0.0, 0.0])
    assert all((path.nodes[1:, 0] == -1).all() for path in questions.paths(0, all_in_one))


def test_typical_values_lie_in_their_intervals():
    assert typical_values(Number("x", (), 3, 5)).tolist() == [0.0]
    assert typical_values(Number("x", (4.0,), 3, 5)).tolist() == [3.5, 4.5]
    rng = np.random.default_rng(0)
    for size in (2, 3, 20):
        cuts = np.sort(rng.normal(size=size))
        low, high = cuts[0] - rng.exponential(), cuts[-1] + rng.exponential()
        values = typical_values(Number("x", tuple(cuts), low, high))
        assert np.array_equal(np.searchsorted(cuts, values), np.arange(size + 1))
        assert low <= values[0]
        assert values[-1] <= high


@pytest.mark.parametrize("scale", [1e308, 1.7e308, 1e-308, 5e-324])
def test_typical_values_of_extreme_numbers_are_finite_and_ordered(scale):
    for cuts in ((-scale, 0.0, scale), (scale,), (-scale,), (-scale, scale)):
        values = typical_values(Number("x", cuts, -scale, scale))
        assert np.isfinite(values).all()
        assert (np.diff(values) >= 0).all()
