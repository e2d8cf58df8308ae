"""The mean evidence of values, and its standard error against numerical derivatives and repeated samples."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tanbark import Encoder, EvidenceBN


def table(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    a = np.where(rng.random(rows) < 0.6, y, rng.integers(0, 3, rows))
    b = (a + rng.integers(0, 2, rows)) % 3
    number = rng.normal(size=rows) + a
    X = pd.DataFrame({"a": np.array(["p", "q", "r"])[a], "b": np.array(["u", "v", "w"])[b], "number": number})
    X.loc[rng.random(rows) < 0.1, "b"] = None
    return X, np.array(["one", "two", "three"])[y]


def fitted(missing="marginalize"):
    X, y = table()
    structure = [("a", "number"), ("b", "number"), ("a", "b")]
    encoder = Encoder(n_bins=8, missing=missing)
    return EvidenceBN(structure=structure, encoder=encoder).fit(X, y), X, y


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_the_shape_is_the_mean_of_the_explanations_of_the_training_rows(missing):
    model, X, _ = fitted(missing)
    evidence = model.explain(X)
    for u, name in enumerate(X):
        shape = model.shape(name)
        codes = model.schema_.encode(X)[u]
        for code in range(len(shape.labels)):
            assert shape.rows[code] == (codes == code).sum()
            np.testing.assert_allclose(shape.evidence[code], evidence[codes == code, 1 + u].mean(axis=0), atol=1e-12)


def test_given_parents_restrict_the_rows():
    model, X, _ = fitted()
    shape = model.shape("number", given={"a": "q"})
    evidence, codes = model.explain(X), model.schema_.encode(X)[2]
    chosen = (X["a"] == "q").to_numpy()
    for code in range(len(shape.labels)):
        rows = chosen & (codes == code)
        assert shape.rows[code] == rows.sum()
        if rows.any():
            np.testing.assert_allclose(shape.evidence[code], evidence[rows, 3].mean(axis=0), atol=1e-12)
    with pytest.raises(ValueError, match=r"'number' is not a parent of 'a'; its parents are: none"):
        model.shape("a", given={"number": 1.0})
    with pytest.raises(ValueError, match=r"no column is named 'c'"):
        model.shape("c")


@pytest.mark.parametrize("name", ["b", "number"])
def test_standard_errors_follow_from_numerical_derivatives_in_the_counts(name):
    model, X, _ = fitted("state")
    state, u = model.model_, list(X).index(name)
    joint = state.joints[u]
    weights = joint.sum(axis=-1).reshape(-1, joint.shape[-2])
    shares = weights / np.maximum(weights.sum(axis=0), 1)
    step, variance = 1e-4, 0.0
    for cell in zip(*np.nonzero(joint)):
        changed = joint.copy()
        ends = []
        for sign in (1, -1):
            changed[cell] = joint[cell] + sign * step
            joints = tuple(changed if v == u else other for v, other in enumerate(state.joints))
            entries = replace(state, joints=joints).compiled.tables[u][..., :-1, :]
            ends.append(np.einsum("fa,fak->ak", shares, entries.reshape(*shares.shape, -1)))
        variance = variance + joint[cell] * ((ends[0] - ends[1]) / (2 * step)) ** 2
    np.testing.assert_allclose(model.shape(name).standard_errors, np.sqrt(variance), rtol=1e-5, atol=1e-9)


def test_standard_errors_are_the_spread_over_tables_of_poisson_counts():
    model, _, _ = fitted()
    state, rng = model.model_, np.random.default_rng(1)
    joint = state.joints[0]
    spread = [
        replace(state, joints=(rng.poisson(joint * 20.0).astype(float), *state.joints[1:])).compiled.tables[0][:-1]
        for _ in range(400)
    ]
    scaled = replace(state, joints=(joint * 20.0, *state.joints[1:]))
    np.testing.assert_allclose(scaled.shape(0).standard_errors, np.std(spread, axis=0), rtol=0.15)


def test_printing_a_shape_shows_a_table():
    model, _, _ = fitted()
    lines = str(model.shape("a")).splitlines()
    assert lines[0] == "a: weight of evidence for one, three, two"
    assert [line.split()[0] for line in lines[1:]] == ["p", "q", "r"]
