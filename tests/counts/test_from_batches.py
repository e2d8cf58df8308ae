"""Counts of rows from anywhere are the counts of the whole table."""

import subprocess
import sys
import warnings

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tanbark import TAN, Counts, Encoder
from tanbark.sources import SourceError, files


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 4000)
    text = pa.array([None if v == 5 else f"t{v}" for v in (rng.integers(0, 5, 4000) + y) % 6])
    return pa.table(
        {
            "text": text,
            "few": (y + rng.integers(0, 3, 4000)) % 4,
            "many": rng.integers(0, 1000, 4000),
            "measured": pa.array(np.where(rng.random(4000) < 0.1, np.nan, rng.normal(size=4000) + y)),
            "y": pa.array(["a", "b", "c"]).take(y),
        }
    )


def of_the_whole(table, encoder=None, ignore=(), order=2):
    X = table.drop_columns(["y", *ignore])
    y = nw.from_native(table["y"], series_only=True).alias("y")
    schema = (encoder or Encoder()).fit(X, y).schema_
    return Counts.of(schema, schema.encode(X), schema.encode_target(y), order=order)


SOURCES = {
    "table": lambda table: table,
    "batches": lambda table: table.to_batches(333),
    "function of batches": lambda table: lambda: iter(table.to_batches(100)),
    "function of a reader": lambda table: table.to_reader,
    "polars": lambda table: pl.from_arrow(table),
    "pandas": lambda table: table.to_pandas(),
    "duckdb": lambda table: duckdb.from_arrow(table),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_whatever_streams_arrow_data_is_counted_alike(table, kind, n_jobs):
    expected = of_the_whole(table)
    assert Counts.from_batches(SOURCES[kind](table), "y", n_jobs=n_jobs) == expected
    assert Counts.from_batches(SOURCES[kind](table), "y", schema=expected.schema, n_jobs=n_jobs) == expected


def test_a_single_record_batch_is_counted(table):
    assert Counts.from_batches(table.combine_chunks().to_batches()[0], "y") == of_the_whole(table)


@pytest.mark.parametrize(
    "once", [lambda t: t.to_reader(), lambda t: iter(t.to_batches(100))], ids=["reader", "generator"]
)
def test_what_can_be_read_once_needs_a_schema(table, once):
    with pytest.raises(SourceError, match=r"read only once.*give schema=, or something that can be read again"):
        Counts.from_batches(once(table), "y")
    expected = of_the_whole(table)
    assert Counts.from_batches(once(table), "y", schema=expected.schema) == expected


def test_the_encoder_and_the_columns_to_ignore_are_heeded(table):
    encoder = Encoder(categorical=["many"], bins="width", n_bins=3, max_levels=20, missing="state")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Counts.from_batches(table, "y", encoder=encoder, ignore=["text"], order=1)
        assert found == of_the_whole(table, encoder, ["text"], order=1)
    with pytest.raises(ValueError, match="leave out encoder= and ignore="):
        Counts.from_batches(table, "y", schema=found.schema, ignore=["text"])


def test_rows_without_a_class_are_warned_of_once(table):
    holed = table.set_column(4, "y", pa.array([None, *table["y"].to_pylist()[1:]]))
    for known in (None, of_the_whole(table).schema):
        with pytest.warns(UserWarning, match="1 row without a class is dropped") as caught:
            assert Counts.from_batches(holed, "y", schema=known).class_counts.sum() == 3999
        assert len(caught) == 1


def test_progress_says_what_is_done_and_how_far(table):
    told = []
    Counts.from_batches(table, "y", progress=lambda *words: told.append(words))
    assert told == [("looking for levels", 4000, 4000), ("counting", 4000, 4000)]
    told.clear()
    Counts.from_batches(lambda: table.to_batches(), "y", progress=lambda *words: told.append(words))
    assert told[-1] == ("counting", 4000, None)


@pytest.mark.parametrize("given", [3, "t.csv", None, {"a": 1}.values])
def test_what_is_no_arrow_data_is_refused(given):
    with pytest.raises(TypeError, match=r"Arrow"):
        Counts.from_batches(given, "y")


def test_no_rows_are_no_counts_where_the_schema_is_known(table):
    schema = of_the_whole(table).schema
    assert Counts.from_batches([], "y", schema=schema) == Counts.zero(schema)
    assert Counts.from_batches(table[:0], "y", schema=schema) == Counts.zero(schema)
    with pytest.raises(SourceError, match="there are no rows"):
        Counts.from_batches([], "y")


def test_rows_that_are_not_there_the_next_time_are_noticed(table):
    streams = iter([table.to_batches(), table[:100].to_batches()])
    encoder = Encoder(categorical=[])
    wide = table.set_column(2, "many", pa.array(np.arange(4000) / 7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanbark.schema.seen_numbers.MOST_VALUES", 100)
        streams = iter([wide.to_batches(), wide[:100].to_batches()])
        with pytest.raises(ValueError, match="4,000 rows when they were read first and 100 the next time"):
            Counts.from_batches(lambda: next(streams), "y", encoder=encoder)


def test_a_damaged_file_in_the_middle_leaves_a_model_untouched(table, tmp_path):
    for i in range(3):
        pq.write_table(table, tmp_path / f"part-{i}.parquet")
    model = TAN().fit_counts(Counts.from_batches(files(tmp_path / "part-*.parquet"), "y"))
    before = model.counts_
    middle = tmp_path / "part-1.parquet"
    middle.write_bytes(middle.read_bytes()[: middle.stat().st_size // 2])
    with pytest.raises(SourceError, match=r"part-1.parquet is not a whole Parquet file"):
        model.fit_counts(Counts.from_batches(files(tmp_path / "part-*.parquet"), "y"))
    assert model.counts_ is before


PEAK = """
import resource, sys
from tanbark import Counts
from tanbark.sources import files
for path in sys.argv[1:]:
    counts = Counts.from_batches(files(path), "y")
    print(int(counts.class_counts.sum()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_more_rows_need_no_more_memory(tmp_path):
    rng = np.random.default_rng(0)
    text, y = rng.choice(["p", "q"], 100_000), rng.choice(["a", "b"], 100_000)
    part = pa.table({f"x{u}": rng.normal(size=100_000) for u in range(4)} | {"text": text, "y": y})
    paths = [tmp_path / "small.parquet", tmp_path / "large.parquet"]
    for path, parts in zip(paths, (2, 20)):
        with pq.ParquetWriter(path, part.schema) as writer:
            for _ in range(parts):
                writer.write_table(part)
    done = subprocess.run([sys.executable, "-c", PEAK, *paths], capture_output=True, text=True, check=True, timeout=100)
    (few, before), (many, after) = (map(float, line.split()) for line in done.stdout.splitlines())
    assert (few, many) == (200_000, 2_000_000)
    # The larger file has 60 MB more than the smaller one.
    assert after - before < 30


def test_pandas_categories_and_polars_enums_stream(table):
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "u"]), "y": ["a", "b", "a"]})
    assert Counts.from_batches(frame, "y").schema.columns[0].levels == ("u", "v")
    enum = pl.DataFrame({"e": pl.Series(["u", "v", "u"], dtype=pl.Enum(["w", "v", "u"])), "y": ["a", "b", "a"]})
    assert Counts.from_batches(enum, "y").schema.columns[0].levels == ("w", "v", "u")
