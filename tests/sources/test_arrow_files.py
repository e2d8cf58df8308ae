import pyarrow as pa
import pytest

from sources.written_tables import content, write
from tanbark.sources import SourceError, files

TABLE = pa.table({"text": [None if i % 7 == 0 else f"t{i % 3}" for i in range(250)], "whole": list(range(250))})
KINDS = ["feather", "arrow", "arrows", "ipc"]


def written(table, path):
    """Write a file; those named .ipc hold a stream."""
    path.write_bytes(content(table, "t.arrows" if path.suffix == ".ipc" else path.name))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_read_as_dictionaries_that_do_not_declare_levels(tmp_path, kind):
    ordered = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), ["s", "m", "l"], ordered=True)
    table = pa.table({"size": ordered, "plain": ["x", None], "large": pa.array(["u", "v"], pa.large_string())})
    source = files(written(table, tmp_path / f"t.{kind}"))
    assert set(source.schema.types) == {pa.dictionary(pa.int32(), pa.string())}
    assert pa.table(source).to_pylist() == table.to_pylist()
    assert next(source.batches()).schema.equals(source.schema)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_batches_are_read(tmp_path, compression):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(tmp_path / "t.feather", TABLE.schema, options=options) as writer:
        writer.write_table(TABLE)
    assert pa.table(files(tmp_path / "t.feather")).to_pylist() == TABLE.to_pylist()


def test_a_file_that_pandas_writes_is_read_without_its_metadata(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"a": [1, 2], "b": ["x", None]}).to_feather(tmp_path / "t.feather")
    source = files(tmp_path / "t.feather")
    assert source.schema.metadata is None
    assert pa.table(source).to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


def test_columns_of_several_files_are_found_by_name_and_widened(tmp_path):
    written(pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}), tmp_path / "1.arrow")
    written(pa.table({"b": ["y"], "a": [2.5]}), tmp_path / "2.arrow")
    source = files(tmp_path / "*.arrow")
    assert pa.table(source).to_pylist() == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "y"}]
    assert [row for batch in source.as_written().select(["c0", "c1"]) for row in batch.to_pylist()] == [
        {"0": 1.0, "1": "x"},
        {"0": 2.5, "1": "y"},
    ]


def test_files_with_different_columns_raise(tmp_path):
    written(pa.table({"a": [1]}), tmp_path / "1.arrow")
    written(pa.table({"a": ["x"]}), tmp_path / "2.arrow")
    with pytest.raises(SourceError, match=r"column 'a' has type string in .*2\.arrow, but int64 in .*1\.arrow; write"):
        files(tmp_path / "*.arrow").schema  # noqa: B018
    written(pa.table({"b": [1]}), tmp_path / "2.arrow")
    with pytest.raises(SourceError, match=r"2\.arrow has no column 'a', which .*1\.arrow has"):
        files(tmp_path / "*.arrow").schema  # noqa: B018


def test_two_columns_with_the_same_name_raise(tmp_path):
    written(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), tmp_path / "t.arrow")
    with pytest.raises(SourceError, match=r"t\.arrow has two columns named 'a'; rename one"):
        files(tmp_path / "t.arrow").schema  # noqa: B018


@pytest.mark.parametrize(
    ("kind", "size"), [(kind, size) for kind in ("feather", "arrows") for size in (8, 200, -300)] + [("feather", -20)]
)
def test_a_truncated_file_raises(tmp_path, kind, size):
    path = written(TABLE, tmp_path / f"t.{kind}")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(SourceError, match=rf"t\.{kind} is not a valid Arrow file: [^\n]*$"):
        list(files(path).batches())


def test_a_truncated_file_is_named_when_it_is_read_as_it_is_written(tmp_path):
    path = written(TABLE, tmp_path / "t.arrows")
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(SourceError, match=r"t\.arrows is not a valid Arrow file: Expected to be able to read"):
        list(files(path).as_written().select(["c0"]))


def test_an_empty_file_raises(tmp_path):
    (tmp_path / "t.arrow").write_bytes(b"")
    with pytest.raises(SourceError, match=r"t\.arrow is not a valid Arrow file"):
        files(tmp_path / "t.arrow").schema  # noqa: B018


def test_damaged_values_raise_instead_of_ending_the_process(tmp_path):
    indices = pa.array([0, 1] * 50, pa.int32())
    table = pa.table({"a": pa.DictionaryArray.from_arrays(indices, ["x", "y"])})
    path = written(table, tmp_path / "t.arrow")
    data = path.read_bytes()
    stored = indices.buffers()[1].to_pybytes()
    assert stored in data
    path.write_bytes(data.replace(stored, b"\xff\xff\xff\x6f" * 100))
    with pytest.raises(SourceError, match=r"t\.arrow is not a valid Arrow file: "):
        list(files(path).batches())


def test_a_column_without_values_is_read(tmp_path):
    table = pa.table({"a": pa.nulls(3), "b": [1, 2, 3]})
    assert pa.table(files(write(table, tmp_path / "t.arrow"))).to_pylist() == table.to_pylist()
