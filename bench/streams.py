"""Measure learning as rows arrive: chunks of 100 rows, here, in scikit-learn and in River.

python -m bench.streams [--data DIR] writes bench/results/streams.md; without --data on drawn tables alone.
"""

import argparse
import gc
import pickle
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB

from bench.tables import machine, random_tan
from tanbark import AODE, TAN, AveragedTAN, Encoder, NaiveBayes, Stream
from tanbark.datasets import read_folder

HERE = Path(__file__).parent
HOW = (
    "All figures are of this one run on one thread; a chunk's time is the median over the stream after its first ten, "
    "rows a second are from the mean. A chunk is made anew just before the clock starts, as rows that arrive are, and "
    "what was there before the stream is kept out of garbage collection."
)
CHUNK = 100


def chunks(table, y):
    return [(table[at : at + CHUNK], y[at : at + CHUNK]) for at in range(0, len(y) - CHUNK + 1, CHUNK)]


def timed(learn, parts):
    """Return the median milliseconds of a chunk and the rows that go by in a second."""
    took = []
    gc.collect()
    gc.freeze()
    for part in parts:
        X, y = pickle.loads(pickle.dumps(part))
        start = time.perf_counter()
        learn(X, y)
        took.append(time.perf_counter() - start)
    gc.unfreeze()
    took = np.array(took[10:] or took)
    return f"{1e3 * np.median(took):.2f} ms", f"{CHUNK / took.mean():,.0f}"


def line(name, parts, make):
    # Once over the beginning, so that nothing is compiled while the clock runs.
    learner = make()
    for X, y in parts[:5]:
        learner(X, y)
    chunk, rate = timed(make(), parts)
    return f"| {name} | {chunk} | {rate} |"


def aco(schema):
    return TAN(encoder=schema, restructure="aco").partial_fit


def forgetting(schema, **settings):
    return Stream(TAN(encoder=schema), **settings).partial_fit


def table_lines(title, frame, labels):
    """Return Markdown lines: every learner on one stream."""
    schema = Encoder().fit(frame, labels).schema_
    # Objects as the frame has them, without numpy's missing numbers of its own.
    rows = frame.astype(object).where(frame.notna(), None).to_numpy(object)
    classes = labels.to_numpy(object)
    arrays, frames = chunks(rows, classes), chunks(frame, labels)
    codes = schema.encode(frame)
    complete = np.where(codes == schema.missing_code, 0, codes).T.astype(np.int64)
    encoded = chunks(complete, schema.encode_target(labels))
    lines = [f"| {title}, chunks of {CHUNK} | a chunk | rows a second |", "| --- " * 3 + "|"]
    ours = {
        'TAN(restructure="always"), arrays of labels': (arrays, lambda: TAN(encoder=schema).partial_fit),
        'TAN(restructure="aco"), arrays of labels': (
            arrays,
            lambda: aco(schema),
        ),
        'TAN(restructure="always"), arrays, schema growing': (arrays, lambda: TAN().partial_fit),
        'TAN(restructure="always"), pandas frames': (frames, lambda: TAN(encoder=schema).partial_fit),
        'TAN(restructure="aco"), pandas frames': (
            frames,
            lambda: aco(schema),
        ),
        "Stream(TAN, window=1000), arrays": (arrays, lambda: Stream(TAN(encoder=schema), window=1000).partial_fit),
        "Stream(TAN, half_life=1000), arrays": (
            arrays,
            lambda: Stream(TAN(encoder=schema), half_life=1000).partial_fit,
        ),
        "NaiveBayes, arrays": (arrays, lambda: NaiveBayes(encoder=schema).partial_fit),
        "AODE, arrays": (arrays, lambda: AODE(encoder=schema).partial_fit),
        "AveragedTAN, arrays": (arrays, lambda: AveragedTAN(encoder=schema).partial_fit),
    }
    for name, (parts, make) in ours.items():
        lines.append(line(name, parts, make))
    levels = np.maximum(schema.arity, 1)
    every = np.arange(len(schema.classes))

    def scikit_learn():
        model = CategoricalNB(min_categories=levels)
        return lambda X, y: model.partial_fit(X, y, classes=every)

    lines.append(line("scikit-learn CategoricalNB (naive Bayes), codes", encoded, scikit_learn))
    return [*lines, *river(frame, labels), ""]


def river(frame, labels):
    """Return Markdown lines: River's learners, which take a row at a time, on the first chunks."""
    try:
        from river import naive_bayes, tree
    except ImportError:
        return ["| River: not installed | | |"]
    records = frame.astype(object).where(frame.notna(), "?").astype(str).to_dict("records")
    present = [{f"{name}={value}": 1 for name, value in row.items()} for row in records]
    lines = []
    for name, make, rows in (
        ("River MultinomialNB (naive Bayes), a row at a time", naive_bayes.MultinomialNB, present),
        ("River HoeffdingTreeClassifier, a row at a time", tree.HoeffdingTreeClassifier, records),
    ):

        def learner(make=make):
            model = make()

            def learn(X, y):
                for row, label in zip(X, y):
                    model.learn_one(row, label)

            return learn

        lines.append(line(name, chunks(rows, labels.tolist())[:40], learner))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = ["# Streams", "", *machine(HOW)]
    X, y = random_tan(20_000, 30)
    names = [f"x{u}" for u in range(30)]
    lines += table_lines("30 attributes of 4 levels, drawn", pd.DataFrame(X, columns=names).astype(str), pd.Series(y))
    if arguments.data:
        folder = read_folder(arguments.data)
        for name in ("splice", "adult"):
            data = folder[name]
            frame = data.table.to_pandas()
            order = np.random.default_rng(0).permutation(len(frame))
            labels = pd.Series(data.labels.to_pylist(), name=data.target)
            shuffled = frame.iloc[order].reset_index(drop=True), labels.iloc[order].reset_index(drop=True)
            lines += table_lines(f"{name}, {frame.shape[1]} attributes, {len(frame):,} rows", *shuffled)
    (HERE / "results" / "streams.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
