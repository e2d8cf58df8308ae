"""What the tests share: real tables where the data folder is there, and small random ones."""

import csv
import gzip
import itertools
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# Without it scikit-learn skips one of its estimator checks; scipy reads it when it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import hypothesis
import numpy as np
import pytest

from tanbark import Category, Schema
from tanbark.kernels.runtime import threads

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"

# Tests interrupt themselves, which a process that was started in the background would not notice.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Laws do not depend on how busy the machine is.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")

FIRST = ("test_conformance", "test_house", "test_update_killed", "test_spark", "test_river", "test_dask")
"""A file is tested by one process: the other would wait for these if they were begun last."""


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest; the first compiles most kernels, before others want them."""
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))


@pytest.fixture(scope="session")
def read_text():
    """Return a function from the name of a real table to its attributes as text (None: empty), classes and names."""
    if not DATA.is_dir():
        pytest.skip(f"the folder of real tables is not there: {DATA}")

    def read(name):
        path = next(p for p in (DATA / f"{name}.csv", DATA / f"{name}.csv.gz") if p.exists())
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            rows = list(csv.reader(file))
        cells = np.array(rows[1:], object)
        cells[cells == ""] = None
        return cells[:, :-1], cells[:, -1], rows[0]

    return read


@pytest.fixture(scope="session")
def postgres():
    """Start PostgreSQL on a Unix socket in a temporary folder, and return its URL."""
    found = [shutil.which("postgres"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/postgres")))]
    found = [path for path in found if path]
    if not found:
        pytest.skip("PostgreSQL's programs are not there: neither postgres on PATH nor in /usr/lib/postgresql")
    programs = Path(found[-1]).parent
    # PostgreSQL does not run as root.
    user = None
    if os.getuid() == 0:
        user = next((u.pw_name for u in pwd.getpwall() if u.pw_name in ("postgres", "nobody")), None)
    # The path of a socket is limited to about a hundred bytes; pytest's temporary folder may exceed that.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if user is not None:
        shutil.chown(folder, user)
    subprocess.run(
        [programs / "initdb", "-D", folder / "data", "-U", "reader", "-A", "trust", "-E", "UTF8", "--no-sync"],
        user=user,
        cwd="/",
        check=True,
        capture_output=True,
        timeout=60,
    )
    settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", folder / "data", "-k", folder, *settings], user=user, cwd="/", stderr=log
        )
    try:
        ready = [programs / "pg_isready", "-h", folder, "-q"]
        end = time.monotonic() + 30
        while subprocess.run(ready, timeout=30, check=False).returncode:
            assert server.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"postgresql:///postgres?host={folder}&user=reader"
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def reference():
    """Return a function from the name of a file of peers' figures to its content."""
    return lambda name: json.loads((HERE / "reference" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def all_trees():
    """Return a function from a number of nodes to all trees over them, each a list of edges (Prüfer sequences)."""

    def decoded(sequence, n):
        degree = np.bincount(sequence, minlength=n) + 1
        edges = []
        for u in sequence:
            leaf = int(np.argmax(degree == 1))
            edges.append((leaf, u))
            degree[leaf] -= 1
            degree[u] -= 1
        return [*edges, tuple(np.flatnonzero(degree == 1).tolist())]

    def trees(n):
        return [decoded(s, n) for s in itertools.product(range(n), repeat=n - 2)] if n > 1 else [[]]

    return trees


@pytest.fixture
def threads_for_few_rows(monkeypatch):
    """Let the smallest tables be worked on by as many threads as are asked for."""
    monkeypatch.setattr(threads, "MIN_ROWS_FOR_THREADS", 0)


@pytest.fixture
def random_table():
    """Return a function that makes a schema, codes (one row of memory per attribute) and classes."""

    def make(seed, rows, arity, classes, holes=0.0):
        rng = np.random.default_rng(seed)
        columns = [Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)]
        schema = Schema(columns, tuple(range(classes)))
        y = rng.integers(0, classes, rows)
        # Neighbouring attributes and the class depend on each other, so that trees differ in weight.
        codes = np.zeros((len(arity), rows), schema.dtype)
        for u, r in enumerate(arity):
            before = codes[u - 1].astype(int) if u else y
            codes[u] = np.where(rng.random(rows) < 0.5, (before + y) % r, rng.integers(0, r, rows))
        codes[rng.random(codes.shape) < holes] = schema.missing_code
        return schema, codes, y

    return make
