"""The gain of a move is the score after it less the score before it."""

import numpy as np
import pytest

from tanbark.scores import BIC, CMDL, BDeu, BDs, Cases, ConditionalLogLikelihood, K2Score
from tanbark.scores.conditional_scores import ClassRows
from tanbark.structure.search.hill_climbing import legal_moves, moved, structure_of
from tanbark.structure.search.restrictions import Restrictions

ARITY = (2, 3, 2, 1, 4, 3)


def random_cases(seed, rows):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, r, rows) for r in ARITY])
    codes[1] = np.where(rng.random(rows) < 0.5, codes[-1], codes[1])
    codes[2] = np.where(rng.random(rows) < 0.5, (codes[0] + codes[-1]) % 2, codes[2])
    codes = np.unique(codes, axis=1).astype(np.uint8)
    return Cases(codes, np.array(ARITY), rng.integers(1, 9, codes.shape[1]).astype(float))


@pytest.mark.parametrize("score", [BDeu(), BDs(), K2Score(), BIC(), ConditionalLogLikelihood(2.0), CMDL()], ids=repr)
def test_the_gain_of_a_move_is_the_difference_of_the_totals(score):
    cases, restrictions = random_cases(0, 150), Restrictions.of([f"x{u}" for u in range(6)])
    gains, rng = score.gains(cases), np.random.default_rng(1)
    edges, seen = np.zeros((6, 6), np.bool_), 0
    for _ in range(25):
        gains.move_to(edges)
        before = score.total(cases, structure_of(edges))
        assert gains.score == pytest.approx(before, abs=1e-9)
        toggled, turned = legal_moves(edges, restrictions)
        moves = [(False, v, p) for p, v in np.argwhere(toggled).tolist()]
        moves += [(True, v, p) for p, v in np.argwhere(turned).tolist()]
        found = gains.toggle_gains(toggled).copy(), gains.reversal_gains(turned)
        for turn, child, parent in moves:
            gain = found[turn][parent, child]
            after = score.total(cases, structure_of(moved(edges, (turn, child, parent))))
            if gain == -np.inf:
                assert after <= before
            else:
                assert gain == pytest.approx(after - before, abs=1e-9)
            seen += turn
        edges = moved(edges, moves[rng.integers(len(moves))])
    assert seen > 10


@pytest.mark.usefixtures("threads_for_few_rows")
@pytest.mark.parametrize("score", [BDeu(), ConditionalLogLikelihood(), CMDL()], ids=repr)
def test_the_number_of_threads_changes_no_bit(score):
    cases = random_cases(0, 150)
    edges = np.zeros((6, 6), np.bool_)
    edges[5, :3] = edges[0, 1] = edges[4, 5] = True
    toggled, turned = legal_moves(edges, Restrictions.of([f"x{u}" for u in range(6)]))
    one, two = score.gains(cases, 1), score.gains(cases, 2)
    for each in (one, two):
        each.move_to(edges)
    assert np.array_equal(one.toggle_gains(toggled), two.toggle_gains(toggled), equal_nan=True)
    assert np.array_equal(one.reversal_gains(turned), two.reversal_gains(turned), equal_nan=True)


def test_moves_whose_penalty_exceeds_any_gain_are_not_counted(monkeypatch):
    cases = random_cases(0, 30)
    score = CMDL()
    gains = score.gains(cases)
    edges = np.zeros((6, 6), np.bool_)
    edges[[0, 1, 2], 5] = True
    gains.move_to(edges)
    monkeypatch.setattr(ClassRows, "factor", None)
    asked = np.zeros((6, 6), np.bool_)
    asked[4, 5] = True
    assert gains.toggle_gains(asked)[4, 5] == -np.inf
    monkeypatch.undo()
    assert score.total(cases, structure_of(edges | asked)) < score.total(cases, structure_of(edges))


def test_only_moves_whose_penalty_exceeds_any_gain_are_left_out():
    restrictions, rng = Restrictions.of([f"x{u}" for u in range(6)]), np.random.default_rng(2)
    left_out = counted = 0
    for rows in (10, 30, 60):
        cases = random_cases(0, rows)
        gains, price = CMDL().gains(cases), np.log(cases.weights.sum()) / 2

        def parameters(edges):
            sizes = [(ARITY[v] - 1) * np.prod([ARITY[p] for p in np.flatnonzero(edges[:, v])]) for v in range(6)]
            return float(np.sum(sizes))

        edges = np.zeros((6, 6), np.bool_)
        for _ in range(15):
            gains.move_to(edges)
            certain = -ConditionalLogLikelihood().total(cases, structure_of(edges))
            toggled, turned = legal_moves(edges, restrictions)
            moves = [(bool(t), v, p) for t, p, v in np.argwhere(np.stack([toggled, turned])).tolist()]
            found = gains.toggle_gains(toggled).copy(), gains.reversal_gains(turned)
            for move in moves:
                turn, child, parent = move
                penalty = price * (parameters(moved(edges, move)) - parameters(edges))
                if found[turn][parent, child] == -np.inf:
                    assert penalty >= certain
                    left_out += 1
                else:
                    counted += certain / 2 < penalty < certain
            edges = moved(edges, moves[rng.integers(len(moves))])
    assert left_out > 10
    assert counted > 10
