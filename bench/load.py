"""Measure one model under load: predictions by threads and processes at once, and how long Ctrl-C takes.

python -m bench.load [--quick] writes bench/results/load.md.
"""

import argparse
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

import tanbark
from bench.tables import machine, random_tan, seconds
from tanbark import TAN, AveragedTAN, BayesNet, NaiveBayes

HERE = Path(__file__).parent
HOW = "Every worker asks the same model for the same rows again and again; figures are of this one run."
THREADS = (1, 2, 4, 16)
PROCESSES = (1, 2, 4)
BATCHES = (1, 1000)


def asked_for(model, X, expected, start, long):
    """Return how many rows were predicted in some seconds, when that began and ended; each answer is checked."""
    start.wait()
    begun, rows = time.monotonic(), 0
    while time.monotonic() < begun + long:
        assert np.array_equal(model.predict_proba(X), expected)
        rows += len(X)
    return rows, begun, time.monotonic()


def rate(found):
    """Return the rows per second of all workers, from when the first began until the last ended."""
    rows, begun, ended = zip(*found)
    return sum(rows) / (max(ended) - min(begun))


def by_threads(many, model, X, expected, long):
    """Return the rows per second that threads get predicted in all."""
    start, found = threading.Barrier(many), []
    ask = partial(asked_for, model, X, expected, start, long)
    workers = [threading.Thread(target=lambda: found.append(ask())) for _ in range(many)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return rate(found)


def process(path, X, expected, start, long, found):
    model = tanbark.load(path)
    model.predict_proba(X)
    found.put(asked_for(model, X, expected, start, long))


def by_processes(many, path, X, expected, long):
    """Return the rows per second that processes get predicted in all, each of which loads the model from a file."""
    spawn = multiprocessing.get_context("spawn")
    start, found = spawn.Barrier(many), spawn.Queue()
    workers = [spawn.Process(target=process, args=(path, X, expected, start, long, found)) for _ in range(many)]
    for worker in workers:
        worker.start()
    all_found = [found.get() for _ in workers]
    for worker in workers:
        worker.join()
    return rate(all_found)


def served(X, y, long):
    """Return Markdown lines: predictions per second, and how many times as many as one thread's."""
    heads = [f"{n} thread{'s' * (n > 1)}" for n in THREADS] + [f"{n} process{'es' * (n > 1)}" for n in PROCESSES]
    lines = [
        f"| rows per second, {X.shape[1]} columns | " + " | ".join(heads) + " |",
        "| --- " * (len(heads) + 1) + "|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for model in (NaiveBayes(), TAN(), AveragedTAN()):
            name, path = type(model).__name__, Path(folder, "model")
            tanbark.save(model.fit(X, y), path)
            for batch in BATCHES:
                asked = X[:batch]
                expected = model.predict_proba(asked)
                found = [by_threads(many, model, asked, expected, long) for many in THREADS]
                found += [by_processes(many, path, asked, expected, long) for many in PROCESSES]
                told = " | ".join(f"{each:,.0f} ({each / found[0]:.2f})" for each in found)
                lines.append(f"| {name}, {batch:,} at a time | {told} |")
                print(lines[-1], flush=True)
    return [*lines, ""]


def until_out(call, after):
    """Return the seconds from an interrupt to the exception, or None where the call was done before."""
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        timer.join()
    return None


def interrupted(rows, nodes, times):
    """Return Markdown lines: how long it takes from Ctrl-C until a call has ended."""
    X, y = random_tan(rows, nodes, levels=3, classes=2)
    holed = np.where(np.random.default_rng(0).random((100 * rows, nodes)) < 0.2, np.nan, np.tile(X, (100, 1)))
    averaged = AveragedTAN().fit(X, y)
    calls = {
        f"exact search over {nodes + 1} nodes, {rows:,} rows, one thread": partial(BayesNet(search="exact").fit, X, y),
        f"exact search over {nodes + 1} nodes, {rows:,} rows, two threads": partial(
            BayesNet(search="exact", n_jobs=2).fit, X, y
        ),
        f"averaging all trees for {len(holed):,} rows with holes": partial(averaged.predict_proba, holed),
    }
    lines = ["| Ctrl-C during | median | longest |", "| --- | --- | --- |"]
    rng = np.random.default_rng(1)
    for name, call in calls.items():
        found = [taken for _ in range(times) if (taken := until_out(call, rng.uniform(1.0, 10.0))) is not None]
        told = f"{seconds(np.median(found))} | {seconds(max(found))}" if found else "done before | "
        lines.append(f"| {name} | {told} |")
        print(lines[-1], flush=True)
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter, and smaller tables")
    options = parser.parse_args()
    lines = ["# Under load", "", *machine(HOW), "## Threads and processes", ""]
    lines += ["In brackets: how many times as many as one thread's.", ""]
    lines += served(*random_tan(20_000, 20), 0.3 if options.quick else 1.0)
    lines += ["## Ctrl-C", "", *interrupted(*((2000, 21, 2) if options.quick else (20_000, 25, 3)))]
    (HERE / "results" / "load.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
