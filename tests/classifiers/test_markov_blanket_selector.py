"""MarkovBlanketSelector: which columns it keeps, of any kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from tanbark import TAN, AugmentedNaiveBayes, BayesNet, Encoder, MarkovBlanketSelector, NaiveBayes

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")


def table(rows=400):
    """Return a table of which the columns "near" and "far" alone say something of the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    near = np.where(rng.random(rows) < 0.85, y, 1 - y)
    far = np.where(rng.random(rows) < 0.8, y, 1 - y)
    noise = rng.integers(0, 3, (rows, 3))
    frame = {"n0": noise[:, 0], "near": near, "n1": noise[:, 1], "far": far, "n2": noise[:, 2]}
    return pd.DataFrame(frame), pd.Series(y, name="ill")


@parametrize_with_checks([MarkovBlanketSelector(search="greedy")])
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_keeps_the_blanket_of_the_network_that_bayes_net_finds():
    X, y = table()
    selector, network = MarkovBlanketSelector().fit(X, y), BayesNet(ess=1.0).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["near", "far"]
    assert selector.support_.tolist() == [False, True, False, True, False]
    assert selector.get_support(indices=True).tolist() == [1, 3]
    assert network.network_.markov_blanket("ill") == ("near", "far")
    assert (selector.log_score_, selector.search_) == (network.log_score_, "exact")
    assert selector.network_.parents == network.network_.parents


def test_tables_of_every_kind_come_out_as_they_went_in():
    X, y = table()
    kept = X[["near", "far"]]
    frames = {pd.DataFrame: X, pl.DataFrame: pl.from_pandas(X), pa.Table: pa.table(X)}
    for kind, frame in frames.items():
        out = MarkovBlanketSelector().fit(frame, y).transform(frame)
        assert isinstance(out, kind)
        assert np.array_equal(np.column_stack([np.asarray(out[c]) for c in ("near", "far")]), kept)
    array = X.to_numpy()
    assert np.array_equal(MarkovBlanketSelector().fit(array, y).transform(array), kept)
    rows = array.tolist()
    assert np.array_equal(MarkovBlanketSelector().fit(rows, y).transform(rows), kept)
    assert MarkovBlanketSelector().fit(array, y).get_feature_names_out().tolist() == ["x1", "x3"]
    out = MarkovBlanketSelector().set_output(transform="pandas").fit(array, y).transform(array)
    assert out.columns.tolist() == ["x1", "x3"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_an_empty_blanket_leaves_a_constant_and_the_class_prior(kind):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=["a", "b", "c"])
    X.loc[::5, "a"] = 0
    y = np.where(np.arange(200) % 4 == 0, "yes", "no")
    X = pl.from_pandas(X) if kind is pl.DataFrame else kind(X)
    model = make_pipeline(MarkovBlanketSelector(), AugmentedNaiveBayes()).fit(X, y)
    assert not model[0].support_.any()
    assert model[0].get_feature_names_out().tolist() == ["constant"]
    assert np.asarray(model[0].transform(X)).shape == (200, 1)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], (50 + 5) / 210)


def test_every_method_behind_it_is_a_pipeline():
    X, y = table()
    for classifier in (NaiveBayes(), TAN(criterion="acll"), BayesNet(criterion="cmdl"), AugmentedNaiveBayes()):
        model = make_pipeline(MarkovBlanketSelector(), classifier)
        assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    grid = {"markovblanketselector__ess": [1.0, 5.0], "markovblanketselector__encoder__n_bins": [2, 3]}
    assert GridSearchCV(clone(model), grid, cv=2).fit(X, y).best_params_


def test_numbers_are_passed_on_as_they_came():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = np.where(rng.random(300) < 0.1, 1, X[:, 2] > 0).astype(int)
    out = MarkovBlanketSelector(encoder=Encoder(n_bins=2)).fit(X, y).transform(X)
    assert np.array_equal(out, X[:, [2]])


def test_what_it_cannot_do_is_said():
    X, y = table()
    with pytest.raises(ValueError, match="search must be"):
        MarkovBlanketSelector(search="best").fit(X, y)
    with pytest.raises(ValueError, match="max_memory must be"):
        MarkovBlanketSelector(max_memory=-1).fit(X, y)
    selector = MarkovBlanketSelector().fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(X[["n0", "near"]])
    with pytest.raises(ValueError, match="input_features has 2 names, but there are 5 columns"):
        selector.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_the_constant_is_zero_also_where_the_first_column_has_holes(kind):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (200, 3)).astype(float), columns=["a", "b", "c"])
    X.loc[::5, "a"] = np.nan
    y = np.where(np.arange(200) % 4 == 0, "yes", "no")
    X = pl.from_pandas(X) if kind is pl.DataFrame else kind(X)
    selector = MarkovBlanketSelector().fit(X, y)
    assert not selector.support_.any()
    assert np.array_equal(np.asarray(selector.transform(X)), np.zeros((200, 1)))


def test_what_a_caller_does_to_the_support_changes_nothing():
    selector = MarkovBlanketSelector().fit(*table())
    selector.get_support()[:] = False
    assert selector.get_support().tolist() == [False, True, False, True, False]


def test_names_are_forgotten_where_a_later_table_has_none():
    X, y = table()
    selector = MarkovBlanketSelector().fit(X, y)
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert not hasattr(selector.fit(X.to_numpy(), y), "feature_names_in_")
    assert selector.transform(X.to_numpy()).shape == (400, 2)
