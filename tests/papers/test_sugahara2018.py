"""The transcribed figures of the paper, the records of a cell, and the report."""

import numpy as np
import pytest
from scipy import stats

from tanbark import AugmentedNaiveBayes, Encoder, MarkovBlanketSelector, datasets
from tanbark.papers import sugahara2018
from tanbark.papers.experiment_cells import Cell, Done
from tanbark.papers.samples import complete

AVERAGES = {
    "Naive Bayes": 0.7764,
    "GBN-CMDL": 0.7721,
    "BNC2P": 0.7936,
    "TAN-aCLL": 0.7943,
    "gGBN-BDeu": 0.7867,
    "GBN-BDeu": 0.7963,
    "ANB-BDeu": 0.8061,
    "MNaive Bayes": 0.7867,
    "MGBN-CMDL": 0.7801,
    "MBNC2P": 0.7993,
    "MTAN-aCLL": 0.7981,
    "MgGBN-BDeu": 0.7961,
    "MANB-BDeu": 0.8074,
}
"""The last rows of the paper's Tables 1 and 3."""
OFF = {"GBN-CMDL": 1e-3, "gGBN-BDeu": 1e-3, "MGBN-CMDL": 2e-3}
"""Tolerances for three methods whose columns, as far as legible, do not quite have the printed averages."""


@pytest.mark.parametrize("method", AVERAGES)
def test_the_transcribed_accuracies_have_the_averages_that_the_paper_prints(method):
    mean = np.mean([float(paper[method]) for paper in sugahara2018.printed().values()])
    assert mean == pytest.approx(AVERAGES[method], abs=OFF.get(method, 1.01e-4))


def test_most_printed_p_values_are_wilcoxons_without_adjustment():
    accuracies = {m: [float(paper[m]) for paper in sugahara2018.printed().values()] for m in AVERAGES}
    for method, printed in zip(AVERAGES, sugahara2018.P_VALUES["ANB-BDeu"], strict=False):
        plain = stats.wilcoxon(accuracies[method], accuracies["ANB-BDeu"]).pvalue
        assert plain == pytest.approx(printed, rel=0.08)
    restricted = ["MNaive Bayes", "MGBN-CMDL", "MBNC2P", "MTAN-aCLL", "MgGBN-BDeu", "GBN-BDeu"]
    near = [
        stats.wilcoxon(accuracies["MANB-BDeu"], accuracies[method], alternative="greater").pvalue
        == pytest.approx(printed, rel=0.02)
        for method, printed in zip(restricted, sugahara2018.P_VALUES["MANB-BDeu"], strict=True)
    ]
    assert near == [True, False, True, True, True, False]


@pytest.fixture(scope="module")
def results(folder):
    data = datasets.read_folder(folder)
    cells = sugahara2018.EXPERIMENT.cells("iris", True)
    return {"iris": [Done(cell, sugahara2018.run(data["iris"], cell), 0.0) for cell in cells]}


def test_a_fold_equals_a_pipeline_of_blanket_selector_and_classifier(folder, results):
    train, test = complete(datasets.read_folder(folder)["iris"]).fold(0, 3)
    encoder = Encoder(n_bins=2)
    selector = MarkovBlanketSelector(search="exact", ess=1.0, encoder=encoder).fit(train.table, train.classes)
    model = AugmentedNaiveBayes(search="exact", ess=1.0, encoder=encoder)
    model.fit(selector.transform(train.table), train.classes)
    accuracy = (model.predict(selector.transform(test.table)) == test.classes).mean()
    [found] = [r for r in results["iris"][0].records if r.get("method") == "MANB-BDeu"]
    assert found["accuracy"] == accuracy
    [exact] = [r for r in results["iris"][0].records if r.get("method") == "GBN-BDeu"]
    assert exact["blanket_members"] == selector.get_support(indices=True).tolist()


def test_rows_with_missing_values_and_constant_columns_are_removed(folder):
    data = datasets.read_folder(folder)["iris"]
    frame = data.frame().to_pandas()
    assert len(complete(data).classes) == len(frame.dropna()) < len(frame)
    flat = datasets.Dataset.from_columns("flat", {"a": [1, 1, 1], "b": [1, 2, None]}, ["x", "y", "x"], source="-")
    assert complete(flat).table.column_names == ["b"]


def test_the_report_has_the_papers_tables_next_to_ours(results):
    first, third, second, sizes = sugahara2018.report(results)
    assert first.rows[0] == ["iris (variant)", "paper", "71.33", "78.00", "82.00", "82.00", "81.33", "82.67", "82.00"]
    values = [r["accuracy"] for one in results["iris"] for r in one.records if r.get("method") == "Naive Bayes"]
    error = np.std(values, ddof=1) / np.sqrt(3)
    assert first.rows[1][2].startswith(f"{100 * np.mean(values):.2f} ±{100 * error:.2f}")
    assert third.columns[-1] == "MANB-BDeu"
    assert second.rows[0][:4] == ["iris (variant)", "paper", "1.8", "1.2"]
    assert sizes.rows[0][:2] == ["iris (variant)", "iris.csv"]
    assert sizes.rows[0][-3:] == ["150", "4", "3"]


def test_a_failed_method_is_reported_with_the_reason(folder, monkeypatch):
    def broken(**_settings):
        raise ValueError("out of range")

    monkeypatch.setitem(sugahara2018.METHODS, "BNC2P", broken)
    monkeypatch.setitem(sugahara2018.METHODS, "GBN-BDeu", broken)
    data = datasets.read_folder(folder)["iris"]
    done = [Done(cell, sugahara2018.run(data, cell), 0.0) for cell in (Cell("iris", part, 2) for part in range(2))]
    whole = Done(Cell("iris", 2, 2), sugahara2018.run(data, Cell("iris", 2, 2)), 0.0)
    assert whole.records[0]["failed"] == "ValueError: out of range"
    first, third, second, _ = sugahara2018.report({"iris": [*done, whole]})
    assert first.rows[1][4] == "failed: ValueError: out of range"
    assert "±" in first.rows[1][2]
    assert third.rows[1][2] == "failed: ValueError: out of range"
    assert second.rows[1][2] == "failed"
