"""Names of files and folders that another program might interpret."""

import os

import pyarrow as pa
import pytest

from sources.written_tables import KINDS, write
from tanbark.sources import SourceError, files

TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})
OTHER = pa.table({"a": [7], "b": ["other"]})
PACKED = [*KINDS, "csv.zip", "parquet.zip", "xlsx.zip"]


def check(source, table=TABLE):
    """Raise AssertionError unless a source has the rows of a table, read in both ways."""
    assert pa.table(source).to_pylist() == table.to_pylist()
    rows = source.as_written()
    assert rows.names == tuple(table.column_names)
    columns = [f"c{i}" for i in range(len(rows.names))]
    written = [tuple(map(str, row.values())) for batch in rows.select(columns) for row in batch.to_pylist()]
    assert [tuple(v.removesuffix(".0") for v in row) for row in written] == [
        tuple(map(str, row.values())) for row in table.to_pylist()
    ]


@pytest.mark.parametrize("folders", ["a=9", "new=9", "b=z/a=8", "A=9"])
@pytest.mark.parametrize("kind", PACKED)
def test_folders_named_like_values_of_columns_are_only_folders(tmp_path, kind, folders):
    folder = tmp_path / folders
    folder.mkdir(parents=True)
    check(files(write(TABLE, folder / f"t.{kind}")))


@pytest.mark.parametrize("kind", KINDS)
def test_several_folders_named_like_values_of_a_column_are_only_folders(tmp_path, kind):
    for value in ("p", "q"):
        (tmp_path / f"b={value}").mkdir()
        write(TABLE, tmp_path / f"b={value}" / f"t.{kind}")
    check(files(tmp_path / "b=*" / f"t.{kind}"), pa.concat_tables([TABLE, TABLE]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_called_tilde_is_not_the_home_folder(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    home, folder = tmp_path / "home", tmp_path / "~"
    home.mkdir()
    folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    write(OTHER, home / f"t.{kind}")
    write(TABLE, folder / f"t.{kind}")
    check(files(f"~/t.{kind}"))
    check(files(f"~/*.{kind}"))


STRANGE = ["*", "?", "[x]", "[!y]", "**", "q'uo\"te", " blank ", "new\nline", "tab\t", "a;b", "$HOME", "%20", "#", "ü"]


@pytest.mark.skipif(os.name == "nt", reason="these characters are not allowed in names")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STRANGE)
def test_a_file_with_a_strange_name_is_read_and_no_other(tmp_path, kind, name):
    for other in ("x", "y", "zz"):
        write(OTHER, tmp_path / f"{other}.{kind}")
    check(files(write(TABLE, tmp_path / f"{name}.{kind}")))


@pytest.mark.skipif(os.name == "nt", reason="a backslash separates folders")
@pytest.mark.parametrize("kind", KINDS)
def test_a_backslash_in_a_name_is_read_or_refused(tmp_path, kind):
    for name in ("a\\b", "\\"):
        check(files(write(TABLE, tmp_path / f"{name}.{kind}")))
    write(OTHER, tmp_path / f"x.{kind}")
    source = files(write(TABLE, tmp_path / f"\\*.{kind}"))
    if kind in ("xlsx", "feather", "arrows", "arff"):
        check(source)
        return
    with pytest.raises(SourceError, match=r"\\\*\.[a-z.]+: a path with a backslash and one of \* \? \[ cannot be read"):
        check(source)


@pytest.mark.skipif(os.name == "nt", reason="names are always valid")
@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_is_not_valid_utf_8_is_refused(tmp_path, kind):
    path = tmp_path / os.fsdecode(b"caf\xe9." + kind.encode())
    try:
        write(TABLE, path)
    except OSError:
        pytest.skip("this file system does not allow such names")
    for data in (path, tmp_path / f"caf*.{kind}"):
        with pytest.raises(SourceError, match=r"caf\\xe9.*: the name of the file is not valid UTF-8; rename the file$"):
            files(data)


@pytest.mark.skipif(os.name == "nt", reason="links need privileges")
def test_links_that_lead_nowhere_or_to_themselves_are_refused(tmp_path):
    (tmp_path / "loop.csv").symlink_to("back.csv")
    (tmp_path / "back.csv").symlink_to("loop.csv")
    (tmp_path / "gone.csv").symlink_to("nothing.csv")
    for name in ("loop.csv", "gone.csv"):
        with pytest.raises(SourceError, match=rf"{name} is a symbolic link that leads to no file"):
            files(tmp_path / name)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "again").symlink_to(tmp_path)
    with pytest.raises(SourceError, match="no file matches"):
        files(tmp_path / "folder" / "**" / "*.parquet")
    write(TABLE, tmp_path / "real.csv")
    (tmp_path / "link.csv").symlink_to("real.csv")
    check(files(tmp_path / "link.csv"))


def test_pipes_and_folders_are_refused(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(SourceError, match=r"t\.csv is a folder; name its files with a pattern"):
        files(tmp_path / "t.csv")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(SourceError, match=r"pipe\.csv is a pipe or a device, which can be read only once"):
            files(tmp_path / "pipe.csv")
