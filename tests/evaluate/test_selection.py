"""Model selection in one call, and the page about it."""

import warnings
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from tanbark import TAN, Encoder, NaiveBayes
from tanbark.datasets import tic_tac_toe
from tanbark.evaluate import comparison_html, learning_curve, recommend, select_model
from tanbark.evaluate.candidates import fold_seconds


class Warns(ClassifierMixin, BaseEstimator):
    """Predicts equal probabilities and warns; fails with fewer than a number of rows."""

    def __init__(self, min_rows=0):
        self.min_rows = min_rows

    def fit(self, X, y):
        if len(y) < self.min_rows:
            raise ValueError("too few <rows>")
        self.classes_ = np.unique(y)
        warnings.warn("column 'a' is odd", UserWarning, stacklevel=2)
        warnings.warn("it is late", UserWarning, stacklevel=2)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.fixture(scope="module")
def endgames():
    return tic_tac_toe()


@pytest.fixture(scope="module")
def selection(endgames):
    return select_model(*endgames, models=["naive-bayes", "tan", "kdb", "aode", "cart"], folds=4, by="error")


def test_the_selection_is_a_comparison_a_learning_curve_and_their_recommendation(endgames, selection):
    X, y = endgames
    names = ["cart", "kdb", "tan", "naive-bayes"]
    assert [rank.name for rank in selection.comparison.ranking("error")][:3] == names[:3]
    assert list(selection.curve) == [0.1, 0.5, 1.0]
    assert [list(part) for part in selection.curve.values()] == [names] * 3
    expected = learning_curve(selection.comparison.models, X, y, folds=4)
    for share, part in selection.curve.items():
        for name in names:
            assert np.array_equal(part[name].score("error"), expected[share][name].score("error"))
    assert selection.recommendation == recommend(expected[1.0], curve=expected, by="error")
    assert str(selection).endswith(str(selection.recommendation))
    model = selection.comparison.models[selection.recommendation.chosen].fit(X, y)
    assert model.predict(X).shape == (958,)


def test_progress_is_in_expected_seconds(endgames):
    X, y = endgames
    calls = []
    select_model(X, y, models=["naive-bayes", "cart"], folds=2, progress=lambda *call: calls.append(call))
    seconds = [fold_seconds(name, *X.shape) for name in ("naive-bayes", "cart")]
    comparing = [call for call in calls if call[0].startswith("comparing")]
    assert comparing[0] == ("comparing naive-bayes", 0.0, pytest.approx(2 * sum(seconds)))
    assert comparing[1] == ("comparing naive-bayes", pytest.approx(seconds[0]), pytest.approx(2 * sum(seconds)))
    assert ("comparing cart", pytest.approx(2 * seconds[0]), pytest.approx(2 * sum(seconds))) in comparing
    assert comparing[-1][1] == pytest.approx(comparing[-1][2])
    curve = [call for call in calls if call[0].startswith("learning curve of")]
    assert comparing + curve == calls
    assert curve[-1][1] == pytest.approx(curve[-1][2]) == pytest.approx(0.6 * 2 * sum(seconds))


def test_warnings_become_notes_and_each_is_noted_once():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({"a": [f"id{i}" for i in range(60)], "b": y ^ (rng.random(60) < 0.2)})
    models = {"warns": Warns(), "fails": Warns(min_rows=30), "tan": TAN()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selection = select_model(X, y, models=models, encoder=Encoder(), folds=3)
    assert sum("column 'a'" in note for note in selection.notes) == 1
    assert selection.notes.count("warns: it is late") == 1
    assert "fails fails with 10% of the rows: ValueError: too few <rows>" in selection.notes


def test_slow_classifiers_are_skipped_unless_they_are_named(endgames, monkeypatch):
    monkeypatch.setattr("tanbark.evaluate.candidates.candidate_names", lambda: ("tan", "kdb", "cart"))
    seconds = {"tan": 99.0, "kdb": 99.0, "cart": 0.1}
    monkeypatch.setattr("tanbark.evaluate.candidates.fold_seconds", lambda name, *shape: seconds[name])
    selection = select_model(*endgames, folds=2, n_jobs=1)
    assert list(selection.comparison) == ["tan", "cart"]
    assert selection.skipped == ("kdb",)
    named = select_model(*endgames, folds=2, n_jobs=1, models=["kdb"])
    assert list(named.comparison) == ["kdb"]
    assert named.skipped == ()


def test_the_encoder_or_a_schema_applies_to_all_classifiers_that_are_named(endgames):
    X, y = endgames
    encoder = Encoder(missing="state")
    assert select_model(X, y, models=["tan"], folds=2, encoder=encoder).comparison.models["tan"].encoder is encoder
    schema = Encoder().fit(X, y).schema_
    assert select_model(X, y, models=["tan"], folds=2, encoder=schema).comparison.models["tan"].encoder is schema


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "luck"}, "by must be one of error, log_loss, brier, auc, got 'luck'"),
        ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
        ({"repeats": 0}, "repeats must be a whole number of at least 1, got 0"),
        ({"models": []}, "models is empty"),
        ({"models": ["svm"]}, "there is no classifier 'svm'"),
        ({"models": {"NB": NaiveBayes(ess=-1)}}, "no classifier could be fitted: ValueError: ess must be"),
    ],
)
def test_invalid_settings_are_refused(endgames, settings, message):
    with pytest.raises(ValueError, match=message):
        select_model(*endgames, **settings)


def test_the_page_shows_the_recommendation_the_ranking_and_the_plots(selection):
    page = comparison_html(selection, "Endgames <1>", facts={"rows": "958"}, notes=["a <note>"], fit_command="fit & go")
    text = unescape(page)
    assert "<h1>Endgames &lt;1&gt;</h1>" in page
    for sentence in selection.recommendation.sentences:
        assert sentence in text
    assert page.count("<svg ") == 3
    assert "<li>a &lt;note&gt;</li>" in page
    assert "<pre>fit &amp; go</pre>" in page
    places = [page.index(f"<td>{rank.name}</td>") for rank in selection.comparison.ranking("error")]
    assert places == sorted(places)
    assert "To repeat it" not in page
