"""Decisions of least expected cost, against enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark import TAN
from tanbark.datasets import iris
from tanbark.evaluate import least_cost_classes

LABELS = ("ant", "bee", "cow", "dog")


@st.composite
def problems(draw):
    """Draw labels, probabilities of 64ths, and whole costs of some errors, so that ties are frequent."""
    labels = LABELS[: draw(st.integers(1, 4))]
    rows = draw(st.lists(st.lists(st.integers(0, 16), min_size=len(labels), max_size=len(labels)), max_size=8))
    pairs = [(true, predicted) for true in labels for predicted in labels if true != predicted]
    costs = draw(st.dictionaries(st.sampled_from(pairs), st.integers(0, 5))) if pairs else {}
    return labels, [[Fraction(part, 64) for part in row] for row in rows], costs


@given(problems())
def test_the_decision_has_the_least_expected_cost_of_all_and_ties_go_to_the_first(problem):
    labels, rows, costs = problem
    found = least_cost_classes(np.array(rows, float).reshape(-1, len(labels)), labels, costs)
    expected = []
    for row in rows:
        of = {
            decision: sum(
                (p * costs.get((true, decision), 1) for true, p in zip(labels, row, strict=True) if true != decision),
                Fraction(0),
            )
            for decision in labels
        }
        expected.append(min(labels, key=of.__getitem__))
    assert found.tolist() == expected


def test_without_costs_the_decision_is_the_most_probable_class():
    X, y = iris()
    model = TAN().fit(X, y)
    assert np.array_equal(least_cost_classes(model.predict_proba(X), model.classes_, {}), model.predict(X))


def test_a_row_is_decided_alike_alone_and_among_others():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(4), 300)
    costs = {(a, b): float(rng.exponential()) for a in LABELS for b in LABELS if a != b}
    together = least_cost_classes(probabilities, LABELS, costs)
    assert together.tolist() == [least_cost_classes(p[None], LABELS, costs)[0] for p in probabilities]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({("ant", "fly"): 2}, "costs names 'fly', which is not a class; the classes are 'ant', 'bee'"),
        ({("fly", "ant"): 2}, "costs names 'fly', which is not a class"),
        ({("ant", "bee"): -1}, "the cost of predicting 'bee' for 'ant' must be a number from 0 to 1e\\+100, got -1"),
        ({("ant", "bee"): np.nan}, "the cost of predicting 'bee' for 'ant' must be a number .* got nan"),
        ({("ant", "bee"): np.inf}, "the cost of predicting 'bee' for 'ant' must be a number .* got inf"),
        ({("ant", "bee"): "2"}, "the cost of predicting 'bee' for 'ant' must be a number .* got '2'"),
        ({("ant", "ant"): 2}, "a correct prediction costs nothing; leave out the cost of predicting 'ant' for itself"),
        ([[0, 1], [1, 0]], "costs must be a dict from pairs"),
        ({"ant": 2}, "costs must map pairs .true class, predicted class. to numbers, got the key 'ant'"),
    ],
)
def test_costs_that_make_no_sense_are_refused(costs, message):
    with pytest.raises(ValueError, match=rf"^{message}[^\n]*$"):
        least_cost_classes([[0.5, 0.5]], ["ant", "bee"], costs)


@pytest.mark.parametrize("probabilities", [[0.5, 0.5], [[0.5, 0.4, 0.1]], [[np.nan, 0.5]], [[-0.5, 1.5]]])
def test_probabilities_that_are_none_are_refused(probabilities):
    with pytest.raises(ValueError, match=r"^probabilities "):
        least_cost_classes(probabilities, ["ant", "bee"], {})
