"""Models of weighted evidence: explanations, further rows, and files."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from evidence.plain_evidence import encoded, mixed_frame
from tanbark import EvidenceBN, Number
from tanbark.counts import Counts
from tanbark.evidence import parent_selection
from tanbark.models import EvidenceModel, StoredModel

FIXED = {"weight_penalty": 3.0, "correction_penalty": 3.0, "edge_penalty": 3.0}


def fitted(missing="marginalize", seed=0, rows=90, **settings):
    table = encoded(*mixed_frame(rows, seed), missing)
    settings = FIXED | {"encoder": table.schema} | settings
    return EvidenceBN(**settings).fit_encoded(table).model_, table


def plain_correction(model, u, code, first_digit):
    """Return the corrections of a code and of its edge, from the meaning of the coefficients."""
    schema, corrections = model.schema, model.corrections
    place = schema.offset[u] + code
    value, rank = corrections.features[place]
    out = value * model.coefficients[2 * u] + rank * model.coefficients[2 * u + 1]
    for row in corrections.bins[place]:
        if row >= 0:
            out = out + model.coefficients[row]
    if model.parents[u]:
        known = int(model.questions.digits[model.parents[u][0]][-1])
        if first_digit < known:
            out = out + model.coefficients[corrections.edges[u] + model.questions.digits[u][code] * known + first_digit]
    return out


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_entries_are_weighted_increments_and_corrections(missing):
    model, _ = fitted(missing)
    none = replace(model, coefficients=np.zeros_like(model.coefficients))
    rng = np.random.default_rng(0)
    alone = []
    for depth in range(len(model.weights)):
        weights = np.zeros_like(model.weights)
        weights[depth] = 1
        alone.append(replace(none, weights=weights).compiled.tables)
    for u, table in enumerate(model.compiled.tables):
        every = np.argwhere(np.ones(table[..., :-1, 0].shape, bool))
        for *digits, code in every[rng.permutation(len(every))[:60]].tolist():
            at = (*digits, code)
            expected = sum(model.weights[d, u] * alone[d][u][at] for d in range(len(alone)))
            expected = expected + plain_correction(model, u, code, digits[0] if digits else None)
            np.testing.assert_allclose(table[at], expected - expected.mean(), atol=1e-12)


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_explanations_add_up_and_are_the_entries_of_the_tables(missing):
    model, table = fitted(missing)
    evidence = model.evidence(table.codes)
    np.testing.assert_allclose(evidence.sum(axis=2), 0, atol=1e-12)
    total = log_softmax(evidence.sum(axis=1), axis=1)
    np.testing.assert_allclose(total, model.log_posterior(table.codes), atol=1e-12)
    compiled = model.compiled
    for row in range(0, 90, 5):
        code = [min(int(c), a) for c, a in zip(table.codes[:, row], model.schema.arity)]
        assert np.array_equal(evidence[row, 0], model.base_scores - model.base_scores.mean())
        for u, above in enumerate(model.parents):
            entry = compiled.tables[u][(*(compiled.digits[p][code[p]] for p in above), code[u])]
            np.testing.assert_allclose(evidence[row, 1 + u], entry, atol=1e-12)


def test_missing_and_unseen_values_contribute_exactly_nothing():
    model, table = fitted("marginalize")
    codes = table.codes.copy()
    codes[:] = model.schema.missing_code
    evidence = model.evidence(codes)
    assert not evidence[:, 1:].any()
    for u in range(len(codes)):
        hidden = table.codes.copy()
        hidden[u] = model.schema.arity[u]
        assert not model.evidence(hidden)[:, 1 + u].any()


def test_a_missing_value_is_a_level_with_state():
    model, _ = fitted("state")
    for u, column in enumerate(model.schema.columns):
        if column.missing:
            assert model.compiled.tables[u][..., column.arity - 1, :].any()
            assert not model.compiled.tables[u][..., column.arity, :].any()
            # As a parent it is a context, too.
            digits = model.questions.digits[u]
            assert digits[column.arity - 1] < digits[column.arity]


def test_tables_of_further_rows_are_those_of_all_rows():
    model, table = fitted("state", rows=120)
    first, second = table.take(slice(0, 70)), table.take(slice(70, 120))
    all_counts = Counts.of(table.schema, table.codes, table.classes, order=1)
    prior = np.log(np.array([0.2, 0.3, 0.5]))
    start = replace(model, joints=tuple(np.zeros_like(joint) for joint in model.joints))
    ratio = np.zeros(3)
    once = start.with_rows(table, all_counts, prior, prior, ratio)
    assert all(np.array_equal(a, b) for a, b in zip(once.joints, model.joints))
    twice = start.with_rows(first, all_counts, prior, prior, ratio).with_rows(second, all_counts, prior, prior, ratio)
    for u, joint in enumerate(model.joints):
        assert np.array_equal(twice.joints[u], joint)
        assert np.array_equal(twice.compiled.tables[u], model.compiled.tables[u])
    assert twice.counts is all_counts
    assert np.array_equal(twice.class_log_prior, prior)
    for name in ("weights", "coefficients", "bias", "temperature"):
        assert np.array_equal(getattr(twice, name), getattr(start, name))
    assert all(map(np.array_equal, twice.strengths, start.strengths))
    assert twice.questions is start.questions
    assert twice.corrections is start.corrections


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_stored_models_are_restored_bit_by_bit(missing):
    model, table = fitted(missing, weight_penalty=None)
    again = EvidenceModel.from_arrays(model.counts, model.to_arrays())
    assert np.array_equal(again.log_scores(table.codes), model.log_scores(table.codes))
    assert np.array_equal(again.evidence(table.codes), model.evidence(table.codes))
    assert again.settings == model.settings
    assert (again.temperature, again.optimality_gap, again.ess) == (model.temperature, model.optimality_gap, model.ess)
    assert all(map(np.array_equal, again.joints, model.joints))
    assert np.array_equal(again.corrections.features, model.corrections.features)
    assert np.array_equal(again.corrections.bins, model.corrections.bins)
    assert again.corrections.edges == model.corrections.edges


def array(name, change):
    """Return a change of a stored array."""

    def apply(state, arrays):
        arrays[name] = np.ascontiguousarray(change(arrays[name].copy()))

    return apply


def put(name, at, value):
    """Return a change of some entries of a stored array."""

    def change(stored):
        stored[at] = value
        return stored

    return array(name, change)


def said(name, value):
    """Return a change of a stored value; a function of it gives the new one."""

    def apply(state, arrays):
        state[name] = value(state[name]) if callable(value) else value

    return apply


def swapped_counts(stored):
    stored[[0, -1]] = stored[[-1, 0]] + [1.0, 0.0]
    return stored


def cyclic(parents):
    child = next(u for u, above in enumerate(parents) if above)
    parents[parents[child][0]] = [child]
    return parents


FLOATS = ["strengths", "weights", "bias", "features", "coefficients", "joint_counts"]
HOSTILE = {
    **{f"{name} with NaN": put(name, ..., np.nan) for name in FLOATS},
    **{f"infinite {name}": put(name, ..., np.inf) for name in FLOATS},
    **{f"{name} beyond all measure": put(name, ..., 1e300) for name in FLOATS},
    **{f"{name} of float32": array(name, lambda a: a.astype(np.float32)) for name in FLOATS},
    **{f"{name} cut short": array(name, lambda a: a[:-1]) for name in [*FLOATS, "leaves", "digits", "joint_places"]},
    **{f"{name} with one more axis": array(name, lambda a: a[None]) for name in [*FLOATS, "leaves", "digits"]},
    **{f"{name} of int64": array(name, lambda a: a.astype(np.int64)) for name in ("leaves", "digits")},
    "no strengths": put("strengths", ..., 0.0),
    "negative strengths": put("strengths", 0, -1.0),
    "negative weights": put("weights", (0, 0), -1e-9),
    "negative counts": put("joint_counts", 0, -1.0),
    "zero counts": put("joint_counts", 0, 0.0),
    "other counts": put("joint_counts", 0, 50.0),
    "counts of other cells": array("joint_places", lambda a: np.sort(a + (np.arange(len(a)) == len(a) - 1))),
    "swapped counts": array("joint_counts", swapped_counts),
    "places twice": array("joint_places", lambda a: np.append(a[:1], a[:-1])),
    "places not in order": array("joint_places", lambda a: a[::-1]),
    "places beyond the tables": put("joint_places", -1, 2**31),
    "negative places": array("joint_places", lambda a: -a.astype(np.int64)),
    "places beyond int64": array("joint_places", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
    "fractional places": array("joint_places", lambda a: a.astype(np.float64)),
    "leaves beyond the tree": put("leaves", 0, 32),
    "negative leaves": put("leaves", 0, -1),
    "negative digits": put("digits", 0, -1),
    "digits beyond the last": put("digits", 0, 30000),
    "a last digit beyond all codes": put("digits", -1, 30000),
    "a last digit that others have": put("digits", -1, 0),
    "an unknown parent": said("evidence_parents", lambda parents: [*parents[:-1], [99]]),
    "a negative parent": said("evidence_parents", lambda parents: [*parents[:-1], [-1]]),
    "a fractional parent": said("evidence_parents", lambda parents: [*parents[:-1], [0.5]]),
    "a parent of itself": said("evidence_parents", lambda parents: [[0], *parents[1:]]),
    "a parent twice": said("evidence_parents", lambda parents: [*parents[:-1], [0, 0]]),
    "parents in a cycle": said("evidence_parents", cyclic),
    "too few parents": said("evidence_parents", lambda parents: parents[:-1]),
    "more parents than tables": said("evidence_parents", lambda parents: [*parents[:-1], [0, 1, 2, 3]]),
    "no levels": said("levels", 0),
    "too many levels": said("levels", 11),
    "levels that are no number": said("levels", True),
    "negative grids": said("grids", lambda grids: [-1, *grids[1:]]),
    "grids of categories": said("grids", lambda grids: [3] * len(grids)),
    "no grids": said("grids", []),
    "too many grids": said("grids", lambda grids: [10**9, *grids[1:]]),
    "fractional grids": said("grids", lambda grids: [float(grid) for grid in grids]),
    "no temperature": said("temperature", 0.0),
    "a negative temperature": said("temperature", -1.0),
    "an infinite temperature": said("temperature", np.inf),
    "no ess": said("evidence_ess", 0.0),
    "an infinite ess": said("evidence_ess", np.inf),
    "an ess that is no number": said("evidence_ess", "2"),
    "a gap that is no number": said("optimality_gap", np.nan),
    "settings of text": said("settings", [[["a", "b", "c", "d"], 0.5, 1.0]]),
    "a loss of text": said("settings", [[None, "0.5", 1.0]]),
    "priors that are none": put("learned_prior", ..., 0.0),
    "used priors that are none": put("log_prior", ..., np.nan),
    "ratios beyond all measure": put("prior_ratio", ..., 1e308),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_arrays_that_do_not_fit_together_are_refused(change):
    model, _ = fitted("state", rows=60, weight_penalty=None)
    stored = model.to_arrays()
    state = {name: list(value) if isinstance(value, list) else value for name, value in stored.state.items()}
    state["evidence_parents"] = [list(above) for above in state["evidence_parents"]]
    arrays = dict(stored.arrays)
    change(state, arrays)
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        EvidenceModel.from_arrays(model.counts, StoredModel(state, arrays))


def test_tables_too_large_for_memory_are_refused(monkeypatch):
    """A file without counts is small whatever the size of its tables."""
    model, _ = fitted("marginalize", rows=60)
    stored = model.to_arrays()
    state = stored.state | {"evidence_parents": [[*range(u)] for u in range(len(model.parents))]}
    monkeypatch.setattr(parent_selection, "MAX_TABLE_CELLS", 10_000)
    with pytest.raises(ValueError, match="give it fewer parents"):
        EvidenceModel.from_arrays(model.counts, StoredModel(state, stored.arrays))


def test_the_largest_coefficients_that_a_file_may_have_give_probabilities():
    model, table = fitted("state", rows=60)
    stored = model.to_arrays()
    rng = np.random.default_rng(0)
    arrays = dict(stored.arrays)
    for name in ("weights", "bias", "features", "coefficients", "strengths"):
        large = np.abs(rng.normal(size=arrays[name].shape)) * 1e99 + 1
        arrays[name] = large if name in ("weights", "strengths") else large * rng.choice([-1, 1], large.shape)
    again = EvidenceModel.from_arrays(model.counts, StoredModel(stored.state, arrays))
    assert np.isfinite(again.posterior(table.codes)).all()
    assert np.isfinite(again.evidence(table.codes)).all()
    assert not np.isnan(again.log_posterior(table.codes)).any()


def test_numbers_have_fewer_than_a_hundred_codes_by_default():
    X, y = mixed_frame(2000, 1)
    model = EvidenceBN(depth=0).fit(X, y).model_
    arity = [column.arity for column in model.schema.columns if isinstance(column, Number)]
    # 64 intervals, and a level of missing values.
    assert max(arity) == 65
