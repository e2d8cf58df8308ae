"""The page about an additive model: its tables of evidence, importance and prior, in a real browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tanbark import Encoder, EvidenceBN, write_report
from tanbark.report.importance import attribute_importance
from tanbark.report.page_model import context_labels
from tanbark.schema import Category, Number

By = pytest.importorskip("selenium.webdriver.common.by", reason="needs selenium").By
Select = pytest.importorskip("selenium.webdriver.support.ui").Select


def houses(rows=300):
    """Return numbers and categories with missing values, and three classes."""
    rng = np.random.default_rng(5)
    area = np.round(rng.gamma(4.0, 25.0, rows), 1)
    rooms = np.clip((area / 25 + rng.normal(0, 1, rows)).astype(int), 1, 12).astype(float)
    heating = rng.choice(["gas", "oil", "wood"], rows)
    price = area + 20 * (heating == "gas") + rng.normal(0, 20, rows)
    y = pd.Series(np.where(price < 80, "low", np.where(price < 130, "middle", "high")), name="price")
    X = pd.DataFrame({"area": area, "rooms": rooms, "heating": heating, "year": rng.integers(1900, 2000, rows)})
    return X.mask(rng.random(X.shape) < 0.06), y


@pytest.fixture(scope="module")
def model():
    edges = [("area", "rooms"), ("heating", "rooms"), ("area", "heating")]
    return EvidenceBN(structure=edges).fit(*houses())


def weights_shown(page):
    """Return the counts and the weights in the rows of the table on the page."""
    rows = page.execute_script(
        "return [...document.querySelectorAll('#table tbody tr')].map((row) => [row.cells[1].textContent,"
        " ...[...row.cells].slice(2).map((cell) => cell.dataset.weight)])"
    )
    return [int(row[0]) for row in rows], np.array([[float(weight) for weight in row[1:]] for row in rows])


def open_node(page, node):
    page.find_element(By.CSS_SELECTOR, f'[data-node="{node}"] text').click()


def means(model, child, rows):
    """Return for each code of an attribute the number of these training rows that have it, and their mean evidence."""
    X, _ = houses()
    codes, weights = model.encode(X)[child], model.explain(X)[:, 1 + child]
    counts, found = [], []
    for code in range(model.schema_.columns[child].arity):
        having = rows & (codes == code)
        counts.append(having.sum())
        found.append(weights[having].mean(axis=0) if having.any() else np.full(3, np.nan))
    return counts, np.array(found)


def same_where_known(found, expected):
    known = ~np.isnan(expected)
    return np.allclose(found[known], expected[known], rtol=0, atol=1e-9) and np.isfinite(found).all()


def test_the_table_of_a_node_shows_the_mean_evidence_of_the_training_rows(opened, model):
    page = opened(model)
    for node, name in enumerate(model.schema_.names):
        open_node(page, node)
        assert page.find_element(By.CSS_SELECTOR, "#table h3").text == f"Evidence of {name}"
        counts, found = weights_shown(page)
        expected_counts, expected = means(model, node, np.ones(300, np.bool_))
        assert counts == expected_counts
        assert same_where_known(found, expected)


def test_the_table_of_a_node_can_be_restricted_to_a_context(opened, model):
    X, _ = houses()
    page = opened(model)
    open_node(page, 1)
    area, heating = map(Select, page.find_elements(By.CSS_SELECTOR, "#table select"))
    # The parent has four intervals, which end at its quartiles.
    label = area.options[2].text
    low, high = map(float, re.fullmatch(r"\((.*), (.*)\]", label).groups())
    inside = ((X["area"] > low) & (X["area"] <= high)).to_numpy()
    assert 0.2 < inside.mean() < 0.3
    area.select_by_index(2)
    counts, found = weights_shown(page)
    expected_counts, expected = means(model, 1, inside)
    assert counts == expected_counts
    assert same_where_known(found, expected)
    heating.select_by_visible_text("wood")
    counts, found = weights_shown(page)
    expected_counts, expected = means(model, 1, inside & (X["heating"] == "wood").to_numpy())
    assert counts == expected_counts
    assert same_where_known(found, expected)


def test_values_without_rows_have_the_weights_that_the_model_would_use(opened, model):
    page = opened(model)
    open_node(page, 1)
    for select in page.find_elements(By.CSS_SELECTOR, "#table select"):
        Select(select).select_by_visible_text("(unknown)")
    counts, found = weights_shown(page)
    arity = model.schema_.columns[1].arity
    codes = np.full((4, arity), model.schema_.missing_code, model.schema_.dtype)
    codes[1] = np.arange(arity)
    assert counts == [0] * arity
    assert found == pytest.approx(model.model_.evidence(codes)[:, 2], abs=1e-9)


def test_the_class_shows_the_prior_and_the_probabilities_before_any_value_is_known(opened, model):
    page = opened(model)
    open_node(page, 4)
    base = model.model_.base_scores
    before = np.exp(base) / np.exp(base).sum()
    text = page.find_element(By.ID, "table").text
    for p in (*before, *np.exp(model.class_log_prior_)):
        assert f"{100 * p:.1f} %" in text
    cells = page.find_elements(By.CSS_SELECTOR, "#table td.heat")
    shown = [float(cell.get_attribute("data-weight")) for cell in cells]
    assert shown == pytest.approx(base - base.mean(), abs=1e-12)
    section = page.find_element(By.ID, "classes").text
    for p in (*before, *np.exp(model.class_log_prior_)):
        assert f"{p:.2%}" in section


def test_numbers_with_missing_and_unseen_values_have_the_answers_of_python(opened, model):
    X, _ = houses()
    page = opened(model)
    rows = X.sample(40, random_state=1)
    rows.iloc[:5, 2] = "solar"
    rows.iloc[3:9, 0] = np.nan
    codes = model.encode(rows)
    asked = np.where(codes >= model.schema_.arity[:, None], -1, codes.astype(int)).T
    found = json.loads(
        page.execute_script(
            "const asked = modelOf(pageData);"
            "return JSON.stringify(arguments[0].map((row) => answer(asked, pageData.logPrior, row, [])))",
            asked.tolist(),
        )
    )
    posteriors = np.array([one["posterior"] for one in found])
    parts = np.array([[one["prior"], *one["weights"]] for one in found])
    assert np.allclose(posteriors, model.predict_log_proba(rows), rtol=0, atol=1e-9)
    assert np.allclose(parts, model.explain(rows), rtol=0, atol=1e-9)
    assert (asked[:5, 2] == -1).all()


def test_the_lines_of_the_drawing_are_as_thick_as_the_edges_are_strong(opened, model):
    page = opened(model)
    strengths = model.model_.edge_strengths()
    for (parent, child), strength in strengths.items():
        line = page.find_element(By.CSS_SELECTOR, f'[data-edge="{parent} {child}"]')
        width = float(line.get_attribute("stroke-width"))
        assert width == pytest.approx(1 + 6 * strength / max(strengths.values()), abs=0.01)
    assert len(page.find_elements(By.CSS_SELECTOR, "path.edge")) == 3


def test_importance_is_the_mean_absolute_weight_over_the_training_rows(model):
    X, _ = houses()
    expected = np.abs(model.explain(X)[:, 1:]).mean(axis=(0, 2))
    assert attribute_importance(model).values == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_overflows_the_screen(opened, model, width):
    X, y = houses()
    page = opened(model, X.assign(price=y))
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    open_node(page, 1)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_hostile_names_are_shown_as_text(opened):
    X, y = houses(60)
    hostile = "<script>window.broken = 1</script>"
    X = X.rename(columns={"area": hostile}).replace({"heating": {"gas": "<b>gas</b>"}})
    edges = [("heating", hostile), (hostile, "rooms")]
    page = opened(EvidenceBN(structure=edges, depth=1).fit(X, y.replace("low", "<i>low</i>")))
    for node in range(5):
        open_node(page, node)
    assert page.execute_script("return [window.broken ?? null, document.querySelectorAll('#table i').length]") == [
        None,
        0,
    ]


def test_one_class_has_a_page(opened):
    X, _ = houses(40)
    page = opened(EvidenceBN().fit(X, np.zeros(40)))
    for node in range(5):
        open_node(page, node)
    assert page.find_element(By.CSS_SELECTOR, "#answers output").text == "100.0 %"


def test_a_page_about_thirty_numbers_is_small(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 30)), rng.integers(0, 3, 400)
    edges = [(f"x{u - d}", f"x{u}") for u in range(2, 30) for d in (1, 2)]
    write_report(EvidenceBN(structure=edges).fit(X, y), tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 2_000_000


def test_contexts_are_labelled_by_the_values_that_they_hold():
    number = Number("n", (1, 2, 3, 4), missing=True)
    assert context_labels(number, np.array([0, 0, 1, 1, 1, 2, 3])) == ["<= 2", "> 2", "(missing)"]
    assert context_labels(number, np.array([0, 2, 2, 3, 3, 4, 5])) == ["<= 1", None, "(1, 3]", "> 3", "(missing)"]
    assert context_labels(Number("n", (1, 2)), np.array([0, 0, 0, 1])) == ["any number"]
    category = Category("c", ("a", "b", "c", "d"))
    assert context_labels(category, np.array([2, 0, 2, 1, 3])) == ["b", "d", "2 rare levels"]


def test_a_value_left_unknown_is_not_the_level_of_missing_values(tmp_path):
    X, y = houses(60)
    for encoder, said in ((None, True), (Encoder(missing="marginalize"), False)):
        write_report(EvidenceBN(encoder=encoder).fit(X, y), tmp_path / "page.html")
        text = (tmp_path / "page.html").read_text("utf-8")
        assert ("is a level of its own, (missing)." in text) == said
        assert "An unknown value gives no evidence" in text
