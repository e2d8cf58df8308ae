"""What a step is said to gain is the score after it less the score before it."""

import numpy as np
import pytest

from tanbark.scores import BIC, CMDL, BDeu, BDs, Cases, ConditionalLogLikelihood, K2Score
from tanbark.scores.conditional_scores import ClassRows
from tanbark.structure.search.family_scores import FamilyScores
from tanbark.structure.search.gains import ConditionalGains, DecomposableGains
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


def gains_of(score, cases, n_jobs=None):
    if isinstance(score, ConditionalLogLikelihood | CMDL):
        return ConditionalGains(cases, score, n_jobs)
    return DecomposableGains(FamilyScores(cases, score, n_jobs))


@pytest.mark.parametrize("score", [BDeu(), BDs(), K2Score(), BIC(), ConditionalLogLikelihood(2.0), CMDL()], ids=repr)
def test_every_step_gains_what_the_totals_differ_by(score):
    cases, restrictions = random_cases(0, 150), Restrictions.of([f"x{u}" for u in range(6)])
    gains, rng = gains_of(score, cases), np.random.default_rng(1)
    edges, seen = np.zeros((6, 6), np.bool_), 0
    for _ in range(25):
        gains.go_to(edges)
        before = score.total(cases, structure_of(edges))
        assert gains.score == pytest.approx(before, abs=1e-9)
        toggled, turned = legal_moves(edges, restrictions)
        moves = [(False, v, p) for p, v in np.argwhere(toggled).tolist()]
        moves += [(True, v, p) for p, v in np.argwhere(turned).tolist()]
        found = gains.toggling(toggled).copy(), gains.turning(turned)
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
    one, two = gains_of(score, cases, 1), gains_of(score, cases, 2)
    for each in (one, two):
        each.go_to(edges)
    assert np.array_equal(one.toggling(toggled), two.toggling(toggled), equal_nan=True)
    assert np.array_equal(one.turning(turned), two.turning(turned), equal_nan=True)


def test_steps_whose_penalty_nothing_could_pay_are_not_counted(monkeypatch):
    cases = random_cases(0, 30)
    score = CMDL()
    gains = ConditionalGains(cases, score)
    edges = np.zeros((6, 6), np.bool_)
    edges[[0, 1, 2], 5] = True
    gains.go_to(edges)
    monkeypatch.setattr(ClassRows, "factor", None)
    asked = np.zeros((6, 6), np.bool_)
    asked[4, 5] = True
    assert gains.toggling(asked)[4, 5] == -np.inf
    monkeypatch.undo()
    assert score.total(cases, structure_of(edges | asked)) < score.total(cases, structure_of(edges))


def test_only_steps_whose_penalty_nothing_could_pay_are_left_out():
    restrictions, rng = Restrictions.of([f"x{u}" for u in range(6)]), np.random.default_rng(2)
    left_out = counted = 0
    for rows in (10, 30, 60):
        cases = random_cases(0, rows)
        gains, price = ConditionalGains(cases, CMDL()), np.log(cases.weights.sum()) / 2

        def parameters(edges):
            sizes = [(ARITY[v] - 1) * np.prod([ARITY[p] for p in np.flatnonzero(edges[:, v])]) for v in range(6)]
            return float(np.sum(sizes))

        edges = np.zeros((6, 6), np.bool_)
        for _ in range(15):
            gains.go_to(edges)
            certain = -ConditionalLogLikelihood().total(cases, structure_of(edges))
            toggled, turned = legal_moves(edges, restrictions)
            moves = [(bool(t), v, p) for t, p, v in np.argwhere(np.stack([toggled, turned])).tolist()]
            found = gains.toggling(toggled).copy(), gains.turning(turned)
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
