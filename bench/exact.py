"""Measure the exact search: time and memory by the number of nodes, beside pomegranate's.

python -m bench.exact [--most N] writes bench/results/exact.md. Every search runs in a process of its own, whose peak
memory is that of the search and of Python with its libraries.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.__main__ import write
from bench.tables import machine, random_network, seconds
from tanbark.scores import AIC, BIC, BDeu, BDs, Cases, K2Score
from tanbark.structure import Restrictions, exact_structure
from tanbark.structure.search.exact_search import memory_needed

HERE = Path(__file__).parent
HOW = "All figures are of this one run, one program at a time, two threads, compiled beforehand."
SCORES = {"BDeu": BDeu(), "BDs": BDs(), "K2": K2Score(), "BIC": BIC(), "AIC": AIC()}
ASKED = [(23, 263, 2, 8), (17, 20_000, 2, 3), (20, 5_644, 4, 15)]


def cases(nodes, rows, levels):
    """Return the cases of a random network."""
    X, y = random_network(rows, nodes - 1, levels)
    distinct, weights = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    codes = np.ascontiguousarray(distinct.T.astype(np.uint8))
    return Cases(codes, np.full(nodes, levels), weights.astype(np.float64))


def one(nodes, rows, levels, score):
    """Search once, and print what it took as JSON."""
    free = Restrictions.of([*(f"x{u}" for u in range(nodes - 1)), "class"])
    small = Restrictions.of(["x0", "x1", "class"])
    exact_structure(cases(3, 50, levels), SCORES[score], small, n_jobs=2)
    table = cases(nodes, rows, levels)
    stages = {}
    start = time.perf_counter()

    def report(words, done, total):
        stages[words.split(",")[0]] = time.perf_counter() - start

    found = exact_structure(table, SCORES[score], free, n_jobs=2, progress=report)
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    most = max(map(len, found.parents))
    print(json.dumps({"seconds": taken, "stages": stages, "peak": peak, "most": most, "distinct": len(table.weights)}))


def measured(nodes, rows, levels, score="BDeu"):
    """Return what one search took, in a process of its own."""
    command = [sys.executable, "-m", "bench.exact", "--one", str(nodes), str(rows), str(levels), score]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def pomegranate(nodes, rows, levels, most_seconds=300):
    """Return the seconds that pomegranate's exact search takes, or why there are none."""
    python = HERE / ".peers" / "pomegranate" / "bin" / "python"
    if not python.exists():
        return "no environment bench/.peers/pomegranate"
    X, y = random_network(rows, nodes - 1, levels)
    with tempfile.TemporaryDirectory() as folder:
        script = HERE / "peers" / "pomegranate_exact.py"
        command = [python, script, "--data", write(folder, X, y, X[:1]), "--repeat", "1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=most_seconds)
        except subprocess.TimeoutExpired:
            return f"not done after {most_seconds} s"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return seconds(json.loads(done.stdout.splitlines()[-1])["fit_seconds"])


def asked():
    """Return Markdown lines: the sizes that were asked for."""
    lines = ["| nodes | rows | levels | time | asked | peak memory |", "| --- " * 6 + "|"]
    for nodes, rows, levels, limit in ASKED:
        took = measured(nodes, rows, levels)
        figures = f"{seconds(took['seconds'])} | {limit} s | {took['peak']:.2f} GiB"
        lines.append(f"| {nodes} | {rows:,} | {levels} | {figures} |")
    return [*lines, ""]


def growth(most):
    """Return Markdown lines: two levels, 1,000 rows, one node more each time."""
    lines = ["| nodes | time | x | counting | parents | peak memory | said beforehand | most parents |"]
    lines += ["| --- " * 8 + "|"]
    before = None
    for nodes in range(18, most + 1):
        took = measured(nodes, 1000, 2)
        counting = took["stages"]["counting all sets of nodes"]
        factor = f"{took['seconds'] / before:.2f}" if before else ""
        before = took["seconds"]
        lines.append(
            f"| {nodes} | {seconds(took['seconds'])} | {factor} | {seconds(counting)} | "
            f"{seconds(took['seconds'] - counting)} | {took['peak']:.2f} GiB | "
            f"{memory_needed(1000, nodes, threads=2) / 2**30:.2f} GiB | {took['most']} |"
        )
    for nodes in range(most + 1, 31):
        lines.append(f"| {nodes} | not run | | | | | {memory_needed(1000, nodes, threads=2) / 2**30:.2f} GiB | |")
    return [*lines, ""]


def criteria():
    """Return Markdown lines: the other scores."""
    lines = ["| score | 16 nodes | 18 nodes |", "| --- " * 3 + "|"]
    for name in SCORES:
        took = [seconds(measured(nodes, 1000, 3, name)["seconds"]) for nodes in (16, 18)]
        lines.append(f"| {name} | {' | '.join(took)} |")
    return [*lines, ""]


def beside_pomegranate():
    """Return Markdown lines: the same tables searched by pomegranate."""
    lines = ["| nodes, 1,000 rows, 2 levels | tanbark | pomegranate |", "| --- " * 3 + "|"]
    for nodes in (8, 10, 12, 14):
        took = measured(nodes, 1000, 2, "BIC")["seconds"]
        lines.append(f"| {nodes} | {seconds(took)} | {pomegranate(nodes, 1000, 2)} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=24, help="the largest number of nodes")
    parser.add_argument("--one", nargs=4, metavar=("NODES", "ROWS", "LEVELS", "SCORE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*map(int, options.one[:3]), options.one[3])
        return
    measured(4, 100, 2)
    lines = ["# Exact search", "", *machine(HOW)]
    lines += ["BDeu, one imagined case, no limit on parents, rows drawn from random networks.", "", *asked()]
    lines += ["## By the number of nodes: 1,000 rows, 2 levels", "", *growth(options.most)]
    lines += ["## Other scores: 1,000 rows, 3 levels", "", *criteria()]
    lines += ["## Beside pomegranate (its exact search by its own description length; BIC here)", ""]
    lines += beside_pomegranate()
    path = HERE / "results" / "exact.md"
    path.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
