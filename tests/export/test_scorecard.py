"""Scorecards: points that sum to the log odds of the model, up to merging and rounding."""

import csv
import html
import itertools
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from tanbark import TAN, Encoder, EvidenceBN, export
from tanbark.export import Scorecard

PENALTIES = {"weight_penalty": 1.0, "correction_penalty": 1.0, "edge_penalty": 1.0}
HOSTILE = ("=1+1", "-5", "+3", "@x", "'tis", '"q", r', "<script>alert(1)</script>", "two\nlines", "日本", "\ttab", "")


def applicants(seed, rows, missing=0.1):
    """Return a table of numbers and categories with missing values, and two classes that depend on it."""
    rng = np.random.default_rng(seed)
    age, sum_ = rng.gamma(9.0, 5.0, rows), rng.normal(size=rows).round(3)
    job = rng.choice(["clerk", "cook", "none"], rows, p=[0.5, 0.4, 0.1])
    few = rng.integers(0, 4, rows)
    log_odds = 0.08 * (age - 45) - np.abs(sum_) + (job == "cook") + 0.3 * few
    y = np.where(rng.random(rows) < 1 / (1 + np.exp(-log_odds)), "good", "bad")
    X = pd.DataFrame({"age": age, "sum": sum_, "job": job, "few": few.astype(object)})
    return X.mask(rng.random(X.shape) < missing), y


def fitted(seed=0, rows=400, missing=0.1, **settings):
    X, y = applicants(seed, rows, missing)
    return EvidenceBN(depth=0, **PENALTIES, **settings).fit(X, y), X, y


def strange(seed=1):
    """Return rows with many missing values and levels that training did not have."""
    X, y = applicants(seed, 300, 0.4)
    X.loc[:9, "job"] = "astronaut"
    X.loc[5:14, "few"] = 77
    X.loc[20] = None
    return X, y


def log_odds(model, X, positive="good"):
    logs = model.predict_log_proba(X)
    sign = np.where(model.classes_ == positive, 1.0, -1.0)
    return logs @ sign


def read_card(path):
    """Return the lines of a CSV file as dictionaries, with the apostrophes before texts removed."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        for name in ("attribute", "kind", "value"):
            line[name] = line[name].removeprefix("'")
    return lines


def matches(line, value):
    """Return whether a value belongs to a line, from what the file says alone."""
    kind = line["kind"]
    is_missing = value is None or value != value
    if "missing" in kind.split(" or ") and is_missing:
        return True
    if kind == "interval" and not is_missing:
        low, high = line["above"], line["up to"]
        return (not low or value > float(low)) and (not high or value <= float(high))
    return kind == "level" and not is_missing and line["value"] == str(value)


def score_by_hand(lines, row):
    """Return the sum of the points of a row, found by reading the card."""
    total = sum(float(line["points"]) for line in lines if line["kind"] == "start")
    for name, value in row.items():
        own = [line for line in lines if line["attribute"] == name and line["kind"] not in ("start", "note")]
        found = [line for line in own if matches(line, value)]
        found = found or [line for line in own if line["kind"] == "other" or "unseen" in line["kind"].split(" or ")]
        assert len(found) == 1, (name, value)
        total += float(found[0]["points"])
    return total


# Points


@pytest.mark.parametrize("encoder", [None, Encoder(missing="marginalize"), Encoder(n_bins=5)])
@pytest.mark.parametrize("positive", ["good", "bad"])
def test_a_card_that_is_neither_merged_nor_rounded_gives_the_probabilities_of_the_model(encoder, positive):
    model, X, _ = fitted(encoder=encoder)
    card = export.scorecard(model, max_intervals=None, digits=None, positive=positive)
    for rows in (X, strange()[0]):
        np.testing.assert_allclose(card.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-12)
        np.testing.assert_allclose((card.points(rows) - card.offset) / card.factor, log_odds(model, rows, positive))
    assert card.losses.merging.maximum < 1e-12
    assert card.losses.total.maximum < 1e-12


def test_the_scale_has_the_base_odds_at_the_base_points_and_doubles_the_odds():
    model, X, _ = fitted()
    card = export.scorecard(model, points_to_double=15, base_points=300, base_odds=4, digits=None)
    assert card.factor * math.log(2) == pytest.approx(15)
    assert (300 - card.offset) / card.factor == pytest.approx(math.log(4))
    other = export.scorecard(model, points_to_double=30, base_points=0, base_odds=1, digits=None)
    assert other.offset == 0
    np.testing.assert_allclose(other.predict_proba(X), card.predict_proba(X), atol=1e-12)
    low, high = np.sort(card.points(X))[[0, -1]]
    odds = np.sort(card.predict_proba(X)[:, 1] / card.predict_proba(X)[:, 0])[[0, -1]]
    assert odds[1] / odds[0] == pytest.approx(2 ** ((high - low) / 15))


@pytest.mark.parametrize("digits", [0, 2, None])
@pytest.mark.parametrize("encoder", [None, Encoder(missing="marginalize", max_levels=3)])
def test_points_are_those_that_a_reader_of_the_csv_file_adds_up(tmp_path, digits, encoder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model, X, _ = fitted(encoder=encoder)
    card = export.scorecard(model, tmp_path / "card.csv", digits=digits)
    lines = read_card(tmp_path / "card.csv")
    for rows in (X[:60], strange()[0][:60]):
        by_hand = [score_by_hand(lines, row) for row in rows.to_dict("records")]
        np.testing.assert_allclose(card.points(rows), by_hand, rtol=0, atol=1e-9)
    if digits is not None:
        assert np.array_equal(card.points(X), card.points(X).round(digits))


def test_numbers_at_the_limits_belong_to_the_interval_below(tmp_path):
    model, _, _ = fitted()
    card = export.scorecard(model, tmp_path / "card.csv")
    lines = read_card(tmp_path / "card.csv")
    limits = [row.up_to for row in card.rows if row.attribute == "age" and row.up_to is not None]
    assert len(limits) >= 2
    for value in [v for limit in limits for v in (np.nextafter(limit, 0), limit, np.nextafter(limit, 999))]:
        row = {"age": float(value), "sum": 0.0, "job": "cook", "few": 1}
        assert card.points(pd.DataFrame([row]).astype({"few": object}))[0] == score_by_hand(lines, row)


def test_numbers_have_at_most_eight_intervals_with_the_mean_evidence_of_their_rows():
    model, X, _ = fitted()
    for most in (8, 3, 1):
        card = export.scorecard(model, max_intervals=most, digits=None)
        for name, column in (("age", X["age"]), ("sum", X["sum"])):
            intervals = [row for row in card.rows if row.attribute == name and row.kind == "interval"]
            assert len(intervals) == most
            evidence = model.explain(X)[:, 1 + list(X).index(name)] @ [-1.0, 1.0]
            for row in intervals:
                low, high = row.above or -np.inf, row.up_to or np.inf
                inside = ((column > low) & (column <= high)).to_numpy()
                assert row.points == pytest.approx(card.factor * evidence[inside].mean(), abs=1e-9)


def test_fewer_intervals_suffice_if_the_change_is_below_half_a_point():
    rng = np.random.default_rng(0)
    x = rng.random(2000)
    y = rng.random(2000) < np.where(x > 0.5, 0.8, 0.2)
    model = EvidenceBN(depth=0, **PENALTIES).fit(x[:, None], y)
    evidence = model.explain(x[:, None])[:, 1] @ [-1.0, 1.0]
    card = export.scorecard(model, points_to_double=5)
    intervals = [row for row in card.rows if row.kind == "interval"]
    assert 2 <= len(intervals) < 8
    merged = np.array([card.points([[v]])[0] - card.start for v in x[:200]]) / card.factor
    # Half a point by merging, and half a point by rounding.
    assert np.sqrt(((merged - evidence[:200]) ** 2).mean()) <= 1.1 / card.factor


# Rows


def test_shares_and_rates_are_those_of_the_training_rows():
    X, y = applicants(3, 300)
    weights = np.random.default_rng(0).integers(1, 4, 300) / 2
    model = EvidenceBN(depth=0, encoder=Encoder(missing="marginalize"), **PENALTIES).fit(X, y, sample_weight=weights)
    card = export.scorecard(model, positive="bad")
    for row in card.rows:
        line = {
            "kind": row.kind,
            "value": row.label,
            "above": "" if row.above is None else repr(row.above),
            "up to": "" if row.up_to is None else repr(row.up_to),
        }
        inside = np.array([matches(line, value) for value in X[row.attribute]])
        assert row.share == pytest.approx(weights[inside].sum() / weights.sum())
        if inside.any():
            assert row.rate == pytest.approx(weights[inside & (y == "bad")].sum() / weights[inside].sum())
        else:
            assert row.rate is None


@pytest.mark.parametrize(
    ("encoder", "missing", "kinds"),
    [
        (None, 0.1, {"age": ["missing"], "job": ["missing", "unseen"]}),
        (None, 0.0, {"age": ["missing"], "job": ["missing or unseen"]}),
        (Encoder(missing="marginalize"), 0.1, {"age": ["missing"], "job": ["missing or unseen"]}),
        (Encoder(missing="marginalize", unseen="error"), 0.1, {"age": ["missing"], "job": ["missing"]}),
        (Encoder(missing="state", unseen="error"), 0.1, {"age": ["missing"], "job": ["missing"]}),
    ],
)
def test_missing_and_unseen_values_have_rows(encoder, missing, kinds):
    model, X, _ = fitted(encoder=encoder, missing=missing)
    card = export.scorecard(model)
    for name, expected in kinds.items():
        rows = [row for row in card.rows if row.attribute == name and row.kind not in ("interval", "level")]
        assert [row.kind for row in rows] == expected
        is_level = any(column.name == name and column.missing for column in model.schema_.columns)
        for row in rows:
            if "unseen" in row.kind or not is_level:
                assert row.points == 0
            else:
                evidence = model.explain(X)[X[name].isna(), 1 + list(X).index(name)] @ [-1.0, 1.0]
                assert row.points == pytest.approx(card.factor * evidence[0], abs=0.5)


# Losses


def test_the_estimated_change_is_that_of_all_combinations_of_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 90), rng.normal(size=90).round(1), rng.integers(0, 2, 90)]).astype(object)
    y = rng.random(90) < 0.3 + 0.2 * (X[:, 1] > 0) + 0.1 * X[:, 0].astype(float)
    model = EvidenceBN(depth=0, encoder=Encoder(n_bins=6), **PENALTIES).fit(X, y)
    # Each combination of values has the product of the shares of its values in the class.
    values = [np.unique(X[:, u].astype(float)).tolist() for u in range(3)]
    combinations = np.array(list(itertools.product(*values)), object)
    shares = np.zeros(len(combinations))
    for label in (False, True):
        own = X[y == label]
        each = [[(own[:, u] == row[u]).mean() for u in range(3)] for row in combinations]
        shares += (y == label).mean() * np.prod(each, axis=1)
    for digits in (0, 1, None):
        card = export.scorecard(model, max_intervals=2, digits=digits)
        change = np.abs((card.points(combinations) - card.offset) / card.factor - log_odds(model, combinations, True))
        assert card.losses.total.mean == pytest.approx(shares @ change, rel=1e-9)
        assert card.losses.total.maximum == pytest.approx(change.max(), rel=1e-9)
        merged = export.scorecard(model, max_intervals=2, digits=None)
        assert card.losses.merging.mean == pytest.approx(merged.losses.total.mean, rel=1e-9)
        assert card.losses.merging.maximum == pytest.approx(merged.losses.total.maximum, rel=1e-9)


def test_the_estimate_stays_close_if_there_are_too_many_combinations():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = rng.random(3000) < 1 / (1 + np.exp(-X.sum(axis=1)))
    model = EvidenceBN(depth=0, **PENALTIES).fit(X, y)
    card = export.scorecard(model, X=X, max_intervals=4)
    # The attributes are independent up to their relation to the class.
    exact = card.losses.on_data.change
    assert card.losses.total.mean == pytest.approx(exact.mean, rel=0.05)
    assert card.losses.total.maximum >= exact.maximum


@pytest.mark.parametrize("positive", ["good", "bad"])
def test_given_rows_are_compared_exactly(positive):
    model, _, _ = fitted()
    X, y = strange()
    card = export.scorecard(model, X=X, y=y, positive=positive, max_intervals=3)
    found = card.losses.on_data
    after = (card.points(X) - card.offset) / card.factor
    change = np.abs(after - log_odds(model, X, positive))
    assert found.n_rows == len(X)
    assert (found.change.mean, found.change.maximum) == pytest.approx((change.mean(), change.max()))
    column = list(model.classes_).index(positive)
    for performance, p in ((found.before, model.predict_proba(X)), (found.after, card.predict_proba(X))):
        assert performance.log_loss == pytest.approx(log_loss(y, p, labels=model.classes_))
        assert performance.accuracy == accuracy_score(y, model.classes_[p.argmax(axis=1)])
        assert performance.auc == pytest.approx(roc_auc_score(y == positive, p[:, column]))
    assert export.scorecard(model, X=X).losses.on_data.before is None
    alone = export.scorecard(model, X=X[y == "good"], y=y[y == "good"]).losses.on_data
    assert alone.after.auc is None


def test_rows_without_a_class_are_left_out_with_a_warning():
    model, X, y = fitted()
    y = y.astype(object)
    y[:3] = None
    with pytest.warns(UserWarning, match="3 rows without a class are dropped"):
        card = export.scorecard(model, X=X, y=y)
    assert card.losses.on_data.n_rows == len(X) - 3


# Files


def hostile_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(HOSTILE[:-1], 200) for name in HOSTILE[:6]})
    X["=sum(A1)"] = rng.normal(size=200)
    y = pd.Series(np.where(rng.random(200) < 0.4, "<i>yes</i>", "=no"), name="<b>class")
    return EvidenceBN(depth=0, **PENALTIES).fit(X, y), X, y


def test_no_text_of_the_csv_file_is_a_formula(tmp_path):
    model, X, y = hostile_model()
    card = export.scorecard(model, tmp_path / "card.csv", X=X, y=y)
    content = (tmp_path / "card.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    with open(tmp_path / "card.csv", encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file, quoting=csv.QUOTE_NONNUMERIC))
    assert {len(line) for line in lines} == {8}
    texts = [cell for line in lines for cell in line if isinstance(cell, str)]
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    read = [line for line in read_card(tmp_path / "card.csv") if line["kind"] not in ("start", "note")]
    assert [(line["attribute"], line["value"]) for line in read] == [(row.attribute, row.label) for row in card.rows]
    scores = [score_by_hand(read_card(tmp_path / "card.csv"), row) for row in X[:30].to_dict("records")]
    np.testing.assert_allclose(card.points(X[:30]), scores)


def test_the_formula_on_the_card_gives_the_probabilities(tmp_path):
    model, X, y = fitted()
    card = export.scorecard(model, tmp_path / "card.csv", X=X, y=y)
    notes = " ".join(line["value"] for line in read_card(tmp_path / "card.csv") if line["kind"] == "note")
    sign, offset, factor = re.search(r"= good are \(score ([+-]) (\S+)\) / (\S+),", notes).groups()
    odds = (card.points(X) + float(sign + offset)) / float(factor)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), card.predict_proba(X)[:, 1], atol=1e-12)
    assert "600 points mean odds of 50 to 1, and every 20 points more double the odds." in notes
    assert "estimated from the counts of single values" in notes
    assert f"area under the ROC curve is {roc_auc_score(y == 'good', model.predict_proba(X)[:, 1]):.4f}" in notes


def test_the_page_is_self_contained_and_shows_every_row(tmp_path):
    for model, X, y in (fitted(), hostile_model()):
        card = export.scorecard(model, tmp_path / "card.html", X=X, y=y)
        page = (tmp_path / "card.html").read_text(encoding="utf-8")
        assert not re.search(r"<script|https?://|<link|<img", page)
        assert "<i>yes" not in page
        shown = html.unescape(re.sub(r"<[^>]*>", " ", page))
        for row in card.rows:
            assert row.attribute in shown
            assert row.label in shown
        assert card.formula() in shown
        for sentence in card.losses.sentences():
            assert sentence in shown


def test_many_levels_with_the_same_points_share_a_line_of_the_page(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, 400)
    model = EvidenceBN(depth=0, **PENALTIES).fit(np.char.add("l", x.astype(str))[:, None], rng.random(400) < 0.5)
    card = export.scorecard(model, tmp_path / "card.html", points_to_double=1)
    distinct = {row.points for row in card.rows if row.kind == "level"}
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert page.count('<td class="level"') == len(distinct) < 40


# Refusals


def test_models_that_a_scorecard_cannot_express_are_refused(tmp_path):
    X, y = applicants(0, 200)
    deep = EvidenceBN(structure=[("age", "job")], **PENALTIES).fit(X, y)
    with pytest.raises(ValueError, match=r"edges between attributes.*fit it with depth=0 .*--set depth=0"):
        export.scorecard(deep, tmp_path / "card.csv")
    three = EvidenceBN(depth=0, **PENALTIES).fit(X, np.arange(200) % 3)
    with pytest.raises(ValueError, match="a scorecard needs two classes, but the model has 3"):
        export.scorecard(three)
    with pytest.raises(TypeError, match=r"needs an EvidenceBN with depth=0, got TAN; fit EvidenceBN\(depth=0\)"):
        export.scorecard(TAN().fit(X, y))
    certain = EvidenceBN(depth=0, class_prior=[0.0, 1.0], **PENALTIES).fit(X, y)
    with pytest.raises(ValueError, match="class_prior gives a class the probability 0"):
        export.scorecard(certain)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"path": "card.xlsx"}, r"the file of a scorecard must end in .csv or .html, got 'card.xlsx'"),
        ({"max_intervals": 0}, "max_intervals must be a whole number of at least 1, got 0"),
        ({"max_intervals": 2.5}, "max_intervals must be a whole number of at least 1, got 2.5"),
        ({"points_to_double": 0}, "points_to_double must be a positive number"),
        ({"base_odds": -1}, "base_odds must be a positive number"),
        ({"base_points": math.inf}, "base_points must be a finite number, got inf"),
        ({"base_points": "many"}, "base_points must be a finite number, got 'many'"),
        ({"digits": -1}, "digits must be a whole number of at least 0, got -1"),
        ({"positive": "maybe"}, "positive must be one of the classes 'bad' and 'good', got 'maybe'"),
        ({"positive": ["good"]}, "positive must be one of the classes 'bad' and 'good', got"),
        ({"y": ["good"]}, "y was given without X"),
        ({"X": pd.DataFrame({"other": [1]})}, "the table has 1 columns"),
    ],
)
def test_invalid_settings_are_refused_in_a_sentence(settings, message):
    model, _, _ = fitted()
    with pytest.raises(ValueError, match=message):
        export.scorecard(model, **settings)


def test_rows_that_do_not_fit_their_classes_are_refused():
    model, X, y = fitted()
    with pytest.raises(ValueError, match="X has 400 rows, but y has 399"):
        export.scorecard(model, X=X, y=y[1:])
    with pytest.raises(ValueError, match="X has no rows"):
        export.scorecard(model, X=X[:0])


def test_columns_without_any_information_have_no_points(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"same": ["a"] * 60, "none": [None] * 60, "one": [2.5] * 60, "x": rng.normal(size=60)})
    y = X["x"].to_numpy() > 0
    model = EvidenceBN(depth=0, **PENALTIES).fit(X, y)
    card = export.scorecard(model, tmp_path / "card.html")
    card.to_csv(tmp_path / "card.csv")
    assert isinstance(card, Scorecard)
    assert card.positive == np.True_
    assert np.isfinite(card.points(X)).all()
    np.testing.assert_allclose(
        export.scorecard(model, max_intervals=None, digits=None).predict_proba(X), model.predict_proba(X), atol=1e-12
    )


def test_a_printed_card_shows_each_row_once_and_its_repr_is_short():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 9, 90).round(), "sex": rng.choice(["f", "m"], 90)})
    card = export.scorecard(EvidenceBN(depth=0, **PENALTIES).fit(X, np.where(X["age"] > 40, "ill", "well")))
    assert repr(card) == "<Scorecard for class = well: 2 attributes>"
    head, start, *lines, scale = str(card).splitlines()
    assert head == "Scorecard for class = well"
    assert start.split() == ["starting", "points", f"{card.start:g}"]
    assert len(lines) == len(card.rows)
    for line, row in zip(lines, card.rows, strict=True):
        assert line.endswith(f" {row.points:g}")
        assert f" {row.label} " in line
    assert [line.split()[0] for line in lines if line[2] != " "] == ["age", "sex"]
    assert scale == "600 points mean odds of 50 to 1, and every 20 points more double the odds."
