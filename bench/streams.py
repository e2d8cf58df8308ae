"""Compare learning from a stream in chunks of 100 rows with scikit-learn and River.

python -m bench.streams [--data DIR] writes bench/results/streams.md; without --data only for a simulated table.
"""

import argparse
import pickle
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.naive_bayes import CategoricalNB

from bench.tables import machine, random_tan
from tanbark import AODE, TAN, AveragedTAN, Encoder, NaiveBayes, Stream
from tanbark.datasets import read_folder

HERE = Path(__file__).parent
HOW = (
    "All figures are from the same run on one thread. The learners take turns and learn the stream five times each. "
    "Chunks are copied just before timing, like newly arriving rows, and each counts with its shortest time. The "
    "tables have the median over the chunks after the first ten, and the rows per second at their mean."
)
ROUNDS = 5
CHUNK_ROWS = 100


def chunks(table, y):
    return [
        (table[at : at + CHUNK_ROWS], y[at : at + CHUNK_ROWS]) for at in range(0, len(y) - CHUNK_ROWS + 1, CHUNK_ROWS)
    ]


def timed(learn, parts):
    """Return the seconds of each chunk."""
    took = []
    for part in parts:
        X, y = pickle.loads(pickle.dumps(part))
        start = time.perf_counter()
        learn(X, y)
        took.append(time.perf_counter() - start)
    return took


def lines(learners):
    """Return Markdown lines, given the chunks of each learner and a function that creates it."""
    took = {name: [] for name in learners}
    for _ in range(ROUNDS):
        for name, (parts, make) in learners.items():
            took[name].append(timed(make(), parts))
    best = {name: np.min(rounds, axis=0)[10:] for name, rounds in took.items()}
    return [f"| {name} | {1e3 * np.median(b):.2f} ms | {CHUNK_ROWS / b.mean():,.0f} |" for name, b in best.items()]


def table_lines(title, frame, labels):
    """Return Markdown lines: all learners on one stream."""
    schema = Encoder().fit(frame, labels).schema_
    # The objects of the frame, with None for missing values.
    rows = frame.astype(object).where(frame.notna(), None).to_numpy(object)
    classes = labels.to_numpy(object)
    arrays, frames = chunks(rows, classes), chunks(frame, labels)
    arrow = [(pa.Table.from_pandas(X, preserve_index=False), y) for X, y in frames]
    codes = schema.encode(frame)
    complete = np.where(codes == schema.missing_code, 0, codes).T.astype(np.int64)
    encoded = chunks(complete, schema.encode_target(labels))

    def learner(kind, **settings):
        return lambda: kind(encoder=schema, **settings).partial_fit

    def stream(**settings):
        return lambda: Stream(TAN(encoder=schema), **settings).partial_fit

    always, aco = learner(TAN), learner(TAN, restructure="aco")
    learners = {
        'TAN(restructure="always"), arrays of labels': (arrays, always),
        'TAN(restructure="aco"), arrays of labels': (arrays, aco),
        'TAN(restructure="always"), arrays, schema growing': (arrays, lambda: TAN().partial_fit),
        'TAN(restructure="always"), Arrow tables': (arrow, always),
        'TAN(restructure="aco"), Arrow tables': (arrow, aco),
        'TAN(restructure="always"), pandas frames': (frames, always),
        'TAN(restructure="aco"), pandas frames': (frames, aco),
        "Stream(TAN, window=1000), arrays": (arrays, stream(window=1000)),
        "Stream(TAN, half_life=1000), arrays": (arrays, stream(half_life=1000)),
        "NaiveBayes, arrays": (arrays, learner(NaiveBayes)),
        "AODE, arrays": (arrays, learner(AODE)),
        "AveragedTAN, arrays": (arrays, learner(AveragedTAN)),
    }
    levels = np.maximum(schema.arity, 1)
    every = np.arange(len(schema.classes))

    def scikit_learn():
        model = CategoricalNB(min_categories=levels)
        return lambda X, y: model.partial_fit(X, y, classes=every)

    learners["scikit-learn CategoricalNB (naive Bayes), codes"] = encoded, scikit_learn
    head = [f"| {title}, chunks of {CHUNK_ROWS} | per chunk | rows per second |", "| --- " * 3 + "|"]
    return [*head, *lines(learners | river(frame, labels)), ""]


def river(frame, labels):
    """Return River's learners, which learn row by row, with the first chunks, or nothing if River is not installed."""
    try:
        from river import naive_bayes, tree
    except ImportError:
        return {}
    records = frame.astype(object).where(frame.notna(), "?").astype(str).to_dict("records")
    present = [{f"{name}={value}": 1 for name, value in row.items()} for row in records]
    learners = {}
    for name, make, rows in (
        ("River MultinomialNB (naive Bayes), row by row", naive_bayes.MultinomialNB, present),
        ("River HoeffdingTreeClassifier, row by row", tree.HoeffdingTreeClassifier, records),
    ):

        def learner(make=make):
            model = make()

            def learn(X, y):
                for row, label in zip(X, y, strict=True):
                    model.learn_one(row, label)

            return learn

        learners[name] = chunks(rows, labels.tolist())[:30], learner
    return learners


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    page = ["# Streams", "", *machine(HOW)]
    X, y = random_tan(20_000, 30)
    names = [f"x{u}" for u in range(30)]
    page += table_lines(
        "30 attributes of 4 levels, simulated", pd.DataFrame(X, columns=names).astype(str), pd.Series(y)
    )
    if arguments.data:
        folder = read_folder(arguments.data)
        for name in ("splice", "adult"):
            data = folder[name]
            frame = data.table.to_pandas()
            order = np.random.default_rng(0).permutation(len(frame))
            labels = pd.Series(data.labels.to_pylist(), name=data.target)
            shuffled = frame.iloc[order].reset_index(drop=True), labels.iloc[order].reset_index(drop=True)
            page += table_lines(f"{name}, {frame.shape[1]} attributes, {len(frame):,} rows", *shuffled)
    (HERE / "results" / "streams.md").write_text("\n".join(page) + "\n")
    print("\n".join(page))


if __name__ == "__main__":
    main()
