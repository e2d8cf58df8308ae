"""Some hundred broken files, the same every time; `tests/fuzz/run.py` goes on for as long as is wanted."""

import pytest

from fuzz.run import NAMES
from fuzz.targets import TARGETS

CASES = {
    "model": 100,
    "command": 12,
    "bif": 150,
    "xmlbif": 150,
    "csv": 12,
    "arff": 120,
    "jsonl": 12,
    "parquet": 100,
    "feather": 100,
    "arrows": 100,
    "xlsx": 60,
    "csv.gz": 8,
    "arff.gz": 60,
    "csv.zip": 8,
    "ask csv": 4,
    "ask jsonl": 4,
    "ask parquet": 4,
    "fit csv": 4,
    "fit arff": 4,
    "fit jsonl": 4,
    "fit parquet": 4,
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_broken_file_is_refused_in_a_sentence_or_works(name):
    target = TARGETS[name]
    assert any(target.read(whole) for whole in target.seeds())
    accepted = sum(target.read(target.case(number)) for number in range(CASES[name]))
    assert accepted < CASES[name]


def test_every_target_is_attacked():
    assert CASES.keys() == TARGETS.keys() == set(NAMES)
