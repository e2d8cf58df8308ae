"""The design of weighted evidence: each row is evaluated by counts without it."""

import numpy as np
import pytest

from evidence.plain_evidence import PlainEvidence, encoded, mixed_frame
from tanbark.counts import Rows
from tanbark.evidence.design import learn_design
from tanbark.evidence.questions import Questions

PARENTS = ((2,), (0, 3), (), (2, 0, 4), (1,))
"""Numbers and categories with parents of both kinds, up to three."""


def code_weights(rows):
    arity = rows.schema.arity.tolist()
    return [np.bincount(np.minimum(c, a), rows.each, a + 1)[:-1] for c, a in zip(rows.codes, arity)]


def designed(rows, parents=PARENTS, ess=2.0):
    questions = Questions.learn(rows.schema, code_weights(rows))
    log_prior = np.log(np.full(len(rows.schema.classes), 1 / len(rows.schema.classes)))
    learned = learn_design(rows, questions, parents, log_prior, ess, 1)
    return learned.design, learned.tables


def weighted(kind, rows, seed):
    rng = np.random.default_rng(seed)
    return {
        "ones": None,
        "repeated": rng.integers(1, 4, rows).astype(float),
        "real": rng.choice([0.05, 0.3, 0.7, 1.5, 2.0, 3.25], rows),
    }[kind]


@pytest.mark.parametrize("missing", ["marginalize", "state"])
@pytest.mark.parametrize("kind", ["ones", "repeated", "real"])
def test_the_evidence_of_a_row_is_that_of_counts_without_it(kind, missing):
    frame, y = mixed_frame(45, seed=1)
    # The first rows occur twice.
    frame, y = frame.iloc[[*range(45), *range(6)]].reset_index(drop=True), np.append(y, y[:6])
    rows = encoded(frame, y, missing, weighted(kind, 51, 2)).distinct
    assert rows.each.max() > 1
    design, tables = designed(rows)
    seen = 0
    for u, parents in enumerate(PARENTS):
        plain = PlainEvidence(rows, u, parents, 2.0, tables[u].strengths)
        for row in range(len(rows.classes)):
            cell = design.cells[u, row]
            assert (cell < 0) == (not plain.known[row])
            if cell < 0:
                continue
            expected = plain.increments(plain.codes[u, row], plain.row_digits(row), plain.without(row))
            np.testing.assert_allclose(design.evidence[cell, : len(expected)], expected, rtol=0, atol=1e-10)
            assert not design.evidence[cell, len(expected) :].any()
            seen += 1
    assert seen > 180


def test_a_row_alone_in_its_class_is_left_out_of_the_shares_whatever_the_class():
    """Two rows of two classes with a category: without a row, only the other one is left."""
    rows = encoded(np.array([["x"], ["y"]], object), np.array([0, 1]), "marginalize").distinct
    design, tables = designed(rows, ((),))
    m = tables[0].strengths[0, 0]
    # The row "x" of class 0: the free share of "x" is (0 + 2 / 2) / (1 + 2); class 0 is empty, class 1 has one "y".
    free = 1 / 3
    expected = np.log([free, m * free / (1 + m)])
    np.testing.assert_allclose(design.evidence[design.cells[0, 0], 0], expected - expected.mean(), atol=1e-12)


def test_counts_of_tables_are_the_weights_of_the_rows():
    rows = encoded(*mixed_frame(60, seed=3), "state", weighted("real", 60, 4)).distinct
    _, tables = designed(rows)
    for u, parents in enumerate(PARENTS):
        plain = PlainEvidence(rows, u, parents, 2.0, tables[u].strengths)
        expected = np.zeros_like(tables[u].joint)
        for row in np.flatnonzero(plain.known):
            expected[(*plain.row_digits(row), plain.codes[u, row], rows.classes[row])] += rows.each[row]
        np.testing.assert_allclose(tables[u].joint, expected, rtol=1e-13)


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_the_evidence_of_other_rows_is_that_of_all_counts(missing):
    frame, y = mixed_frame(100, seed=5)
    table = encoded(frame, y, missing, weighted("real", 100, 6))
    known, other = (
        Rows(table.schema, np.ascontiguousarray(table.codes[:, part]), table.classes[part], table.each[part]).distinct
        for part in (slice(0, 60), slice(60, 100))
    )
    questions = Questions.learn(known.schema, code_weights(known))
    learned = learn_design(known, questions, PARENTS, np.log(np.full(3, 1 / 3)), 2.0, 1)
    design = learned.of_rows(other, 1)
    assert np.array_equal(design.classes, other.classes)
    assert np.array_equal(design.weights, other.each)
    unknown = 0
    for u, parents in enumerate(PARENTS):
        plain = PlainEvidence(known, u, parents, 2.0, learned.tables[u].strengths)
        for row in range(len(other.classes)):
            code = min(int(other.codes[u, row]), table.schema.columns[u].arity)
            cell = design.cells[u, row]
            if code == table.schema.columns[u].arity:
                assert cell == -1
                unknown += 1
                continue
            digits = [questions.digits[p][min(int(other.codes[p, row]), len(questions.digits[p]) - 1)] for p in parents]
            expected = plain.increments(code, digits)
            np.testing.assert_allclose(design.evidence[cell, : len(expected)], expected, rtol=0, atol=1e-10)
            assert design.cell_codes[cell] == table.schema.offset[u] + code
    assert (unknown > 0) == (missing == "marginalize")


def test_lines_are_standard_scores_and_ranks_of_the_intervals():
    frame, y = mixed_frame(200, seed=6)
    rows = encoded(frame, y, "state")
    design, _ = designed(rows.distinct)
    schema = rows.schema
    features = design.corrections.features
    for u, column in enumerate(schema.columns):
        own = features[schema.offset[u] : schema.offset[u + 1]]
        if column.name in ("colour", "town"):
            assert not own.any()
            continue
        present = own[: len(column.cuts) + 1]
        if column.missing:
            assert own[-1].tolist() == [0.0, 0.0]
        weights = np.bincount(rows.codes[u], minlength=column.arity)[: len(present)]
        assert np.all(np.diff(present[:, 0]) >= 0)
        assert np.all(np.diff(present[:, 1]) >= 0)
        assert present[0, 1] == -1
        assert np.abs(present).max() <= 5
        # No interval is clipped here, so that the mean and the deviation can be computed from the scores.
        assert np.abs(present[:, 0]).max() < 5
        shares = weights / weights.sum()
        np.testing.assert_allclose(shares @ present[:, 0], 0, atol=1e-12)
        np.testing.assert_allclose(shares @ present[:, 0] ** 2, 1)


def test_corrections_of_different_codes_and_edges_have_rows_of_their_own():
    rows = encoded(*mixed_frame(80, seed=7), "state").distinct
    design, _ = designed(rows)
    corrections, attributes = design.corrections, len(PARENTS)
    bins = corrections.bins
    used = np.unique(bins[bins >= 0])
    assert used.min() >= 2 * attributes
    assert used.max() < corrections.n_codes
    of_attribute = np.repeat(np.arange(attributes), rows.schema.arity)
    for row in used:
        # A row belongs to one attribute and one kind of bin.
        assert len(np.unique(of_attribute[(bins == row).any(axis=1)])) == 1
        assert (bins == row).any(axis=0).sum() == 1
    edges = design.cell_edges[design.cell_edges >= 0]
    assert edges.min() >= corrections.n_codes
    assert edges.max() < corrections.n_codes + corrections.n_edges
    own = np.repeat(np.arange(attributes), np.diff(design.start))
    for u in range(attributes):
        mine, others = design.cell_edges[own == u], design.cell_edges[own != u]
        assert not set(mine[mine >= 0]) & set(others)


def test_rows_of_edges_are_those_of_the_digits_of_both_ends():
    rows = encoded(*mixed_frame(80, seed=8), "marginalize").distinct
    design, tables = designed(rows)
    for u, parents in enumerate(PARENTS):
        if not parents:
            continue
        plain = PlainEvidence(rows, u, parents, 2.0, tables[u].strengths)
        at = {}
        for row in np.flatnonzero(plain.known):
            first = plain.row_digits(row)[0]
            found = design.cell_edges[design.cells[u, row]]
            if first == plain.digits[parents[0]][-1]:
                assert found == -1
            else:
                at.setdefault((plain.digits[u][plain.codes[u, row]], first), set()).add(found)
        assert all(len(found) == 1 for found in at.values())
        assert len(set.union(*at.values())) == len(at)


def test_attributes_without_rows_have_no_cells():
    rows = encoded(np.array([[None, 1.5], [None, 2.5], [None, 2.5]], object), np.array([0, 1, 0]), "marginalize")
    design, tables = designed(rows.distinct, ((), (0,)))
    assert (design.cells[0] == -1).all()
    assert not tables[0].joint.any()
    assert np.isfinite(design.evidence).all()


def test_repeated_rows_are_rows_of_greater_weight():
    frame, y = mixed_frame(30, seed=9)
    twice = encoded(frame.iloc[np.repeat(np.arange(30), 2)], np.repeat(y, 2), "state").distinct
    heavy = encoded(frame, y, "state", np.full(30, 2.0)).distinct
    one, other = designed(twice)[0], designed(Rows(twice.schema, heavy.codes, heavy.classes, heavy.weights))[0]
    assert np.array_equal(one.evidence, other.evidence)
    assert np.array_equal(one.cells, other.cells)


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("edges", [False, True])
def test_a_shallow_design_has_the_same_evidence_in_fewer_cells(depth, edges):
    frame, y = mixed_frame(80, seed=3)
    rows = encoded(frame, y, "marginalize", weighted("real", 80, 4)).distinct
    design, _ = designed(rows)
    shallow = design.up_to(depth, edges)
    parents = max(depth, int(edges))
    for u in range(len(PARENTS)):
        known = design.cells[u] >= 0
        assert np.array_equal(known, shallow.cells[u] >= 0)
        cells, fewer = design.cells[u, known], shallow.cells[u, known]
        assert np.array_equal(shallow.evidence[fewer, : parents + 1], design.evidence[cells, : parents + 1])
        assert not shallow.evidence[fewer, parents + 1 :].any()
        assert np.array_equal(shallow.cell_codes[fewer], design.cell_codes[cells])
        assert np.array_equal(shallow.cell_edges[fewer], design.cell_edges[cells] if edges else np.full(len(cells), -1))
        assert ((shallow.start[u] <= fewer) & (fewer < shallow.start[u + 1])).all()
    assert shallow.start[-1] == len(shallow.evidence) == len(shallow.cell_codes)
    assert (len(shallow.evidence) < len(design.evidence)) == (parents < 3)
