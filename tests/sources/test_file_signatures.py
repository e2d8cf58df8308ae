import gzip
import io
import pickle
import sqlite3
import tarfile

import duckdb
import pyarrow as pa
import pytest

import tanbark
from sources.written_tables import content, zipped
from tanbark.sources import SourceError, files

TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})


def sqlite_bytes(folder):
    with sqlite3.connect(folder / "x.db") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    return (folder / "x.db").read_bytes()


def duckdb_bytes(folder):
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    return (folder / "x.duckdb").read_bytes()


def model_bytes(folder):
    tanbark.save(tanbark.NaiveBayes().fit([["x"], ["y"]] * 3, [0, 1] * 3), folder / "x.tanbark")
    return (folder / "x.tanbark").read_bytes()


def tar_bytes(folder):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("t.csv"))
    return file.getvalue()


OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(5000)


@pytest.mark.parametrize(
    ("name", "data", "advice"),
    [
        ("t.csv", content(TABLE, "t.xlsx"), "this is an Excel workbook; rename it to t.xlsx"),
        ("t.xls", content(TABLE, "t.xlsx"), "this is an Excel workbook; rename it to t.xlsx"),
        ("t.zip", content(TABLE, "t.xlsx"), "this is an Excel workbook; rename it to t.xlsx"),
        ("t.csv.gz", content(TABLE, "t.xlsx"), "this is an Excel workbook; rename it to t.xlsx"),
        (
            "t.csv.gz",
            gzip.compress(content(TABLE, "t.parquet")),
            "this is a Parquet file; unpack it and rename it to t",
        ),
        ("t.csv", OLD_OFFICE, "this is an Excel workbook; rename it to t.xls"),
        ("t.xlsx", OLD_OFFICE, "this is an Excel workbook; rename it to t.xls"),
        ("t.xlsx", OLD_OFFICE + "EncryptedPackage".encode("utf-16-le"), " is protected by a password; save it without"),
        ("t.csv", content(TABLE, "t.parquet"), "this is a Parquet file; rename it to t.parquet"),
        ("t.arrow", content(TABLE, "t.parquet"), "this is a Parquet file; rename it to t.parquet"),
        ("t.csv", content(TABLE, "t.feather"), "this is an Arrow file; rename it to t.arrow"),
        ("t.parquet", content(TABLE, "t.arrows"), "this is an Arrow stream; rename it to t.arrows"),
        ("t.csv", content(TABLE, "t.csv.gz"), "this is a file compressed with gzip; rename it to t.csv.gz"),
        ("t.csv", content(TABLE, "t.csv.zst"), "this is a file compressed with zstd; rename it to t.csv.zst"),
        ("t.csv.gz", content(TABLE, "t.csv.zst"), "this is a file compressed with zstd; rename it to t.csv.zst"),
        ("t.csv.gz", content(TABLE, "t.csv"), "this is a text file; rename it to t.csv"),
        ("t.csv.zip", content(TABLE, "t.csv"), "this is a text file; rename it to t.csv"),
        ("t.jsonl.zst", content(TABLE, "t.jsonl"), "this is a JSON Lines file; rename it to t.jsonl"),
        ("t.csv", zipped({"x.csv": "a\n1\n"}), "this is a zip archive; rename it to t.zip"),
        ("t.xlsx", content(TABLE, "t.csv"), "this is a text file; rename it to t.csv"),
        ("t.parquet", content(TABLE, "t.csv"), "this is a text file; rename it to t.csv"),
        ("t.csv", content(TABLE, "t.arff"), "this is an ARFF file; rename it to t.arff"),
        ("t.csv", b"% a comment\n\n@Relation r\n", "this is an ARFF file; rename it to t.arff"),
        ("t.csv", content(TABLE, "t.jsonl"), "this is a JSON Lines file; rename it to t.jsonl"),
        ("t.csv", content(TABLE, "t.json"), "this is a JSON file; rename it to t.json"),
        ("t.arff", "\ufeff[{}]".encode("utf-16-le"), "this is a JSON file; rename it to t.json"),
        ("t.csv", sqlite_bytes, "this is an SQLite database; read it with an SQL query"),
        ("t.csv", duckdb_bytes, "this is a DuckDB database; read it with an SQL query"),
        ("t.csv", model_bytes, "this is a saved model; a table is needed"),
        ("t.csv", b"%PDF-1.7\n%\xe2", "this is a PDF document; copy the table into a spreadsheet"),
        ("t.csv", b"\n<!DOCTYPE html><html>", r"this is a web page \(HTML\); open it in a spreadsheet program"),
        ("t.xls", b"<html><table>", r"this is a web page \(HTML\); open it in a spreadsheet program"),
        ("t.csv", b'<?xml version="1.0"?><x/>', "this is an XML file; open it in a spreadsheet program"),
        ("t.csv", tar_bytes, "this is a tar archive; unpack it first"),
        ("t.csv", pickle.dumps({"a": 1}), "this is a Python pickle; write the table as CSV or Parquet"),
        ("t.csv", b"BZh91AY", "this is a file compressed with bzip2; unpack it first"),
        ("t.csv", zipped({"word/document.xml": "x"}), "this is a Word document; copy the table"),
        (
            "t.feather",
            b"FEA1" + bytes(90),
            "this is a Feather file of the old version 1; write it again with version 2",
        ),
        ("t.pkl", pickle.dumps({"a": 1}), "this is a Python pickle; write the table as CSV or Parquet"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # The bytes of some formats contain the time.
)
def test_a_file_that_is_not_what_its_name_says_gets_advice(tmp_path, name, data, advice):
    (tmp_path / name).write_bytes(data(tmp_path) if callable(data) else data)
    with pytest.raises(SourceError, match=advice) as raised:
        files(tmp_path / name)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert "\n" not in str(raised.value)


def test_the_only_file_of_an_archive_is_checked_too(tmp_path):
    (tmp_path / "t.zip").write_bytes(zipped({"data.csv": content(TABLE, "t.parquet")}))
    with pytest.raises(SourceError, match=r"t\.zip: this is a Parquet file; unpack it and rename it to t\.parquet"):
        files(tmp_path / "t.zip")


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "{,b\n1,2\n",
        "[x],b\n1,2\n",
        "@a,b\n1,2\n",
        "% a,b\n1,2\n",
        "PK,b\n1,2\n",
        "<x>,b\n1,2\n",
        '"",b\n1,2\n',
    ],
)
def test_a_csv_file_with_unusual_names_is_read(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert [list(row.values()) for row in pa.table(files(tmp_path / "t.csv")).to_pylist()] == [[1, 2]]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.ndjson"])
@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_lines_and_arrays_of_json_are_read_whatever_their_name(tmp_path, name, kind):
    (tmp_path / name).write_bytes(content(TABLE, f"t.{kind}"))
    assert pa.table(files(tmp_path / name)).to_pylist() == TABLE.to_pylist()


def test_a_csv_file_named_like_json_gets_the_right_advice(tmp_path):
    (tmp_path / "t.jsonl").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"t\.jsonl: this is a text file; rename it to t\.csv$"):
        files(tmp_path / "t.jsonl")
