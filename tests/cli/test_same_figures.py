"""One figure for one thing: fit, compare, evaluate, report and Python measure in the same way."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tanbark
from tanbark.evaluate import cross_validate
from tanbark.evaluate.metrics import calibration_error


def tiles(page):
    """Return the figures that a page shows, by name."""
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", Path(page).read_text()))


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 150)
    ill = rng.random(150) < np.where(age > 50, 0.9, 0.1)
    lines = [f"{a},{c},{'ill' if i else 'well'}" for a, c, i in zip(age, rng.choice(list("pqr"), 150), ill)]
    (tmp_path / "patients.csv").write_text("\n".join(["age,city,outcome", *lines]) + "\n")


@pytest.mark.usefixtures("patients")
def test_fit_its_report_and_compare_show_the_same_figures_on_the_same_folds(run):
    words = ("patients.csv", "-t", "outcome", "-m", "tan")
    fitted = json.loads(run("fit", *words, "--cv", 5, "--report", "page.html", "--json").stdout)["cross_validation"]
    compared = json.loads(run("compare", *words, "--folds", 5, "--json").stdout)
    [rank] = compared["ranking"]
    for metric in ("error", "log_loss", "brier", "auc", "calibration_error"):
        assert fitted[metric] == rank[metric]
    assert fitted["baseline"] == compared["baseline"]
    shown = tiles("page.html")
    assert shown["accuracy"] == f"{1 - fitted['error']['mean']:.1%}"
    assert shown["log loss"] == f"{fitted['log_loss']['mean']:.3f} nats"
    assert shown["calibration error"] == f"{fitted['calibration_error']['mean']:.1%}"
    page = Path("patients-comparison.html").read_text()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page.partition(">tan<")[2])
    assert f"{100 * fitted['calibration_error']['mean']:.1f} ± " in " ".join(cells[:6])
    assert f"tan  {fitted['calibration_error']['mean']:.3f}" in page
    assert ">majority class<" in page
    assert "majority class" in run("compare", *words, "--folds", 5).stdout


@pytest.mark.usefixtures("patients")
def test_evaluate_report_and_predict_show_the_same_figures_of_the_same_rows(run, tmp_path):
    run("fit", "patients.csv", "-t", "outcome", "-m", "tan", "--cv", 0)
    # A class that the model does not know counts as wrong everywhere, and a row without a class is left out.
    lines = (tmp_path / "patients.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([*lines[:90], "30,p,recovered", "31,q,"]))
    found = json.loads(run("evaluate", "patients.tanbark", "new.csv", "--json").stdout)
    run("report", "patients.tanbark", "new.csv", "-o", "page.html")
    predicted = json.loads(run("predict", "patients.tanbark", "new.csv", "-o", "p.csv", "--json").stdout)
    assert predicted["accuracy"] == found["accuracy"]["mean"]
    assert tiles("page.html") == {
        "accuracy": f"{found['accuracy']['mean']:.1%}",
        "log loss": f"{found['log_loss']['mean']:.3f} nats",
        "Brier score": f"{found['brier']:.3f}",
        "area under ROC": f"{found['auc']:.3f}",
        "calibration error": f"{found['calibration_error']:.1%}",
    }
    assert f"an accuracy of {found['baseline']['accuracy']:.1%}" in Path("page.html").read_text()


@pytest.mark.usefixtures("patients")
def test_fit_prints_the_baseline_and_warns_if_the_model_does_not_beat_it(run):
    shown = run("fit", "patients.csv", "-t", "outcome").stdout
    assert "\nbaseline " in shown
    assert "better than" not in shown
    useless = run("fit", "patients.csv", "-t", "city", "--ignore", "age").stdout
    assert "better than always predicting '" in useless
    assert "better than always predicting the class frequencies" in useless
    document = json.loads(run("fit", "patients.csv", "-t", "city", "--ignore", "age", "--json").stdout)
    assert any("better than always predicting" in note for note in document["notes"])
    assert set(document["cross_validation"]["baseline"]) == {"class", "accuracy", "log_loss"}


def test_the_calibration_error_of_folds_is_that_of_all_their_rows_together():
    X, y = tanbark.datasets.tic_tac_toe()
    found = cross_validate(tanbark.TAN(), X, y, folds=5, repeats=2)
    truth, logs = found.pooled
    assert found.mean("calibration_error") == pytest.approx(calibration_error(truth, logs), abs=1e-12)
    # The jackknife: the error without each fold, corrected for folds that share training rows.
    left = []
    for k in range(10):
        rest = [fold for at, fold in enumerate(found.folds) if at != k]
        left.append(
            calibration_error(
                np.concatenate([fold.truth for fold in rest]),
                np.concatenate([fold.log_probabilities for fold in rest]),
            )
        )
    variance = 9**2 * np.var(left, ddof=1) * (1 / 10 + 1 / 4)
    assert found.standard_error("calibration_error") == pytest.approx(np.sqrt(variance), rel=1e-3)


def test_numbers_of_rows_and_levels_have_thousands_separators(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{a},k{z},{'no' if a > 50 and i % 3 else 'yes'}" for i, (a, z) in enumerate(rng.integers(0, 99, (4500, 2)))
    ]
    names = [f"{line},q{i % 1500}" for i, line in enumerate(lines)]
    (tmp_path / "t.csv").write_text("\n".join(["age,zip,y,code", *names]) + "\n")
    shown = [
        run("fit", "t.csv", "-t", "y", "-m", "tan", "--max-levels", 2000, "--cv", 0, "--report", "fit.html").stdout,
        run("evaluate", "t.tanbark", "t.csv").stdout,
        run("show", "t.tanbark").stdout,
        run("schema", "t.csv", "-t", "y").stdout,
        run("compare", "t.csv", "-t", "y", "-m", "naive-bayes", "--folds", 2).stdout,
        run("predict", "t.tanbark", "t.csv", "-o", "p.csv").stderr,
        run("update", "t.tanbark", "t.csv").stdout,
    ]
    run("report", "t.tanbark", "t.csv", "-o", "rows.html")
    for page in ("fit.html", "rows.html", "t-comparison.html"):
        body = re.sub(r"<(script|style|svg).*?</\1>", "", Path(page).read_text(), flags=re.DOTALL)
        shown.append(re.sub(r"<[^>]+>", " ", body))
    assert "code (1,500)" in shown[0]
    for text in shown:
        assert re.search(r"\b[49],[05]00\b", text)
        assert not re.search(r"(?<![\d.,q])\d{4,}(?!\d*[.,:\d])", text.replace("2000", "")), text
