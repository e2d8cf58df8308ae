"""Boosted tables against a plain implementation: questions, entries, leave-one-out moves, early stopping."""

import math

import numpy as np
import pytest

from evidence.plain_boosting import PlainBoosting, PlainRows, drawn, log_loss, slopes
from tanbark.kernels.evidence.table_boosting import (
    EXTRA_SALTS,
    BoostedRows,
    Tables,
    add_tables,
    bag_weights,
    boost_tables,
    derivatives,
    uniform,
)

KEYS = np.random.default_rng(99).integers(0, 2**64, 1000, np.uint64)


def problem(seed, n, classes, weights="ones", start="prior"):
    """Return plain rows to learn from, plain held-out rows, the arity and which attributes are ordered.

    The class depends on two attributes together. Codes include missing values (the arity).
    """
    rng = np.random.default_rng(seed)
    arity, ordered = np.array([7, 3, 2, 11, 4]), np.array([True, False, False, True, False])

    def rows(many):
        codes = np.stack([rng.integers(0, a + (u % 2), many) for u, a in enumerate(arity)])
        y = (((codes[0] > 3) ^ (codes[1] == 1)) + rng.integers(0, classes, many) * (rng.random(many) < 0.4)) % classes
        columns = 1 if classes == 2 else classes
        scores = np.zeros((many, columns)) if start == "prior" else rng.normal(size=(many, columns))
        each = {
            "ones": np.ones(many),
            "whole": rng.integers(1, 5, many).astype(float),
            "real": rng.uniform(0.1, 3, many),
        }
        return PlainRows(codes.astype(np.uint8), y, each[weights], scores)

    return rows(n), rows(max(n // 3, 1)), arity, ordered


def boosted(rows, held_out, arity, ordered, salts, share, ess, rate, patience):
    """Run the kernel, and return the tables, the number of the best one, its loss and its scores."""
    given, tested = (
        BoostedRows(r.codes.copy(), r.classes.astype(np.int64), r.weights, r.scores.copy()) for r in (rows, held_out)
    )
    depth, columns = salts.shape[1] - EXTRA_SALTS, rows.scores.shape[1]
    shape = (len(salts), depth)
    out = Tables(
        np.full(shape, -1, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64),
        np.zeros((len(salts), 1 << depth, columns)),
    )  # fmt: skip
    best, spare = np.zeros(1, np.int64), np.empty_like(tested.scores)
    loss = np.array([derivatives(tested, spare, spare.copy())])
    scores = tested.scores.copy()
    stopped = boost_tables(
        given, KEYS[: len(rows.classes)], tested, arity, ordered, KEYS[500 : 500 + len(arity)],
        KEYS[600 : 600 + columns], salts, share, ess, rate, patience, 0, best, loss, scores, out,
    )  # fmt: skip
    return out, int(best[0]), float(loss[0]), scores, given.scores, stopped


@pytest.mark.parametrize("classes", [2, 3, 4, 6])
@pytest.mark.parametrize("weights", ["ones", "whole", "real"])
def test_tables_are_those_of_the_plain_implementation(classes, weights):
    rows, held_out, arity, ordered = problem(classes, 90, classes, weights, "scores")
    depth, many = 4, 6
    salts = np.random.default_rng(classes).integers(0, 2**64, (many, depth + EXTRA_SALTS), np.uint64)
    found, best, loss, scores, moved, _ = boosted(rows, held_out, arity, ordered, salts, 0.8, 1.5, 0.3, 100)
    plain = PlainBoosting(
        rows, held_out, KEYS, KEYS[500 : 500 + len(arity)], KEYS[600:], arity, ordered, 0.8, 1.5, 0.3, 100
    )
    expected_best, expected_loss, expected_scores = plain.run(salts)
    for t, (questions, table) in enumerate(plain.tables):
        asked = found.attributes[t] >= 0
        mine = zip(found.attributes[t, asked], found.first[t, asked], found.last[t, asked])
        assert [tuple(map(int, question)) for question in mine] == questions
        np.testing.assert_allclose(found.scores[t], table, rtol=1e-9, atol=1e-12)
    assert best == expected_best > 0
    assert loss == pytest.approx(expected_loss, rel=1e-12)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(moved, rows.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("patience", [1, 2, 5])
def test_boosting_stops_when_held_out_rows_do_not_improve(patience):
    rows, held_out, arity, ordered = problem(11, 40, 3)
    # The classes of the held-out rows are noise, so that the loss rises soon.
    held_out.classes = np.random.default_rng(0).integers(0, 3, len(held_out.classes))
    salts = np.random.default_rng(1).integers(0, 2**64, (40, 3 + EXTRA_SALTS), np.uint64)
    found, best, loss, _, _, stopped = boosted(rows, held_out, arity, ordered, salts, 1.0, 1.0, 0.5, patience)
    plain = PlainBoosting(
        rows, held_out, KEYS, KEYS[500 : 500 + len(arity)], KEYS[600:], arity, ordered, 1.0, 1.0, 0.5, patience
    )
    expected_best, expected_loss, _ = plain.run(salts)
    assert stopped
    assert best == expected_best
    assert loss == pytest.approx(expected_loss, rel=1e-12)
    assert len(plain.tables) == best + patience
    assert (found.attributes[len(plain.tables) :] == -1).all()


def test_without_held_out_rows_no_table_is_the_last():
    rows, held_out, arity, ordered = problem(12, 40, 2)
    nobody = PlainRows(held_out.codes[:, :0], held_out.classes[:0], held_out.weights[:0], held_out.scores[:0])
    salts = np.random.default_rng(1).integers(0, 2**64, (50, 3 + EXTRA_SALTS), np.uint64)
    _, best, _, _, _, stopped = boosted(rows, nobody, arity, ordered, salts, 1.0, 1.0, 0.5, 1)
    assert (best, stopped) == (50, False)


def test_a_repeated_row_is_a_row_of_weight_two_without_sampling():
    rows, held_out, arity, ordered = problem(13, 60, 3)
    twice = PlainRows(rows.codes, rows.classes, np.full(60, 2.0), rows.scores)
    both = np.tile(np.arange(60), 2)
    repeated = PlainRows(rows.codes[:, both], rows.classes[both], np.ones(120), rows.scores[both])
    salts = np.random.default_rng(2).integers(0, 2**64, (5, 3 + EXTRA_SALTS), np.uint64)
    one = boosted(twice, held_out, arity, ordered, salts, 1.0, 1.0, 0.3, 100)
    other = boosted(repeated, held_out, arity, ordered, salts, 1.0, 1.0, 0.3, 100)
    assert np.array_equal(one[0].attributes, other[0].attributes)
    np.testing.assert_allclose(one[0].scores, other[0].scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_derivatives_are_those_of_the_log_loss(classes):
    rng = np.random.default_rng(classes)
    columns = 1 if classes == 2 else classes
    scores = rng.normal(size=(20, columns)) * np.geomspace(0.01, 300, 20)[:, None]
    y, weights = rng.integers(0, classes, 20), rng.uniform(0.1, 3, 20)
    g, h = np.empty_like(scores), np.empty_like(scores)
    loss = derivatives(BoostedRows(np.zeros((1, 20), np.uint8), y, weights, scores), g, h)
    assert loss == pytest.approx(math.fsum(w * log_loss(s, k) for s, k, w in zip(scores, y, weights)), rel=1e-12)
    expected = [slopes(s, k) for s, k in zip(scores, y)]
    np.testing.assert_allclose(g, [e[0] for e in expected], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(h, [e[1] for e in expected], rtol=1e-9, atol=1e-15)


def test_bags_hold_the_expected_share_of_the_weight():
    weights = np.array([1.0, 3.0, 10.0, 0.5, 2.25])
    out, total = np.empty(5), np.zeros(5)
    for u in np.arange(1000) / 1000:
        bag_weights(weights, 0.8, np.full(5, u), out)
        assert (out >= 0).all()
        assert (out <= weights).all()
        total += out
    np.testing.assert_allclose(total / 1000, 0.8 * weights, atol=2e-3)


def test_draws_are_those_of_splitmix64():
    assert uniform(KEYS[:50], np.uint64(12345)).tolist() == [drawn(key, 12345) for key in KEYS[:50]]


def test_entries_of_tables_are_added_whatever_the_batch():
    rng = np.random.default_rng(3)
    arity = np.array([5, 3])
    codes = rng.integers(0, arity[:, None] + 1, (2, 1500)).astype(np.uint8)
    tables = Tables(
        np.array([[0, 1], [1, -1]]), np.array([[2, 1], [0, 0]]), np.array([[4, 1], [0, 0]]), rng.normal(size=(2, 4, 3))
    )
    expected = np.zeros((1500, 3))
    first = ((codes[0] >= 2) & (codes[0] <= 4)) + 2 * (codes[1] == 1)
    expected += tables.scores[0, first] + tables.scores[1, (codes[1] == 0).astype(int)]
    whole = np.zeros((1500, 3))
    add_tables(codes, tables, 0, 1500, whole)
    np.testing.assert_allclose(whole, expected, rtol=1e-15)
    parts = np.zeros((1500, 3))
    for low in range(0, 1500, 7):
        add_tables(codes, tables, low, min(low + 7, 1500), parts)
    assert np.array_equal(parts, whole)
