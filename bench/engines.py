"""Compare counting with Spark and Dask to counting in one process, and measure the data that they move.

python -m bench.engines [--rows N] writes bench/results/engines.md. All engines use two cores of this machine.
"""

import argparse
import json
import os
import pickle
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from bench.tables import best, machine, seconds
from tanbark import Category, Number, Schema
from tanbark.counts import count_batches, dask, spark
from tanbark.counts.spark import to_cells

HERE = Path(__file__).parent
HOW = (
    "All figures are from the same run, one program at a time, the best of three. The schema is known, kernels are "
    "compiled, and processes have started."
)
FILES = 8
TEXT_ARITIES = [2 + u % 7 for u in range(10)]
SCHEMA = Schema(
    [Category(f"text{u}", tuple(f"level {i}" for i in range(arity))) for u, arity in enumerate(TEXT_ARITIES)]
    + [Number(f"float{u}", (-0.84, -0.25, 0.25, 0.84)) for u in range(6)]
    + [Category(f"int{u}", tuple(range(3 + u))) for u in range(4)],
    tuple(range(3)),
    "y",
)


def write_files(folder, rows):
    """Write text, floats and small integers that depend on the class to several Parquet files."""
    for part, size in enumerate(np.diff(np.linspace(0, rows, FILES + 1, dtype=int))):
        rng = np.random.default_rng(part)
        y = rng.integers(0, 3, size)
        columns = {}
        for column in SCHEMA.columns:
            if isinstance(column, Number):
                columns[column.name] = rng.normal(y - 1.0)
                continue
            codes = (rng.integers(0, column.arity, size) * (1 + y)) % column.arity
            columns[column.name] = pa.array(np.array(column.levels)[codes])
        pq.write_table(pa.table({**columns, "y": y}), folder / f"part-{part}.parquet", row_group_size=2**18)


def in_one_process(folder, n_jobs):
    batches = ds.dataset(folder).to_batches(columns=[*SCHEMA.names, "y"])
    return count_batches(SCHEMA, batches, "y", n_jobs=n_jobs)


def with_spark(folder, scratch):
    """Return the seconds to count, the seconds to only pass rows to Python, the counts, the version and the log."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    events = scratch / "events"
    events.mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": events.as_uri(),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    df = session.read.parquet(str(folder))

    def only_rows(batches):
        import pyarrow

        yield pyarrow.record_batch([[sum(batch.num_rows for batch in batches)]], names=["rows"])

    counts = spark.count(df, "y", schema=SCHEMA)
    took = best(lambda: spark.count(df, "y", schema=SCHEMA))
    rows = best(lambda: df.mapInArrow(only_rows, "rows bigint").collect())
    version = pyspark.__version__
    session.stop()
    return took, rows, counts, version, last_count(events)


def last_count(events):
    """Return the log of the last count: number of partitions, bytes that each wrote, and seconds to merge."""
    stages, writes = {}, {}
    for line in next(events.iterdir()).read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            stages[info["Stage ID"]] = (info["Completion Time"] - info["Submission Time"]) / 1e3
        if event["Event"] == "SparkListenerTaskEnd" and event["Task Metrics"] is not None:
            written = event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            if written:
                writes.setdefault(event["Stage ID"], []).append(written)
    counting = max(writes)
    return {
        "partitions": len(writes[counting]),
        "bytes": np.mean(writes[counting]),
        "merging": stages[min(stage for stage in stages if stage > counting)],
    }


def height(frame):
    return frame.shape[0]


def with_dask(folder):
    """Return the seconds to count, the seconds to only load partitions, the counts, the version and the partitions."""
    import dask.dataframe as dd
    import distributed
    from dask import compute, delayed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        df = dd.read_parquet(str(folder))
        counts = dask.count(df, "y", schema=SCHEMA)
        took = best(lambda: dask.count(df, "y", schema=SCHEMA))
        rows = best(lambda: compute([delayed(height)(part) for part in df.to_delayed()]))
        return took, rows, counts, distributed.__version__, df.npartitions


def merging(counts, partitions):
    """Return the seconds to unpickle and add the counts of all partitions, and the bytes of one."""
    pickled = pickle.dumps(counts, protocol=5)
    start = time.perf_counter()
    total = pickle.loads(pickled)
    for _ in range(partitions - 1):
        total = total + pickle.loads(pickled)
    return time.perf_counter() - start, len(pickled)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    rows = parser.parse_args().rows
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with tempfile.TemporaryDirectory() as folder:
        files, scratch = Path(folder) / "rows", Path(folder) / "scratch"
        files.mkdir()
        scratch.mkdir()
        write_files(files, rows)
        expected = in_one_process(files, 2)
        one, two = (best(lambda jobs=jobs: in_one_process(files, jobs)) for jobs in (1, 2))
        dask_took, dask_rows, dask_counts, dask_version, dask_parts = with_dask(files)
        spark_took, spark_rows, spark_counts, spark_version, spark_log = with_spark(files, scratch)
    assert expected == spark_counts == dask_counts
    added, size = merging(expected, dask_parts)
    cells = len(to_cells(expected)[0])
    lines = ["# Spark and Dask compared with one process", "", *machine(HOW)]
    lines += [f"{rows:,} rows of Parquet in {FILES} files: 10 columns of text, 6 of floats, 4 of small integers, ", ""]
    lines[-2] += (
        f"{len(SCHEMA.classes)} classes, {SCHEMA.offset[-1]} values in total. All engines give the same counts."
    )
    lines += ["| | time | rows/s | / one process |", "| --- " * 4 + "|"]
    for name, took in (
        ("one process, two threads", two),
        ("one process, one thread", one),
        (f"Spark {spark_version}, local[2]", spark_took),
        ("Spark: passing rows to Python only", spark_rows),
        (f"Dask {dask_version}, two workers", dask_took),
        ("Dask: loading frames only", dask_rows),
    ):
        lines.append(f"| {name} | {seconds(took)} | {rows / took:,.0f} | {took / two:.2f} |")
    lines += ["", "## Data that is moved and merged", ""]
    lines += ["| | partitions | cells | moved per partition | bytes per cell | merging |", "| --- " * 6 + "|"]
    lines.append(
        f"| Spark | {spark_log['partitions']} | {cells:,} | {spark_log['bytes']:,.0f} bytes "
        f"| {spark_log['bytes'] / cells:.1f} | {seconds(spark_log['merging'])} |"
    )
    lines.append(f"| Dask | {dask_parts} | {cells:,} | {size:,} bytes | {size / cells:.1f} | {seconds(added)} |")
    lines += [
        "",
        "Spark moves the nonzero cells, once for each pair of values. Its log reports the compressed bytes. Dask moves",
        "complete pickled tables; the merging time is that of unpickling and adding them one after another.",
        "",
    ]
    path = HERE / "results" / "engines.md"
    path.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
