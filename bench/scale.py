"""Compare counting from a Parquet file larger than memory with DuckDB's scan of the same columns into Arrow.

python -m bench.scale [--rows N] writes bench/results/scale.md. The file has 20 columns (10 of text, 6 of floats, 4 of
small integers) and three classes. It is written row group by row group into a temporary folder. Each program runs in
its own process. The peak memory is the largest resident set, with Python and its libraries.
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
import pyarrow as pa
import pyarrow.parquet as pq

from bench.tables import machine, seconds

HERE = Path(__file__).parent
HOW = (
    "One program at a time, two threads, the best of several runs after a first one that compiles and fills the file "
    "cache."
)
GROUP_ROWS = 500_000
TEXTS, FLOATS, INTEGERS = 10, 6, 4
MAX_GIB = 1.5
"""The target for the peak memory."""


def row_group(rng, rows):
    """Return rows of text with 2 to 8 levels, floats and small integers, all of which depend on the class."""
    y = rng.integers(0, 3, rows)
    columns = {}
    for i in range(TEXTS):
        levels = 2 + i % 7
        codes = np.where(rng.random(rows) < 0.3, y % levels, rng.integers(0, levels, rows)).astype(np.int32)
        labels = pa.array([f"level {level}" for level in range(levels)])
        columns[f"text{i}"] = labels.take(pa.array(codes))
    for i in range(FLOATS):
        columns[f"float{i}"] = rng.normal(size=rows) * 10.0**i + y
    for i in range(INTEGERS):
        columns[f"integer{i}"] = (y + rng.integers(0, 4 + i, rows)) % (5 + i)
    columns["class"] = pa.array(["low", "middle", "high"]).take(pa.array(y))
    return pa.table(columns)


def write(path, rows):
    """Write the file with one row group in memory at a time."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, GROUP_ROWS):
        group = row_group(rng, min(GROUP_ROWS, rows - start))
        writer = writer or pq.ParquetWriter(path, group.schema)
        writer.write_table(group)
    writer.close()


def scan(path):
    """Read all columns with DuckDB as Arrow record batches."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    return sum(batch.num_rows for batch in connection.sql(f"SELECT * FROM '{path}'").to_arrow_reader(65_536))


def known(path, schema):
    """Count with a known schema."""
    from tanbark import Counts
    from tanbark.sources import files

    return int(Counts.from_batches(files(path), "class", schema=schema, n_jobs=2).class_counts.sum())


def unknown(path):
    """Learn the schema, then count."""
    from tanbark import Counts
    from tanbark.sources import files

    return int(Counts.from_batches(files(path), "class", n_jobs=2).class_counts.sum())


def one(what, path, repeat):
    """Measure one program and print the figures as JSON."""
    if what == "scan":
        call = scan
    elif what == "unknown":
        call = unknown
    else:
        from tanbark import Counts

        schema = Counts.from_batches(next(pq.ParquetFile(path).iter_batches(GROUP_ROWS)), "class").schema

        def call(path):
            return known(path, schema)

    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        rows = call(path)
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": min(times), "rows": rows, "peak": peak}))


def measured(what, path, repeat):
    """Return the figures of one program in its own process."""
    command = [sys.executable, "-m", "bench.scale", "--one", what, str(path), "--repeat", str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


PROGRAMS = {
    "scan": "DuckDB, scan into Arrow",
    "known": "`Counts.from_batches`, schema known",
    "unknown": "`Counts.from_batches`, schema unknown",
}


def compare(rows, repeat):
    """Return Markdown lines: all programs on one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, rows)
        size = path.stat().st_size / 2**30
        print(f"{rows:,} rows, {size:.2f} GiB")
        figures = {}
        for what in PROGRAMS:
            figures[what] = measured(what, path, repeat)
            print(f"  {what}: {seconds(figures[what]['seconds'])}, {figures[what]['peak']:.2f} GiB")
            assert figures[what]["rows"] == rows
    lines = [
        f"## {rows:,} rows x {TEXTS + FLOATS + INTEGERS} columns and a class: {size:.2f} GiB of Parquet",
        "",
        "| program | time | rows/s | / DuckDB's scan | peak GiB |",
        "| --- | --- | --- | --- | --- |",
    ]
    for what, name in PROGRAMS.items():
        took = figures[what]["seconds"]
        ratio = took / figures["scan"]["seconds"]
        lines.append(f"| {name} | {seconds(took)} | {rows / took:,.0f} | {ratio:.2f} | {figures[what]['peak']:.2f} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows", type=int, default=50_000_000, help="the rows of the larger file; the smaller has a tenth"
    )
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(*options.one, options.repeat)
        return
    lines = ["# Counting rows that do not fit in memory", "", *machine(HOW)]
    lines += [
        f"Targets: with a known schema at most twice the time of DuckDB's scan, and always at most {MAX_GIB} GiB.",
        "",
    ]
    for rows in (options.rows // 10, options.rows):
        lines += compare(rows, options.repeat)
    target = HERE / "results" / "scale.md"
    target.write_text("\n".join(lines))
    print(f"written to {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
