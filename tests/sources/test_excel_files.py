import datetime
import io
import re
import sys
import zipfile

import pyarrow as pa
import pytest
import python_calamine

from sources.written_tables import content, workbook_bytes, write, zipped
from tanbark import Counts
from tanbark.sources import SourceError, files

DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(2024, 2, 29, 10, 30)


def source_of(tmp_path, rows, change=None, **options):
    (tmp_path / "t.xlsx").write_bytes(workbook_bytes({"Sheet": rows}, change))
    return files(tmp_path / "t.xlsx", **options)


def column_of(tmp_path, values):
    """Return a column with these cells, next to a full column."""
    source = source_of(tmp_path, [["a", "full"], *([value, "x"] for value in values)])
    return pa.table(source)["a"]


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        ([1, 2.0, None], [1, 2, None], pa.int64()),
        ([1, 2.5], [1.0, 2.5], pa.float64()),
        ([1e300, 1], [1e300, 1.0], pa.float64()),
        ([True, None, False], [True, None, False], pa.bool_()),
        ([DAY, None], [DAY, None], pa.date32()),
        ([MOMENT, DAY], [MOMENT, datetime.datetime(2024, 2, 29)], pa.timestamp("us")),
        ([datetime.time(9, 5)], [datetime.time(9, 5)], pa.time64("us")),
        ([datetime.timedelta(hours=30)], [datetime.timedelta(hours=30)], pa.duration("us")),
        (["x", "1", " y "], ["x", "1", " y "], pa.string()),
        ([3, "x", 2.5, None], ["3", "x", "2.5", None], pa.string()),
        ([True, "x"], ["True", "x"], pa.string()),
        ([True, 1], ["True", "1"], pa.string()),
        ([DAY, "soon", MOMENT], ["2024-02-29", "soon", "2024-02-29 10:30:00"], pa.string()),
        ([1, "NA", "?", " null"], [1, None, None, None], pa.int64()),
        ([1, "#N/A", "#DIV/0!"], [1, None, None], pa.int64()),
        ([None, None], [None, None], pa.string()),
    ],
)
def test_a_column_has_the_type_of_its_cells(tmp_path, cells, expected, kind):
    found = column_of(tmp_path, cells)
    assert found.type == kind
    assert found.to_pylist() == expected


@pytest.mark.parametrize("last", ["x", 2.5, None, True])
def test_cells_of_another_type_far_below_change_the_type_of_the_column(tmp_path, last):
    found = column_of(tmp_path, [*[1] * 20_000, last])
    expected = {"x": "1", 2.5: 1.0, None: 1, True: "1"}[last] if last is not True else "1"
    assert found[0].as_py() == expected
    assert found[-1].as_py() == ("True" if last is True else last)


def test_counts_of_a_workbook_are_those_of_the_same_csv_file(tmp_path):
    table = pa.table(
        {
            "measured": [i / 8 for i in range(200)],
            "whole": [None if i % 9 == 0 else i % 40 for i in range(200)],
            "level": [["low", "high", "NA"][i % 3] for i in range(200)],
            "mixed": [["3", "x", "2.5"][i % 3] for i in range(200)],
            "y": ["a" if i % 2 else "b" for i in range(200)],
        }
    )
    numbers = {"3": 3, "2.5": 2.5}
    rows = [[numbers.get(v, v) if i == 3 else v for i, v in enumerate(row.values())] for row in table.to_pylist()]
    write(table, tmp_path / "t.csv")
    source = source_of(tmp_path, [table.column_names, *rows])
    assert Counts.from_batches(source, target="y") == Counts.from_batches(files(tmp_path / "t.csv"), target="y")


def test_dates_are_those_of_the_same_csv_file(tmp_path):
    rows = f"{DAY},{MOMENT},p\n2020-01-01,2020-01-01 00:00:00,q\n"
    (tmp_path / "t.csv").write_text(f"a,b,y\n{rows}")
    source = source_of(
        tmp_path,
        [["a", "b", "y"], [DAY, MOMENT, "p"], [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), "q"]],
    )
    assert Counts.from_batches(source, "y") == Counts.from_batches(files(tmp_path / "t.csv"), "y")


def test_the_table_may_begin_anywhere_and_ends_with_its_last_values(tmp_path):
    def style(workbook):
        # Cells with a format but no value.
        for place in ("F9", "H2", "A20"):
            workbook.active[place].number_format = "0.00"

    rows = [[], [], [None, "a", None, "b"], [None, 1, 2, None], [], [None, None, None, "x"], [], []]
    source = source_of(tmp_path, rows, style)
    assert pa.table(source).to_pylist() == [
        {"a": 1, "column1": 2, "b": None},
        {"a": None, "column1": None, "b": None},
        {"a": None, "column1": None, "b": "x"},
    ]


def test_names_are_written_like_the_names_of_a_csv_file(tmp_path):
    source = source_of(tmp_path, [[" a ", 2024, 1.5, True, DAY, "two\nlines"], [1, 2, 3, 4, 5, 6]])
    assert source.schema.names == ["a", "2024", "1.5", "True", "2024-02-29", "two lines"]


def test_values_without_a_name_have_the_name_of_their_position(tmp_path):
    assert source_of(tmp_path, [["a"], [1, 2, 3]]).schema.names == ["a", "column1", "column2"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([["a", " a"], [1, 2]], r"t\.xlsx has two columns named 'a'; rename one"),
        ([], r"t\.xlsx is empty; the first row of its sheet must name the columns"),
        ([[None, ""], [None]], r"t\.xlsx is empty; the first row of its sheet must name the columns"),
    ],
)
def test_a_sheet_that_is_not_a_table_raises(tmp_path, rows, sentence):
    with pytest.raises(SourceError, match=sentence):
        source_of(tmp_path, rows).schema  # noqa: B018


def test_a_sheet_with_names_only_has_no_rows(tmp_path):
    source = source_of(tmp_path, [["a", "b"]])
    assert source.schema.names == ["a", "b"]
    assert source.total == 0
    assert list(source.as_written().select(["c0"])) == [] or source.total == 0


SHEETS = {"Notes": [], "Data 1": [["a"], [1]], "2024": [["a"], [2]], "other": [["a"], [3]]}


@pytest.mark.parametrize(
    ("sheet", "value"), [("Data 1", 1), ("2024", 2), (2, 1), ("2", 1), (3, 2), (4, 3), ("other", 3)]
)
def test_a_sheet_is_chosen_by_name_or_number(tmp_path, sheet, value):
    (tmp_path / "t.xlsx").write_bytes(workbook_bytes(SHEETS))
    assert pa.table(files(tmp_path / "t.xlsx", sheet=sheet)).to_pylist() == [{"a": value}]


def test_the_first_sheet_with_values_is_read_and_the_others_are_named(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(workbook_bytes(SHEETS))
    with pytest.warns(UserWarning, match=r"t\.xlsx: read sheet 'Data 1', not '2024', 'other'; use sheet= for another"):
        assert pa.table(files(tmp_path / "t.xlsx")).to_pylist() == [{"a": 1}]


@pytest.mark.parametrize("sheet", ["data 1", 0, 5, -1, "0", "9", "", "²"])
def test_an_unknown_sheet_raises_and_the_sheets_are_named(tmp_path, sheet):
    (tmp_path / "t.xlsx").write_bytes(workbook_bytes(SHEETS))
    with pytest.raises(SourceError, match=r"has no sheet .*; it has 'Notes', 'Data 1', '2024', 'other'"):
        files(tmp_path / "t.xlsx", sheet=sheet).schema  # noqa: B018


def test_an_empty_sheet_that_is_asked_for_raises(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(workbook_bytes(SHEETS))
    with pytest.raises(SourceError, match=r"t\.xlsx: sheet 'Notes' is empty; its first row must name the columns"):
        files(tmp_path / "t.xlsx", sheet="Notes").schema  # noqa: B018


def test_a_sheet_of_another_kind_of_file_raises(tmp_path):
    write(pa.table({"a": [1]}), tmp_path / "t.csv")
    with pytest.raises(SourceError, match=r"t\.csv has no sheets; sheet= is for Excel and OpenDocument files"):
        files(tmp_path / "t.csv", sheet=1)


def test_columns_of_several_workbooks_are_found_by_name_and_widened(tmp_path):
    (tmp_path / "1.xlsx").write_bytes(workbook_bytes({"S": [["a", "b"], [1, "x"]]}))
    (tmp_path / "2.xlsx").write_bytes(workbook_bytes({"T": [["b", "a"], [7, 2.5]]}))
    assert pa.table(files(tmp_path / "*.xlsx")).to_pylist() == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "7"}]
    (tmp_path / "2.xlsx").write_bytes(workbook_bytes({"T": [["b", "c"], [7, 2.5]]}))
    with pytest.raises(SourceError, match=r"2\.xlsx has no column 'a', which .*1\.xlsx has"):
        files(tmp_path / "*.xlsx").schema  # noqa: B018


def test_merged_cells_below_the_names_are_reported(tmp_path):
    if not hasattr(python_calamine.CalamineSheet, "merged_cell_ranges"):
        pytest.skip("this version does not report merged cells")
    rows = [["a", "b", "c"], [1, 2, 3], [1, 2, 3]]
    source = source_of(tmp_path, rows, lambda workbook: workbook.active.merge_cells("A2:A3"))
    with pytest.warns(UserWarning, match="sheet 'Sheet' has 1 range of merged cells; only the first cell of each has"):
        assert pa.table(source)["a"].to_pylist() == [1, None]


def test_formulas_without_stored_results_are_reported(tmp_path):
    source = source_of(tmp_path, [["a", "b"], [1, 2], [3, "=A2+A3"]])
    with pytest.warns(UserWarning, match=r"t\.xlsx: some formulas have no stored results and count as missing; open"):
        assert pa.table(source)["b"].to_pylist() == [2, None]


@pytest.mark.parametrize(
    "stored", ["><f>A2</f><v>7</v></c>", ' t="str"><f>A2</f><v></v></c>', '><f t="shared" si="0"/><v>7</v></c>']
)
def test_formulas_with_stored_results_are_read(tmp_path, stored):
    data = workbook_bytes({"S": [["a", "b"], [1, 5]]})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"]
    cell = re.search(r'<c r="B2"[^>]*>.*?</c>', sheet)[0]
    members["xl/worksheets/sheet1.xml"] = sheet.replace(cell, f'<c r="B2"{stored}')
    (tmp_path / "t.xlsx").write_bytes(zipped(members))
    expected = 7 if "7" in stored else None
    assert pa.table(files(tmp_path / "t.xlsx")).to_pylist() == [{"a": 1, "b": expected}]


def open_document(rows):
    """Return an OpenDocument spreadsheet."""
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{value}"/>'
            if isinstance(value, int | float)
            else f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
            if value is not None
            else "<table:table-cell/>"
            for value in row
        )
        + "</table:table-row>"
        for row in rows
    )
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{cells}</table:table></office:spreadsheet>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content{names}>{body}</office:body></office:document-content>',
        )
    return file.getvalue()


def test_an_open_document_spreadsheet_is_read(tmp_path):
    (tmp_path / "t.ods").write_bytes(open_document([["a", "b"], [1, "x"], [2.5, None]]))
    assert pa.table(files(tmp_path / "t.ods")).to_pylist() == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": None}]


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(SourceError, match=r"requires python-calamine: pip install 'tanbark\[excel\]'"):
        source_of(tmp_path, [["a"], [1]]).schema  # noqa: B018


@pytest.mark.parametrize("at", [0.3, 0.6, 0.9])
def test_a_damaged_workbook_raises(tmp_path, at):
    data = bytearray(content(pa.table({"a": list(range(2000))}), "t.xlsx"))
    middle = int(at * len(data))
    (tmp_path / "t.xlsx").write_bytes(data[:middle])
    with pytest.raises(SourceError, match=r"t\.xlsx is not a valid workbook: ") as raised:
        files(tmp_path / "t.xlsx").schema  # noqa: B018
    assert "\n" not in str(raised.value)


def test_a_workbook_too_large_for_the_memory_raises(tmp_path, monkeypatch):
    monkeypatch.setattr("tanbark.sources.excel_files.usable_memory", lambda: 1000.0)
    with pytest.raises(SourceError, match=r"t\.xlsx has [\d,]+ bytes when unpacked, too many for the memory; export"):
        source_of(tmp_path, [["a"], [1]]).schema  # noqa: B018
