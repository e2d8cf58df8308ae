"""The commands that are suggested: a user can type them as they are printed."""

import json
import re
import shlex
from pathlib import Path

import openpyxl
import pytest

import tanbark


def suggested(shown):
    """Return the suggested commands as lists of words, and the file of which each reads standard input or None."""
    commands = []
    for line in re.findall(r"^  (tanbark .*)$", shown, re.MULTILINE):
        command, _, file = line.partition(" < ")
        commands.append((shlex.split(command)[1:], file or None))
    return commands


@pytest.fixture
def follow(run):
    """Run all suggested commands, and those that they suggest; return the commands."""

    def follow(shown, depth=2):
        done = []
        for words, file in suggested(shown):
            stdin = None if file is None else Path(file).read_bytes()
            if words[0] == "fit" and "--cv" not in words:
                words = [*words, "--cv", 0]
            result = run(*words, stdin=stdin)
            done.append(words)
            if depth:
                done += follow(result.stdout, depth - 1)
        return done

    return follow


def write_patients(path, missing="n.k."):
    """Write an identifier, a column with a marker of missing values, a note, and the class."""
    rows = [
        [f"P{i}", missing if i % 9 == 4 else 20 + i * 7 % 50, "abc"[i % 3], ["ill", "well"][i * i % 7 < 3]]
        for i in range(60)
    ]
    names = ["patient", "age", "my city", "the outcome"]
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        sheet = book.create_sheet("second one")
        for row in [names, *rows]:
            sheet.append(row)
        book.save(path)
    else:
        lines = [",".join(map(str, row)) for row in [names, *rows]]
        path.write_text("\n".join(lines) + "\n", "utf-8")


OPTIONS = ["-t", "the outcome", "--ignore", "patient", "--missing", "n.k.", "--categorical", "my city", "--n-bins", 7]


@pytest.mark.parametrize("name", ["my patients.csv", "patients.xlsx"])
def test_commands_after_fit_repeat_the_options_that_matter(run, follow, tmp_path, name):
    write_patients(tmp_path / name)
    sheet = ["--sheet", "second one"] if name.endswith("xlsx") else []
    shown = run("fit", name, *OPTIONS, *sheet, "--cv", 0).stdout
    done = follow(shown)
    assert [words[0] for words in done[:3]] == ["show", "report", "predict"]
    best = tanbark.load("best.tanbark")
    first = tanbark.load(f"{name.partition('.')[0]}.tanbark")
    assert best.schema_ == first.schema_
    assert best.schema_.names == ("age", "my city")
    assert Path("predictions.csv").exists()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_commands_after_standard_input_read_a_file_that_the_user_names(run, follow, table, write, tmp_path, kind):
    path = write(table, tmp_path / f"ROWS.{kind}")
    words = [] if kind == "csv" else ["--from", kind]
    shown = run("fit", "-", *words, "-t", "walk", "--cv", 0, stdin=path.read_bytes()).stdout
    assert f"The rows came from standard input: replace ROWS.{kind} by a file with them." in shown
    assert any("--best" in words for words in follow(shown))
    assert Path("predictions.csv").exists()
    shown = run("compare", "-", *words, "-t", "walk", "-m", "tan", "--folds", 2, stdin=path.read_bytes()).stdout
    assert f"replace ROWS.{kind} by" in shown
    assert follow(shown)[0][:2] == ["fit", "-"]


def test_a_numeric_class_stays_cut(run, follow, tmp_path):
    rows = [f"{i % 4},{i % 3},{i * 7 % 50}.5" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    follow(run("fit", "t.csv", "-t", "y", "--bin-target", 3, "--cv", 0).stdout)
    assert len(tanbark.load("best.tanbark").classes_) == 3
    follow(run("compare", "t.csv", "-t", "y", "--bin-target", 3, "-m", "tan", "--folds", 2).stdout)
    assert len(tanbark.load("t.tanbark").classes_) == 3


def test_commands_after_schema_leave_the_same_columns_out(run, follow, tmp_path):
    write_patients(tmp_path / "t.csv")
    shown = run("schema", "t.csv", *OPTIONS[:6]).stdout
    [(words, _)] = suggested(shown)
    shown = run(*words).stdout
    assert Path("schema.json").exists()
    follow(shown, depth=0)
    assert tanbark.load("t.tanbark").schema_.names == ("age", "my city")
    assert json.loads(Path("schema.json").read_text())["target"] == "the outcome"
