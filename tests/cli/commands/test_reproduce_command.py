"""The command that runs a paper's experiment again."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from tanbark import datasets
from tanbark.papers import PAPERS

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.fixture
def folder(tmp_path):
    """A folder that has one of the papers' data sets by name, made of another table."""
    rng = np.random.default_rng(0)
    rows = datasets.balance_scale().frame().to_pylist()
    lines = [",".join(str(v) for v in rows[at].values()) for at in rng.permutation(len(rows))]
    (tmp_path / "car_evaluation.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    return tmp_path


@pytest.mark.parametrize("paper", PAPERS)
def test_a_quick_run_on_real_tables_prints_and_writes_the_tables(run, tmp_path, paper):
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is absent: the tables stand beside the repository, in shared/data")
    sets = {
        "cerquides2003": "iris,Glass,Car",
        "gabn2007": "lenses,hayes_roth",
        "roure2002": "Car",
        "sugahara2018": "lenses,hayes_roth,iris",
    }[paper]
    arguments = ["reproduce", paper, "--data", DATA, "--quick", "--only", sets, "-o", tmp_path / "out", "--jobs", 1]
    result = run(*arguments)
    assert "Table" in result.output or "claims" in result.output
    assert "Written to" in result.output
    for ending in ("md", "html", "csv"):
        assert (tmp_path / "out" / f"{paper}-quick.{ending}").stat().st_size > 500
    with open(tmp_path / "out" / f"{paper}-quick-records.csv") as file:
        found = list(csv.DictReader(file))
    assert {row["set"] for row in found} <= {"iris", "glass", "car_evaluation", "lenses", "hayes_roth"}
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}
    again = run(*arguments)
    assert again.output == result.output
    assert kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}


def test_absent_sets_are_listed_and_a_set_that_fails_says_why(run, folder):
    (folder / "nursery.csv").write_text("a,b,class\n1,2,x\n2,1,x\n")
    sets = "car_evaluation,nursery,adult"
    result = run("reproduce", "roure2002", "--data", folder, "--quick", "--only", sets, "--jobs", 1)
    words = " ".join(result.output.split())
    assert "Absent: Adult." in words
    assert "Failed: Nursery (ValueError: 2 rows are too few: two thirds of them must make a chunk of 100)." in words
    assert "Table 1" in words
    assert (folder / "tanbark-roure2002" / "roure2002-quick.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["roure2003"],
            "there is no paper 'roure2003'; did you mean 'roure2002'?",
        ),
        (["roure2002", "--only", "iris"], "roure2002 has no data set 'iris'; it has adult, nursery"),
        (["roure2002", "--data", "nowhere"], "there is no folder 'nowhere'"),
        (["roure2002", "--only", "adult"], "has none of the data sets 'adult'; each is a file such as adult.csv"),
        (["roure2002", "-o", "car_evaluation.csv"], "car_evaluation.csv is a file; --output must be a folder"),
        (["roure2002", "--jobs", "0"], "--jobs must not be 0; use -1 for all cores"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(run, folder, arguments, message):
    given = arguments if "--data" in arguments else [*arguments, "--data", folder]
    result = run("reproduce", *given, code=1)
    assert message in " ".join(result.output.split())


def test_what_adjusts_p_values_says_beforehand_what_it_needs(run, folder, monkeypatch):
    monkeypatch.setattr(sys.modules["tanbark.cli.commands.reproduce_command"], "find_spec", lambda name: None)
    result = run("reproduce", "sugahara2018", "--data", folder, code=1)
    assert "sugahara2018 needs statsmodels; install it with: pip install 'tanbark[papers]'" in result.stderr
