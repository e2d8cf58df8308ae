from __future__ import annotations

import re
import time

import pyarrow as pa
import pytest

from tanbark import Counts
from tanbark.sources import SourceError, files
from tanbark.sources import arff_files as arff
from tanbark.sources.stored_files import TextFile


def read(tmp_path, text, typed=True):
    path = tmp_path / "t.arff"
    path.write_text(text, encoding="utf-8")
    file = TextFile(path)
    header = arff.read_header(file)
    return pa.Table.from_batches(list(arff.batches(file, header, ("", "NA"), typed)))


def test_comments_case_quotes_and_spaces_are_parsed(tmp_path):
    table = read(
        tmp_path,
        "% a comment\n\n@RELATION r\n@Attribute 'a name' REAL\n@ATTRIBUTE\tcolour {red, 'dark blue',\"it's\" }\n"
        "@attribute note string\n@DATA\n% another\n1.5, red , hello\n?,'dark blue','a, b'\n2,\"it's\",'don\\'t'\n",
    )
    assert table.column_names == ["a name", "colour", "note"]
    assert table.to_pylist() == [
        {"a name": 1.5, "colour": "red", "note": "hello"},
        {"a name": None, "colour": "dark blue", "note": "a, b"},
        {"a name": 2.0, "colour": "it's", "note": "don't"},
    ]
    assert table.column("colour").chunk(0).dictionary.to_pylist() == ["red", "dark blue", "it's"]


def test_a_declared_level_is_not_a_missing_value(tmp_path):
    table = read(tmp_path, "@relation r\n@attribute a {NA, x}\n@attribute b string\n@data\nNA,NA\nx,?\n")
    assert table.column("a").to_pylist() == ["NA", "x"]
    assert table.column("b").to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@relation r\n@attribute a numeric\n@data\n{0 1}\n", "sparse ARFF"),
        ("@relation r\n@attribute a numeric\n@data\n1,2\n", "line 4: expected 1 values, one per attribute, got 2"),
        ("@relation r\n@attribute a {x}\n@data\ny\n", "holds 'y', which is not a declared level"),
        (
            "@relation r\n@attribute a numeric\n@data\nhigh\n",
            "holds 'high'; if this means missing, declare it with missing",
        ),
        ("@relation r\n@attribute a numeric\n", "no @data line"),
        ("@relation r\n@data\n", "declares no attributes"),
        ("@relation r\n@attribute a\n@data\n", "needs a name and a type"),
        ("@relation r\n@attribute a {x, x}\n@data\n", "declares the level 'x' twice"),
        ("@relation r\n@attribute a {x\n@data\n", "lack a closing brace"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data\n", "two columns named 'a'"),
        ("a,b\n1,2\n", "expected @attribute or @data"),
        ("@relation r\n@attribute a string\n@data\nx\n'y\n", "line 5: a quote is not closed"),
        (f"@relation r\n@attribute a string\n@data\n'x'{' ' * 50_000}y\n", "line 4: a quote is not closed"),
    ],
)
def test_an_invalid_file_raises_with_a_one_line_message(tmp_path, text, sentence):
    with pytest.raises(SourceError, match=re.escape(sentence)):
        read(tmp_path, text)


@pytest.mark.parametrize("row", ["x" + " " * 50_000 + "y", "'x', " + " " * 50_000 + "y" + " " * 50_000 + "z"])
def test_a_row_of_spaces_is_parsed_in_linear_time(row, tmp_path):
    begin = time.perf_counter()
    table = read(tmp_path, f"@relation r\n{'@attribute a string' if ',' not in row else TWO}\n@data\n{row}\n")
    assert table.num_rows == 1
    assert table.column(table.num_columns - 1).to_pylist()[0].endswith(row[-1])
    assert time.perf_counter() - begin < 3


TWO = "@attribute a string\n@attribute b string"


def test_many_levels_and_attributes_are_parsed_in_linear_time(tmp_path):
    levels = ", ".join(f"v{i}" for i in range(50_000))
    begin = time.perf_counter()
    with pytest.raises(SourceError, match="declares the level 'v49999' twice"):
        read(tmp_path, f"@relation r\n@attribute a {{{levels}, v49999}}\n@data\n")
    many = "".join(f"@attribute a{i} real\n" for i in range(30_000))
    with pytest.raises(SourceError, match="two columns named 'a29999'"):
        read(tmp_path, f"@relation r\n{many}@attribute a29999 real\n@data\n")
    assert time.perf_counter() - begin < 5


def test_an_attribute_whose_type_is_a_comment_raises(tmp_path):
    with pytest.raises(SourceError, match="line 2: 'a' has the unsupported type ''"):
        read(tmp_path, "@relation r\n@attribute a %numeric\n@data\n1\n")


def test_a_broken_line_is_named_when_rows_are_read_as_they_are_written(tmp_path):
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a numeric\n@data\n1\n1,2\n")
    with pytest.raises(SourceError, match=r"t\.arff, line 5: expected 1 values, one per attribute, got 2$"):
        list(files(tmp_path / "t.arff").as_written().select(["c0"]))


def test_dates_are_read_as_dates(tmp_path):
    days = [f"2024-0{1 + n % 9}-{1 + n % 28:02}" for n in range(40)]
    rows = "\n".join(f'"{day}",{"pq"[n % 2]}' for n, day in enumerate(days))
    header = '@relation r\n@attribute seen date "yyyy-MM-dd"\n@attribute class {p, q}\n@data\n'
    (tmp_path / "t.arff").write_text(f"{header}{rows}\n")
    schema = Counts.from_batches(files(tmp_path / "t.arff"), "class").schema
    assert schema.names == ("seen", "seen (weekday)", "seen (month)")
    assert schema.columns[0].texts_of([schema.columns[0].low])[0] == min(days)
