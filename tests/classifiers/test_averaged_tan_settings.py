"""Settings of the average, its files, and what cannot be."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import tanbark
from tanbark import AveragedTAN, Category, Counts, Encoder, Schema


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 3, 60), "b": rng.integers(0, 2, 60), "c": rng.normal(size=60)})
    return X, np.where(X["a"] == X["b"], "yes", "no")


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"ess": 0}, ValueError, "ess must be a positive number"),
        ({"ess": -1.0}, ValueError, "ess must be a positive number"),
        ({"ess": np.nan}, ValueError, "ess must be a positive number"),
        ({"stubbornness": 0}, ValueError, "stubbornness must be a positive number or None, got 0"),
        ({"stubbornness": -5}, ValueError, "stubbornness must be a positive number or None, got -5"),
        ({"stubbornness": np.inf}, ValueError, "stubbornness must be a positive number"),
        ({"stubbornness": "5"}, ValueError, "stubbornness must be a positive number"),
        ({"stubbornness": True}, ValueError, "stubbornness must be a positive number"),
        ({"multinet": "yes"}, TypeError, "multinet must be True or False, got 'yes'"),
        ({"prior": 3}, TypeError, "prior must be Counts or None, got 'int'"),
        ({"random_state": "x"}, TypeError, "random_state must be a whole number, a RandomState or None, got 'x'"),
        ({"random_state": -1}, ValueError, "random_state must be a whole number of at least 0, got -1"),
        ({"edge_prior": -np.ones((3, 3))}, ValueError, "factors must be finite and at least 0"),
        ({"edge_prior": np.zeros((3, 3))}, ValueError, "no allowed edges connect 'a' with 'b'"),
        ({"edge_prior": {("a", "z"): 1}}, ValueError, "names 'z', which is not a column"),
    ],
)
def test_a_setting_that_cannot_be_gets_a_sentence_and_changes_nothing(table, settings, error, words):
    X, y = table
    model = AveragedTAN(**settings)
    with pytest.raises(error, match=words):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]
    fitted = AveragedTAN().fit(X, y)
    before = fitted.predict_proba(X)
    with pytest.raises(error, match=words):
        fitted.set_params(**settings).fit(X, y)
    assert np.array_equal(fitted.predict_proba(X), before)


def test_a_prior_over_another_table_is_refused(table):
    X, y = table
    schema = Encoder().fit(X, y).schema_

    def counted(schema, order=2):
        return Counts.zero(schema, order)

    with pytest.raises(ValueError, match="prior holds counts of single values"):
        AveragedTAN(prior=counted(schema, 1)).fit(X, y)
    renamed = Encoder().fit(X.rename(columns={"b": "z"}), y).schema_
    other_cuts = Encoder(n_bins=3).fit(X, y).schema_
    more_levels = Schema([Category("a", (0, 1, 2, 3)), *schema.columns[1:]], schema.classes)
    more_classes = Schema(schema.columns, ("maybe", "no", "yes"))
    with pytest.raises(ValueError, match="prior was counted for the class 'target', that of the table is 'class'"):
        AveragedTAN(prior=counted(Schema(schema.columns, schema.classes, class_name="target"))).fit(X, y)
    with pytest.raises(
        ValueError, match="prior was counted over the columns 'a', 'z', 'c'; those of the table are 'a'"
    ):
        AveragedTAN(prior=counted(renamed)).fit(X, y)
    for strange in (other_cuts, more_levels, more_classes):
        with pytest.raises(ValueError, match=r"prior was counted under another schema .*; give encoder=prior\.schema"):
            AveragedTAN(prior=counted(strange)).fit(X, y)
    fewer_levels = Schema([Category("a", (0, 2)), *schema.columns[1:]], schema.classes)
    model = AveragedTAN(prior=counted(fewer_levels)).fit(X, y)
    assert np.array_equal(model.predict_proba(X), AveragedTAN().fit(X, y).predict_proba(X))


def test_the_numbers_asked_for_are_whole(table):
    model = AveragedTAN().fit(*table)
    for call in (model.sample, model.sample_trees):
        with pytest.raises(ValueError, match="must be a whole number of at least 0, got -1"):
            call(-1)
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, got 0"):
        model.k_best_trees(0)


def test_nothing_is_known_before_fit():
    model = AveragedTAN()
    for name in ("edge_probabilities_", "map_tree_", "concentration_", "log_evidence_"):
        assert not hasattr(model, name)
    for call in (model.standard_error, model.predict_proba, model.sample_trees, model.k_best_trees, model.sample):
        with pytest.raises(NotFittedError):
            call([[0]])


def test_all_settings_survive_a_file(table, tmp_path):
    X, y = table
    schema = Encoder().fit(X, y).schema_
    prior = Counts.of(schema, schema.encode(X), schema.encode_target(y)) * 0.25
    matrix = np.array([[1, 2, 0], [2, 1, 3], [0, 3, 1.0]])
    for edge_prior in (matrix, pd.DataFrame(matrix, X.columns, X.columns), {("a", "b"): 2.0, ("c", "a"): 0}):
        model = AveragedTAN(edge_prior=edge_prior, prior=prior, stubbornness=3, multinet=True, encoder=schema)
        model.fit(X, y)
        tanbark.save(model, tmp_path / "m")
        again = tanbark.load(tmp_path / "m")
        assert np.array_equal(again.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
        assert np.array_equal(again.edge_probabilities_, model.edge_probabilities_)
        assert again.log_evidence_ == model.log_evidence_
        assert again.prior == prior
        assert np.array_equal(again.fit(X, y).predict_proba(X), model.predict_proba(X))


def test_draws_that_nobody_seeded_survive_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (300, 8)), rng.integers(0, 2, 300)
    model = AveragedTAN(random_state=None).fit(X, y)
    tanbark.save(model, tmp_path / "m")
    with pytest.warns(UserWarning, match="has so many"):
        proba = model.predict_proba([[None] * 6 + [1, 2]])
    with pytest.warns(UserWarning, match="has so many"):
        assert np.array_equal(tanbark.load(tmp_path / "m").predict_proba([[None] * 6 + [1, 2]]), proba)


def test_a_class_prior_goes_to_the_trees_too(table):
    X, y = table
    model = AveragedTAN(class_prior=[0.9, 0.1]).fit(X, y)
    np.testing.assert_allclose(model.map_tree_.table("class"), [0.9, 0.1])


def test_settings_changed_after_fit_change_nothing_that_was_learned(table):
    X, y = table
    model = AveragedTAN().fit(X, y)
    before = (model.edge_probabilities_, model.map_tree_.edges, model.log_evidence_, model.predict_proba(X))
    schema = model.schema_
    model.set_params(multinet=True, ess=3.0, edge_prior=np.eye(3), prior=Counts.zero(schema), stubbornness=1)
    after = (model.edge_probabilities_, model.map_tree_.edges, model.log_evidence_, model.predict_proba(X))
    for one, other in zip(before, after):
        assert np.array_equal(one, other)


def test_a_file_holds_what_was_learned_and_not_what_was_set_later(table, tmp_path):
    X, y = table
    model = AveragedTAN(random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.raises(
        TypeError, match="'random_state' of type 'RandomState' cannot be saved; set it to a plain value"
    ):
        tanbark.save(model, tmp_path / "m")
    before = (model.predict_joint_log_proba(X), model.edge_probabilities_, model.map_tree_.edges, model.log_evidence_)
    model.set_params(random_state=3, ess=-1.0, multinet=True, edge_prior=np.ones((2, 2)), class_prior=[0.1, 0.9])
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    after = (again.predict_joint_log_proba(X), again.edge_probabilities_, again.map_tree_.edges, again.log_evidence_)
    for one, other in zip(before, after):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("weight", [1e20, 1e95])
def test_weights_beyond_all_measure_are_no_trouble(table, weight):
    X, y = table
    model = AveragedTAN().fit(X, y, np.full(len(y), weight))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.edge_probabilities_.sum() / 2 == pytest.approx(2.0)
    assert model.k_best_trees(1)[0][0] <= 0
