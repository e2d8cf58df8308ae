from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tanbark

TANBARK = Path(sys.executable).parent / "tanbark"


def shell(*words, **settings):
    return subprocess.run([TANBARK, *map(str, words)], capture_output=True, text=True, timeout=120, **settings)


def test_help_names_the_commands_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom tanbark.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'duckdb', 'pyarrow', 'narwhals', 'tanbark.classifiers'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert all(command in done.stdout for command in ("fit", "predict", "show", "demo"))


def test_the_version_is_printed(run):
    assert run("--version").stdout == f"tanbark {tanbark.__version__}\n"


def test_a_wrong_option_is_a_usage_error(run):
    run("fit", "t.csv", "--oak", code=2)


def test_debug_shows_the_traceback_before_the_sentence(tmp_path):
    done = shell("--debug", "fit", "gone.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("error: there is no file gone.csv\n")
    assert shell("fit", "gone.csv", cwd=tmp_path).stderr == "error: there is no file gone.csv\n"


def test_a_closed_pipe_is_no_error(write, table, tmp_path):
    write(table, tmp_path / "t.csv")
    assert shell("fit", "t.csv", "-t", "walk", "--cv", "0", cwd=tmp_path).returncode == 0
    many = (tmp_path / "t.csv").read_text().splitlines(keepends=True)
    (tmp_path / "many.csv").write_text(many[0] + "".join(many[1:] * 2000))
    command = f"'{TANBARK}' predict t.tanbark many.csv | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("sky,wind,degrees,walk,prediction,")
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_an_interrupt_is_one_line(tmp_path):
    os.mkfifo(tmp_path / "slow.csv")
    started = subprocess.Popen(
        [TANBARK, "fit", "slow.csv"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(2)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert (started.returncode, said) == (130, "stopped\n")


def test_the_demo_runs_and_ends_with_commands_that_exist(run):
    said = run("demo").stdout
    for words in ("tic_tac_toe", "log loss", "10-fold cross-validation", "└─", "speaks for", "tanbark fit TABLE.csv"):
        assert words in said
