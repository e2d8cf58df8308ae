"""Compare the speed and memory of EvidenceBN and EnsembleBN with those of LightGBM and EBM.

python -m bench.evidence [--quick] writes bench/results/evidence.md. LightGBM and EBM need `make peers`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.__main__ import write
from bench.tables import machine, seconds

HERE = Path(__file__).parent
HOW = (
    "Half of the columns are categories of 4 levels, half are numbers; 3 classes. All figures are from the same run, "
    "one program at a time, two threads, the best of several repetitions, on data frames. Ratios are to LightGBM with "
    "100 trees."
)
SIZES = ((1_000, 20, 5), (10_000, 30, 3), (100_000, 30, 2))
EBM_SIZE = (1_000, 20)
"""The size at which EBM is measured, which takes minutes at others."""


def mixed_table(rows, attributes, seed=0):
    """Return a table whose columns depend on the class and on the column before, the first half with whole numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    X = np.empty((rows, attributes))
    before = y.astype(float)
    for u in range(attributes):
        number = 0.4 * y * rng.choice([-1, 1]) + 0.5 * before / (1 + np.abs(before).mean()) + rng.normal(size=rows)
        X[:, u] = np.digitize(number, [-0.7, 0.2, 1.1]) if u < attributes // 2 else number
        before = X[:, u]
    return X, y


def measure(classifier, data, repeat):
    """Return the figures of a classifier, None if it is not installed."""
    own = classifier not in ("LightGBM", "EBM")
    python = sys.executable if own else HERE / ".peers" / "quality" / "bin" / "python"
    if not Path(python).exists():
        return None
    command = [python, HERE / "peers" / "mixed_classifier.py", "--data", data, "--classifier", classifier]
    done = subprocess.run([*command, "--repeat", str(repeat)], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return None
    if done.returncode:
        raise SystemExit(f"{classifier} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(rows, attributes, repeat, folder):
    """Return Markdown lines: all classifiers on the same table."""
    X, y = mixed_table(rows, attributes)
    data = write(folder, X, y, X[:10_000])
    names = ["LightGBM", "EvidenceBN", "EnsembleBN", *(["EBM"] if (rows, attributes) == EBM_SIZE else [])]
    found = {name: measure(name, data, 1 if name == "EBM" else repeat) for name in names}
    predicted = min(rows, 10_000)
    title = f"{rows:,} rows x {attributes} attributes"
    lines = [f"| {title} | fit | ratio | predict {predicted:,} rows | ratio | predict one row | peak MB |"]
    lines += ["| --- " * 7 + "|"]
    peer = found["LightGBM"]
    for name, figures in found.items():
        if figures is None:
            lines.append(f"| {name} | absent | | | | | |")
            continue
        fit, predict = figures["fit_seconds"], figures["predict_seconds"]
        ratios = (
            ["", ""]
            if peer is None
            else [f"{fit / peer['fit_seconds']:.2f}", f"{predict / peer['predict_seconds']:.2f}"]
        )
        cells = [seconds(fit), ratios[0], seconds(predict), ratios[1]]
        cells += [seconds(figures["row_seconds"]), f"{figures['peak_mb']:.0f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest table only")
    sizes = SIZES[:1] if parser.parse_args().quick else SIZES
    lines = ["# EvidenceBN and EnsembleBN: speed", "", *machine(HOW)]
    with tempfile.TemporaryDirectory() as folder:
        for rows, attributes, repeat in sizes:
            lines += compare(rows, attributes, repeat, folder)
            print("\n".join(lines[-7:]), flush=True)
    (HERE / "results" / "evidence.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
