"""Utilities of the peers' scripts: arguments, timing, and the output as one line of JSON."""

import argparse
import json
import resource
import sys
import time
from contextlib import contextmanager

import numpy as np


def arguments(**more):
    """Parse --data, --repeat and additional options, each given as name=(default, help)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, help="an .npz file with X (rows, attributes), y and X_test, all int64")
    parser.add_argument("--repeat", type=int, default=3, help="the number of runs, of which the best is reported")
    for name, (default, description) in more.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default, help=description)
    return parser.parse_args()


def load(path):
    """Return X, y, X_test."""
    with np.load(path) as data:
        return data["X"], data["y"], data["X_test"]


def absent(peer, why):
    """Report that the peer is not installed and exit with code 3."""
    print(f"{peer} is not installed: {why}", file=sys.stderr)
    sys.exit(3)


@contextmanager
def importing(peer):
    """Report that the peer is not installed if an import in this context fails."""
    try:
        yield
    except ImportError as error:
        absent(peer, error)


def best(function, repeat):
    """Return the shortest time of `repeat` runs, in seconds, and the result of the last run."""
    shortest = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def report(peer, version, fit_seconds, predict_seconds, predict_rows, peak_mb=None, **more):
    """Print the figures; the default peak is the largest resident memory of this process."""
    if peak_mb is None:
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    line = {"peer": peer, "version": version, "fit_seconds": fit_seconds, "predict_seconds": predict_seconds}
    print(json.dumps(line | {"predict_rows": predict_rows, "peak_mb": round(peak_mb, 1)} | more))
