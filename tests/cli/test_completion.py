"""What a shell gets when it asks for completions, in the way that shells ask."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tanbark.classifiers.registry import REGISTRY
from tanbark.papers import PAPERS

CODE = """
import sys
from tanbark.cli import app
try:
    app(prog_name="tanbark")
finally:
    heavy = {"numpy", "numba", "sklearn", "scipy", "pyarrow", "duckdb", "matplotlib", "pandas", "rich.console"}
    loaded = heavy & set(sys.modules)
    assert not loaded, loaded
"""


def completed(shell, *words):
    """Return what a shell prints where the last of the words is begun."""
    asked = {"COMP_WORDS": " ".join(["tanbark", *words]), "COMP_CWORD": str(len(words))}
    if shell != "bash":
        asked = {"_TYPER_COMPLETE_ARGS": " ".join(["tanbark", *words]), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment = {**os.environ, "_TANBARK_COMPLETE": f"complete_{shell}", **asked}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def test_commands_options_models_and_papers_are_completed_without_heavy_imports():
    assert {"fit", "predict", "update", "show", "compare"} <= set(completed("bash", "").split())
    assert completed("bash", "fit", "--mod").split() == ["--model"]
    a = [name for name in REGISTRY if name.startswith("a")]
    assert completed("bash", "fit", "t.csv", "--model", "a").split() == a
    assert completed("bash", "reproduce", "").split() == list(PAPERS)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_ask_otherwise(shell):
    answer = completed(shell, "fit", "--model", "a")
    assert all(name in answer for name in REGISTRY if name.startswith("a"))
    assert "tan\n" not in answer.split("averaged")[0]


def test_where_there_is_nothing_to_say_the_shell_completes_names_of_files():
    assert completed("bash", "fit", "t").strip() == ""
    assert completed("zsh", "fit", "t").strip() == "_files"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(monkeypatch, run, shell):
    monkeypatch.setenv("_TANBARK_COMPLETE", f"source_{shell}")
    script = run().stdout
    assert "_TANBARK_COMPLETE" in script
    assert f"complete_{shell}" in script
