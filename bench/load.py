"""Measure concurrent predictions by threads and processes, and the time from Ctrl-C to the end of a call.

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
HOW = "Each worker repeatedly predicts the same rows with the same model. All figures are from the same run."
THREADS = (1, 2, 4, 16)
PROCESSES = (1, 2, 4)
BATCHES = (1, 1000)


def predicted_rows(model, X, expected, start, duration):
    """Predict for some seconds and check each result; return the number of rows, the start and the end."""
    start.wait()
    begun, rows = time.monotonic(), 0
    while time.monotonic() < begun + duration:
        assert np.array_equal(model.predict_proba(X), expected)
        rows += len(X)
    return rows, begun, time.monotonic()


def rate(found):
    """Return the rows per second of all workers, from the first start to the last end."""
    rows, begun, ended = zip(*found, strict=True)
    return sum(rows) / (max(ended) - min(begun))


def by_threads(n_threads, model, X, expected, duration):
    """Return the total rows per second of some threads."""
    start, found = threading.Barrier(n_threads), []
    predict = partial(predicted_rows, model, X, expected, start, duration)
    workers = [threading.Thread(target=lambda: found.append(predict())) for _ in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return rate(found)


def process(path, X, expected, start, duration, found):
    model = tanbark.load(path)
    model.predict_proba(X)
    found.put(predicted_rows(model, X, expected, start, duration))


def by_processes(n_processes, path, X, expected, duration):
    """Return the total rows per second of some processes, each of which loads the model from a file."""
    spawn = multiprocessing.get_context("spawn")
    start, found = spawn.Barrier(n_processes), spawn.Queue()
    arguments = (path, X, expected, start, duration, found)
    workers = [spawn.Process(target=process, args=arguments) for _ in range(n_processes)]
    for worker in workers:
        worker.start()
    all_found = [found.get() for _ in workers]
    for worker in workers:
        worker.join()
    return rate(all_found)


def throughput(X, y, duration):
    """Return Markdown lines: predictions per second, and their ratio to one thread."""
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
                rows = X[:batch]
                expected = model.predict_proba(rows)
                rates = [by_threads(n, model, rows, expected, duration) for n in THREADS]
                rates += [by_processes(n, path, rows, expected, duration) for n in PROCESSES]
                figures = " | ".join(f"{rate:,.0f} ({rate / rates[0]:.2f})" for rate in rates)
                lines.append(f"| {name}, {batch:,} at a time | {figures} |")
                print(lines[-1], flush=True)
    return [*lines, ""]


def interrupt_seconds(call, delay):
    """Return the seconds from an interrupt to the exception, or None if the call finished before."""
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, interrupt)
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
    """Return Markdown lines: the time from Ctrl-C to the end of a call."""
    X, y = random_tan(rows, nodes, levels=3, classes=2)
    incomplete = np.where(np.random.default_rng(0).random((100 * rows, nodes)) < 0.2, np.nan, np.tile(X, (100, 1)))
    averaged = AveragedTAN().fit(X, y)
    calls = {
        f"exact search over {nodes + 1} nodes, {rows:,} rows, one thread": partial(BayesNet(search="exact").fit, X, y),
        f"exact search over {nodes + 1} nodes, {rows:,} rows, two threads": partial(
            BayesNet(search="exact", n_jobs=2).fit, X, y
        ),
        f"averaging all trees for {len(incomplete):,} rows with missing values": partial(
            averaged.predict_proba, incomplete
        ),
    }
    lines = ["| Ctrl-C during | median | longest |", "| --- | --- | --- |"]
    rng = np.random.default_rng(1)
    for name, call in calls.items():
        found = [taken for _ in range(times) if (taken := interrupt_seconds(call, rng.uniform(1.0, 10.0))) is not None]
        figures = f"{seconds(np.median(found))} | {seconds(max(found))}" if found else "finished before | "
        lines.append(f"| {name} | {figures} |")
        print(lines[-1], flush=True)
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter runs and smaller tables")
    options = parser.parse_args()
    lines = ["# Concurrent predictions and interrupts", "", *machine(HOW), "## Threads and processes", ""]
    lines += ["In parentheses: the ratio to one thread.", ""]
    lines += throughput(*random_tan(20_000, 20), 0.3 if options.quick else 1.0)
    lines += ["## Ctrl-C", "", *interrupted(*((2000, 21, 2) if options.quick else (20_000, 25, 3)))]
    (HERE / "results" / "load.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
