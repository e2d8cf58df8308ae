"""Text files that another program might read differently: each is read as it was meant, or refused with a reason."""

import pyarrow as pa
import pytest

from tanbark.sources import SourceError, files


def rows_of(path):
    """Return the names and rows of a file, and check that as many rows are read as they are written."""
    source = files(path)
    table = pa.Table.from_batches(source.batches(), source.schema)
    rows = source.as_written()
    assert rows.names == tuple(table.column_names)
    assert sum(batch.num_rows for batch in rows.select(["c0"])) == table.num_rows
    return table.column_names, [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("a,b\r1,2\r3,4\r", ["a", "b"], [(1, 2), (3, 4)]),
        ("a,b\r\n1,2\r\n3,4", ["a", "b"], [(1, 2), (3, 4)]),
        ('a,b\n1,"x\r\ny"\n2,"z\nw"\n', ["a", "b"], [(1, "x\r\ny"), (2, "z\nw")]),
        ("a,b,\n1,2,\n3,4,\n", ["a", "b", "column2"], [(1, 2, None), (3, 4, None)]),
        ("a,b\n1,2,\n3,4,\n", ["a", "b"], [(1, 2), (3, 4)]),
        ("a,b\n,\n1,2\n,\n", ["a", "b"], [(None, None), (1, 2), (None, None)]),
        ("a,b\n\n1,2\n\n", ["a", "b"], [(1, 2)]),
        ("a\nx\n\ny\n", ["a"], [("x",), (None,), ("y",)]),
        ('a,b\nx"y,2\n5",3\n', ["a", "b"], [('x"y', 2), ('5"', 3)]),
        ('a,b\n"x ""y""",2\n', ["a", "b"], [('x "y"', 2)]),
        (" a ,b\n1,2\n", ["a", "b"], [(1, 2)]),
        (",b\n1,2\n", ["column0", "b"], [(1, 2)]),
        ("a,A,a_1\n1,2,3\n", ["a", "A", "a_1"], [(1, 2, 3)]),
        ('"a,b,c";d;e\n1;2;3\n', ["a,b,c", "d", "e"], [(1, 2, 3)]),
        ("a,b,c,d;x;y\n1;2;3\n4;5;6\n", ["a,b,c,d", "x", "y"], [(1, 2, 3), (4, 5, 6)]),
        ("weight (kg, dry);x\n1,5;2\n3,5;4\n", ["weight (kg, dry)", "x"], [("1,5", 2), ("3,5", 4)]),
        ("a|b, c|d, e\n1|2|3\n", ["a", "b, c", "d, e"], [(1, 2, 3)]),
        ("a\tb\n1,5\tx\n", ["a", "b"], [("1,5", "x")]),
        ("a;b,c\n1,2\n", ["a;b", "c"], [(1, 2)]),
        ("a\n1\n", ["a"], [(1,)]),
        ("x y\n1\n", ["x y"], [(1,)]),
    ],
)
def test_unusual_csv_files_are_read(tmp_path, text, names, rows):
    (tmp_path / "t.csv").write_bytes(text.encode())
    found_names, found_rows = rows_of(tmp_path / "t.csv")
    assert found_names == names
    assert [len(row) for row in found_rows] == [len(row) for row in rows]
    assert found_rows == rows


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1\n2,3\n", "line 2: expected 2 values, one per column, got 1; the first line must name the columns"),
        ("a,b\n1,2\n3,4,5\n", r"line 3: expected 2 values, one per column, got 3$"),
        ("a,b,\n1,2\n3,4\n", "line 2: expected 3 values, one per column, got 2"),
        ("# a comment\na,b\n1,2\n", "line 2: expected 1 values, one per column, got 2; the first line must name the"),
        ("a;b\n1,2\n3,4\n", "line 2: expected 2 values, one per column, got 1"),
        ("a,b\n1,2\n\x1a", "line 3: expected 2 values, one per column, got 1"),
        ('a,b\n1,2\n"x,2\nz,3\n', r"line 4: expected 2 values, one per column, got 1; is a quote not closed\?$"),
        (
            'a,b\n1,2\n"x"y,2\n',
            "line 3: a quote is not closed, or text follows it; write a quote within a quoted value",
        ),
        ('a,b\n"5\\" x",2\nq,3\n', "line 2: a quote is not closed, or text follows it"),
        ('a,b\n1,2\n3,"4', "line 3: a quote is not closed, or text follows it"),
        ("a,b\n1,2\r\n3,4\n", "line 2: the line does not end with LF as the first one does; use the same line ends"),
        ("a,b\r\n1,2\r\n3,4\n", "line 3: the line does not end with CR LF as the first one does"),
        ("\na,b\n1,2\n", "t.csv: the first line is blank; it must name the columns"),
        ("\n\n\na,b\n1,2\n", "t.csv: the first line is blank; it must name the columns"),
        ("   \na,b\n1,2\n", "t.csv: the first line is blank; it must name the columns"),
        ("sep=;\na;b\n1;2\n", "t.csv: the first line, 'sep=;', must be removed; the first line names the columns"),
        ("a,a \n1,2\n", "t.csv has two columns named 'a'; rename one"),
        ("a,column0,\n1,2,3\n,column0\n", "expected 3 values"),
        (",column0\n1,2\n", "t.csv has two columns named 'column0'; rename one"),
        ('a,"b\nc"\n1,2\n', "t.csv: the name of column 2 contains a line break; rename the column"),
        ('"a\rb",c\n1,2\n', "t.csv: the name of column 1 contains a line break; rename the column"),
        ("a,b\n1,2\n\0\0", "t.csv has null characters"),
        ("", "t.csv is empty; its first line must name the columns"),
        ("\n", "t.csv is empty; its first line must name the columns"),
    ],
)
def test_a_csv_file_that_is_not_a_table_is_refused(tmp_path, text, sentence):
    (tmp_path / "t.csv").write_bytes(text.encode())
    with pytest.raises(SourceError, match=sentence) as raised:
        rows_of(tmp_path / "t.csv")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("ends", [("\n", "\r\n"), ("\r\n", "\n"), ("\n", "\r")])
def test_files_may_end_their_lines_differently(tmp_path, ends):
    for name, end in zip("12", ends, strict=True):
        (tmp_path / f"{name}.csv").write_bytes(f"a,b{end}{name},x{end}".encode())
    assert rows_of(tmp_path / "*.csv") == (["a", "b"], [(1, "x"), (2, "x")])


def test_files_may_differ_in_compression_and_byte_order_mark(tmp_path):
    (tmp_path / "1.csv").write_bytes(b"a,b\n1,x\n")
    (tmp_path / "2.csv").write_bytes(b"\xef\xbb\xbfa,b\n2,x\n")
    (tmp_path / "3.csv").write_bytes("a,b\n3,x\n".encode("utf-16"))
    assert rows_of(tmp_path / "*.csv") == (["a", "b"], [(1, "x"), (2, "x"), (3, "x")])


@pytest.mark.parametrize("size", [150_000, 1_900_000])
def test_a_long_cell_is_read_whole(tmp_path, size):
    (tmp_path / "t.csv").write_text("a,b\nx,1\n" + "y" * size + ",2\n")
    _, rows = rows_of(tmp_path / "t.csv")
    assert [(len(a), b) for a, b in rows] == [(1, 1), (size, 2)]


def test_a_cell_beyond_the_limit_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,1\n" + "y" * 2_100_000 + ",2\n")
    with pytest.raises(SourceError, match=r"t\.csv has a row of more than 2,000,000 bytes; is a quote not closed\?$"):
        rows_of(tmp_path / "t.csv")


def test_a_json_object_beyond_the_limit_is_refused(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": "' + "y" * 34_000_000 + '"}\n')
    with pytest.raises(SourceError, match=r"t\.jsonl has a JSON object of more than 16 MiB; is it a table\?$"):
        rows_of(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ('{"a":1}\n\n{"a":2}\n', ["a"], [(1,), (2,)]),
        ('{"a":1}\n{"b":2}\n', ["a", "b"], [(1, None), (None, 2)]),
        ('{"a":1}\n{}\n', ["a"], [(1,), (None,)]),
        ('{"a":"2024-01-01"}\n{"a":"12:30"}\n', ["a"], [("2024-01-01",), ("12:30",)]),
        ('{"a":"1"}\n{"a":"2"}\n', ["a"], [("1",), ("2",)]),
        ('{"a":1}\n{"a":"x"}\n', ["a"], [("1",), ("x",)]),
        ('{"a_1":1,"a":2}\n', ["a_1", "a"], [(1, 2)]),
        ('[{"a":1},{"a":2}]', ["a"], [(1,), (2,)]),
        ('\n [\n{"a":1},\n{"a":2}\n]\n', ["a"], [(1,), (2,)]),
    ],
)
def test_unusual_json_files_are_read(tmp_path, text, names, rows):
    (tmp_path / "t.json").write_text(text)
    assert rows_of(tmp_path / "t.json") == (names, rows)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a":1,"A":2}\n', "t.json has the keys 'A' and 'a', which differ only in case; rename one"),
        ('{"a":1}\n{"A":2}\n', "t.json has the keys 'A' and 'a', which differ only in case; rename one"),
        ('[{"a":1},{"A":2}]', "t.json has the keys 'A' and 'a', which differ only in case; rename one"),
        ('{"a":1,"a":2}\n', 't.json has an object with the key "a" twice'),
        ('{"a":1}{"a":2}\n', "t.json is not valid JSON; each line must be an object, or the file an array of objects"),
        ('{"a":1},\n{"a":2},\n', "t.json is not valid JSON"),
        ('{"a":1}\n{"a":2', "t.json is not valid JSON"),
        ('{"a":1,\n"b":2}\n{"a":3,\n"b":4}\n', "t.json is not valid JSON"),
        ('[{"a":1}]\n[{"a":2}]', "t.json is not valid JSON"),
        ("[1, 2]", "t.json is not a table; each line or array element must be an object"),
        ("[]", "t.json is not a table; each line or array element must be an object"),
        ('{"a":1}\n3\n', "t.json is not a table; each line or array element must be an object"),
    ],
)
def test_a_json_file_that_is_not_a_table_is_refused(tmp_path, text, sentence):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(SourceError, match=sentence) as raised:
        rows_of(tmp_path / "t.json")
    assert "\n" not in str(raised.value)


def test_json_keys_that_differ_in_case_between_files_are_refused(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"a":1}\n')
    (tmp_path / "2.jsonl").write_text('{"A":1}\n')
    with pytest.raises(SourceError, match="has the keys 'A' and 'a', which differ only in case; rename one"):
        rows_of(tmp_path / "*.jsonl")


def test_a_line_break_at_the_end_of_a_name_is_named(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'a,"y\r\n"\n1.5,p\n')
    with pytest.raises(SourceError, match="the name of column 2 contains a line break; rename the column"):
        files(tmp_path / "t.csv").schema  # noqa: B018


def test_files_with_different_delimiters_are_named(tmp_path):
    (tmp_path / "a.csv").write_text("v,class\n1,p\n")
    (tmp_path / "b.csv").write_text("v;class\n1;p\n")
    with pytest.raises(
        SourceError, match=r"b\.csv separates values by ';', but .*a\.csv by ','; use the same delimiter"
    ):
        files(tmp_path / "*.csv").schema  # noqa: B018
