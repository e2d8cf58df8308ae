"""Edge strengths and mean weights against loops over the training rows."""

import numpy as np
import pytest

from tanbark import Encoder, EvidenceBN


def table(rows=90):
    """Return categories and numbers with missing values, and weights."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (rows, 4)).astype(float)
    X[:, 1] = rng.normal(X[:, 0], 1.0)
    X[:, 3] = np.where(rng.random(rows) < 0.6, (X[:, 0] + X[:, 2]) % 3, X[:, 3])
    y = (X[:, 0] + X[:, 3] * (rng.random(rows) < 0.7) + rng.integers(0, 2, rows)) % 3
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.integers(1, 4, rows) / 2


@pytest.fixture(params=["state", "marginalize"])
def fitted(request):
    X, y, weights = table()
    edges = [("x0", "x1"), ("x0", "x3"), ("x2", "x3"), ("x1", "x2")]
    model = EvidenceBN(structure=edges, encoder=Encoder(n_bins=64, missing=request.param))
    return model.set_params(weight_penalty=1.0, correction_penalty=1.0, edge_penalty=1.0).fit(X, y, weights)


def test_the_strength_of_an_edge_is_the_mean_change_if_the_parent_becomes_unknown(fitted):
    X, _, weights = table()
    model, codes = fitted.model_, fitted.encode(X)
    found = model.edge_strengths()
    assert sorted(found) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    for (parent, child), strength in found.items():
        total = 0.0
        for row, weight in enumerate(weights):
            known = codes[:, [row]].copy()
            unknown = known.copy()
            unknown[parent] = model.schema.missing_code
            change = model.evidence(known)[0, 1 + child] - model.evidence(unknown)[0, 1 + child]
            total += weight * np.abs(change).mean()
        assert strength == pytest.approx(total / weights.sum(), rel=1e-9)
        assert strength > 0
    assert fitted.edge_strengths_ == {(f"x{p}", f"x{u}"): strength for (p, u), strength in found.items()}


def test_mean_absolute_evidence_is_the_weighted_mean_of_explain_over_the_training_rows(fitted):
    X, _, weights = table()
    expected = np.average(np.abs(fitted.explain(X)[:, 1:]).mean(axis=2), axis=0, weights=weights)
    assert fitted.model_.mean_absolute_evidence() == pytest.approx(expected, rel=1e-9)


def test_averages_follow_an_update(fitted):
    X, y, weights = table()
    fitted.update(X[:30], y[:30], weights[:30])
    X, weights = np.concatenate([X, X[:30]]), np.concatenate([weights, weights[:30]])
    expected = np.average(np.abs(fitted.explain(X)[:, 1:]).mean(axis=2), axis=0, weights=weights)
    assert fitted.model_.mean_absolute_evidence() == pytest.approx(expected, rel=1e-9)
