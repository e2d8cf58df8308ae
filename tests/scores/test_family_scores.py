"""Families that are scored together have the same scores as alone."""

import numpy as np
import pytest

from tanbark.scores import AIC, BIC, BDeu, BDs, Cases, K2Score
from tanbark.scores.gains import FamilyScores


def random_cases(seed, arity, rows):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, r, rows) for r in arity]).astype(np.uint8)
    return Cases(codes, np.array(arity), rng.integers(1, 4, rows) * 0.5)


@pytest.mark.parametrize("score", [BDeu(1.0), BDs(1.0), K2Score(), BIC(), AIC()], ids=repr)
@pytest.mark.parametrize("arity", [(2, 3, 4, 1, 3, 2, 2, 2, 5, 2, 3, 2), (200,) * 6], ids=["narrow", "wide"])
def test_a_grown_family_scores_as_it_does_alone(score, arity):
    cases = random_cases(0, arity, 60)
    families = FamilyScores(cases, score)
    for node, parents in [(0, ()), (1, (0,)), (4, (1, 3)), (5, (0, 1, 2))]:
        others = [u for u in range(len(arity)) if u != node and u not in parents]
        expected = [score.local(cases, node, sorted((*parents, u))) for u in others]
        np.testing.assert_allclose(families.grown(node, parents, others), expected, rtol=1e-12)
        assert families.local(node, parents) == score.local(cases, node, parents)


def test_no_family_is_scored_twice():
    class Counting(BDeu):
        asked = 0

        def family(self, table, configurations):
            type(self).asked += 1
            return super().family(table, configurations)

    families = FamilyScores(random_cases(0, (2, 3, 2, 2), 30), Counting())
    families.grown(0, (1,), [2, 3])
    assert Counting.asked == 2
    families.grown(0, (2,), [1, 3])
    families.local(0, (1, 3))
    assert Counting.asked == 3
