"""The pages are true: every Python example and every command on them is run and prints what the page says."""

import doctest
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tanbark.cli import app

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(python|console)\n(.*?)\n```$", re.M | re.S)
FENCE = re.compile(r"^ *(?:```|~~~)(.*)$", re.M)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TEXTS = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))}


def run_python(source, names, page):
    """Run a block of examples in the page's own name space."""
    test = doctest.DocTestParser().get_doctest(source + "\n", names, page, page, 0)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(test.globs)


def printed(command):
    """Return what a command prints: tanbark's own in this process, which has imported everything, others in a shell."""
    words = shlex.split(command)
    if words[0] == "tanbark":
        assert not set(words) & {"|", ">", "<", "&&", ";"}, f"a page's tanbark commands stand alone: {command}"
        done = CliRunner().invoke(app, words[1:])
    else:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def run_console(source):
    """Run the commands of a block (lines that begin with $) and compare what they print."""
    for part in re.split(r"^\$ ", source, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        shown = printed(command)
        same = doctest.OutputChecker().check_output(expected.rstrip() + "\n", shown.rstrip() + "\n", FLAGS)
        assert same, f"$ {command}\nexpected:\n{expected}\ngot:\n{shown}"


@pytest.mark.parametrize("page", sorted(page for page, text in TEXTS.items() if BLOCK.search(text)))
def test_the_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "COLUMNS", "100")
    names = {}
    for kind, source in BLOCK.findall(TEXTS[page]):
        if kind == "python":
            run_python(source, names, page)
        else:
            run_console(source)


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_the_page_has_no_block_that_is_not_run(page):
    openings = FENCE.findall(TEXTS[page])[::2]
    assert set(openings) <= {"python", "console"}
    assert len(openings) == len(BLOCK.findall(TEXTS[page]))


def test_a_newcomers_page_has_thirty_things():
    page = TEXTS["docs/first_hour.md"]
    assert len(re.findall(r"^\d+\. ", page, re.M)) >= 30
