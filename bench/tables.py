"""Utilities of the benchmarks: random tables, timing and formatting."""

import argparse
import datetime
import os
import platform
import time
from pathlib import Path

import numpy as np


def random_tan(rows, attributes, levels=4, classes=3, seed=0):
    """Return rows sampled from a random tree-augmented network, as int64."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    X = np.empty((rows, attributes), np.int64)
    for u in range(attributes):
        parent = X[:, rng.integers(0, u)] if u else np.zeros(rows, np.int64)
        cumulative = rng.dirichlet(np.ones(levels), (classes, levels)).cumsum(axis=-1)
        point = rng.random(rows)
        X[:, u] = np.minimum((point[:, None] > cumulative[y, parent]).sum(axis=1), levels - 1)
    return X, y


def random_network(rows, attributes, levels=4, max_parents=3, seed=0):
    """Return rows sampled from a random network whose nodes have one to `max_parents` parents; the class is last."""
    rng = np.random.default_rng(seed)
    table = np.zeros((rows, attributes + 1), np.int64)
    order = rng.permutation(attributes + 1)
    for place, node in enumerate(order):
        parents = rng.choice(order[:place], min(place, rng.integers(1, max_parents + 1)), replace=False)
        at = table[:, parents] @ levels ** np.arange(len(parents))
        cumulative = rng.dirichlet(np.ones(levels), levels ** len(parents)).cumsum(axis=-1)
        point = rng.random(rows)
        table[:, node] = np.minimum((point[:, None] > cumulative[at]).sum(axis=1), levels - 1)
    return table[:, :-1], table[:, -1]


def data_and_quick(description):
    """Parse the options --data and --quick."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, help="a folder of CSV files with the class in the last column")
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    return parser.parse_args()


def best(call, repeat=3):
    """Return the shortest time of several calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def seconds(value):
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


def machine(how):
    """Return Markdown lines: the date, the machine, and how the figures were measured."""
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        names = [x for x in Path("/proc/cpuinfo").read_text().splitlines() if x.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    return [
        f"{datetime.date.today()}, {model}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, numpy {np.__version__}. {how}",
        "",
    ]
