"""A disk that is full: one sentence, the old file, and no litter."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

import tanbark
from tanbark.cli import app

WRITING = {
    "model": ("fit", "t.csv", "-t", "walk", "--cv", "0", "-o", "OUT"),
    "fitted.html": ("fit", "t.csv", "-t", "walk", "--cv", "0", "-o", os.devnull, "--report", "OUT"),
    "p.csv": ("predict", "m.tanbark", "t.csv", "-o", "OUT"),
    "p.jsonl": ("predict", "m.tanbark", "t.csv", "-o", "OUT"),
    "p.parquet": ("predict", "m.tanbark", "t.csv", "-o", "OUT"),
    "r.html": ("report", "m.tanbark", "t.csv", "-o", "OUT"),
    "c.html": ("compare", "t.csv", "-t", "walk", "-m", "naive-bayes", "--folds", "2", "--jobs", "1", "-o", "OUT"),
    "e.bif": ("export", "m.tanbark", "--to", "bif", "-o", "OUT"),
    "e.xml": ("export", "m.tanbark", "--to", "xmlbif", "-o", "OUT"),
    "e.dot": ("export", "m.tanbark", "--to", "dot", "-o", "OUT"),
    "e.onnx": ("export", "m.tanbark", "--to", "onnx", "-o", "OUT"),
}
"""The commands that write a file, by its name."""


@pytest.fixture
def folder(write, table, tmp_path, monkeypatch):
    """A folder with a table and a model."""
    monkeypatch.chdir(tmp_path)
    write(table, tmp_path / "t.csv")
    tanbark.save(tanbark.TAN().fit(table.drop_columns("walk"), table["walk"]), "m.tanbark")
    return tmp_path


@contextmanager
def no_room(most):
    """Let no file grow beyond some bytes, as where a quota or the disk ends."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python keeps a module that it has compiled even where not all of it could be written.
    wrote, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = wrote


@pytest.mark.parametrize("name", WRITING)
def test_the_old_file_stays_and_nothing_else(folder, name):
    if name == "e.onnx":
        pytest.importorskip("onnx")
    (folder / name).write_bytes(b"old")
    before = sorted(os.listdir(folder))
    words = [name if word == "OUT" else word for word in WRITING[name]]
    with no_room(300):
        done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert done.stderr == f"error: {name}: file too large\n"
    assert (folder / name).read_bytes() == b"old"
    assert sorted(os.listdir(folder)) == before


def test_the_library_says_which_file_it_could_not_write(folder):
    model = tanbark.load("m.tanbark")
    (folder / "old").write_bytes(b"old")
    for path in ("old", "new"):
        with no_room(300), pytest.raises(OSError, match="File too large: '" + path):
            tanbark.save(model, path)
    assert (folder / "old").read_bytes() == b"old"
    assert sorted(os.listdir(folder)) == ["m.tanbark", "old", "t.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.usefixtures("folder")
def test_standard_output_that_is_full_is_one_sentence():
    command = [sys.executable, "-m", "tanbark", "predict", "m.tanbark", "t.csv"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the output: no space left on device\n"
