import gc
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple

import numpy as np
import pyarrow as pa
import pytest

from sources.written_tables import KINDS, content, write, zipped
from tanbark.sources import SourceError, files

WORDS = ["é", "Ω", "x", "ü€"]
HEAD = {
    "csv": "name,y\n",
    "arff": "@relation t\n@attribute name string\n@attribute y numeric\n@data\n",
    "jsonl": "",
    "json": "[",
}


def text_of(kind, words=WORDS):
    """Return a table with a column of words and one of their positions."""
    if kind in ("json", "jsonl"):
        rows = [f'{{"name": "{word}", "y": {i}}}' for i, word in enumerate(words)]
        return "[" + ",\n".join(rows) + "]" if kind == "json" else "\n".join(rows) + "\n"
    return HEAD[kind] + "".join(f"{word},{i}\n" for i, word in enumerate(words))


def rows_of(source):
    """Return the rows of a source, and check that they are the same as they are written."""
    read = pa.Table.from_batches(source.batches(), source.schema).to_pylist()
    rows = source.as_written()
    written = [row for batch in rows.select([f"c{i}" for i in range(len(rows.names))]) for row in batch.to_pylist()]
    read_as_text, written_as_text = (
        [[str(value).removesuffix(".0") for value in row.values()] for row in rows] for rows in (read, written)
    )
    assert written_as_text == read_as_text
    return read


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files, which is empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


EXPECTED = [{"name": word, "y": i} for i, word in enumerate(WORDS)]


@pytest.mark.parametrize("packed", ["", ".gz", ".zst", ".zip"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("kind", HEAD)
def test_unicode_text_is_recognised(tmp_path, kind, encoding, packed):
    data = text_of(kind).encode(encoding)
    path = tmp_path / f"t.{kind}{packed}"
    if packed == ".zip":
        data = zipped({f"t.{kind}": data})
    elif packed:
        data = gzip.compress(data) if packed == ".gz" else pa.Codec("zstd").compress(data, asbytes=True)
    path.write_bytes(data)
    assert rows_of(files(path)) == EXPECTED


@pytest.mark.parametrize("mark", ["fffe", "feff"])
def test_both_byte_orders_of_utf_16_are_recognised(tmp_path, mark):
    order = "utf-16-le" if mark == "fffe" else "utf-16-be"
    (tmp_path / "t.csv").write_bytes(bytes.fromhex(mark) + text_of("csv").encode(order))
    assert rows_of(files(tmp_path / "t.csv")) == EXPECTED


@pytest.mark.parametrize("kind", HEAD)
def test_other_text_is_read_as_windows_1252_with_a_warning(tmp_path, kind):
    words = ["caf\xe9", "x", "5 €", "“quoted”"]
    (tmp_path / f"t.{kind}").write_bytes(text_of(kind, words).encode("cp1252"))
    with pytest.warns(UserWarning, match=rf"t\.{kind} is not UTF-8 text: read as Windows-1252; use encoding= for"):
        read = rows_of(files(tmp_path / f"t.{kind}"))
    assert [row["name"] for row in read] == words


def test_windows_1252_is_noticed_far_from_the_start(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,y\n" * 600_000 + b"caf\xe9,y\n")
    with pytest.warns(UserWarning, match="read as Windows-1252"):
        *_, last = files(str(tmp_path / "t.csv")).batches()
    assert last.to_pylist()[-1] == {"a": "caf\xe9", "b": "y"}


@pytest.mark.parametrize("rows", [2, 600_000])
def test_a_character_across_two_blocks_is_valid(tmp_path, rows):
    # The letter takes two bytes, at any offset within the blocks in which a file is checked.
    (tmp_path / "t.csv").write_bytes(b"a\n" + "é\n".encode() * rows)
    assert sum(batch.num_rows for batch in files(tmp_path / "t.csv").batches()) == rows


def test_an_encoding_may_be_named(tmp_path):
    (tmp_path / "t.csv").write_bytes("name,y\nж,0\n".encode("koi8-r"))
    assert rows_of(files(tmp_path / "t.csv", encoding="koi8-r")) == [{"name": "ж", "y": 0}]
    (tmp_path / "t.csv").write_bytes("name,y\nж,0\n".encode("utf-16-le"))
    assert rows_of(files(tmp_path / "t.csv", encoding="UTF-16LE")) == [{"name": "ж", "y": 0}]
    (tmp_path / "t.csv").write_bytes("name,y\né,0\n".encode())
    assert rows_of(files(tmp_path / "t.csv", encoding="latin-1")) == [{"name": "Ã©", "y": 0}]
    assert rows_of(files(tmp_path / "t.csv", encoding="utf8")) == [{"name": "é", "y": 0}]


@pytest.mark.parametrize(
    ("data", "encoding", "sentence"),
    [
        (b"a\ncaf\xe9\n", "utf-8", r"t\.csv is not UTF-8 text: line 2 has an invalid character; "),
        ("a\né\nß\n".encode() + b"\xe9\n", None, r"t\.csv is not UTF-8 text: line 4 has an invalid character; correct"),
        (b"a\n" + "é\n".encode() * 400_000 + b"x\xe9\n", None, r"t\.csv is not UTF-8 text: line 400002 has an "),
        (b"a\nb", "utf-16", r"t\.csv is not utf-16 text; name another encoding"),
        ("a\nb\n".encode("utf-16-le"), None, r"t\.csv has null characters .*; name its encoding, such as utf-16-le"),
        ("a\nb\n".encode("utf-16-le"), "cp1252", r"t\.csv has null characters when read as cp1252"),
        (b"a\n", "klingon", "there is no encoding 'klingon'; use a name that Python knows"),
        (b"a\n", "rot13", "there is no encoding 'rot13'"),
        (b"a\n", "a\0b", "there is no encoding"),
    ],
)
def test_a_wrong_encoding_raises(tmp_path, data, encoding, sentence):
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(SourceError, match=sentence) as raised:
        files(tmp_path / "t.csv", encoding=encoding).schema  # noqa: B018
    assert "\n" not in str(raised.value)


@pytest.mark.filterwarnings("ignore:.*Windows-1252:UserWarning")
def test_text_that_is_neither_utf_8_nor_windows_1252_raises(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\n\x81\n")
    with pytest.raises(SourceError, match=r"t\.csv is neither UTF-8 nor Windows-1252 text; name its encoding with"):
        files(tmp_path / "t.csv").schema  # noqa: B018


@pytest.mark.parametrize("kind", ["parquet", "xlsx", "feather"])
def test_an_encoding_of_a_file_that_is_not_text_raises(tmp_path, kind):
    write(pa.table({"a": [1]}), tmp_path / f"t.{kind}")
    with pytest.raises(SourceError, match=rf"t\.{kind} is not a text file; encoding= is for text files"):
        files(tmp_path / f"t.{kind}", encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", ["", ".zip"])
def test_the_same_rows_are_read_from_every_kind_of_file(tmp_path, kind, packed):
    text = pa.array([None if i % 7 == 0 else f"t{i % 3}" for i in range(250)])
    whole = pa.array([None if i % 5 == 0 else i for i in range(250)])
    table = pa.table({"text": text, "whole": whole, "measured": [i / 8 + 0.5 for i in range(250)]})
    source = files(write(table, tmp_path / f"t.{kind}{packed}"))
    for _ in range(2):
        assert pa.table(source).to_pylist() == table.to_pylist()
    assert rows_of(source) == table.to_pylist()
    chosen = pa.Table.from_batches(source.batches(["measured", "text"]))
    assert chosen.to_pylist() == table.select(["measured", "text"]).to_pylist()
    assert source.paths == (tmp_path / f"t.{kind}{packed}",)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "arff"])
@pytest.mark.parametrize("packed", ["gz", "zst"])
def test_parts_of_a_compressed_file_are_read_one_after_the_other(tmp_path, kind, packed):
    table = pa.table({"a": list(range(20_000))})
    data = content(table, f"t.{kind}")
    halves = data[:70_000], data[70_000:]
    compress = gzip.compress if packed == "gz" else lambda half: pa.Codec("zstd").compress(half, asbytes=True)
    (tmp_path / f"t.{kind}.{packed}").write_bytes(b"".join(map(compress, halves)))
    assert rows_of(files(tmp_path / f"t.{kind}.{packed}")) == table.to_pylist()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "arff"])
@pytest.mark.parametrize("packed", ["gz", "zst", "zip"])
def test_a_truncated_compressed_file_raises(tmp_path, kind, packed):
    table = pa.table({"a": np.random.default_rng(0).normal(size=5000)})
    path = write(table, tmp_path / f"t.{kind}.{packed}")
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(SourceError, match=r"is not a valid (gzip|zstd|zip)"):
        rows_of(files(path))


def test_a_damaged_zip_archive_raises(tmp_path):
    path = write(pa.table({"a": np.random.default_rng(0).normal(size=500)}), tmp_path / "t.csv.zip")
    damaged = bytearray(path.read_bytes())
    damaged[200:260] = b"\xff" * 60
    path.write_bytes(damaged)
    with pytest.raises(SourceError, match=r"t\.csv\.zip is not a valid zip archive"):
        rows_of(files(path))


def test_a_zip_archive_must_hold_one_file(tmp_path):
    for members, sentence in (
        (
            {"a.csv": "a\n1\n", "b/c.csv": "a\n1\n"},
            r"t\.zip holds 2 files \(a\.csv, b/c\.csv\), but a zip archive must",
        ),
        (
            {f"{i}.csv": "a\n1\n" for i in range(9)},
            r"holds 9 files \(0\.csv, .*4\.csv, \.\.\.\), but a zip archive must",
        ),
        ({}, r"t\.zip holds no file, but a zip archive must hold exactly one"),
        ({"a.zip": b""}, r"a\.zip in .*t\.zip: the name must end in \.csv"),
        ({"a.parquet.gz": b"x"}, r"gzip is supported for text files only, not for \.parquet"),
    ):
        (tmp_path / "t.zip").write_bytes(zipped(members))
        with pytest.raises(SourceError, match=sentence):
            files(tmp_path / "t.zip")


def test_descriptions_that_macos_adds_to_a_zip_archive_are_ignored(tmp_path):
    members = {"data/": "", "data/t.csv": "a\n1\n", "__MACOSX/data/._t.csv": "x", "data/.DS_Store": "x"}
    (tmp_path / "t.zip").write_bytes(zipped(members))
    assert rows_of(files(tmp_path / "t.zip")) == [{"a": 1}]


def test_an_encrypted_zip_archive_raises(tmp_path):
    data = bytearray(zipped({"t.csv": "a\n1\n"}))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    (tmp_path / "t.zip").write_bytes(data)
    with pytest.raises(SourceError, match=r"t\.zip is encrypted; unpack it first"):
        files(tmp_path / "t.zip")


def test_an_unknown_zip_compression_raises(tmp_path):
    data = bytearray(zipped({"t.csv": "a\n1\n"}))
    central = data.index(b"PK\x01\x02")
    data[8], data[central + 10] = 99, 99
    (tmp_path / "t.zip").write_bytes(data)
    with pytest.raises(SourceError, match=r"t\.zip has a kind of zip compression that is not supported; unpack it"):
        rows_of(files(tmp_path / "t.zip"))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.zip", "t.csv.gz"])
def test_a_temporary_copy_never_fills_the_disk(tmp_path, monkeypatch, temporary, name):
    text = ("a\n" + "é\n" * 100_000).encode("utf-16")
    data = zipped({"t.csv": text}) if name.endswith(".zip") else gzip.compress(text) if name.endswith(".gz") else text
    (tmp_path / name).write_bytes(data)
    usage = namedtuple("usage", "total used free")(10**12, 10**12 - 150_000, 150_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    source = files(tmp_path / name)
    sentence = rf"{name} needs a temporary copy of at least [\d,]+ bytes, but .*temporary has only 150,000 bytes free"
    with pytest.raises(SourceError, match=sentence):
        source.schema  # noqa: B018


def test_plain_text_in_utf_8_is_not_copied(tmp_path, temporary):
    for name in ("t.csv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.json", "t.arff", "t.parquet", "t.xlsx", "t.arrow"):
        rows_of(files(write(pa.table({"a": [1, 2]}), tmp_path / name)))
    assert list(temporary.iterdir()) == []


def test_a_temporary_copy_is_removed_with_its_source(tmp_path, temporary):
    source = files(write(pa.table({"a": [1, 2]}), tmp_path / "t.csv.zip"))
    rows = source.batches()
    assert next(rows).num_rows == 2
    assert len(list(temporary.iterdir())) == 1
    del source, rows
    gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_temporary_copy_is_removed_when_python_ends(tmp_path, temporary):
    path = write(pa.table({"a": [1, 2]}), tmp_path / "t.csv.zip")
    code = (
        "import os, sys; from tanbark.sources import files\n"
        f"source = files({str(path)!r}); source.schema\n"
        "if not os.fork(): sys.exit()\n"
        "os.wait(); print(len(list(source.batches())), len(os.listdir(os.environ['TMPDIR'])))"
    )
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1 1\n"
    assert list(temporary.iterdir()) == []


def test_messages_name_the_file_and_not_its_copy(tmp_path, temporary):
    (tmp_path / "t.csv").write_bytes("a,b\n1,2\n3\n".encode("utf-16"))
    with pytest.raises(SourceError, match=rf"^{tmp_path}/t\.csv, line 3: expected 2 values"):
        rows_of(files(tmp_path / "t.csv"))
    (tmp_path / "t.parquet.zip").write_bytes(zipped({"t.parquet": b"PAR1" + b"x" * 100}))
    with pytest.raises(SourceError, match=rf"^{tmp_path}/t\.parquet\.zip is not a valid Parquet file") as raised:
        rows_of(files(tmp_path / "t.parquet.zip"))
    assert str(temporary) not in str(raised.value)
    source = files(tmp_path / "t.csv")
    source.called = "standard input"
    with pytest.raises(SourceError, match=r"^standard input, line 3: expected 2 values"):
        rows_of(source)
