import csv
import gzip

import numpy as np
import pyarrow as pa
import pytest

from tanbark.datasets import read_folder


def write(folder, name, text):
    (folder / name).write_text(text)
    return read_folder(folder)


def test_every_published_file_has_the_shape_that_the_manifest_states(shared_data):
    with (shared_data / "MANIFEST.csv").open(newline="") as lines:
        manifest = {row["file"]: row for row in csv.DictReader(lines)}
    folder = read_folder(shared_data)
    assert len(folder) == len(manifest) == 41
    for file, row in manifest.items():
        dataset = folder[file.split(".")[0]]
        shape = (*dataset.table.shape, len(dataset.labels.unique()))
        assert shape == (int(row["rows"]), int(row["features"]), int(row["classes"])), file
        complete = dataset.frame().drop_null().num_rows
        assert complete == int(row["rows_without_missing"]), file
        assert row["provenance"] in dataset.source


def test_the_last_column_is_the_class_and_the_name_is_that_of_the_file(tmp_path):
    play = write(tmp_path, "play.csv", "sky,kind\nblue,out\ngrey,in\n")["play"]
    assert play.name == "play"
    assert play.target == "kind"
    assert play.feature_names == ("sky",)
    assert play.y.tolist() == ["out", "in"]
    assert play.source == "Read from play.csv."


def test_a_compressed_file_reads_like_a_plain_one(tmp_path):
    text = "a,class\n1,u\n2,v\n"
    (tmp_path / "zipped.csv.gz").write_bytes(gzip.compress(text.encode()))
    folder = write(tmp_path, "plain.csv", text)
    assert list(folder) == ["plain", "zipped"]
    assert folder["plain"].frame() == folder["zipped"].frame()


def test_each_column_gets_the_type_that_all_its_fields_allow(tmp_path):
    text = "bit,number,truth,word,nothing,class\n0,1,true,1,,0\n1,.5,false,x,,1\n,,,,,1\n"
    dataset = write(tmp_path, "types.csv", text)["types"]
    assert dataset.table.schema.types == [pa.int64(), pa.float64(), pa.bool_(), pa.string(), pa.float64()]
    assert dataset.table.to_pylist()[2] == dict.fromkeys(dataset.feature_names)
    assert dataset.y.dtype == np.int64


def test_a_string_on_the_last_line_of_a_long_file_makes_the_column_strings(tmp_path):
    # pyarrow reads blocks of a megabyte; the type must be that of the whole file.
    lines = ["a,class"] + ["1234567,0"] * 300_000 + ["word,1"]
    dataset = write(tmp_path, "long.csv", "\n".join(lines))["long"]
    assert dataset.table["a"].type == pa.string()
    assert dataset.table["a"][0].as_py() == "1234567"
    assert dataset.table["a"][-1].as_py() == "word"


@pytest.mark.parametrize("field", ["", '""', "NA", "NaN", "null", "?"])
def test_the_usual_marks_are_missing_values(tmp_path, field):
    dataset = write(tmp_path, "gaps.csv", f"n,s,class\n{field},{field},u\n1,x,v\n")["gaps"]
    assert dataset.table.to_pylist() == [{"n": None, "s": None}, {"n": 1, "s": "x"}]


def test_the_word_none_is_a_value(tmp_path):
    dataset = write(tmp_path, "none.csv", "a,class\nnone,none\nsome,None\n")["none"]
    assert dataset.frame().to_pydict() == {"a": ["none", "some"], "class": ["none", "None"]}


def test_a_file_is_read_only_when_it_is_looked_up(tmp_path):
    folder = write(tmp_path, "late.csv", "not,yet\n")
    (tmp_path / "late.csv").write_text("a,class\n1,2\n")
    assert folder["late"].feature_names == ("a",)


def test_an_unknown_name_raises_on_look_up_but_not_in_get(tmp_path):
    folder = write(tmp_path, "play.csv", "a,class\n1,2\n")
    assert "plays" not in folder
    assert folder.get("plays") is None
    with pytest.raises(KeyError) as caught:
        folder["plays"]
    assert str(caught.value) == "unknown dataset 'plays': did you mean 'play'?"
    assert isinstance(caught.value, ValueError)


def test_a_missing_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere'"):
        read_folder(tmp_path / "nowhere")


def test_a_folder_without_tables_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"has no \.csv or \.csv\.gz file"):
        read_folder(tmp_path)


def test_two_files_of_one_name_are_an_error(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"two files for 'a': a\.csv, a\.csv\.gz"):
        write(tmp_path, "a.csv", "")


@pytest.mark.parametrize("text", ["", "a,b,class\n1,2,3\n1,2\n"])
def test_a_file_that_is_not_a_table_is_an_error_that_names_it(tmp_path, text):
    with pytest.raises(ValueError, match=r"broken\.csv' is not a CSV table"):
        write(tmp_path, "broken.csv", text)["broken"]


def test_a_file_cut_off_while_compressed_is_an_error_that_names_it(tmp_path):
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,class\n" + b"1,2\n" * 1000)[:40])
    with pytest.raises(ValueError, match=r"cut\.csv\.gz' is not a CSV table"):
        read_folder(tmp_path)["cut"]


def test_a_manifest_without_the_needed_columns_is_an_error(tmp_path):
    (tmp_path / "MANIFEST.csv").write_text("title\nplay\n")
    with pytest.raises(ValueError, match="needs the columns file, name and provenance"):
        write(tmp_path, "play.csv", "a,class\n1,2\n")
