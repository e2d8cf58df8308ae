"""Rows from standard input, which can be read once only."""

from __future__ import annotations

import csv
import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet
import pytest

import tanbark


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Keep temporary files in a folder of the test's own, which must be empty at the end."""
    folder = tmp_path.with_name(f"{tmp_path.name}-temporary")
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", [None, "csv", "jsonl", "arff", "parquet"])
def test_rows_of_every_kind_are_learned_as_from_a_file(run, write, table, tmp_path, kind):
    path = write(table, tmp_path / f"t.{kind or 'csv'}")
    run("fit", path, "-t", "walk", "--cv", 0)
    words = [] if kind is None else ["--from", kind]
    said = run("fit", "-", *words, "-t", "walk", "--cv", 0, stdin=path.read_bytes()).stdout
    assert "standard input: 40 rows, 4 columns" in said
    assert "tanbark predict stdin.tanbark - -o predictions.csv" in said
    assert tanbark.load("stdin.tanbark").counts_ == tanbark.load("t.tanbark").counts_


def test_large_input_is_read_more_than_once(run, write, table, tmp_path, monkeypatch):
    path = write(table, tmp_path / "t.csv")
    run("fit", path, "-t", "walk", "--cv", 0, "--model", "tan")
    monkeypatch.setattr("tanbark.cli.input.fit_from_rows.MAX_BYTES_IN_MEMORY", 0)
    run("fit", "-", "-t", "walk", stdin=path.read_bytes())
    assert tanbark.load("stdin.tanbark").counts_ == tanbark.load("t.tanbark").counts_


def test_predictions_go_through_a_pipe(run, write, table, tmp_path):
    path = write(table, tmp_path / "t.csv")
    run("fit", path, "-t", "walk", "--cv", 0)
    expected = run("predict", "t.tanbark", path).stdout
    assert run("predict", "t.tanbark", "-", stdin=path.read_bytes()).stdout == expected
    lines = run("predict", "t.tanbark", "-", "--to", "jsonl", stdin=path.read_bytes()).stdout.splitlines()
    rows = list(csv.DictReader(expected.splitlines()))
    assert [json.loads(line)["prediction"] for line in lines] == [row["prediction"] for row in rows]
    parquet = run("predict", "t.tanbark", path, "--to", "parquet").stdout_bytes
    assert pa.parquet.read_table(pa.py_buffer(parquet)).num_rows == 40


def test_update_and_compare_read_it_too(run, write, table, tmp_path):
    path = write(table, tmp_path / "t.csv")
    run("fit", path, "-t", "walk", "--cv", 0)
    run("update", "t.tanbark", "-", stdin=path.read_bytes())
    assert tanbark.load("t.tanbark").counts_.class_counts.sum() == 80
    words = ["compare", "-", "-t", "walk", "-m", "naive-bayes", "--folds", 2, "--jobs", 1]
    said = run(*words, stdin=path.read_bytes()).stdout
    assert "standard input: 40 rows" in said
    assert "Written to stdin-comparison.html" in said
    assert "tanbark fit - --target walk --model naive-bayes" in said


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (["fit", "-"], b"", "standard input is empty; its first line must name the columns"),
        (["fit", "-", "-t", "a"], b"a,b\n1,2,3\n", "standard input, line 2: expected 2 values, one per column, got 3"),
        (["fit", "-", "-t", "c"], b"a,b\n1,2\n", "standard input has no column 'c'; it has 'a', 'b'"),
        (["fit", "-", "--from", "arff"], b"a,b\n1,2\n", "standard input, line 1: expected @attribute or @data"),
        (
            ["fit", "-", "--from", "doc"],
            b"",
            "--from must be one of csv, jsonl, arff, parquet, xlsx, feather, got 'doc'",
        ),
        (["fit", "-"], b"PAR1 and more", "standard input: this is a Parquet file; use --from parquet"),
        (["fit", "t.csv", "--from", "csv"], b"", "--from is the format of standard input; it needs - as DATA"),
    ],
)
def test_what_is_wrong_with_it_is_said_in_a_sentence(run, words, stdin, said):
    assert said in run(*words, code=1, stdin=stdin).stderr


def test_where_predictions_go_is_said_once(run):
    assert (
        "the format of p.csv follows from its name"
        in run("predict", "m", "t.csv", "-o", "p.csv", "--to", "csv", code=1).stderr
    )
    assert "--to must be one of" in run("predict", "m", "t.csv", "--to", "xml", code=1).stderr


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, -signal.SIGINT, "stopped\n"), (signal.SIGTERM, 143, ""), (signal.SIGHUP, 129, "")],
)
def test_who_is_stopped_leaves_nothing_behind(tmp_path, temporary, number, code, said):
    started = subprocess.Popen(
        [sys.executable, "-m", "tanbark", "fit", "-"],
        **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
        cwd=tmp_path,
        text=True,
    )
    until = time.monotonic() + 60
    # Python itself tries the folder with a file of another name.
    while not list(temporary.glob("tanbark-*")) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(temporary.glob("tanbark-*"))
    # A terminal that is closed sends two.
    for _ in range(2 if number == signal.SIGHUP else 1):
        started.send_signal(number)
        time.sleep(0.001)
    assert started.wait(timeout=60) == code
    assert started.stderr.read() == said
    for pipe in (started.stdin, started.stdout, started.stderr):
        pipe.close()


def test_a_person_at_a_terminal_is_told_how_to_end(tmp_path):
    keyboard, screen = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "tanbark", "fit", "-"], stdin=screen, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert started.stderr.readline() == "reading rows from the terminal; press Ctrl-D to finish\n"
    os.write(keyboard, b"\x04")
    assert started.stderr.read().startswith("error: standard input is empty")
    assert started.wait(timeout=60) == 1
    started.stderr.close()
    os.close(keyboard)
    os.close(screen)


def test_compressed_input_gets_advice_that_can_be_followed(run):
    said = run("fit", "-", stdin=gzip.compress(b"a,class\n1,p\n"), code=1).stderr
    assert "standard input: this is a file compressed with gzip; unpack it, for example with zcat" in said
