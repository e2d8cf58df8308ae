"""Conditional scores against their definition, cell by cell in many digits."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp

from tanbark.network import Structure
from tanbark.scores import CMDL, Cases, Conditional, ConditionalLogLikelihood, Decomposable

ARITY = (2, 3, 4, 1, 3)
STRUCTURES = [
    Structure(((), (), (), (), ())),
    Structure(((4,), (4,), (4,), (4,), ())),
    Structure(((4,), (0, 4), (0, 1, 4), (2,), ())),
    Structure(((), (0,), (), (), (0, 1, 2))),
    Structure(((4,), (0, 4), (), (), (2, 3))),
]


def random_cases(seed, rows, arity=ARITY, whole=True):
    """Return distinct cases in random order; some rows of attributes have several classes."""
    rng = np.random.default_rng(seed)
    codes = np.unique(np.array([rng.integers(0, r, rows) for r in arity]), axis=1).astype(np.uint8)
    codes = codes[:, rng.permutation(codes.shape[1])]
    weights = rng.integers(1, 5, codes.shape[1]).astype(float) if whole else rng.random(codes.shape[1])
    return Cases(codes, np.array(arity), weights)


def by_definition(cases, structure, ess):
    """Return ``sum of w log P(class | row)`` under the network with expected tables, and its number of parameters."""
    rows, weights = cases.codes.T.tolist(), cases.weights.tolist()
    size = cases.arity.tolist()
    counts = {}
    for row, weight in zip(rows, weights, strict=True):
        for node, above in enumerate(structure.parents):
            key = (node, tuple(row[p] for p in above))
            counts[key, row[node]] = counts.get((key, row[node]), 0) + mp.mpf(weight)
            counts[key] = counts.get(key, 0) + mp.mpf(weight)

    def joint(row):
        product = mp.mpf(1)
        for node, above in enumerate(structure.parents):
            key = (node, tuple(row[p] for p in above))
            q = math.prod(size[p] for p in above)
            cell = mp.mpf(ess) / (q * size[node])
            product *= (counts.get((key, row[node]), 0) + cell) / (counts.get(key, 0) + cell * size[node])
        return product

    total = mp.mpf(0)
    for row, weight in zip(rows, weights, strict=True):
        total += weight * mp.log(joint(row) / sum(joint([*row[:-1], k]) for k in range(size[-1])))
    parameters = sum((size[v] - 1) * math.prod(size[p] for p in above) for v, above in enumerate(structure.parents))
    return total, parameters


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: str(s.parents))
@pytest.mark.parametrize("ess", [1.0, 12.5, 1e-30])
def test_a_structure_scores_as_the_definition_says(structure, ess):
    for seed, whole in itertools.product(range(2), (True, False)):
        cases = random_cases(seed, 60, whole=whole)
        with mp.workdps(60):
            likelihood, parameters = by_definition(cases, structure, ess)
            weight = mp.mpf(float(cases.weights.sum()))
            described = float(likelihood - mp.log(weight) / 2 * parameters)
            likelihood = float(likelihood)
        assert ConditionalLogLikelihood(ess).total(cases, structure) == pytest.approx(likelihood, rel=1e-11, abs=1e-9)
        assert CMDL(ess).total(cases, structure) == pytest.approx(described, rel=1e-11, abs=1e-9)


def test_unobserved_configurations_are_not_impossible():
    # Every row of attributes has one class only, in a family so wide that no configuration occurs twice.
    cases = random_cases(3, 40, (9, 9, 9, 9, 2))
    for structure in (
        Structure(((1, 2, 3, 4), (2, 3, 4), (3, 4), (4,), ())),
        Structure(((), (), (), (), (0, 1, 2, 3))),
    ):
        found = ConditionalLogLikelihood(1e-100).total(cases, structure)
        assert np.isfinite(found)
        assert found <= 0


def test_edges_that_do_not_involve_the_class_change_only_the_penalty():
    cases = random_cases(0, 60)
    without, within = Structure(((), (4,), (), (), ())), Structure(((), (4,), (0,), (2,), ()))
    assert ConditionalLogLikelihood().total(cases, within) == ConditionalLogLikelihood().total(cases, without)
    dearer = math.log(cases.weights.sum()) / 2 * (3 * 2 - 3)
    assert CMDL().total(cases, within) == pytest.approx(CMDL().total(cases, without) - dearer, abs=1e-9)


def test_one_class_is_certain():
    cases = random_cases(0, 30, (2, 3, 1))
    assert ConditionalLogLikelihood().total(cases, Structure(((2,), (0, 2), ()))) == pytest.approx(0.0, abs=1e-12)


def test_conditional_scores_are_not_decomposable():
    for score in (ConditionalLogLikelihood(), CMDL()):
        assert isinstance(score, Conditional)
        assert not isinstance(score, Decomposable)
        assert "not decompose" in " ".join(score.__doc__.split())


def test_cases_that_weigh_less_than_one_have_no_cmdl_penalty():
    cases = random_cases(0, 40)
    light = Cases(cases.codes, cases.arity, cases.weights * (0.5 / cases.weights.sum()))
    for structure in STRUCTURES:
        assert CMDL().total(light, structure) == ConditionalLogLikelihood().total(light, structure)
