from __future__ import annotations

import pytest

import tanbark
from tanbark.datasets import lenses


@pytest.fixture
def model(write, run, tmp_path):
    write(lenses().frame(), tmp_path / "lenses.csv")
    run("fit", "lenses.csv", "--cv", 0)
    return tanbark.load("lenses.tanbark")


def plain(text):
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_the_network_the_columns_and_the_settings_are_shown(run, model):
    said = plain(run("show", "lenses.tanbark").stdout)
    assert str(model.network_) in said
    # 15 of 24 patients wear none; ten rows of prior are spread over the three classes.
    none = (15 + 10 / 3) / (24 + 10)
    for words in ("24 rows", "ess=10.0", f"none {none:.1%}", "I(X;C)", "myope", "tan, attributes depend"):
        assert words in said


def test_a_table_shows_every_probability(run, model):
    for name in model.network_.names:
        said = run("show", "lenses.tanbark", "--table", name).stdout
        for p in model.network_.table(name).ravel():
            assert f"{p:.4f}" in said


def test_a_node_that_is_not_there_gets_one_sentence(run, model):
    assert "no node is named 'oak'; the nodes are" in run("show", "lenses.tanbark", "--table", "oak", code=1).stderr


def test_a_model_fitted_in_python_is_shown(run):
    X, y = lenses()
    tanbark.save(tanbark.NaiveBayes().fit(X, y), "m.tanbark")
    assert "x3" in run("show", "m.tanbark").stdout
