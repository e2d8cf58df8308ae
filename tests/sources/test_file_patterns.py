import gzip
import json
import time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tanbark import Counts
from tanbark.sources import SourceError, files
from tanbark.sources.duckdb_rows import present


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    text = pa.array([None if v == 3 else f"t{v}" for v in rng.integers(0, 4, 500)])
    whole = pa.array([None if v == 5 else int(v) for v in rng.integers(0, 6, 500)])
    return pa.table({"text": text, "whole": whole, "measured": rng.normal(size=500), "y": rng.choice(["a", "b"], 500)})


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif path.suffix == ".arff":
        lines = ["@relation t", "@attribute text {t0, t1, t2}", "@attribute whole numeric", "@attribute measured real"]
        rows = [",".join("?" if v is None else str(v) for v in row.values()) for row in table.to_pylist()]
        path.write_text("\n".join([*lines, "@attribute y {b, a}", "@data", *rows]))
    else:
        rows = [",".join("" if v is None else str(v) for v in row.values()) for row in table.to_pylist()]
        text = "\n".join([",".join(table.column_names), *rows]) + "\n"
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
    return path


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "arff", "jsonl"])
def test_rows_can_be_read_more_than_once(table, tmp_path, suffix):
    write(table[:300], tmp_path / f"part-1.{suffix}")
    write(table[300:], tmp_path / f"part-2.{suffix}")
    source = files(tmp_path / f"part-*.{suffix}")
    assert source.schema.names == table.column_names
    for _ in range(2):
        assert pa.table(source).to_pylist() == table.to_pylist()
    chosen = pa.Table.from_batches(source.batches(["y", "whole"]))
    assert chosen.to_pylist() == table.select(["y", "whole"]).to_pylist()
    assert source.total == (500 if suffix == "parquet" else None)
    assert source.nbytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_the_schema_is_that_of_the_batches(table, tmp_path):
    for suffix in ("csv", "parquet", "arff", "jsonl"):
        source = files(write(table, tmp_path / f"t.{suffix}"))
        assert next(source.batches()).schema.equals(source.schema)


def test_types_of_a_csv_file_fit_all_its_lines(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(30_000))
    (tmp_path / "t.csv").write_text(f"a,b\n{rows}1.5,x\n")
    source = files(tmp_path / "t.csv")
    assert source.schema.types == [pa.float64(), pa.string()]
    last = list(source.batches())[-1].to_pylist()[-1]
    assert last == {"a": 1.5, "b": "x"}


def test_columns_of_several_csv_files_are_found_by_name(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "2.csv").write_text("b,a\ny,2.5\n")
    assert pa.table(files(tmp_path / "*.csv")).to_pylist() == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "y"}]


def test_columns_of_several_parquet_files_are_found_by_name_and_widened(tmp_path):
    write(pa.table({"a": pa.array([1], pa.int32()), "b": ["x"], "n": pa.nulls(1)}), tmp_path / "1.parquet")
    write(pa.table({"b": ["y"], "a": [2.5], "n": [3]}), tmp_path / "2.parquet")
    expected = [{"a": 1.0, "b": "x", "n": None}, {"a": 2.5, "b": "y", "n": 3}]
    assert pa.table(files(tmp_path / "*.parquet")).to_pylist() == expected


def test_names_with_dots_quotes_and_differing_only_in_case_are_kept(tmp_path):
    table = pa.table({"a.b": [1, 2], 'say "x"': ["p", "q"], "A": [1.5, 2.5], "a": ["u", "v"]})
    source = files(write(table, tmp_path / "t.parquet"))
    assert pa.table(source).to_pylist() == table.to_pylist()
    assert pa.Table.from_batches(source.batches(["a", "a.b"])).to_pylist() == table.select(["a", "a.b"]).to_pylist()


def test_a_dictionary_in_parquet_does_not_declare_levels(tmp_path):
    ordered = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), ["s", "m", "l"], ordered=True)
    numbers = pa.array([7, 8]).dictionary_encode()
    source = files(write(pa.table({"size": ordered, "number": numbers}), tmp_path / "t.parquet"))
    assert source.schema.types == [pa.dictionary(pa.int32(), pa.string()), pa.int64()]
    assert pa.table(source).to_pylist() == [{"size": "m", "number": 7}, {"size": "s", "number": 8}]


def parts(tmp_path, table):
    for i in range(3):
        write(table, tmp_path / f"part-{i}.parquet")
    return tmp_path / "part-1.parquet"


def test_a_truncated_parquet_file_in_the_middle_is_named(table, tmp_path):
    middle = parts(tmp_path, table)
    middle.write_bytes(middle.read_bytes()[:-100])
    with pytest.raises(SourceError, match=r"part-1.parquet is not a valid Parquet file"):
        files(tmp_path / "part-*.parquet").total  # noqa: B018 (reading it is what fails)


def test_a_parquet_file_damaged_inside_is_named(table, tmp_path):
    for i in range(3):
        pq.write_table(table, tmp_path / f"part-{i}.parquet", write_page_checksum=True)
    middle = tmp_path / "part-1.parquet"
    damaged = bytearray(middle.read_bytes())
    start = pq.ParquetFile(middle).metadata.row_group(0).column(2).dictionary_page_offset or 100
    damaged[start + 60 : start + 600] = b"\xff" * 540
    middle.write_bytes(damaged)
    source = files(tmp_path / "part-*.parquet")
    assert source.total == 1500
    with pytest.raises(SourceError, match=r"part-1.parquet is not a valid Parquet file"):
        list(source.batches())


def test_a_parquet_file_with_other_columns_is_named(table, tmp_path):
    write(table.drop_columns(["whole"]), parts(tmp_path, table))
    with pytest.raises(SourceError, match=r"part-1.parquet has no column 'whole', which .*part-0.parquet has"):
        files(tmp_path / "part-*.parquet").schema  # noqa: B018
    write(table.append_column("more", table["y"]), tmp_path / "part-1.parquet")
    with pytest.raises(SourceError, match=r"part-0.parquet has no column 'more', which .*part-1.parquet has"):
        files(tmp_path / "part-*.parquet").schema  # noqa: B018


def test_a_parquet_file_with_a_column_of_another_type_is_named(table, tmp_path):
    write(table.set_column(1, "whole", table["text"]), parts(tmp_path, table))
    with pytest.raises(
        SourceError,
        match=r"column 'whole' has type .*string in .*part-1.parquet, but .*; write all files with the same types",
    ):
        files(tmp_path / "part-*.parquet").schema  # noqa: B018


@pytest.mark.parametrize(
    "other", [pa.array([2**63 + 1], pa.uint64()), pa.array([Decimal("1.25")])], ids=["unsigned", "decimal"]
)
def test_a_number_that_does_not_fit_the_type_of_the_other_files_raises(tmp_path, other):
    write(pa.table({"x": [1, 2]}), tmp_path / "1.parquet")
    write(pa.table({"x": other}), tmp_path / "2.parquet")
    with pytest.raises(
        SourceError, match=r"column 'x' has type .* in .*\d.parquet.*; write all files with the same types"
    ):
        list(files(tmp_path / "*.parquet").batches())


def test_numbers_that_fit_the_type_of_the_other_files_are_read(tmp_path):
    write(pa.table({"x": [-1, 2]}), tmp_path / "1.parquet")
    write(pa.table({"x": pa.array([3], pa.uint64())}), tmp_path / "2.parquet")
    assert pa.table(files(tmp_path / "*.parquet"))["x"].to_pylist() == [-1, 2, 3]


@pytest.mark.parametrize(
    ("data", "message"),
    [("gone.csv", "there is no file"), ("gone-*.csv", "no file matches"), ("t.dat", "the name must end in .csv")],
)
def test_missing_files_raise_and_are_named(tmp_path, data, message):
    (tmp_path / "t.dat").write_text("")
    with pytest.raises(SourceError, match=message):
        files(tmp_path / data)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_come_in_the_order_of_the_files(tmp_path, suffix):
    # An engine with several threads would return a small file between large ones too early.
    first = 0
    for part, rows in enumerate([300, 20_000, 10, 40_000, 1]):
        write(pa.table({"i": range(first, first + rows), "t": ["x"] * rows}), tmp_path / f"{part}.{suffix}")
        first += rows
    source = files(tmp_path / f"*.{suffix}")
    assert pa.Table.from_batches(source.batches())["i"].to_pylist() == list(range(first))
    written = source.as_written().select(["CASE WHEN c1 = 'y' THEN NULL ELSE c0 END"])
    assert list(map(int, pa.Table.from_batches(written)["0"].to_pylist())) == list(range(first))


@pytest.mark.parametrize("text", ["", "1\n2\n", "[1, 2]\n", '{"a": 1}\n3\n'])
def test_lines_that_are_not_json_objects_raise(tmp_path, text):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(SourceError, match=r"t\.jsonl is not a table; each line or array element must be an object$"):
        files(tmp_path / "t.jsonl").schema  # noqa: B018


def test_a_column_of_json_lines_may_be_named_json(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"json": 1}\n{"json": 2}\n')
    assert pa.table(files(tmp_path / "t.jsonl")).to_pylist() == [{"json": 1}, {"json": 2}]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl"])
def test_rows_as_written_keep_their_order(tmp_path, kind):
    """A query plan with a join would lose the order, and only in large files."""
    opened = gzip.open if kind == "csv.gz" else open
    for part in range(3):
        numbers = range(70_000 * part, 70_000 * (part + 1))
        with opened(tmp_path / f"{part}.{kind}", "wt") as file:
            if kind == "jsonl":
                file.writelines(f'{{"id": "{i}", "a": "NA"}}\n' for i in numbers)
            else:
                file.write("id,a\n")
                file.writelines(f"{i},NA\n" for i in numbers)
    rows = files(str(tmp_path / f"*.{kind}")).as_written()
    wanted = [present(f"c{i}", kind, rows.source.missing) for i, kind in enumerate(rows.types)]
    table = pa.Table.from_batches(rows.select(wanted))
    assert table.column(0).to_pylist() == [str(i) for i in range(210_000)]
    assert table.column(1).null_count == 210_000


def test_a_parquet_file_with_a_whole_footer_and_broken_pages_is_named(table, tmp_path):
    for part in range(3):
        pq.write_table(table, tmp_path / f"{part}.parquet", compression="snappy")
    broken = bytearray((tmp_path / "1.parquet").read_bytes())
    broken[200:2500] = bytes(2300)
    (tmp_path / "1.parquet").write_bytes(broken)
    rows = files(str(tmp_path / "*.parquet")).as_written()
    with pytest.raises(SourceError, match=r"1\.parquet is not a valid Parquet file"):
        list(rows.select(["c0", "c1", "c2", "c3"]))


def test_a_short_line_far_from_the_start_is_reported(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 400_000 + "3\n")
    rows = files(str(tmp_path / "t.csv")).as_written()
    with pytest.raises(SourceError, match=r"t\.csv, line 400002: expected 2 values, one per column, got 1"):
        list(rows.select(["c0", "c1"]))


def test_files_with_different_column_types_raise_and_are_named(tmp_path):
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": [1.5]}), tmp_path / "1.parquet")
    with pytest.raises(
        SourceError, match=r"column 'a' has type double in .*1\.parquet, but string in .*0\.parquet; write"
    ):
        _ = files(str(tmp_path / "*.parquet")).schema


HEAD = {"csv": b"a,b\n", "arff": b"@relation r\n@attribute a string\n@attribute b string\n@data\n"}


@pytest.mark.parametrize("kind", HEAD)
def test_a_long_compressed_line_does_not_fill_the_memory(kind, tmp_path):
    (tmp_path / f"t.{kind}.gz").write_bytes(gzip.compress(b"x" * 2**25))
    with pytest.raises(SourceError, match="has a line of more than 16,777,216 characters"):
        _ = files(tmp_path / f"t.{kind}.gz").schema


@pytest.mark.parametrize("kind", HEAD)
def test_a_damaged_gzip_file_raises(kind, tmp_path):
    packed = bytearray(gzip.compress(HEAD[kind] + b"1,2\n" * 2000, mtime=0))
    packed[20:40] = b"\xff" * 20
    (tmp_path / f"t.{kind}.gz").write_bytes(packed)
    with pytest.raises(SourceError, match="is not a valid gzip file"):
        _ = files(tmp_path / f"t.{kind}.gz").schema


def test_too_many_columns_raise_quickly(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"," * 1_000_000)
    begin = time.perf_counter()
    with pytest.raises(SourceError, match="has 1,000,001 columns, but at most 100,000 are supported"):
        _ = files(tmp_path / "t.csv").schema
    assert time.perf_counter() - begin < 5


def test_a_duplicate_name_among_many_is_found_quickly(tmp_path):
    (tmp_path / "t.csv").write_text(",".join(f"c{i}" for i in range(100_000 - 1)) + ",c5\n")
    begin = time.perf_counter()
    with pytest.raises(SourceError, match="two columns named 'c5'"):
        _ = files(tmp_path / "t.csv").schema
    assert time.perf_counter() - begin < 5


def test_a_few_distinct_dates_in_a_file_are_dates(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n2024-01-01,p\n2024-01-02,q\n")
    column = Counts.from_batches(files(tmp_path / "t.csv"), target="y").schema.columns[0]
    assert column.labels == ("<= 2024-01-01", "> 2024-01-01")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.jsonl", b'{"a": {"b": 1}, "y": "p"}\n', "must be a string or a number, not 'dict'"),
        ("t.jsonl", b'{"a": 1, "y": [1]}\n', "the class 'y' must hold labels"),
    ],
)
def test_unsupported_values_in_a_file_raise_value_error(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        Counts.from_batches(files(tmp_path / name), target="y")
