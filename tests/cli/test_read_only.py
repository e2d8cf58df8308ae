"""A folder that must not be written to: one sentence, and every file is as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import tanbark

COMMANDS = [
    "fit t.csv -t walk --cv 0 -o new.tanbark",
    "fit t.csv -t walk --cv 0 -o m.tanbark",
    "update m.tanbark t.csv",
    "predict m.tanbark t.csv -o p.csv",
    "report m.tanbark t.csv -o r.html",
    "export m.tanbark --to bif -o e.bif",
]

RUN = """
import json, sys
from typer.testing import CliRunner
from tanbark.cli import app
done = [CliRunner().invoke(app, words.split()) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stderr] for one in done]))
"""


@pytest.mark.skipif(os.name == "nt", reason="folders have other permissions there")
def test_a_folder_that_is_read_only_is_one_sentence_and_stays_as_it_is(write, table, tmp_path):
    write(table, tmp_path / "t.csv")
    tanbark.save(tanbark.TAN().fit(table.drop_columns("walk"), table["walk"]), tmp_path / "m.tanbark")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    # To root permissions mean nothing, unless it has laid down the right to ignore them.
    bound = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    tmp_path.chmod(0o555)
    try:
        words = [*bound, sys.executable, "-c", RUN, json.dumps(COMMANDS)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    finally:
        tmp_path.chmod(0o755)
    for code, said in json.loads(done.stdout):
        assert code == 1
        assert said.startswith("error: ")
        assert said.count("\n") == 1
        assert "permission denied" in said
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
