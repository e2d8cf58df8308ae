"""Scores of families against their formulas, and their invariants."""

import math

import numpy as np
import pytest
from mpmath import mp

from tanbark.counts import Rows
from tanbark.network import Structure
from tanbark.schema import Category, Schema
from tanbark.scores import AIC, BIC, BDeu, BDs, Cases, K2Score, LogLikelihood

SCORES = [BDeu(1.0), BDeu(7.5), BDeu(1e-9), BDeu(1e9), BDs(1.0), BDs(1e8), K2Score(), LogLikelihood(), BIC(), AIC()]


def _cases(rng, arity, rows, holes=0.0, weights=None):
    """Return cases of random rows; the last arity is the class's."""
    columns = tuple(Category(f"x{u}", tuple(range(r))) for u, r in enumerate(arity[:-1]))
    schema = Schema(columns, tuple(range(arity[-1])), "class")
    codes = np.array([rng.integers(0, r, rows) for r in arity[:-1]]).astype(schema.dtype)
    codes[rng.random(codes.shape) < holes] = schema.missing_code
    return Cases.of(Rows(schema, codes, rng.integers(0, arity[-1], rows), weights))


def _plain(score, cases, node, parents):
    """Return the score by its formula, cell by cell over all configurations, in 50 digits."""
    counts = {}
    for case, weight in zip(cases.codes.T.tolist(), cases.weights.tolist(), strict=True):
        row = counts.setdefault(tuple(case[p] for p in parents), [0.0] * int(cases.arity[node]))
        row[case[node]] += weight
    q, r = math.prod(int(cases.arity[p]) for p in parents), int(cases.arity[node])
    with mp.workdps(50):
        if isinstance(score, BDeu | BDs | K2Score):
            seen = len(counts)
            cell = {BDeu: mp.mpf(score.ess) / (r * q), BDs: mp.mpf(score.ess) / (r * seen), K2Score: mp.mpf(1)}[
                type(score)
            ]
            total = mp.mpf(0)
            for row in counts.values():
                total += mp.loggamma(cell * r) - mp.loggamma(cell * r + sum(row))
                total += sum(mp.loggamma(cell + n) - mp.loggamma(cell) for n in row)
            return float(total)
        fit = sum(n * mp.log(mp.mpf(n) / sum(row)) for row in counts.values() for n in row if n > 0)
        price = {LogLikelihood: 0, AIC: 1, BIC: mp.log(cases.weights.sum()) / 2}[type(score)]
        return float(fit - price * (r - 1) * q)


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_a_family_scores_as_the_formula_says(score):
    rng = np.random.default_rng(3)
    for holes, weights in ((0.0, None), (0.2, None), (0.1, rng.random(80) * 3)):
        cases = _cases(rng, (2, 3, 4, 1, 3), 80, holes, weights)
        for node, parents in [(0, ()), (1, (0,)), (4, (0, 1, 2)), (2, (4, 1)), (0, (1, 2, 3, 4)), (3, (0,)), (4, ())]:
            assert score.local(cases, node, parents) == pytest.approx(_plain(score, cases, node, parents), abs=1e-9)


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_a_structure_scores_the_sum_of_its_families(score):
    cases = _cases(np.random.default_rng(4), (2, 3, 2, 2), 50)
    structure = Structure(((3,), (0, 3), (0, 1), ()))
    parts = [score.local(cases, node, above) for node, above in enumerate(structure.parents)]
    assert score.total(cases, structure) == pytest.approx(sum(parts), abs=1e-12)


@pytest.mark.parametrize("score", [BDeu(1.0), BDeu(20.0), LogLikelihood(), BIC(), AIC()], ids=repr)
def test_equivalent_structures_have_the_same_score(score):
    cases = _cases(np.random.default_rng(5), (3, 2, 4, 2), 200)
    chain, fork = Structure(((), (0,), (1,), (2,))), Structure(((1,), (2,), (3,), ()))
    assert score.total(cases, chain) == pytest.approx(score.total(cases, fork), abs=1e-9)
    full, reversed_ = Structure(((), (0,), (0, 1), (0, 1, 2))), Structure(((1, 2, 3), (2, 3), (3,), ()))
    assert score.total(cases, full) == pytest.approx(score.total(cases, reversed_), abs=1e-9)


def test_bds_and_k2_distinguish_equivalent_structures():
    cases = _cases(np.random.default_rng(5), (3, 2, 4, 2), 12)
    chain, fork = Structure(((), (0,), (1,), (2,))), Structure(((1,), (2,), (3,), ()))
    assert K2Score().total(cases, chain) != pytest.approx(K2Score().total(cases, fork), abs=1e-6)
    full, reversed_ = Structure(((), (0,), (0, 1), (0, 1, 2))), Structure(((1, 2, 3), (2, 3), (3,), ()))
    assert BDs().total(cases, full) != pytest.approx(BDs().total(cases, reversed_), abs=1e-6)


def test_bds_is_bdeu_if_every_configuration_is_observed():
    cases = _cases(np.random.default_rng(6), (2, 2, 2), 500)
    assert BDs(3.0).local(cases, 2, (0, 1)) == pytest.approx(BDeu(3.0).local(cases, 2, (0, 1)), abs=1e-12)


def test_families_with_more_configurations_than_numbers_are_scored():
    rng = np.random.default_rng(7)
    cases = _cases(rng, (200,) * 12 + (2,), 60)
    parents = tuple(range(12))
    assert cases.configurations(parents) == 200.0**12
    assert len(cases.table(12, parents)) == len(cases.weights)
    assert BDeu().local(cases, 12, parents) == pytest.approx(_plain(BDeu(), cases, 12, parents), abs=1e-9)
    assert BDeu().local(cases, 0, (1, 2)) == pytest.approx(_plain(BDeu(), cases, 0, (1, 2)), abs=1e-9)


def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(8)
    schema = Schema((Category("a", (0, 1)), Category("b", (0, 1, 2))), (0, 1), "class")
    codes = np.array([rng.integers(0, 2, 20), rng.integers(0, 3, 20)]).astype(schema.dtype)
    classes, weights = rng.integers(0, 2, 20), rng.integers(1, 4, 20)
    once = Cases.of(Rows(schema, codes, classes, weights.astype(float)))
    order = rng.permutation(weights.sum())
    many = Cases.of(Rows(schema, np.repeat(codes, weights, axis=1)[:, order], np.repeat(classes, weights)[order]))
    assert np.array_equal(once.codes, many.codes)
    assert np.array_equal(once.weights, many.weights)


def test_cases_that_weigh_less_than_one_have_no_bic_penalty():
    cases = _cases(np.random.default_rng(9), (2, 3, 2), 20, weights=np.full(20, 0.025))
    assert BIC().penalty(0.5) == 0.0
    for node, parents in [(0, ()), (1, (0,)), (2, (0, 1))]:
        assert BIC().local(cases, node, parents) == LogLikelihood().local(cases, node, parents)
