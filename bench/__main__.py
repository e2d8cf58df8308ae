"""Compare TAN with other programs: python -m bench [--quick]. Each program runs in its own process, one at a time.

Peers have separate environments, ``bench/.peers/NAME``, which ``make peers`` creates. scikit-learn is installed with
tanbark, and Weka on the system. A peer that is not installed is reported as absent.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.tables import machine, random_tan, seconds

HERE = Path(__file__).parent
PEERS = {
    "tanbark TAN": ("tanbark_tan.py", None, {}),
    "tanbark TAN, one thread": ("tanbark_tan.py", None, {"n-jobs": 1}),
    "scikit-learn CategoricalNB": ("sklearn_nb.py", None, {}),
    "Weka TAN": ("weka_bayes.py", None, {}),
    "pyAgrum TAN": ("pyagrum_tan.py", "pyagrum", {}),
    "pgmpy TAN": ("pgmpy_tan.py", "pgmpy", {"predict-rows": 1000}),
}
HOW = (
    "Each figure is the best of several runs. Each program runs in its own process, one at a time. Ratios compare "
    "figures of the same run."
)
FAST_PEERS = ("tanbark TAN", "tanbark TAN, one thread", "scikit-learn CategoricalNB")


def write(folder, X, y, X_test):
    """Write a table to a file, wait for write-back, which would disturb timings, and return its path."""
    data = str(Path(folder, "data.npz"))
    np.savez(data, X=X, y=y, X_test=X_test)
    os.sync()
    time.sleep(1)
    return data


def measure(peer, data, repeat):
    """Return the figures of a peer, or None and the reason for its absence."""
    script, environment, options = PEERS[peer]
    python = Path(sys.executable)
    if environment is not None:
        python = HERE / ".peers" / environment / "bin" / "python"
        if not python.exists():
            return None, f"no environment bench/.peers/{environment}"
    command = [str(python), str(HERE / "peers" / script), "--data", data, "--repeat", str(repeat)]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return None, done.stderr.strip()
    if done.returncode:
        raise SystemExit(f"{peer} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]), None


def compare(rows, attributes, predict_rows, peers, repeat, folder):
    """Return Markdown lines: all peers on the same table."""
    X, y = random_tan(rows, attributes)
    data = write(folder, X, y, X[:predict_rows])
    del X, y
    lines = [
        f"## {rows:,} rows x {attributes} attributes x 4 levels x 3 classes, predicting {predict_rows:,} rows",
        "",
        "| program | fit | tanbark / program | predict_proba per row | tanbark / program | peak MB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    tanbark = None
    for peer in peers:
        print(f"  {peer} ...", end=" ", flush=True)
        figures, why = measure(peer, data, repeat if peer in FAST_PEERS else max(1, repeat // 3))
        if figures is None:
            print("absent")
            lines.append(f"| {peer} | absent: {why} | | | | |")
            continue
        each = figures["predict_seconds"] / figures["predict_rows"]
        if tanbark is None:
            tanbark = (figures["fit_seconds"], each, figures)
        print(seconds(figures["fit_seconds"]))
        lines.append(
            f"| {peer} {figures['version']} | {seconds(figures['fit_seconds'])} "
            f"| {tanbark[0] / figures['fit_seconds']:.3g} "
            f"| {each * 1e6:.3g} us | {tanbark[1] / each:.3g} | {figures['peak_mb']:,.0f} |"
        )
    figures = tanbark[2]
    lines += [
        "",
        f"Counting only: {seconds(figures['count_seconds'])}. Additional memory during fit: "
        f"{figures['extra_mb']} MB, {figures['extra_mb'] / figures['input_mb']:.2f} times the input of "
        f"{figures['input_mb']} MB.",
        "",
    ]
    return lines


def growth(tables, label, folder):
    """Return Markdown lines: the time of a fit on tables of increasing size."""
    lines = ["| " + label + " | fit | growth of size | growth of time |", "| --- | --- | --- | --- |"]
    previous = None
    for size, (rows, attributes) in tables.items():
        X, y = random_tan(rows, attributes)
        data = write(folder, X, y, X[:10])
        del X, y
        figures, _ = measure("tanbark TAN", data, 3)
        took = figures["fit_seconds"]
        ratio = f"{size / previous[0]:.3g} | {took / previous[1]:.3g}" if previous else " | "
        lines.append(f"| {size:,} | {seconds(took)} | {ratio} |")
        print(f"  {label} {size:,}: {seconds(took)}")
        previous = (size, took)
    return [*lines, ""]


FIRST_FIT = """
import time, numpy as np
rng = np.random.default_rng(0)
X, y = rng.integers(0, 4, (2000, 20)), rng.integers(0, 3, 2000)
start = time.perf_counter()
from tanbark import TAN
imported = time.perf_counter() - start
start = time.perf_counter()
TAN().fit(X, y)
fitted = time.perf_counter() - start
start = time.perf_counter()
model = TAN().fit(X, y)
warm = time.perf_counter() - start
print(imported, fitted, warm)
"""


def cold():
    """Return Markdown lines: the start-up time of a new process."""

    def wall(code):
        def once():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            return time.perf_counter() - start

        return min(once() for _ in range(5))

    base = wall("import sklearn.base")
    with_tanbark = wall("import sklearn.base, tanbark")
    with_classifier = wall("import sklearn.base; from tanbark import TAN")

    def first_fit(cache):
        run = subprocess.run(
            [sys.executable, "-c", FIRST_FIT],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
        return [float(x) for x in run.stdout.split()]

    with tempfile.TemporaryDirectory() as cache:
        fresh = first_fit(cache)
        later = min((first_fit(cache) for _ in range(3)), key=lambda figures: figures[1])
    return [
        "## Cold start",
        "",
        "| step | time |",
        "| --- | --- |",
        f"| `import sklearn.base` | {seconds(base)} |",
        f"| `import tanbark` in addition | {seconds(max(with_tanbark - base, 0))} |",
        f"| `from tanbark import TAN` in addition | {seconds(max(with_classifier - base, 0))} |",
        f"| first `fit` after installation, with compilation | {seconds(fresh[1])} |",
        f"| first `fit` of a later process, with the compile cache | {seconds(later[1])} |",
        f"| second `fit` of the same process | {seconds(later[2])} |",
        "",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables only, to test the benchmark")
    options = parser.parse_args()
    lines = ["# From a table to a TAN", "", *machine(HOW)]
    with tempfile.TemporaryDirectory() as folder:
        sizes = [(10_000, 20, 10_000, tuple(PEERS), 15)]
        if not options.quick:
            sizes += [(100_000, 30, 10_000, tuple(PEERS), 6), (1_000_000, 30, 10_000, tuple(PEERS), 5)]
            sizes += [(1_000_000, 30, 1_000_000, FAST_PEERS, 7)]
        for rows, attributes, predict_rows, peers, repeat in sizes:
            print(f"{rows:,} x {attributes}, predicting {predict_rows:,}")
            lines += compare(rows, attributes, predict_rows, peers, repeat, folder)
        lines += cold()
        max_rows = 100_000 if options.quick else 10_000_000
        lines += ["## Growth", ""]
        lines += growth(
            {n: (n, 30) for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= max_rows},
            "rows of 30 attributes",
            folder,
        )
        n_attributes = (25, 50, 100) if options.quick else (25, 50, 100, 200, 400)
        lines += growth({n: (100_000, n) for n in n_attributes}, "attributes in 100,000 rows", folder)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    target = results / ("quick.md" if options.quick else "foundation.md")
    target.write_text("\n".join(lines))
    print(f"written to {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
