"""An update that is killed at any instant leaves the old model or the new one, and no acknowledged chunk is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tanbark

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")

COLUMNS = {"sky": ("cloud", "rain", "sun"), "wind": ("n", "o", "s", "w"), "ground": ("dry", "wet")}
CLASSES = ("no", "yes")
AT_RANDOM = 200
AFTER_A_SIGN = 40


def chunk(number):
    """Return a few rows as positions among the labels, the class last."""
    rng = np.random.default_rng(number)
    many = [len(levels) for levels in COLUMNS.values()] + [len(CLASSES)]
    return np.column_stack([rng.integers(0, r, 20 + number % 7) for r in many])


def counted(rows):
    """Return the pairs of values in each class, counted one by one."""
    start = np.cumsum([0, *(len(levels) for levels in COLUMNS.values())])
    table = np.zeros((len(CLASSES), start[-1], start[-1]), int)
    for *values, label in rows:
        for u, a in enumerate(values):
            for v, b in enumerate(values):
                table[label, start[u] + a, start[v] + b] += 1
    return table


def write_csv(path, rows):
    labels = [*COLUMNS.values(), CLASSES]
    lines = [",".join(levels[i] for levels, i in zip(labels, row)) for row in rows]
    path.write_text("\n".join([",".join([*COLUMNS, "walk"]), *lines, ""]))


def saved(path):
    """Write a model of chunk 0."""
    schema = tanbark.Schema([tanbark.Category(*column) for column in COLUMNS.items()], CLASSES, "walk")
    rows = chunk(0)
    counts = tanbark.Counts.of(schema, np.ascontiguousarray(rows[:, :-1].T, schema.dtype), rows[:, -1])
    tanbark.save(tanbark.TAN().fit_counts(counts), path)
    return path


@pytest.fixture
def model(tmp_path):
    return saved(tmp_path / "m.tanbark")


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """A function that runs a command in a forked process and returns how it ended."""
    warm = saved(tmp_path_factory.mktemp("warm") / "m.tanbark")
    script = Path(__file__).with_name("fork_server.py")
    with subprocess.Popen(
        [sys.executable, script, warm], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        assert server.stdout.readline() == "ready\n"

        def run(*words, **how):
            server.stdin.write(json.dumps({"words": [str(word) for word in words], **how}) + "\n")
            return json.loads(server.stdout.readline())

        yield run
        server.stdin.close()


def usual_life(ask, model, folder):
    """Return how long an update takes that nobody kills."""
    write_csv(folder / "1.csv", chunk(1))
    copy = folder / "copy"
    copy.write_bytes(model.read_bytes())
    return float(np.median([ask("update", copy, folder / "1.csv")["seconds"] for _ in range(7)]))


def test_killed_at_any_instant_every_chunk_is_counted_exactly_once(ask, model, tmp_path_factory):
    rng = np.random.default_rng(0)
    new_rows = tmp_path_factory.mktemp("rows")
    life = usual_life(ask, model, new_rows)
    latest = {"start": life, "writing": life / 20, "rename": life / 50}
    kills, found = dict.fromkeys(latest, 0), {"old": 0, "new": 0}
    expected, learned = counted(chunk(0)), ()
    number = 0
    while kills["start"] < AT_RANDOM or kills["writing"] + kills["rename"] < AFTER_A_SIGN:
        number += 1
        assert number < 1000
        rows, name = chunk(number), f"chunk {number}"
        write_csv(new_rows / "new.csv", rows)
        old, new = expected, expected + counted(rows)
        acknowledged, attempts = False, 0
        while not acknowledged:
            sign = "start" if kills["start"] < AT_RANDOM else ("writing", "rename")[number % 2]
            attempts += 1
            # After a few deaths a chunk is let through.
            how = {"kill_after": rng.uniform(0, latest[sign]), "after": sign} if attempts < 8 else {}
            ended = ask("update", model, new_rows / "new.csv", "--chunk-id", name, model=str(model), **how)
            acknowledged = ended["code"] == 0
            assert acknowledged or ended["killed"] == signal.SIGKILL, ended["said"]
            again = tanbark.load(model)
            is_new = name in again.chunk_ids_
            np.testing.assert_array_equal(again.counts_.table, new if is_new else old)
            assert again.chunk_ids_ == (*learned, *[name] * is_new)
            assert is_new or not acknowledged
            if not acknowledged:
                kills[sign] += 1
                found["new" if is_new else "old"] += 1
        expected, learned = new, (*learned, name)
    assert min(found.values()) >= 10, (kills, found)
    again = tanbark.load(model)
    assert again.chunk_ids_ == tuple(f"chunk {i}" for i in range(1, number + 1))
    np.testing.assert_array_equal(again.counts_.table, sum(counted(chunk(i)) for i in range(number + 1)))
    assert sorted(p.name for p in model.parent.iterdir()) == [".m.tanbark.lock", "m.tanbark"]


def test_a_full_disk_leaves_the_old_model_and_no_litter(ask, model, tmp_path):
    write_csv(tmp_path / "new.csv", chunk(1))
    before = model.read_bytes()
    words = ["update", model, tmp_path / "new.csv", "--chunk-id", "a"]
    ended = ask(*words, most_bytes=len(before) // 2)
    assert ended["code"] == 1
    assert ended["said"] == f"error: {model}: file too large\n"
    assert model.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [".m.tanbark.lock", "m.tanbark", "new.csv"]
    assert ask(*words)["code"] == 0
    np.testing.assert_array_equal(tanbark.load(model).counts_.table, counted(chunk(0)) + counted(chunk(1)))


def test_two_updates_at_once_are_both_counted(model, tmp_path):
    for i in (1, 2):
        write_csv(tmp_path / f"{i}.csv", chunk(i))
    command = [sys.executable, "-c", "from tanbark.cli import app; app()", "update", model]
    both = [
        subprocess.Popen([*command, tmp_path / f"{i}.csv", "--chunk-id", str(i)], stdout=subprocess.PIPE, text=True)
        for i in (1, 2)
    ]
    for one in both:
        one.communicate(timeout=60)
        assert one.returncode == 0
    again = tanbark.load(model)
    assert sorted(again.chunk_ids_) == ["1", "2"]
    np.testing.assert_array_equal(again.counts_.table, sum(counted(chunk(i)) for i in range(3)))
