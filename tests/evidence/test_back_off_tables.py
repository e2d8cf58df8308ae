"""Back-off tables against their formulas, written down row by row."""

from dataclasses import replace

import numpy as np
import pytest

from evidence.plain_evidence import GRIDS, PlainEvidence, encoded, leaf_of_each_code, mixed_frame
from tanbark import EvidenceBN
from tanbark.counts import Counts
from tanbark.evidence.back_off_tables import Cells, evidence_increments, joint_counts
from tanbark.evidence.questions import Path
from tanbark.kernels.evidence.back_off import MIN_SHARE

STRUCTURE = [
    ("colour", "length"),
    ("length", "price"),
    ("town", "price"),
    ("colour", "town"),
    ("length", "town"),
    ("age", "town"),
]


def fitted(rows):
    model = EvidenceBN(
        structure=STRUCTURE, depth=3, encoder=rows.schema, weight_penalty=30, correction_penalty=30, edge_penalty=30
    )
    return model.fit_encoded(rows).model_


def without_corrections(model):
    """Return the model of weights 1, so that its tables are the evidence alone."""
    return replace(model, weights=np.ones_like(model.weights), coefficients=np.zeros_like(model.coefficients))


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_compiled_tables_follow_the_formulas(missing):
    frame, y = mixed_frame(70, seed=11)
    weights = np.random.default_rng(0).choice([0.4, 1.0, 2.5], 70)
    rows = encoded(frame, y, missing, weights)
    model = fitted(rows)
    compiled = without_corrections(model).compiled
    rng = np.random.default_rng(1)
    for u, parents in enumerate(model.parents):
        plain = PlainEvidence(rows.distinct, u, parents, 2.0, model.strengths[u])
        table = compiled.tables[u]
        assert compiled.parents[u] == parents
        assert not table[..., -1, :].any()
        every = np.argwhere(np.ones(table[..., :-1, 0].shape, bool))
        for *digits, code in every[rng.permutation(len(every))[:40]].tolist():
            expected = plain.increments(code, digits).sum(axis=0)
            np.testing.assert_allclose(table[(*digits, code)], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_strengths_have_the_greatest_leave_one_out_likelihood(missing):
    frame, y = mixed_frame(26, seed=12)
    rows = encoded(frame, y, missing, np.random.default_rng(0).choice([0.4, 1.0, 2.0], 26))
    model = fitted(rows)
    for u, parents in enumerate(model.parents):
        plain = PlainEvidence(rows.distinct, u, parents, 2.0, model.strengths[u])
        assert np.array_equal(plain.best_strengths(), model.strengths[u])


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_digits_and_leaves_are_those_of_exact_arithmetic(missing):
    frame, y = mixed_frame(150, seed=13)
    rows = encoded(frame, y, missing)
    questions = fitted(rows).questions
    for u in range(len(frame.columns)):
        plain = PlainEvidence(rows, u, (), 2.0, np.ones((3, 1)))
        assert np.array_equal(questions.digits[u], plain.digits[u])
        for leaf, grid in zip(questions.leaves[u], GRIDS):
            assert leaf.tolist() == leaf_of_each_code(plain.totals[u][: len(leaf)], grid)


def test_a_missing_parent_gives_the_evidence_of_the_shallower_context():
    model = without_corrections(fitted(encoded(*mixed_frame(80, seed=14), "marginalize")))
    for u, parents in enumerate(model.parents):
        for first_missing in range(len(parents)):
            shallow = replace(
                model,
                parents=tuple(above[:first_missing] if v == u else above for v, above in enumerate(model.parents)),
                joints=tuple(
                    joint.sum(axis=tuple(range(first_missing, len(parents)))) if v == u else joint
                    for v, joint in enumerate(model.joints)
                ),
                strengths=tuple(s[:, : first_missing + 1] if v == u else s for v, s in enumerate(model.strengths)),
                coefficients=model.coefficients,
            )
            # Whatever the digits of the parents after the missing one are.
            table = np.moveaxis(model.compiled.tables[u], first_missing, 0)[-1]
            expected = shallow.compiled.tables[u]
            expected = expected.reshape(
                *expected.shape[:first_missing], *[1] * (len(parents) - first_missing - 1), *expected.shape[-2:]
            )
            np.testing.assert_allclose(table, np.broadcast_to(expected, table.shape), rtol=0, atol=1e-12)


def test_entries_are_centred_over_the_classes():
    model = fitted(encoded(*mixed_frame(60, seed=15), "state"))
    for table in model.compiled.tables:
        np.testing.assert_allclose(table.mean(axis=-1), 0, atol=1e-12)


def test_cells_are_the_distinct_combinations_with_their_total_weights():
    rng = np.random.default_rng(0)
    digits, codes, classes = rng.integers(0, 3, (2, 200)), rng.integers(0, 4, 200), rng.integers(0, 2, 200)
    weights = rng.choice([0.5, 1.0, 3.0], 200)
    cells, place = Cells.of(digits, codes, classes, weights, (3, 3, 4, 2))
    keys = [*zip(codes.tolist(), classes.tolist(), np.minimum(weights, 1).tolist(), *digits.tolist())]
    distinct = sorted(set(keys))
    assert [*zip(cells.codes, cells.classes, cells.left_out, *cells.digits.tolist())] == distinct
    assert [distinct[i] for i in place] == keys
    expected = [sum(w for key, w in zip(keys, weights) if key == one) for one in distinct]
    np.testing.assert_allclose(cells.weights, expected)
    assert joint_counts(cells, (3, 3, 4, 2)).sum() == pytest.approx(weights.sum())
    for depth in range(3):
        shallow = [one[: 3 + depth] for one in distinct]
        assert cells.groups(depth).tolist() == [sorted(set(shallow)).index(one) for one in shallow]


def test_a_context_is_missing_from_the_first_missing_parent_on():
    digits = np.array([[0, 1, 2, 0], [1, 2, 0, 2]])
    cells = Cells(digits, *[np.zeros(4, np.int64)] * 2, *[np.zeros(4)] * 2)
    assert cells.contexts((3, 3), 0).tolist() == [0, 0, 0, 0]
    assert cells.contexts((3, 3), 1).tolist() == [0, 1, -1, 0]
    assert cells.contexts((3, 3), 2).tolist() == [1, -1, -1, -1]


def test_the_evidence_of_enormous_counts_is_finite():
    """A probability of nothing but huge counts would underflow after a few parents."""
    shape = (2, 2, 2, 2, 2, 3, 2)
    joint = np.full(shape, 1e97)
    joint[..., 0, 0] = 0
    cells = Cells(*[np.zeros((5, 1), np.int64), np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1), np.ones(1)])
    path = Path(np.arange(3)[None], np.zeros(3, np.int64), np.array([3]))
    found = evidence_increments(joint, [path], cells, 2.0, np.ones((1, 6)))
    assert np.isfinite(found).all()
    assert abs(found.sum(axis=1)[0, 0] - 0.5 * np.log(MIN_SHARE / (1 / 3))) < 1


def test_counts_of_single_values_are_those_of_the_tables():
    rows = encoded(*mixed_frame(60, seed=16), "state")
    model = fitted(rows)
    counts = Counts.of(rows.schema, rows.codes, rows.classes, order=1)
    for u, joint in enumerate(model.joints):
        assert np.array_equal(joint.reshape(-1, *joint.shape[-2:]).sum(axis=0).T, counts.value(u))
