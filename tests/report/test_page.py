"""The interactive page in a real browser."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from tanbark import TAN, AveragedTAN, BayesNet, NaiveBayes, write_report

By = pytest.importorskip("selenium.webdriver.common.by", reason="needs selenium").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Select = pytest.importorskip("selenium.webdriver.support.ui").Select
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

HOSTILE = [
    "<script>window.broken = 1</script>",
    '"><img src=x onerror="window.broken = 1">',
    "'];window.broken=1;//",
    "</script><script>window.broken=1</script>",
    "line\nbreak & \u2028 ampersand",
    "${window.broken=1}",
]


def mushrooms(rows=400):
    rng = np.random.default_rng(0)
    y = rng.choice(["edible", "poisonous"], rows)
    smell = np.where(rng.random(rows) < 0.8, np.where(y == "edible", "none", "foul"), "musty")
    colour = rng.choice(["brown", "white", "red"], rows)
    size = np.round(rng.normal(5, 2, rows) + (y == "edible"), 2)
    ring = np.where(rng.random(rows) < 0.6, smell, "flaring")
    return pd.DataFrame({"smell": smell, "colour of the cap": colour, "size": size, "ring": ring}), pd.Series(
        y, name="kind"
    )


def answered(page):
    """Return the posterior and the weights of the attributes that the page shows when it is done."""
    WebDriverWait(page, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, "#what-if[data-ready=true]"))
    posterior = [float(one.get_attribute("data-log")) for one in page.find_elements(By.CSS_SELECTOR, "#answers output")]
    weights = {}
    for item in page.find_elements(By.CSS_SELECTOR, "#moves li.known"):
        shown = json.loads(item.find_element(By.TAG_NAME, "output").get_attribute("data-weights"))
        weights[item.find_element(By.TAG_NAME, "label").text] = [float(one) for one in shown]
    return posterior, weights


def choose(page, name, label):
    item = next(one for one in page.find_elements(By.CSS_SELECTOR, "#moves li") if name in one.text)
    Select(item.find_element(By.TAG_NAME, "select")).select_by_visible_text(label)


def test_setting_values_shows_the_posterior_and_the_weights(opened):
    X, y = mushrooms()
    model = TAN().fit(X, y)
    page = opened(model)
    prior, weights = answered(page)
    assert prior == pytest.approx(model.class_log_prior_.tolist(), abs=1e-12)
    assert weights == {}
    choose(page, "smell", "foul")
    choose(page, "ring", "flaring")
    row = pd.DataFrame({"smell": ["foul"], "colour of the cap": [None], "size": [np.nan], "ring": ["flaring"]})
    posterior, weights = answered(page)
    assert posterior == pytest.approx(model.predict_log_proba(row)[0].tolist(), abs=1e-9)
    explained = model.explain(row)[0]
    assert weights["smell"] == pytest.approx(explained[1].tolist(), abs=1e-9)
    assert weights["ring"] == pytest.approx(explained[4].tolist(), abs=1e-9)
    assert set(weights) == {"smell", "ring"}
    best = model.predict_proba(row)[0].max()
    assert f"{100 * best:.1f} %" in page.find_element(By.ID, "answers").text
    assert "kind: poisonous" in page.find_element(By.ID, "said").get_attribute("textContent")
    page.find_element(By.ID, "forget").click()
    assert answered(page)[0] == pytest.approx(prior)


def test_another_class_has_other_weights(opened):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y))
    choose(page, "smell", "foul")
    shown = "#moves li.known output"
    for_poison = page.find_element(By.CSS_SELECTOR, shown).text
    page.find_element(By.CSS_SELECTOR, "#answers label").click()
    assert page.find_element(By.ID, "of-class").text == "edible"
    for_edible = page.find_element(By.CSS_SELECTOR, shown).text
    assert {for_poison[0], for_edible[0]} == {"+", "−"}
    assert for_poison[1:] == for_edible[1:]


@pytest.mark.parametrize("model", [TAN(), BayesNet(), AveragedTAN()], ids=lambda m: type(m).__name__)
def test_a_node_shows_its_table(opened, model):
    X, y = mushrooms()
    page = opened(model.fit(X, y))
    network = model.map_tree_ if isinstance(model, AveragedTAN) else model.network_
    for node, name in enumerate(network.names):
        page.execute_script("arguments[0].focus()", page.find_element(By.CSS_SELECTOR, f'[data-node="{node}"]'))
        page.switch_to.active_element.send_keys(Keys.ENTER)
        assert page.find_element(By.CSS_SELECTOR, "#table h3").text.startswith(f"P({name}")
        cells = page.execute_script("return [...document.querySelectorAll('#table td')].map((cell) => cell.dataset.p)")
        table = network.table(name)
        above = network.structure.parents[node]
        of_class = network.structure.of_class
        # On the page the class is the last parent.
        axes = [axis for axis, p in enumerate(above) if p != of_class] + [
            a for a, p in enumerate(above) if p == of_class
        ]
        expected = table.transpose(*axes, len(above)).ravel()
        assert [float(cell) for cell in cells] == pytest.approx(expected.tolist(), abs=1e-12)


def test_a_click_does_what_the_keyboard_does(opened):
    X, y = mushrooms()
    page = opened(NaiveBayes().fit(X, y))
    page.find_element(By.CSS_SELECTOR, '[data-node="0"] text').click()
    assert page.find_element(By.CSS_SELECTOR, "#table h3").text == "P(smell | kind)"


def test_hostile_names_are_shown_as_text(opened):
    X, y = mushrooms()
    X.columns = HOSTILE[:4]
    X[HOSTILE[0]] = X[HOSTILE[0]].map({"none": HOSTILE[4], "foul": HOSTILE[5], "musty": HOSTILE[1]})
    model = AveragedTAN().fit(X, y.map({"edible": HOSTILE[2], "poisonous": HOSTILE[3]}).rename(HOSTILE[5]))
    page = opened(model, (X, y.map({"edible": HOSTILE[2], "poisonous": HOSTILE[3]})))
    page.find_element(By.CSS_SELECTOR, '[data-node="0"] text').click()
    item = page.find_elements(By.CSS_SELECTOR, "#moves li")[0]
    Select(item.find_element(By.TAG_NAME, "select")).select_by_index(1)
    assert page.execute_script("return window.broken") is None
    labels = page.execute_script("return [...document.querySelectorAll('#moves label')].map((one) => one.textContent)")
    assert sorted(labels) == sorted(HOSTILE[:4])
    assert page.title == f"AveragedTAN for {HOSTILE[5]}"


def test_a_page_loads_nothing(tmp_path):
    X, y = mushrooms()
    write_report(TAN().fit(X, y), tmp_path / "page.html", X.assign(kind=y))
    text = (tmp_path / "page.html").read_text("utf-8")
    assert not re.search(r"""(src|href)\s*=\s*(?!["']?#)""", text.split("<script>")[0])
    assert "@import" not in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_overflows_the_screen(opened, width):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y), X.assign(kind=y))
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.find_element(By.CSS_SELECTOR, '[data-node="1"] text').click()
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_everything_that_can_be_used_has_a_name(opened):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y), X.assign(kind=y))
    nameless = page.execute_script(
        "return [...document.querySelectorAll('button, input, select, [role=button], [role=region], [role=img]')]"
        ".filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim()))"
        ".map((e) => e.outerHTML)"
    )
    assert nameless == []
    levels = page.execute_script("return [...document.querySelectorAll('h1, h2, h3')].map((e) => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_wide_model_answers_within_a_frame(opened):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (3000, 60))
    X[:, 1:] = np.where(rng.random((3000, 59)) < 0.3, X[:, :-1], X[:, 1:])
    model = TAN().fit(X.astype(str), rng.integers(0, 3, 3000))
    page = opened(model)
    times = page.execute_script(
        "const asked = modelOf(pageData); const codes = pageData.columns.map(() => -1); const times = [];"
        "for (let turn = 0; turn < 120; turn++) {"
        "  const u = (turn * 37) % 60; codes[u] = codes[u] < 0 ? turn % 10 : -1;"
        "  const began = performance.now(); answer(asked, pageData.logPrior, codes, []);"
        "  times.push(performance.now() - began); }"
        "return times.sort((a, b) => a - b)"
    )
    assert times[60] < 16
    page.execute_script("document.querySelector('#moves select').value = '3'")
    page.execute_script("document.querySelector('#moves select').dispatchEvent(new Event('change'))")
    assert float(page.find_element(By.ID, "what-if").get_attribute("data-milliseconds")) < 100


def test_a_thousand_attributes_can_be_used(opened, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (300, 1000)), columns=[f"gene {u}" for u in range(1000)])
    y = (X["gene 77"].to_numpy() + rng.integers(0, 2, 300)) % 2
    page = opened(TAN().fit(X, y))
    assert len(page.find_elements(By.CSS_SELECTOR, "#moves li")) == 20
    page.find_element(By.ID, "find-attribute").send_keys("gene 123")
    assert len(page.find_elements(By.CSS_SELECTOR, "#moves li")) == 1
    choose(page, "gene 123", "1")
    assert float(page.find_element(By.ID, "what-if").get_attribute("data-milliseconds")) < 1000
    finder = page.find_element(By.CSS_SELECTOR, "#network input")
    finder.send_keys("gene 999")
    assert page.find_element(By.CSS_SELECTOR, ".node.chosen").get_attribute("data-node") == "999"
    assert page.find_element(By.CSS_SELECTOR, "#table h3").text.startswith("P(gene 999")
    assert (tmp_path / "report.html").stat().st_size < 3_000_000


def test_weights_of_models_without_evidence_follow_the_order_of_moves(opened):
    X, y = mushrooms()
    model = AveragedTAN().fit(X, y)
    page = opened(model)
    choose(page, "ring", "foul")
    choose(page, "smell", "foul")
    said = [
        model.predict_log_proba(pd.DataFrame([row], columns=X.columns, dtype=object))[0]
        for row in ([None] * 4, [None, None, None, "foul"], ["foul", None, None, "foul"])
    ]
    _, weights = answered(page)
    for name, before, after in (("ring", said[0], said[1]), ("smell", said[1], said[2])):
        moved = after - before
        assert weights[name] == pytest.approx((moved - moved.mean()).tolist(), abs=1e-9)


def test_a_bar_stands_on_the_side_of_its_weight(opened):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y))
    choose(page, "smell", "foul")
    box, bar = (
        "return document.querySelector('#moves li.known .bar').getBoundingClientRect().toJSON()",
        "li.known .bar i",
    )
    for turn in range(2):
        page.find_elements(By.CSS_SELECTOR, "#answers input")[turn].click()
        around = page.execute_script(box)
        middle = around["left"] + around["width"] / 2
        inside = page.execute_script(f"return document.querySelector('{bar}').getBoundingClientRect().toJSON()")
        weight = float(page.find_element(By.CSS_SELECTOR, "li.known output").text.replace("−", "-"))
        assert inside["width"] > 0
        assert (inside["right"] <= middle + 1) if weight < 0 else (inside["left"] >= middle - 1)


def test_the_page_reports_questions_that_it_cannot_answer(opened):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y))
    page.execute_script("Network.prototype.scores = () => { throw new RangeError('too many values are unknown'); }")
    choose(page, "smell", "foul")
    assert "Too many values are unknown" in page.find_element(By.ID, "trouble").text
    assert page.find_elements(By.CSS_SELECTOR, "#answers output")[0].text == "–"


def test_a_large_table_is_shown_in_parts(opened):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 40, 2000)
    X = np.stack([a, (a + rng.integers(0, 2, 2000)) % 40], axis=1).astype(str)
    page = opened(TAN().fit(X, rng.integers(0, 3, 2000)))
    page.find_element(By.CSS_SELECTOR, '[data-node="1"] text').click()
    if not page.find_elements(By.CSS_SELECTOR, "#table button"):
        page.find_element(By.CSS_SELECTOR, '[data-node="0"] text').click()
    assert len(page.find_elements(By.CSS_SELECTOR, "#table tbody tr")) == 50
    page.find_element(By.CSS_SELECTOR, "#table button").click()
    assert len(page.find_elements(By.CSS_SELECTOR, "#table tbody tr")) == 120


def test_arrow_keys_move_between_nodes(opened):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y))
    stops = page.execute_script("return document.querySelectorAll('.node[tabindex=\"0\"]').length")
    assert stops == 1
    page.execute_script("document.querySelector('.node').focus()")
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    page.switch_to.active_element.send_keys(Keys.SPACE)
    assert page.find_element(By.CSS_SELECTOR, "[aria-pressed=true]").get_attribute("data-node") == "1"


def test_very_small_and_very_large_shares_are_not_rounded_away(opened):
    X, y = mushrooms()
    page = opened(TAN().fit(X, y))
    shown = page.execute_script("return [0, 1, 0.5, 0.00004, 1e-9, 1 - 1e-9].map(percent)")
    assert shown == ["0.0 %", "100.0 %", "50.0 %", "0.004 %", "< 0.001 %", "> 99.999 %"]


def test_trees_of_a_class_show_tables_of_that_class(opened):
    X, y = mushrooms()
    model = AveragedTAN(multinet=True).fit(X, y)
    page = opened(model)
    page.find_elements(By.CSS_SELECTOR, '[data-node="0"]')[1].find_element(By.TAG_NAME, "text").click()
    assert page.find_element(By.CSS_SELECTOR, "#table h3").text.endswith("kind = poisonous)")
    cells = page.execute_script("return [...document.querySelectorAll('#table td')].map((cell) => cell.dataset.p)")
    network = model.map_tree_[1]
    of_class = network.structure.parents[0].index(network.structure.of_class)
    expected = np.take(network.table("smell"), 1, axis=of_class).ravel()
    assert [float(cell) for cell in cells] == pytest.approx(expected.tolist(), abs=1e-12)
