"""Scores of given structures on real tables against other programs."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_wine

from tanbark import Category, Encoder, Schema
from tanbark.counts import Rows
from tanbark.network import Structure
from tanbark.scores import AIC, BIC, BDeu, Cases, K2Score, LogLikelihood

NAMES = ["car_evaluation", "nursery", "tic_tac_toe", "chess_kr_vs_kp"]


@pytest.fixture(scope="module")
def cases_of(read_text):
    """Return a function from the name of a real table to its cases."""

    def cases(name):
        X, y, _ = read_text(name)
        schema = Encoder(categorical="all").fit(X, y).schema_
        return Cases.of(Rows(schema, schema.encode(X), schema.encode_target(y)))

    return cases


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_pgmpys(name, cases_of, reference):
    cases = cases_of(name)
    for figures in reference("pgmpy_scores")["sets"][name]:
        structure = Structure(tuple(map(tuple, figures["parents"])))
        for what, score in {
            "BDeu, ess 1": BDeu(1.0),
            "BDeu, ess 10": BDeu(10.0),
            "BIC": BIC(),
            "AIC": AIC(),
        }.items():
            assert score.total(cases, structure) == pytest.approx(figures[what], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_k2_is_pgmpys_except_for_unobserved_configurations(name, cases_of, reference):
    """For each of these, pgmpy adds log Gamma(values) and the formula adds log Gamma(values) / Gamma(values)."""
    cases = cases_of(name)
    for figures in reference("pgmpy_scores")["sets"][name]:
        structure = Structure(tuple(map(tuple, figures["parents"])))
        added = 0.0
        for node, above in enumerate(structure.parents):
            seen = len(np.unique(cases.codes[list(above)], axis=1).T) if above else 1
            added += (math.prod(cases.arity[list(above)].tolist()) - seen) * math.lgamma(cases.arity[node])
        assert K2Score().total(cases, structure) + added == pytest.approx(figures["K2"], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_pyagrums(name, cases_of, reference):
    """The log Gamma of pyAgrum is inexact for small arguments: K2 agrees to eight digits, BDeu with a heavy prior."""
    cases = cases_of(name)
    for figures in reference("pyagrum_scores")["sets"][name]:
        structure = Structure(tuple(map(tuple, figures["parents"])))
        for what, score, digits in (
            ("BDeu, ess 1000000", BDeu(1e6), 1e-9),
            ("BIC", BIC(), 1e-9),
            ("log likelihood", LogLikelihood(), 1e-9),
            ("K2", K2Score(), 1e-8),
        ):
            assert score.total(cases, structure) == pytest.approx(figures[what], rel=digits)


def test_bic_of_the_best_network_of_wine_is_gobnilps(reference):
    figures = reference("gobnilp_wine")
    measured, wine = load_wine(return_X_y=True)
    codes = (measured > figures["cuts"]).T
    # The class is column 0 in the reference and the last node here.
    place = [13, *range(13)]
    schema = Schema([Category(f"x{u}", (0, 1)) for u in range(13)], (0, 1, 2))
    cases = Cases.of(Rows(schema, codes.astype(schema.dtype), wine))
    local = [BIC().local(cases, place[v], [place[p] for p in above]) for v, above in enumerate(figures["parents"])]
    assert local == pytest.approx(figures["local"], abs=6e-7)
    assert sum(local) == pytest.approx(figures["optimum"], abs=6e-7)
