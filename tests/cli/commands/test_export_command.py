"""``tanbark export``."""

from __future__ import annotations

from pathlib import Path

import pytest

import tanbark
from tanbark import export


@pytest.fixture
def fitted(table, write, run, tmp_path):
    """Return a function from the name of a model to the model, which is then in weather.tanbark."""
    write(table, tmp_path / "weather.csv")

    def fit(name):
        run("fit", "weather.csv", "--target", "walk", "--cv", 0, "--model", name)
        return tanbark.load("weather.tanbark")

    return fit


@pytest.mark.parametrize("form", ["bif", "xmlbif", "dot"])
def test_a_text_is_printed_or_written(run, fitted, form):
    expected = getattr(export, form)(fitted("tan"))
    assert run("export", "weather.tanbark", "--to", form).stdout == expected
    said = run("export", "weather.tanbark", "--to", form, "-o", "network.txt").stdout
    assert said == "Written to network.txt.\n"
    assert Path("network.txt").read_text() == expected


@pytest.mark.parametrize("form", ["bif", "xmlbif", "dot"])
def test_an_additive_model_is_no_network_and_the_refusal_names_one(run, fitted, form):
    fitted("evidence-bn")
    said = run("export", "weather.tanbark", "--to", form, code=1).stderr
    assert said.startswith(f"error: EvidenceBN is not a single network, but {form.upper()} can hold only one; use")
    assert said.endswith("for example --model tan\n")


def test_onnx_is_written_to_a_file_and_a_note_says_what_it_refuses(run, fitted):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    fitted("tan")
    assert run("export", "weather.tanbark", "--to", "onnx", "-o", "m.onnx").stderr == ""
    assert [node.name for node in onnx.load("m.onnx").graph.input] == ["sky", "wind", "degrees"]
    fitted("kdb")
    said = run("export", "weather.tanbark", "--to", "onnx", "-o", "m.onnx").stderr
    assert "this network needs complete rows" in said


def test_sql_predicts_the_rows_of_a_database(run, fitted, table):
    model = fitted("evidence-bn")
    assert run("export", "weather.tanbark", "--to", "sql").stdout == export.sql(model)
    options = ("--table", "main.days", "--keep", "sky", "-o", "score.sql")
    assert run("export", "weather.tanbark", "--to", "sql", *options).stdout == "Written to score.sql.\n"
    assert Path("score.sql").read_text() == export.sql(model, table=("main", "days"), keep=["sky"])
    assert (
        "--table and --keep need --to sql" in run("export", "weather.tanbark", "--to", "dot", *options, code=1).stderr
    )
    fitted("ensemble-bn")
    said = run("export", "weather.tanbark", "--to", "sql", code=1).stderr
    assert said.endswith("use another classifier, for example --model evidence-bn\n")


def test_a_scorecard_is_written_as_csv_or_html_by_the_ending(run, table, write, tmp_path):
    write(table, tmp_path / "weather.csv")
    run("fit", "weather.csv", "--target", "walk", "--cv", 0, "--model", "evidence-bn", "--set", "depth=0")
    model = tanbark.load("weather.tanbark")
    said = run("export", "weather.tanbark", "--to", "scorecard", "-o", "card.csv").stdout
    assert said.startswith("Written to card.csv. Merging intervals changes the log odds by ")
    export.scorecard(model, "expected.csv")
    assert Path("card.csv").read_bytes() == Path("expected.csv").read_bytes()
    options = ("--positive", "no", "--points-to-double", 10, "--base-points", 100, "--base-odds", 1)
    run("export", "weather.tanbark", "--to", "scorecard", "-o", "card.html", *options)
    export.scorecard(model, "expected.html", positive="no", points_to_double=10, base_points=100, base_odds=1)
    assert Path("card.html").read_bytes() == Path("expected.html").read_bytes()


def test_a_scorecard_that_cannot_be_made_is_refused(run, fitted):
    fitted("tan")
    card = ("export", "weather.tanbark", "--to", "scorecard")
    assert "name a file for the scorecard that ends in .csv or .html" in run(*card, code=1).stderr
    assert "--model evidence-bn --set depth=0" in run(*card, "-o", "card.csv", code=1).stderr
    assert "must end in .csv or .html" in run(*card, "-o", "card.pdf", code=1).stderr
    run("fit", "weather.csv", "--target", "walk", "--cv", 0, "--model", "evidence-bn")
    assert "fit it with depth=0" in run(*card, "-o", "card.csv", code=1).stderr
    dot = ("export", "weather.tanbark", "--to", "dot", "--base-odds", 3)
    assert "need --to scorecard" in run(*dot, code=1).stderr
    assert not Path("card.csv").exists()


def test_what_cannot_be_is_said_before_anything_is_written(run, fitted):
    fitted("averaged-tan")
    said = run("export", "weather.tanbark", "--to", "bif", "-o", "x.bif", code=1).stderr
    assert "can hold only a single network" in said
    assert "tanbark.export.bif(model.map_tree_, path)" in said
    assert not Path("x.bif").exists()
    assert run("export", "weather.tanbark", "--to", "dot").stdout.startswith("digraph")
    assert "name a file with --output" in run("export", "weather.tanbark", "--to", "onnx", code=1).stderr
    assert (
        "--to must be one of bif, xmlbif, dot, onnx, sql, scorecard, got 'pdf'"
        in run("export", "w", "--to", "pdf", code=1).stderr
    )
    assert "there is no folder a" in run("export", "weather.tanbark", "--to", "dot", "-o", "a/b.dot", code=1).stderr
    same = ("export", "weather.tanbark", "--to", "dot", "-o", "weather.tanbark")
    assert "choose another output file" in run(*same, code=1).stderr
    assert "there is no file gone.tanbark" in run("export", "gone.tanbark", "--to", "dot", code=1).stderr
    run("export", "weather.tanbark", code=2)


def test_names_are_printed_as_utf_8(run, tmp_path):
    (tmp_path / "t.csv").write_text("色,y\n赤,1\n青,2\n赤,1\n", encoding="utf-8")
    run("fit", "t.csv", "-t", "y", "--cv", "0", "--model", "naive-bayes")
    assert "<NAME>色</NAME>" in run("export", "t.tanbark", "--to", "xmlbif").stdout_bytes.decode("utf-8")
