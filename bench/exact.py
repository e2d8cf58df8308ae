"""Measure the time and memory of the exact search by the number of nodes, and compare it with pomegranate.

python -m bench.exact [--most N] writes bench/results/exact.md. Each search runs in its own process. The peak memory
includes Python and its libraries.
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
HOW = "All figures are from the same run, one program at a time, two threads, with compiled kernels."
SCORES = {"BDeu": BDeu(), "BDs": BDs(), "K2": K2Score(), "BIC": BIC(), "AIC": AIC()}
# Nodes, rows, levels and the target in seconds.
TARGETS = [(23, 263, 2, 8), (17, 20_000, 2, 3), (20, 5_644, 4, 15)]


def cases(nodes, rows, levels):
    """Return the cases of a random network."""
    X, y = random_network(rows, nodes - 1, levels)
    distinct, weights = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    codes = np.ascontiguousarray(distinct.T.astype(np.uint8))
    return Cases(codes, np.full(nodes, levels), weights.astype(np.float64))


def one(nodes, rows, levels, score):
    """Search once and print the figures as JSON."""
    free = Restrictions.of([*(f"x{u}" for u in range(nodes - 1)), "class"])
    small = Restrictions.of(["x0", "x1", "class"])
    exact_structure(cases(3, 50, levels), SCORES[score], small, n_jobs=2)
    table = cases(nodes, rows, levels)
    stages = {}
    start = time.perf_counter()

    def report(task, _done, _total):
        stages[task.split(",")[0]] = time.perf_counter() - start

    found = exact_structure(table, SCORES[score], free, n_jobs=2, progress=report)
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    max_parents = max(map(len, found.parents))
    print(
        json.dumps(
            {"seconds": taken, "stages": stages, "peak": peak, "most": max_parents, "distinct": len(table.weights)}
        )
    )


def measured(nodes, rows, levels, score="BDeu"):
    """Return the figures of one search in its own process."""
    command = [sys.executable, "-m", "bench.exact", "--one", str(nodes), str(rows), str(levels), score]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def pomegranate(nodes, rows, levels, max_seconds=300):
    """Return the time of pomegranate's exact search, or the reason why there is none."""
    python = HERE / ".peers" / "pomegranate" / "bin" / "python"
    if not python.exists():
        return "no environment bench/.peers/pomegranate"
    X, y = random_network(rows, nodes - 1, levels)
    with tempfile.TemporaryDirectory() as folder:
        script = HERE / "peers" / "pomegranate_exact.py"
        command = [python, script, "--data", write(folder, X, y, X[:1]), "--repeat", "1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=max_seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"not finished after {max_seconds} s"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return seconds(json.loads(done.stdout.splitlines()[-1])["fit_seconds"])


def targets():
    """Return Markdown lines: the sizes that have a target time."""
    lines = ["| nodes | rows | levels | time | target | peak memory |", "| --- " * 6 + "|"]
    for nodes, rows, levels, limit in TARGETS:
        took = measured(nodes, rows, levels)
        figures = f"{seconds(took['seconds'])} | {limit} s | {took['peak']:.2f} GiB"
        lines.append(f"| {nodes} | {rows:,} | {levels} | {figures} |")
    return [*lines, ""]


def growth(max_nodes):
    """Return Markdown lines: an increasing number of nodes, two levels, 1,000 rows."""
    lines = ["| nodes | time | x | counting | parents | peak memory | memory estimate | max parents |"]
    lines += ["| --- " * 8 + "|"]
    previous = None
    for nodes in range(18, max_nodes + 1):
        took = measured(nodes, 1000, 2)
        counting = took["stages"]["counting all sets of nodes"]
        factor = f"{took['seconds'] / previous:.2f}" if previous else ""
        previous = took["seconds"]
        lines.append(
            f"| {nodes} | {seconds(took['seconds'])} | {factor} | {seconds(counting)} | "
            f"{seconds(took['seconds'] - counting)} | {took['peak']:.2f} GiB | "
            f"{memory_needed(1000, nodes, threads=2) / 2**30:.2f} GiB | {took['most']} |"
        )
    for nodes in range(max_nodes + 1, 31):
        lines.append(f"| {nodes} | not run | | | | | {memory_needed(1000, nodes, threads=2) / 2**30:.2f} GiB | |")
    return [*lines, ""]


def criteria():
    """Return Markdown lines: all scores."""
    lines = ["| score | 16 nodes | 18 nodes |", "| --- " * 3 + "|"]
    for name in SCORES:
        took = [seconds(measured(nodes, 1000, 3, name)["seconds"]) for nodes in (16, 18)]
        lines.append(f"| {name} | {' | '.join(took)} |")
    return [*lines, ""]


def compare_with_pomegranate():
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
    lines += ["BDeu, equivalent sample size 1, no limit on parents, rows sampled from random networks.", "", *targets()]
    lines += ["## By the number of nodes: 1,000 rows, 2 levels", "", *growth(options.most)]
    lines += ["## Other scores: 1,000 rows, 3 levels", "", *criteria()]
    lines += ["## Comparison with pomegranate (its exact search by its own description length; BIC here)", ""]
    lines += compare_with_pomegranate()
    path = HERE / "results" / "exact.md"
    path.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
