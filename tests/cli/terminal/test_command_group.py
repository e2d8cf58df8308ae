from __future__ import annotations

import re
import subprocess
import sys
import warnings

import pytest
from typer.testing import CliRunner

import tanbark
from tanbark.cli import app

TANBARK = (sys.executable, "-m", "tanbark")


def test_help_names_the_commands_and_the_exit_codes(run):
    said = " ".join(run("--help").stdout.split())
    for words in ("fit", "predict", "show", "demo", "--quiet", "--install-completion"):
        assert words in said
    for code in (
        "0 success",
        "1 error",
        "2 invalid command line",
        "130 interrupted",
        "141 output pipe closed",
        "143 terminated",
    ):
        assert code in said


def test_no_command_at_all_is_a_wish_for_help(run):
    assert run().stdout == run("--help").stdout


def test_the_version_is_printed(run):
    assert run("--version").stdout == f"tanbark {tanbark.__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--oak"], r"no such option.*--oak.* \(see .* --help\)"),
        (["fti"], r"no such command 'fti'.* \(see .* --help\)"),
        (["fit"], r"missing argument 'DATA' \(see .* fit --help\)"),
        (["fit", "t.csv", "--targe", "y"], r"no such option.*--targe.*--target.* \(see .* fit --help\)"),
        (["fit", "t.csv", "--cv", "many"], r"invalid value for '--cv': .*integer.* \(see .* fit --help\)"),
    ],
)
def test_wrong_usage_is_one_sentence_that_says_where_to_look(run, words, said):
    assert re.fullmatch(f"error: {said}\n", run(*words, code=2).stderr)


@pytest.mark.parametrize("words", [["--debug", "fit", "gone.csv"], ["fit", "gone.csv", "--debug"]])
def test_debug_shows_the_traceback_before_the_sentence_wherever_it_stands(monkeypatch, tmp_path, words):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert done.stderr.startswith("Traceback")
    assert done.stderr.endswith("error: there is no file gone.csv\n")
    assert CliRunner().invoke(app, ["fit", "gone.csv"]).stderr == "error: there is no file gone.csv\n"


@pytest.mark.parametrize("words", [[], ["--quiet"]])
def test_a_warning_is_a_note_said_once(monkeypatch, words):
    def load(path):
        for _ in range(2):
            warnings.warn("the moon is full; wait", stacklevel=1)
        raise ValueError("no model")

    monkeypatch.setattr("tanbark.files.load", load)
    warnings.simplefilter("default")
    said = CliRunner().invoke(app, ["show", "m.tanbark", *words]).stderr
    assert said == ("" if words else "note: the moon is full; wait\n") + "error: no model\n"


def test_an_error_does_not_command_the_terminal(run, monkeypatch):
    def load(path):
        raise ValueError("written by \x1b]0;title\x07\x1b[31mred; upgrade")

    monkeypatch.setattr("tanbark.files.load", load)
    said = run("show", "m.tanbark", code=1).stderr
    assert said == "error: written by \ufffd]0;title\ufffd\ufffd[31mred; upgrade\n"


@pytest.mark.parametrize("words", [["-q", "fit", "t.csv"], ["fit", "t.csv", "--quiet"]])
def test_quiet_tells_nothing_but_errors_wherever_it_stands(run, write, table, tmp_path, words):
    write(table, tmp_path / "t.csv")
    assert run(*words, "-t", "walk").output == ""
    assert "no column 'sit'" in run(*words, "-t", "sit", code=1).stderr
    assert "40 rows" in run("fit", "t.csv", "-t", "walk").stdout
    assert run("--quiet", "predict", "t.tanbark", "t.csv", "-o", "p.csv").output == ""
    assert run("--quiet", "update", "t.tanbark", "t.csv").output == ""
    assert run("--quiet", "show", "t.tanbark").stdout == run("show", "t.tanbark").stdout


def test_it_is_a_module_too(tmp_path):
    done = subprocess.run([*TANBARK, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"tanbark {tanbark.__version__}\n"


def test_a_closed_pipe_ends_the_command_without_a_word(run, write, table, tmp_path):
    write(table, tmp_path / "t.csv")
    run("fit", "t.csv", "-t", "walk", "--cv", "0")
    many = (tmp_path / "t.csv").read_text().splitlines(keepends=True)
    (tmp_path / "many.csv").write_text(many[0] + "".join(many[1:] * 400))
    command = f"'{sys.executable}' -m tanbark predict t.tanbark many.csv | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("sky,wind,degrees,walk,prediction,")
    assert done.stdout.endswith("\n141\n")
    assert done.stderr == ""
    command = f"'{sys.executable}' -m tanbark show t.tanbark | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_the_demo_runs_and_ends_with_commands_that_exist(run):
    said = run("demo").stdout
    for words in ("tic_tac_toe", "log loss", "10-fold cross-validation", "└─", "Evidence for", "tanbark fit TABLE.csv"):
        assert words in said
