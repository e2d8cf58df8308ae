"""EnsembleBN: a pool around an EvidenceBN that explains itself."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax
from sklearn.metrics import log_loss

import tanbark
from evidence.plain_evidence import mixed_frame
from tanbark import BoostedTables, EnsembleBN, EvidenceBN


def test_the_pool_is_the_weighted_product_of_its_members():
    X, y = mixed_frame(200, 1)
    model = EnsembleBN().fit(X, y)
    fitted, codes = model.model_, model.schema_.encode(X)
    evidence = fitted.evidence_model.log_posterior(codes)
    members = {
        "evidence": evidence,
        "tables": fitted.tables.log_posterior(codes),
        "tables from evidence": fitted.tables_from_evidence.log_scores_from(evidence, codes),
        "networks": fitted.mixture.log_posterior(codes),
    }
    assert list(model.weights_) == list(members)
    assert model.weights_["evidence"] == 0
    assert min(model.weights_.values()) >= 0
    floor = np.log(1e-6)
    pooled = sum(w * np.maximum(log_softmax(members[m], axis=1), floor) for m, w in model.weights_.items())
    np.testing.assert_allclose(model.predict_proba(X), softmax(pooled, axis=1), rtol=1e-9)


def test_the_model_inside_is_the_additive_model_of_the_same_rows():
    X, y = mixed_frame(150, 2)
    inside = EnsembleBN().fit(X, y).evidence_
    alone = EvidenceBN().fit(X, y)
    assert isinstance(inside, EvidenceBN)
    assert np.array_equal(inside.predict_proba(X), alone.predict_proba(X))
    assert np.array_equal(inside.explain(X), alone.explain(X))
    assert inside.shape("length").rows.sum() == 150


def test_the_model_inside_has_the_given_class_prior():
    X, y = mixed_frame(150, 2)
    prior = [0.7, 0.2, 0.1]
    inside, alone = EnsembleBN(class_prior=prior).fit(X, y).evidence_, EvidenceBN(class_prior=prior).fit(X, y)
    np.testing.assert_allclose(inside.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    assert inside.class_prior == prior


def test_rows_of_less_than_unit_weight_are_learned_by_all_members():
    X, y = mixed_frame(200, 8)
    model = EnsembleBN().fit(X, y, np.full(200, 0.5))
    assert len(model.model_.tables.folds) == 5
    assert len(model.model_.mixture.members) == 10
    assert max(BoostedTables().fit(X, y, np.full(200, 0.9)).n_tables_) > 0


def test_interactions_that_one_additive_model_misses_are_learned():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (900, 6)).astype(str)
    y = ((X[:, 0] == "1") ^ (X[:, 1] == "1") ^ (X[:, 2] == "1") ^ (X[:, 3] == "1")).astype(int)
    losses = {
        model: log_loss(y[600:], model().fit(X[:600], y[:600]).predict_proba(X[600:]))
        for model in (EvidenceBN, EnsembleBN)
    }
    assert losses[EnsembleBN] < 0.1 < 0.3 < losses[EvidenceBN]


def test_saved_ensembles_predict_the_same_bits(tmp_path):
    X, y = mixed_frame(120, 4)
    model = EnsembleBN(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    tanbark.save(model, tmp_path / "m")
    loaded = tanbark.load(tmp_path / "m")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.weights_ == model.weights_
    assert np.array_equal(loaded.evidence_.explain(X), model.evidence_.explain(X))


def test_threads_and_batches_change_no_bit():
    X, y = mixed_frame(250, 5)
    one, two = EnsembleBN(n_jobs=1).fit(X, y), EnsembleBN(n_jobs=2).fit(X, y)
    whole = one.predict_proba(X)
    assert np.array_equal(two.predict_proba(X), whole)
    assert np.array_equal(np.concatenate([one.predict_proba(X[i : i + 7]) for i in range(0, 250, 7)]), whole)


def test_learning_from_parts_is_refused_in_one_sentence():
    X, y = mixed_frame(90, 6)
    for method in ("partial_fit", "fit_counts"):
        with pytest.raises(
            AttributeError, match=r"^EnsembleBN learns its members from rows; call fit with all rows, or"
        ):
            getattr(EnsembleBN().fit(X, y), method)
    with pytest.raises(AttributeError, match="no joint distribution of rows; use another classifier, for example TAN"):
        EnsembleBN().fit(X, y).score_samples(X)


@pytest.mark.parametrize("y", [["a"], ["a", "a", "a"], ["a", "b"], ["a", "b", "c"], [*"aaaaaaab"]])
def test_very_few_rows_give_a_sensible_model(y):
    X = pd.DataFrame({"x": np.arange(len(y), dtype=float), "colour": ["red"] * len(y), "none": [None] * len(y)})
    proba = EnsembleBN().fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_huge_and_tiny_weights_give_finite_probabilities():
    X, y = mixed_frame(60, 7)
    weights = np.where(np.arange(60) % 2, 1e-9, 1e9)
    assert np.isfinite(EnsembleBN().fit(X, y, weights).predict_proba(X)).all()


@pytest.mark.parametrize("fitted", [False, True])
def test_missing_attributes_name_the_model_that_has_them(fitted):
    X, y = mixed_frame(40, 8)
    model = EnsembleBN().fit(X, y) if fitted else EnsembleBN()
    for name in ("explain", "shape", "edges_"):
        with pytest.raises(AttributeError, match=rf"^EnsembleBN has no '{name}'; .* attribute evidence_, has it$"):
            getattr(model, name)
    with pytest.raises(AttributeError, match=r"^EnsembleBN cannot be updated; fit it again with all rows"):
        model.update(X, y)
