"""The contents of a report against independent computations."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB

from tanbark import AODE, KDB, TAN, AdditiveBN, AveragedTAN, BayesNet, Encoder, NaiveBayes, Stream, write_report
from tanbark.classifiers.registry import REGISTRY
from tanbark.datasets import lenses
from tanbark.models import TreeAverage
from tanbark.network import edge_strengths as strengths
from tanbark.report import page_model
from tanbark.report.importance import class_information, mean_weights
from tanbark.report.performance import given_rows
from tanbark.schema import Schema


@pytest.fixture
def page(tmp_path):
    def text(model, data=None):
        write_report(model, tmp_path / "page.html", data)
        return (tmp_path / "page.html").read_text("utf-8")

    return text


def page_data(text):
    return json.loads(re.search(r'<script type="application/json" id="page-data">(.*?)</script>', text).group(1))


WITHOUT_WHAT_IF = {"boosted-tables", "ensemble-bn"}
"""Models of thousands of tables, which a page does not contain."""


@pytest.mark.parametrize("name", REGISTRY)
def test_every_classifier_has_a_page(page, name):
    X, y = lenses()
    text = page(REGISTRY[name].classifier().fit(X, y), (X, y))
    parts = {"className", "classes", "columns", "importance", "dates", "drawings", "logPrior", "scorer"}
    assert set(page_data(text)) == parts - ({"scorer"} if name in WITHOUT_WHAT_IF else set())
    for part in ("What if", "Performance", "Network", "Feature importance", "Classes"):
        assert f"<h2>{part}</h2>" in text


def test_importance_is_the_mutual_information_under_the_model():
    X, y = lenses()
    model = TAN().fit(X, y)
    expected = []
    for name in model.network_.schema.names:
        of_value = model.network_.query(name)
        total = 0.0
        for value, p in of_value.items():
            given = model.network_.query("class", {name: value})
            prior = model.network_.query("class")
            total += p * sum(q * math.log(q / prior[c]) for c, q in given.items() if q > 0)
        expected.append(total)
    assert class_information(model).tolist() == pytest.approx(expected, abs=1e-12)


PRIOR = [0.2, 0.3, 0.5]


@pytest.mark.parametrize(
    "model",
    [
        AveragedTAN(),
        AveragedTAN(multinet=True, class_prior=PRIOR),
        AODE(),
        AdditiveBN(),
        KDB(),
        BayesNet(class_prior=PRIOR),
    ],
)
def test_importance_follows_from_the_posterior_given_single_values(model):
    X, y = lenses()
    model.fit(X, y)
    for u, found in enumerate(class_information(model)):
        values = sorted({row[u] for row in X})
        rows = np.full((len(values), 4), None, object)
        rows[:, u] = values
        posterior = model.predict_proba(rows)
        if hasattr(model, "score_samples") and not isinstance(model, BayesNet):
            weight = np.exp(model.score_samples(rows))
        elif isinstance(model, BayesNet):
            learned, given = np.exp(model.network_.class_log_prior), np.exp(model.class_log_prior_)
            joint = np.exp(model.network_.log_joint(model.schema_.encode(rows))) * (given / learned)
            weight = joint.sum(axis=1)
        else:
            weight = np.array([sum(row[u] == value for row in X) for value in values], float)
        joint = posterior * (weight / weight.sum())[:, None]
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        seen = joint > 0
        assert found == pytest.approx((joint[seen] * np.log(joint[seen] / apart[seen])).sum(), abs=1e-9)


def test_mean_weights_are_the_mean_absolute_values_of_explain():
    X, y = lenses()
    model = TAN().fit(X, y)
    codes = model.schema_.encode(X)
    expected = np.abs(model.explain(X)[:, 1:]).mean(axis=(0, 2))
    assert mean_weights(model, codes) == pytest.approx(expected)
    assert mean_weights(AODE().fit(X, y), codes) is None


def test_confusion_is_scikit_learns(page):
    X, y = lenses()
    model = NaiveBayes().fit(X, y)
    text = page(model, (X, y))
    rows = re.search(r'aria-labelledby="confusion">(.*?)</table>', text, re.DOTALL).group(1)
    counts = [int(n) for n in re.findall(r'<td class="number heat"[^>]*>(\d+)</td>', rows)]
    assert counts == confusion_matrix(y, model.predict(X)).ravel().tolist()
    assert "Measured on the 24 given rows that have a known class." in text
    assert "other rows" not in text
    assert f"{(model.predict(X) == y).mean():.1%}" in text


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_may_hold_the_class_and_further_columns(made):
    X, y = lenses()
    columns = dict(zip(["a", "b", "c", "d"], np.asarray(X, object).T.tolist()))
    model = TAN().fit(pd.DataFrame(columns), pd.Series(y, name="kind"))
    classes = [*y[:-2].tolist(), None, "unheard of"]
    rows = given_rows(model, made({"id": list(range(24)), "d": columns["d"], "kind": classes, **columns}))
    assert np.array_equal(rows.codes, model.schema_.encode(pd.DataFrame(columns)))
    assert rows.truth.tolist() == [*(model.classes_.tolist().index(label) for label in y[:-2]), -1, -2]


def test_rows_without_classes_have_mean_weights_and_the_page_says_that_the_performance_was_not_measured(page):
    X, y = lenses()
    text = page(TAN().fit(X, y), X)
    assert "<p>The rows have no known class, so the performance was not measured.</p>" in text
    assert "accuracy" not in text
    assert '<span class="head">mean |weight|</span>' in text
    assert '<span class="head">mean |weight|</span>' not in page(TAN().fit(X, y))


def test_a_data_set_is_data(page):
    X, y = lenses()
    assert page(TAN().fit(X, y), lenses()) == page(TAN().fit(X, y), (X, y))


def test_the_same_model_gives_the_same_page(page):
    X, y = lenses()
    assert page(AveragedTAN().fit(X, y)) == page(AveragedTAN().fit(X, y))


def test_a_stream_is_reported_as_the_model_in_it(page):
    X, y = lenses()
    assert "TAN for class" in page(Stream(TAN()).partial_fit(X, y))


def test_invalid_arguments_are_refused(tmp_path):
    X, y = lenses()
    with pytest.raises(TypeError, match="model must be a tanbark classifier or a Stream, got 'GaussianNB'"):
        write_report(GaussianNB(), tmp_path / "a.html")
    with pytest.raises(NotFittedError):
        write_report(TAN(), tmp_path / "a.html")
    model = TAN().fit(X, y)
    with pytest.raises(ValueError, match="24 rows, but 3 classes"):
        write_report(model, tmp_path / "a.html", (X, y[:3]))
    with pytest.raises(ValueError, match="data has no known class: 1 is not one of"):
        write_report(model, tmp_path / "a.html", (X, [1] * 24))
    with pytest.raises(ValueError, match="a tuple of a table and its classes, got a tuple of 3"):
        write_report(model, tmp_path / "a.html", (X, y, y))
    with pytest.raises(FileNotFoundError):
        write_report(model, tmp_path / "no" / "a.html")
    assert list(tmp_path.iterdir()) == []


def test_the_importance_of_averaged_trees_needs_no_tree_sums(monkeypatch):
    rng = np.random.default_rng(0)
    model = AveragedTAN().fit(rng.integers(0, 4, (200, 12)), rng.integers(0, 2, 200))
    monkeypatch.setattr(TreeAverage, "log_scores", None)
    assert (class_information(model) > 0).all()


def test_a_model_too_large_for_a_page_is_drawn_without_answers(page, monkeypatch):
    X, y = lenses()
    monkeypatch.setattr(page_model, "MAX_NUMBERS", 10)
    text = page(TAN().fit(X, y))
    assert "This page cannot compute answers: the model has " in text
    assert "scorer" not in page_data(text)
    assert "data-node" in text


def test_the_size_of_a_pool_is_that_of_all_its_members(page, monkeypatch):
    X, y = lenses()
    pool = AdditiveBN(weak=[TAN(), NaiveBayes()]).fit(X, y)
    alone = TAN().fit(X, y)
    monkeypatch.setattr(page_model, "MAX_NUMBERS", sum(table.size for table in alone.network_.log_tables))
    assert "scorer" in page_data(page(alone))
    assert "scorer" not in page_data(page(pool))


def test_an_impossible_class_has_an_infinite_log_prior(page):
    X, y = lenses()
    found = page_data(page(NaiveBayes(class_prior=[0.0, 0.5, 0.5]).fit(X, y)))
    assert found["logPrior"] == ["-Infinity", math.log(0.5), math.log(0.5)]


def test_many_classes_are_listed_by_their_errors(page):
    y = np.repeat(np.arange(50), 4)
    X = np.stack([y % 7, y // 7], axis=1).astype(str)
    text = page(NaiveBayes().fit(X, y), (X, y))
    assert "Classes with the most errors" in text
    assert 'id="confusion"' not in text


def test_a_report_of_sixty_attributes_of_ten_levels_is_small(page):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (2000, 60)).astype(str)
    y = rng.integers(0, 3, 2000)
    assert len(page(TAN().fit(X, y), (X, y))) < 3_000_000


def test_the_classes_are_as_probable_as_the_model_says(page):
    X, y = lenses()
    text = page(NaiveBayes(class_prior=[0.1, 0.2, 0.7]).fit(X, y)).split("<h2>Classes</h2>")[1]
    shown = re.findall(r'<span class="name">(\w+)</span>.*?>([\d.]+)%</span></li>', text)
    assert shown == [("hard", "10.00"), ("none", "20.00"), ("soft", "70.00")]


def test_attributes_are_ranked_by_information_and_missing_shares_are_shown(page):
    X, y = lenses()
    X = np.array(X, object)
    X[:6, 1] = None
    model = TAN().fit(X, y)
    text = page(model)
    names = re.findall(r'<li class=""><span class="name">(\w+)</span>', text)
    assert names == [f"x{u}" for u in np.argsort(-class_information(model))]
    rows = re.findall(
        r"<tr><td>(x\d)</td><td>category</td><td class=.number.>\d</td><td class=.number.>([\d.]+)%", text
    )
    assert rows == [("x0", "0.0"), ("x1", "25.0"), ("x2", "0.0"), ("x3", "0.0")]


def test_only_settings_that_differ_from_the_defaults_are_shown(page):
    X, y = lenses()
    prior = TAN().fit(X, y).counts_
    text = page(AveragedTAN(prior=prior, ess=3.0, encoder=prior.schema).fit(X, y))
    assert "AveragedTAN(ess=3.0, prior=&#x27;given&#x27;)" in text
    assert "TAN(n_bins=7)" in page(TAN(encoder=Encoder(n_bins=7)).fit(X, y))


def test_members_of_different_kinds_are_each_explained(page):
    X, y = lenses()
    text = page(AdditiveBN(weak=[TAN(), AODE()], link="linear").fit(X, y))
    captions = [one for one in ("The thicker the line", "averages one network per attribute") if one in text]
    weights = AdditiveBN(weak=[TAN(), AODE()], link="linear").fit(X, y).weights_
    assert len(captions) == (weights > 0).sum()


def test_a_name_with_a_lone_surrogate_is_accepted(page):
    X, y = lenses()
    schema = TAN().fit(X, y).schema_
    strange = Schema([replace(schema.columns[0], name="a\ud800"), *schema.columns[1:]], schema.classes, named=False)
    assert "TAN for class" in page(TAN(encoder=strange).fit(X, y))


def test_the_page_shows_changes_of_the_posterior_if_exact_evidence_is_slow(page, monkeypatch):
    X, y = lenses()
    model = KDB(k=2).fit(X, y)
    exact = class_information(model)
    assert "the change of the log posterior when each value" not in page(model)
    monkeypatch.setattr(strengths, "MAX_STEPS", 0)
    text = page(model)
    assert "the change of the log posterior when each value" in text
    assert page_data(text)["scorer"]["alone"] is None
    assert class_information(model) == pytest.approx(exact, abs=0.02)
    assert mean_weights(model, model.schema_.encode(X)) is None
