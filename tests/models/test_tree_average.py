"""The average over trees as a value: what it must be made of, and laws of its rows."""

from dataclasses import replace

import numpy as np
import pytest

from tanbark import Category, Counts, Schema
from tanbark.averaging import TreePosterior
from tanbark.models import TreeAverage

ARITY = (2, 2, 2, 40, 40)
CLASSES = 2


@pytest.fixture(scope="module")
def mixture():
    """All trees alike; two attributes almost never have their second value, and the third depends on the first."""
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(ARITY)], tuple(range(CLASSES)))
    total = sum(ARITY)
    values = np.concatenate([[1.0, 1e-300], [1.0, 1e-300], [0.5, 0.5], *[np.full(r, 1 / r) for r in ARITY[3:]]])
    ratios = np.ones((total, total, CLASSES))
    ratios[0:2, 4:6, 0] = ratios[4:6, 0:2, 0] = [[1.6, 0.4], [0.4, 1.6]]
    return TreeAverage(
        Counts.zero(schema, 2),
        np.log([0.3, 0.7]),
        np.tile(values[:, None], (1, CLASSES)),
        ratios,
        (TreePosterior(np.zeros((5, 5))),),
        multinet=False,
        root=0,
        seed=0,
        log_evidence=0.0,
    )


def test_a_row_has_its_answers_whatever_other_rows_there_are(mixture):
    likely, unlikely = [0, 0, 1, 255, 255], [1, 1, 0, 255, 255]
    codes = np.array([likely, unlikely], np.uint8).T
    assert mixture.is_sampled(codes).all()
    assert np.ptp(mixture.log_joint(codes)[:, 0]) > 1000
    for answer in (mixture.log_joint, mixture.standard_error):
        alone = [answer(np.ascontiguousarray(codes[:, i : i + 1]))[0] for i in range(2)]
        assert np.array_equal(answer(codes), alone)
        assert (np.abs(alone) > 0).all()


def test_where_all_trees_agree_the_error_is_that_of_one_tree_that_was_missed(mixture):
    """One draw in a thousand might have said the opposite: a class of probability p is then wrong by p or 1 - p."""
    agreed = replace(mixture, ratios=np.ones_like(mixture.ratios))
    codes = np.array([[0, 0, 1, 255, 255]], np.uint8).T
    np.testing.assert_allclose(agreed.standard_error(codes), [[0.7 / 1000, 0.7 / 1000]], rtol=1e-9)


def test_the_error_is_that_of_a_ratio_of_means_over_the_drawn_trees(mixture):
    codes = np.array([[0, 0, 1, 255, 255]], np.uint8).T
    drawn = mixture.posteriors[0].draw(1000, np.random.default_rng(mixture.seed))
    known = {tree.tobytes(): np.exp(mixture.network(tree).log_joint(codes)[0]) for tree in drawn}
    joints = np.array([known[tree.tobytes()] for tree in drawn])
    totals = joints.sum(axis=1, keepdims=True)
    posterior = joints.mean(axis=0) / totals.mean()
    # The delta method: what is left of the numerator when the denominator is taken off it, as often as it stands there.
    variance = np.var(joints - posterior * totals, axis=0, ddof=1) / (1000 * totals.mean() ** 2)
    missed = np.maximum(posterior, 1 - posterior) / 1000
    assert (variance > missed**2).all()
    np.testing.assert_allclose(mixture.standard_error(codes)[0], np.sqrt(variance + missed**2), rtol=1e-9)


def nan_in(array):
    array = array.copy()
    array.flat[-1] = np.nan
    return array


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: {"class_log_prior": m.class_log_prior[:1]}, "shapes of the average do not match the schema"),
        (lambda m: {"values": m.values[1:]}, "shapes of the average do not match the schema"),
        (lambda m: {"ratios": m.ratios[:, :, :1]}, "shapes of the average do not match the schema"),
        (lambda m: {"posteriors": (TreePosterior(np.zeros((4, 4))),)}, "shapes of the average do not match the schema"),
        (lambda m: {"posteriors": ()}, "must have one posterior, or one for each class"),
        (lambda m: {"posteriors": m.posteriors * 2}, "must have one posterior, or one for each class"),
        (lambda m: {"multinet": True}, "must have one posterior, or one for each class"),
        (lambda m: {"root": 5}, "the root of the average must be an attribute"),
        (lambda m: {"root": -1}, "the root of the average must be an attribute"),
        (lambda m: {"class_log_prior": nan_in(m.class_log_prior)}, "values that are not numbers"),
        (lambda m: {"ratios": nan_in(m.ratios)}, "values that are not numbers"),
        (lambda m: {"values": m.values.astype(np.float32)}, "values that are not numbers"),
        (lambda m: {"posteriors": (TreePosterior(nan_in(np.zeros((5, 5)))),)}, "values that are not numbers"),
    ],
)
def test_what_is_no_average_is_refused(mixture, change, words):
    with pytest.raises(ValueError, match=words):
        replace(mixture, **change(mixture))


def test_each_class_of_a_multinet_has_a_posterior_and_the_last_attribute_may_be_on_top(mixture):
    assert len(replace(mixture, multinet=True, posteriors=mixture.posteriors * CLASSES).posteriors) == CLASSES
    assert replace(mixture, root=4).root == 4
