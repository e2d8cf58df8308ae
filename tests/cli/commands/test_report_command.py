"""``tanbark report`` and ``tanbark fit --report``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tanbark


@pytest.fixture
def model(table, write, run, tmp_path):
    write(table, tmp_path / "weather.csv")
    run("fit", "weather.csv", "--target", "walk", "--cv", 0, "--model", "tan")
    return tanbark.load("weather.tanbark")


def test_a_page_is_written_beside_where_the_command_runs(run, model):
    assert "Written to weather.html" in run("report", "weather.tanbark").stdout
    page = Path("weather.html").read_text()
    assert "TAN for walk" in page
    assert "Performance" not in page


def test_rows_judge_the_model(run, model, table):
    run("report", "weather.tanbark", "weather.csv", "-o", "page.html")
    page = Path("page.html").read_text()
    accuracy = (model.predict(table.drop_columns("walk")) == table["walk"].to_numpy(False)).mean()
    assert "Measured on the 40 given rows that have a known walk." in page
    assert f"<dd>{accuracy:.1%}</dd>" in page


def test_a_file_of_an_additive_model_has_a_page(run, table, write, tmp_path):
    write(table, tmp_path / "weather.csv")
    run("fit", "weather.csv", "--target", "walk", "--model", "evidence-bn", "--cv", 0)
    run("report", "weather.tanbark", "weather.csv", "-o", "page.html")
    page = Path("page.html").read_text()
    assert "EvidenceBN for walk" in page
    assert "Measured on the 40 given rows that have a known walk." in page


def test_the_class_may_be_renamed_and_further_columns_be_there(run, model, table, write, tmp_path):
    renamed = table.rename_columns({"walk": "walked"}).append_column("id", [list(range(40))])
    write(renamed, tmp_path / "new.parquet")
    run("report", "weather.tanbark", "new.parquet", "-o", "page.html", "--target", "walked")
    assert "Measured on the 40 given rows" in Path("page.html").read_text()


def test_a_page_on_rows_without_a_class_says_that_the_performance_was_not_measured(run, model, table, write, tmp_path):
    write(table.drop_columns("walk"), tmp_path / "new.parquet")
    empty = table.set_column(3, "walk", [[None] * 40])
    write(empty.cast(table.schema), tmp_path / "empty.parquet")
    for name in ("new.parquet", "empty.parquet"):
        shown = run("report", "weather.tanbark", name, "-o", "page.html").stdout
        sentence = "the rows have no known walk, so the performance was not measured"
        assert f"note: {sentence}\n" in shown
        assert sentence[1:] in Path("page.html").read_text()


def test_scripts_are_told_where_the_page_is(run, model):
    told = json.loads(run("report", "weather.tanbark", "weather.csv", "--json").stdout)
    notes = told.pop("notes")
    assert told == {"file": "weather.tanbark", "output": "weather.html", "rows": 40}
    assert [note.partition(" that")[0] for note in notes] == ["these are the rows"]


def test_fit_writes_a_page_judged_by_what_each_fold_held_out(run, table, write, tmp_path):
    write(table, tmp_path / "weather.csv")
    said = run("fit", "weather.csv", "--target", "walk", "--report", "page.html", "--cv", 4)
    page = Path("page.html").read_text()
    assert "Measured on the held-out rows of 4-fold cross-validation." in page
    assert said.stdout.split("accuracy ")[1].split(",")[0] in page
    assert "Report written to page.html" in said.stdout
    run("fit", "weather.csv", "--target", "walk", "--report", "page.html", "--cv", 0)
    assert "Performance" not in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["weather.tanbark", "-o", "nowhere/page.html"], "cannot write nowhere/page.html: there is no folder nowhere"),
        (["weather.tanbark", "-o", "weather.tanbark"], "weather.tanbark is already an input or output"),
        (["weather.tanbark", "weather.csv", "-o", "weather.csv"], "weather.csv is already an input or output"),
        (["weather.tanbark", "weather.csv", "--target", "oak"], "has no column 'oak'"),
        (["weather.tanbark", "--target", "walk"], "give DATA after MODEL"),
        (["weather.tanbark", "--from", "csv"], "give DATA after MODEL"),
        (["nothing.tanbark"], "nothing.tanbark"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(run, model, arguments, words):
    before = Path("weather.tanbark").read_bytes()
    said = run("report", *arguments, code=1).stderr
    assert words in said
    assert said.count("\n") == 1
    assert Path("weather.tanbark").read_bytes() == before


def test_fit_refuses_a_page_in_the_place_of_the_model(run, table, write, tmp_path):
    write(table, tmp_path / "weather.csv")
    said = run("fit", "weather.csv", "--target", "walk", "-o", "a.html", "--report", "a.html", code=1).stderr
    assert "a.html is already an input or output of this command" in said
    assert not Path("a.html").exists()
