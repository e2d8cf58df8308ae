"""The pages are true: every Python example and every command on them is run and prints what the page says."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/first_hour.md",
    "docs/averaging.md",
    "docs/ensembles.md",
    "docs/networks.md",
    "docs/streams.md",
    "docs/scale.md",
    "docs/evaluation.md",
]
BLOCK = re.compile(r"^```(python|console)\n(.*?)\n```$", re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_python(source, names, page):
    """Run a block of examples in the page's own name space."""
    test = doctest.DocTestParser().get_doctest(source + "\n", names, page, page, 0)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(test.globs)


def run_console(source):
    """Run the commands of a block (lines that begin with $) and compare what they print."""
    environment = {**os.environ, "COLUMNS": "100", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for part in re.split(r"^\$ ", source, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, env=environment, timeout=120, check=False
        )
        shown = done.stdout + done.stderr
        same = doctest.OutputChecker().check_output(expected.rstrip() + "\n", shown.rstrip() + "\n", FLAGS)
        assert same, f"$ {shlex.quote(command)}\nexpected:\n{expected}\ngot:\n{shown}"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    for kind, source in blocks:
        if kind == "python":
            run_python(source, names, page)
        else:
            run_console(source)


def test_a_newcomers_page_has_thirty_things():
    page = (ROOT / "docs" / "first_hour.md").read_text()
    assert len(re.findall(r"^\d+\. ", page, re.M)) >= 30
