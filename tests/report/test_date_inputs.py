"""Dates in the report: shown as dates, and entered as dates in the what-if panel of a real browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tanbark import TAN, Encoder, EvidenceBN, NaiveBayes, Number, Schema, write_report
from tanbark.report.date_inputs import date_inputs

ROWS = 300
RNG = np.random.default_rng(1)
SEEN = pd.Timestamp("2022-01-01") + pd.to_timedelta(RNG.integers(0, 700 * 24, ROWS), unit="h")
Y = np.where(RNG.random(ROWS) < 0.1, "p", np.where(SEEN.month < 6, "p", "q"))
X = pd.DataFrame({"seen": SEEN, "size": RNG.normal(size=ROWS).round(1)})
DAYS = X.assign(seen=X.seen.dt.normalize())

ENTER = (
    "const date = document.querySelector('#moves input'); date.value = arguments[0];"
    "date.dispatchEvent(new Event('change')); return date.type;"
)


def answered(page):
    """Return the probabilities that the page shows when it is done."""
    By = pytest.importorskip("selenium.webdriver.common.by").By
    wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
    wait(page, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, "#what-if[data-ready=true]"))
    found = [float(one.get_attribute("data-log")) for one in page.find_elements(By.CSS_SELECTOR, "#answers output")]
    return np.exp(found)


@pytest.mark.parametrize("classifier", [NaiveBayes, TAN, EvidenceBN])
@pytest.mark.parametrize(("table", "kind"), [(X, "datetime-local"), (DAYS, "date")])
def test_a_date_that_is_entered_gives_the_prediction_of_python(opened, classifier, table, kind):
    model = classifier().fit(table, Y)
    page = opened(model)
    for moment in (SEEN[3], SEEN[70], SEEN[200]):
        moment = moment if kind == "datetime-local" else moment.normalize()
        text = moment.strftime("%Y-%m-%dT%H:%M" if kind == "datetime-local" else "%Y-%m-%d")
        assert page.execute_script(ENTER, text) == kind
        row = pd.DataFrame({"seen": [moment], "size": [np.nan]})
        np.testing.assert_allclose(answered(page), model.predict_proba(row)[0], rtol=1e-9)


def test_clearing_a_date_forgets_all_its_columns(opened):
    model = NaiveBayes().fit(X, Y)
    page = opened(model)
    before = answered(page)
    page.execute_script(ENTER, "2022-03-01T12:00")
    assert abs(answered(page) - before).max() > 0.01
    page.execute_script(ENTER, "")
    np.testing.assert_allclose(answered(page), before, rtol=1e-12)


def test_choosing_one_value_by_hand_clears_the_date(opened):
    page = opened(NaiveBayes().fit(X, Y))
    page.execute_script(ENTER, "2022-03-01T12:00")
    answered(page)
    value = page.execute_script(
        "const item = [...document.querySelectorAll('#moves li')].find((one) => one.innerText.includes('month'));"
        "const select = item.querySelector('select'); select.value = '7'; select.dispatchEvent(new Event('change'));"
        "return document.querySelector('#moves input').value;"
    )
    assert value == ""


def test_the_inputs_describe_the_columns_of_each_date():
    schema = NaiveBayes().fit(X, Y).schema_
    found = date_inputs(schema)
    assert list(found) == [0]
    assert found[0]["hasTime"]
    assert [part["column"] for part in found[0]["parts"]] == [1, 2, 3]
    assert found[0]["parts"][0]["codes"] == list(range(7))
    assert found[0]["parts"][1]["codes"] == list(range(12))
    hours = schema.columns[3].cuts
    assert found[0]["parts"][2]["codes"] == [sum(hour > cut for cut in hours) for hour in range(24)]
    assert date_inputs(Schema([Number("size", (1.5,))], ("no", "yes"))) == {}


def test_the_report_shows_dates_as_dates(tmp_path):
    model = NaiveBayes(encoder=Encoder(n_bins=2)).fit(DAYS, Y)
    path = tmp_path / "report.html"
    write_report(model, path)
    content = json.loads(re.search(r'id="page-data">(.*?)</script>', path.read_text("utf-8"), re.S)[1])
    median = np.sort(DAYS.seen)[ROWS // 2 - 1]
    day = str(np.datetime64(median, "D"))
    assert content["columns"][0]["labels"] == [f"<= {day}", f"> {day}"]
    assert "<td>date</td>" in path.read_text("utf-8")
