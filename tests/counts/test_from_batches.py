"""Counts of streamed rows equal the counts of the whole table."""

import subprocess
import sys
import warnings
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import dataset

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
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "duckdb": duckdb.from_arrow,
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_all_sources_of_arrow_data_give_the_same_counts(table, kind, n_jobs):
    expected = of_the_whole(table)
    assert Counts.from_batches(SOURCES[kind](table), "y", n_jobs=n_jobs) == expected
    assert Counts.from_batches(SOURCES[kind](table), "y", schema=expected.schema, n_jobs=n_jobs) == expected


def test_a_single_record_batch_is_counted(table):
    assert Counts.from_batches(table.combine_chunks().to_batches()[0], "y") == of_the_whole(table)


@pytest.mark.parametrize(
    "once", [lambda t: t.to_reader(), lambda t: iter(t.to_batches(100))], ids=["reader", "generator"]
)
def test_a_source_that_can_be_read_only_once_needs_a_schema(table, once):
    with pytest.raises(SourceError, match=r"read only once.*provide schema=, or a source that can be read again"):
        Counts.from_batches(once(table), "y")
    expected = of_the_whole(table)
    assert Counts.from_batches(once(table), "y", schema=expected.schema) == expected


def test_encoder_and_ignore_are_used(table):
    encoder = Encoder(categorical=["many"], bins="width", n_bins=3, max_levels=20, missing="state")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Counts.from_batches(table, "y", encoder=encoder, ignore=["text"], order=1)
        assert found == of_the_whole(table, encoder, ["text"], order=1)
    with pytest.raises(ValueError, match="leave out encoder= and ignore="):
        Counts.from_batches(table, "y", schema=found.schema, ignore=["text"])


def test_rows_without_a_class_cause_one_warning(table):
    unlabelled = table.set_column(4, "y", pa.array([None, *table["y"].to_pylist()[1:]]))
    for known in (None, of_the_whole(table).schema):
        with pytest.warns(UserWarning, match="1 row without a class is dropped") as caught:
            assert Counts.from_batches(unlabelled, "y", schema=known).class_counts.sum() == 3999
        assert len(caught) == 1


def test_progress_reports_the_task_and_the_rows(table):
    reported = []
    Counts.from_batches(table, "y", progress=lambda *arguments: reported.append(arguments))
    assert reported == [("finding levels", 4000, 4000), ("counting", 4000, 4000)]
    reported.clear()
    Counts.from_batches(table.to_batches, "y", progress=lambda *arguments: reported.append(arguments))
    assert reported[-1] == ("counting", 4000, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, r"expected Arrow data: a table.*got 'int'"),
        (None, r"expected Arrow data: a table.*got 'NoneType'"),
        ({"a": 1}.values, "expected Arrow record batches, got 'int'"),
        ("t.csv", r"tanbark\.sources\.files\('t\.csv'\)"),
        (Path("t.csv"), r"tanbark\.sources\.files\('t\.csv'\)"),
        (pl.LazyFrame({"x": [1], "y": [1]}), r"collect\(\)"),
        ([pa.table({"x": [1], "y": [1]})], r"record batches, got 'Table'; combine tables with pyarrow\.concat_tables"),
        (lambda: None, "the function must return Arrow data or record batches, got 'NoneType'"),
        (pd.DataFrame({"x": [1, "a"], "y": [0, 1]}), "the data frame cannot be converted to Arrow: .*column x"),
    ],
)
def test_other_data_than_arrow_data_raise(given, message):
    with pytest.raises(TypeError, match=message):
        Counts.from_batches(given, "y")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ignore": "few"}, r"ignore must be a list of column names, got 'few'; write \['few'\]"),
        ({"encoder": "x"}, r"encoder must be a tanbark\.Encoder, got a builtins.str"),
        ({"schema": pa.schema([("x", pa.int64())])}, r"schema must be a tanbark\.Schema, got a pyarrow.lib.Schema"),
    ],
)
def test_arguments_of_the_wrong_type_raise(table, settings, message):
    with pytest.raises(TypeError, match=message):
        Counts.from_batches(table, "y", **settings)


def test_the_index_of_a_pandas_data_frame_is_ignored(table):
    frame = table.to_pandas().set_index(np.arange(4000) % 7)
    assert Counts.from_batches(frame, "y") == of_the_whole(table)


@pytest.mark.parametrize("once", [lambda t: t.to_reader(), lambda t: iter(t.to_batches(100))])
def test_a_function_that_returns_an_exhausted_stream_raises(table, once):
    stream = once(table)
    with pytest.raises(ValueError, match="the first pass read 4,000 rows, but a later pass read 0; provide schema="):
        Counts.from_batches(lambda: stream, "y")


def test_rows_without_a_class_count_when_passes_are_compared(table):
    unlabelled = table.set_column(4, "y", pa.array([None, *table["y"].to_pylist()[1:]]))
    streams = iter([unlabelled.to_batches(), unlabelled[1:].to_batches()])
    with (
        pytest.warns(UserWarning, match="1 row without a class"),
        pytest.raises(ValueError, match="the first pass read 4,000 rows, but a later pass read 3,999"),
    ):
        Counts.from_batches(lambda: next(streams), "y")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize(("lacking", "message"), [("few", "lack the column 'few'"), ("y", "lack the class column 'y'")])
def test_the_error_names_a_column_of_the_schema_that_is_absent(table, tmp_path, suffix, lacking, message):
    schema, rest = of_the_whole(table).schema, table.drop_columns([lacking])
    if suffix == "arrow":
        source = rest
    elif suffix == "csv":
        rest.to_pandas().to_csv(tmp_path / "t.csv", index=False)
        source = files(tmp_path / "t.csv")
    else:
        pq.write_table(rest, tmp_path / "t.parquet")
        source = files(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message):
        Counts.from_batches(source, "y", schema=schema)


@pytest.mark.parametrize("known", [True, False])
def test_a_later_batch_without_a_column_is_refused(table, known):
    batches = [*table.to_batches(), *table.drop_columns(["few"]).to_batches()]
    with pytest.raises(ValueError, match="rows lack the column 'few'"):
        Counts.from_batches(batches, "y", schema=of_the_whole(table).schema if known else None)


def test_a_target_that_is_an_attribute_of_the_schema_is_refused(table):
    with pytest.raises(ValueError, match="target 'few' is an attribute of the schema, whose class is 'y'"):
        Counts.from_batches(table, "few", schema=of_the_whole(table).schema)


def test_arrow_datasets_and_scanners_are_read(table):
    data = dataset.dataset(table)
    assert Counts.from_batches(data, "y") == of_the_whole(table)
    assert Counts.from_batches(data.scanner(), "y") == of_the_whole(table)


def from_storage(kind, values, storage):
    return pa.ExtensionArray.from_storage(kind, pa.array(values, storage))


UNUSUAL = {
    "run ends": (pa.RunEndEncodedArray.from_arrays([2, 3, 4], ["u", None, "v"]), ("u", "v"), [2, 1]),
    "json": (from_storage(pa.json_(), ["1", "2", "1", None], pa.string()), ("1", "2"), [2, 1]),
    "bool8": (from_storage(pa.bool8(), [1, 0, 1, None], pa.int8()), (False, True), [1, 2]),
    "union": (
        pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), [pa.array([*"uuuu"]), pa.array([*"vvvv"])]),
        ("u", "v"),
        [2, 2],
    ),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_labels_in_unusual_storage_are_counted(kind):
    values, levels, counts = UNUSUAL[kind]
    found = Counts.from_batches([pa.record_batch({"x": values, "y": [*"abab"]})] * 2, "y")
    assert found.schema.columns[0].levels == levels
    assert found.value(0).sum(axis=0).tolist() == [2 * count for count in counts]


def test_numbers_in_unusual_storage_are_refused():
    values = pa.RunEndEncodedArray.from_arrays([2, 4], [1.5, None])
    with pytest.raises(TypeError, match=r"column 'x' holds numbers as run_end_encoded.*; cast it"):
        Counts.from_batches(pa.table({"x": values, "y": [*"abab"]}), "y")


def coded(index, levels, ordered=False):
    return pa.DictionaryArray.from_arrays(pa.array(index, pa.int8()), levels, ordered=ordered)


def test_dictionaries_that_arrow_does_not_unify_are_counted():
    y = ["a", "b", "a"]
    with_nulls = [pa.record_batch({"x": coded([0, 1, 0], ["u", None]), "y": y})] * 2
    found = Counts.from_batches(with_nulls, "y")
    assert (found.schema.columns[0].levels, found.value(0).tolist()) == (("u",), [[4], [0]])
    # The levels of each fit into a byte, those of both together do not.
    wide = [pa.record_batch({"x": coded([0, 99, 0], [f"{k}{i}" for i in range(100)]), "y": y}) for k in "uv"]
    found = Counts.from_batches(wide, "y")
    assert found.schema.columns[0].levels == ("u0", "u99", "v0", "v99")
    assert found.value(0).tolist() == [[2, 0, 2, 0], [0, 1, 0, 1]]
    swapped = [batch.rename_columns(["y", "x"]) for batch in wide]
    assert Counts.from_batches(swapped, "y").class_counts.tolist() == [2, 1, 2, 1]


def test_declared_levels_with_a_null_among_them_keep_their_order():
    batches = [pa.record_batch({"x": coded([2, 1], ["v", None, "u"], True), "y": ["a", "b"]})] * 2
    assert Counts.from_batches(batches, "y").schema.columns[0].levels == ("v", "u")


@pytest.mark.parametrize("few", [1, 10_000])
def test_declared_levels_that_differ_between_batches_are_refused(monkeypatch, few):
    monkeypatch.setattr("tanbark.sources.arrow_streams.merge_small_batches.__defaults__", (few,))
    batches = [pa.record_batch({"x": coded([0], levels, True), "y": ["a"]}) for levels in (["s", "m"], ["m", "s"])]
    with pytest.raises(ValueError, match="column 'x' declares different levels"):
        Counts.from_batches(batches, "y")


def test_no_rows_give_zero_counts_if_the_schema_is_known(table):
    schema = of_the_whole(table).schema
    assert Counts.from_batches([], "y", schema=schema) == Counts.zero(schema)
    assert Counts.from_batches(table[:0], "y", schema=schema) == Counts.zero(schema)
    with pytest.raises(SourceError, match="there are no rows"):
        Counts.from_batches([], "y")


def test_data_that_change_between_passes_raise(table):
    streams = iter([table.to_batches(), table[:100].to_batches()])
    encoder = Encoder(categorical=[])
    wide = table.set_column(2, "many", pa.array(np.arange(4000) / 7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanbark.schema.survey.column_survey.MAX_DISTINCT_NUMBERS", 100)
        streams = iter([wide.to_batches(), wide[:100].to_batches()])
        with pytest.raises(ValueError, match="the first pass read 4,000 rows, but a later pass read 100"):
            Counts.from_batches(lambda: next(streams), "y", encoder=encoder)


def test_a_damaged_file_leaves_the_model_unchanged(table, tmp_path):
    for i in range(3):
        pq.write_table(table, tmp_path / f"part-{i}.parquet")
    model = TAN().fit_counts(Counts.from_batches(files(tmp_path / "part-*.parquet"), "y"))
    before = model.counts_
    middle = tmp_path / "part-1.parquet"
    middle.write_bytes(middle.read_bytes()[: middle.stat().st_size // 2])
    with pytest.raises(SourceError, match=r"part-1.parquet is not a valid Parquet file"):
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
    for path, parts in zip(paths, (2, 20), strict=True):
        with pq.ParquetWriter(path, part.schema) as writer:
            for _ in range(parts):
                writer.write_table(part)
    done = subprocess.run([sys.executable, "-c", PEAK, *paths], capture_output=True, text=True, check=True, timeout=100)
    (few, before), (many, after) = (map(float, line.split()) for line in done.stdout.splitlines())
    assert (few, many) == (200_000, 2_000_000)
    # The larger file is 60 MB larger than the smaller one.
    assert after - before < 30


def test_pandas_categories_are_counted():
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "u"]), "y": ["a", "b", "a"]})
    assert Counts.from_batches(frame, "y").schema.columns[0].levels == ("u", "v")


def test_polars_enums_keep_their_order():
    enum = pl.DataFrame({"e": pl.Series(["u", "v", "u"], dtype=pl.Enum(["w", "v", "u"])), "y": ["a", "b", "a"]})
    if not pa.table(enum).schema.field("e").type.ordered:
        pytest.skip("this version of polars does not export enums as ordered")
    assert Counts.from_batches(enum, "y").schema.columns[0].levels == ("w", "v", "u")
