"""All ways of counting give the same integers, however the rows are ordered, split and distributed."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tanbark import Category, Counts, NaiveBayes, Schema, Stream
from tanbark.counts import Tally
from tanbark.counts.spark import from_cells, to_cells

LEVELS = (2, 3, 5)
SCHEMA = Schema(
    [Category(f"a{u}", tuple(range(r))) for u, r in enumerate(LEVELS)], classes=("no", "yes"), class_name="y"
)


def random_rows(rows, seed):
    """Return values, -1 where missing, and classes."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(-1, r, rows) for r in LEVELS], axis=1), rng.integers(0, 2, rows)


def by_hand(X, y):
    """Count the classes and the pairs of values, one row after the other."""
    start = np.cumsum([0, *LEVELS])
    classes, table = np.zeros(2, np.int64), np.zeros((2, start[-1], start[-1]), np.int64)
    for row, label in zip(X, y, strict=True):
        classes[label] += 1
        at = [start[u] + v for u, v in enumerate(row) if v >= 0]
        for a in at:
            for b in at:
                table[label, a, b] += 1
    return classes, table


def codes_of(X):
    return np.ascontiguousarray(np.where(X < 0, SCHEMA.missing_code, X).T.astype(np.uint8))


def batch_of(X, y):
    columns = {f"a{u}": pa.array([None if v < 0 else v for v in X[:, u].tolist()]) for u in range(len(LEVELS))}
    return pa.RecordBatch.from_pydict({**columns, "y": pa.array([SCHEMA.classes[k] for k in y], pa.string())})


def added(parts, n_jobs):
    return sum((Counts.of(SCHEMA, codes_of(X), y, n_jobs=n_jobs) for X, y in parts), Counts.zero(SCHEMA))


def tallied(parts, n_jobs):
    tally = Tally(SCHEMA)
    for X, y in parts:
        tally.add(codes_of(X), y, n_jobs=n_jobs)
    return tally.counts()


def incremental(parts, n_jobs):
    counts = Counts.zero(SCHEMA)
    for X, y in parts:
        counts = counts.plus(codes_of(X), y, n_jobs)
    return counts


def streamed(parts, n_jobs):
    return Counts.from_batches([batch_of(*part) for part in parts], "y", schema=SCHEMA, n_jobs=n_jobs)


def by_cells(parts, n_jobs):
    """Add the cells of each part by their keys, as Spark does."""
    total = {}
    for X, y in parts:
        keys, seen = to_cells(Counts.of(SCHEMA, codes_of(X), y, n_jobs=n_jobs))
        for key, count in zip(keys.tolist(), seen.tolist(), strict=True):
            total[key] = total.get(key, 0) + count
    return from_cells(SCHEMA, 2, np.array(list(total), np.int64), np.array(list(total.values()), np.int64))


@pytest.mark.parametrize("way", [added, tallied, incremental, streamed, by_cells])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("threads_for_few_rows")
@given(
    st.integers(1, 300),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 120), max_size=6),
    st.sampled_from([1, 2]),
    st.randoms(),
)
def test_any_split_any_order_and_any_threads_give_the_same_counts(way, rows, seed, cuts, n_jobs, random):
    X, y = random_rows(rows, seed)
    classes, table = by_hand(X, y)
    order = list(range(rows))
    random.shuffle(order)
    X, y = X[order], y[order]
    parts = list(zip(np.split(X, sorted(cuts)), np.split(y, sorted(cuts)), strict=True))
    random.shuffle(parts)
    counts = way(parts, n_jobs)
    assert counts.schema == SCHEMA
    assert counts.table.dtype == np.int64
    assert np.array_equal(counts.class_counts, classes)
    assert np.array_equal(counts.table, table)


def test_a_stream_without_forgetting_gives_the_same_counts():
    X, y = random_rows(90, 3)
    stream = Stream(NaiveBayes(encoder=SCHEMA))
    for start in range(0, 90, 7):
        part = slice(start, start + 7)
        rows = np.where(X[part] < 0, None, X[part].astype(object))
        stream.partial_fit(rows, np.array(SCHEMA.classes, object)[y[part]])
    classes, table = by_hand(X, y)
    assert np.array_equal(stream.model_.counts_.class_counts, classes)
    assert np.array_equal(stream.model_.counts_.table, np.diagonal(table, axis1=1, axis2=2))
