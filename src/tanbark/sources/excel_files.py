"""Sheets of Excel and OpenDocument files."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.memory import usable_memory
from tanbark.messages import counted, warn
from tanbark.sources.duckdb_rows import Rows, first_line, interruptible, token_spellings
from tanbark.sources.file_source import FileSource, arrow_rows
from tanbark.sources.source import SourceError, batch_rows, check_names
from tanbark.sources.stored_files import ZIP_ERRORS, StoredFile

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 16_384
"""Number of rows that are converted at a time."""
MAX_EXACT_WHOLE = 2**53
"""Numbers of a spreadsheet are floats, which are exact integers up to this one."""
MAX_SHEETS_LISTED = 10
"""Maximum number of sheets that a message lists."""
BYTES_PER_STORED_BYTE = 4
"""Approximate memory for each byte of an unpacked workbook while it is read."""
# A formula whose result is an empty text has the type "str".
_FORMULA_WITHOUT_RESULT = re.compile(
    rb'<c(?![^<>]*\st="str")[^<>]*>\s*<f(?:[^<>]*/>|[^<>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>|</c>)'
)


class ExcelFiles(FileSource):
    """A sheet of each of one or more Excel or OpenDocument files with the same columns. The first row has the names.

    A column has the type of its cells: numbers, booleans, dates or times. Cells of several types are read as text, as
    they would be in a text file. Empty cells and errors such as #N/A are missing values.

    Parameters
    ----------
    stored : sequence of StoredFile
        The files.
    missing : sequence of str
        Texts that represent missing values.
    sheet : str or int, default=None
        Sheet by name or by number from 1. None means the first sheet with values.
    """

    kind = "excel"

    def __init__(self, stored: Sequence[StoredFile], missing: Sequence[str], sheet: str | int | None = None) -> None:
        super().__init__(stored, missing)
        self.sheet = sheet

    @cached_property
    def _table(self) -> pa.Table:
        """All rows."""
        import pyarrow as pa

        columns: dict[str, _Cells] = {}
        tokens = frozenset(token_spellings(self.missing))
        for file in self.stored:
            names, rows = _sheet_rows(file, self.sheet)
            if not columns:
                columns = {name: _Cells() for name in names}
            self.check_same_columns(list(columns), file, names)
            while chunk := list(islice(rows, CHUNK_ROWS)):
                for name, values in zip(names, zip(*chunk, strict=True), strict=True):
                    columns[name].add([None if v in ("", None) or v in tokens else v for v in values])
        return pa.table({name: cells.array() for name, cells in columns.items()})

    def prepare(self) -> None:
        """Read the sheets; warn of what may surprise."""
        _ = self._table

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._table.schema

    @property
    def total(self) -> int | None:
        """Number of rows."""
        rows: int = self._table.num_rows
        return rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        table = self._table if columns is None else self._table.select(list(columns))
        yield from table.to_batches(max_chunksize=batch_rows(table.num_columns))

    def as_written(self) -> Rows:
        """Return the rows in the types of the cells."""
        return arrow_rows(self)


class _Cells:
    """The cells of a column, in chunks of one type each."""

    def __init__(self) -> None:
        self._chunks: list[tuple[str, pa.Array]] = []

    def add(self, values: list[Any]) -> None:
        """Add cells; None is a missing value."""
        kinds = {_cell_kind(value) for value in values if value is not None}
        kind = next(iter(kinds)) if len(kinds) == 1 else _common_kind(kinds)
        self._chunks.append((kind, _array(values, kind)))

    def array(self) -> pa.ChunkedArray:
        """Return all cells in one type."""
        import pyarrow as pa

        kind = _common_kind({kind for kind, _ in self._chunks})
        chunks = [
            array if found in (kind, "empty") else _array(array.to_pylist(), kind) for found, array in self._chunks
        ]
        arrow_type = _arrow_type(kind)
        return pa.chunked_array([chunk.cast(arrow_type) for chunk in chunks], arrow_type)


def _cell_kind(value: Any) -> str:
    """Return the kind of a cell that is not empty."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "whole" if abs(value) <= MAX_EXACT_WHOLE and value == int(value) else "number"
    if isinstance(value, datetime.datetime):
        return "datetime"
    return _KINDS.get(type(value), "text")


_KINDS = {datetime.date: "date", datetime.time: "time", datetime.timedelta: "duration"}


def _common_kind(kinds: set[str]) -> str:
    """Return the kind of a column with cells of some kinds."""
    kinds = kinds - {"empty"}
    if len(kinds) <= 1:
        return next(iter(kinds), "empty")
    if kinds == {"whole", "number"}:
        return "number"
    return "datetime" if kinds == {"date", "datetime"} else "text"


def _arrow_type(kind: str) -> pa.DataType:
    """Return the type of a column of cells of a kind."""
    import pyarrow as pa

    return {
        # As in a CSV file.
        "empty": pa.string(),
        "boolean": pa.bool_(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "date": pa.date32(),
        "datetime": pa.timestamp("us"),
        "time": pa.time64("us"),
        "duration": pa.duration("us"),
        "text": pa.string(),
    }[kind]


def _array(values: Sequence[Any], kind: str) -> pa.Array:
    """Return cells as an array; cells of several types become text."""
    import pyarrow as pa

    if kind == "text":
        values = [None if value is None else _as_text(value) for value in values]
    elif kind == "datetime":
        values = [
            datetime.datetime.combine(value, datetime.time()) if type(value) is datetime.date else value
            for value in values
        ]
    elif kind == "whole":
        values = [None if value is None else int(value) for value in values]
    return pa.array(values, _arrow_type(kind))


def _as_text(value: Any) -> str:
    """Return a cell as in a text file.

    >>> _as_text(3.0), _as_text(datetime.datetime(2024, 2, 29)), _as_text(True)
    ('3', '2024-02-29', 'True')
    """
    from tanbark.schema.recipe.column_reading import number_as_text

    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return number_as_text(value)


def _sheet_rows(file: StoredFile, sheet: str | int | None) -> tuple[list[str], Iterator[list[Any]]]:
    """Return the names of the columns and the rows below them, without empty rows and columns at the ends."""
    with _workbook_errors(file):
        workbook = interruptible(lambda: _workbook(file))
        if interruptible(lambda: _has_formulas_without_results(file.local)):
            warn(
                f"{file}: some formulas have no stored results and count as missing; open the file in a spreadsheet "
                "program and save it"
            )
        name = _chosen_sheet(file, workbook, sheet)
        cells = interruptible(lambda: workbook.get_sheet_by_name(name))
    first = _first_row(cells)
    if first is None:
        raise SourceError(f"{file}: sheet {name!r} is empty; its first row must name the columns")
    at, header = first
    width = max(i for i, value in enumerate(header, start=1) if value != "")
    if width < len(header):
        width = max(max((i for i, v in enumerate(row, start=1) if v != ""), default=0) for row in cells.iter_rows())
    names = [" ".join(_as_text(value).split()) or f"column{i}" for i, value in enumerate(header[:width])]
    check_names(file, names)
    merged = sum(bottom > at for _, (bottom, _) in getattr(cells, "merged_cell_ranges", None) or ())
    if merged:
        warn(
            f"{file}: sheet {name!r} has {counted(merged, 'range')} of merged cells; only the first cell of each has a "
            "value, and the others count as missing"
        )
    return names, _filled_rows(islice(cells.iter_rows(), at + 1, None), width)


def _first_row(cells: Any) -> tuple[int, list[Any]] | None:
    """Return the first row that is not empty, and its number from 0; None if all are empty."""
    return next(((at, row) for at, row in enumerate(cells.iter_rows()) if any(v != "" for v in row)), None)


def _filled_rows(rows: Iterator[list[Any]], width: int) -> Iterator[list[Any]]:
    """Yield the rows up to the last that is not empty."""
    empty = 0
    for row in rows:
        row = row[:width]
        if all(value == "" for value in row):
            empty += 1
            continue
        yield from ([None] * width for _ in range(empty))
        empty = 0
        yield row


def _workbook(file: StoredFile) -> Any:
    """Open a workbook."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        raise SourceError("reading a spreadsheet requires python-calamine: pip install 'tanbark[excel]'") from error
    path = file.local
    if not path.stat().st_size:
        raise SourceError(f"{file} is empty; is it a workbook?")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
        if BYTES_PER_STORED_BYTE * size > usable_memory():
            raise SourceError(f"{file} has {size:,} bytes when unpacked, too many for the memory; export it as CSV")
    return CalamineWorkbook.from_path(str(path))


def _has_formulas_without_results(path: Path) -> bool:
    """Return whether a sheet has formulas whose results were not computed, as other programs than Excel write them."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
        return any(_FORMULA_WITHOUT_RESULT.search(archive.read(name)) for name in sheets)


def _chosen_sheet(file: StoredFile, workbook: Any, sheet: str | int | None) -> str:
    """Return the name of the sheet to read."""
    names: list[str] = workbook.sheet_names
    if sheet is None:
        used = interruptible(lambda: [name for name in names if _has_cells(workbook, name)])
        if not used:
            raise SourceError(f"{file} is empty; the first row of its sheet must name the columns")
        if len(used) > 1:
            others = _listed(used[1:])
            warn(f"{file}: read sheet {used[0]!r}, not {others}; use sheet= for another one")
        return used[0]
    if sheet in names:
        return str(sheet)
    number = int(sheet) if isinstance(sheet, int) or (sheet.isascii() and sheet.isdigit()) else 0
    if not 1 <= number <= len(names):
        raise SourceError(f"{file} has no sheet {sheet!r}; it has {_listed(names)}")
    return names[number - 1]


def _has_cells(workbook: Any, name: str) -> bool:
    """Return whether a sheet has a value; sheets that only show a chart have none."""
    from python_calamine import WorksheetNotFound

    try:
        return _first_row(workbook.get_sheet_by_name(name)) is not None
    except WorksheetNotFound:
        return False


def _listed(names: Sequence[str]) -> str:
    """Return names for a message, at most some."""
    more = ["..."] if len(names) > MAX_SHEETS_LISTED else []
    return ", ".join([*(repr(name) for name in names[:MAX_SHEETS_LISTED]), *more])


@contextmanager
def _workbook_errors(file: StoredFile) -> Iterator[None]:
    """Convert errors of reading a workbook to SourceError."""
    try:
        yield
    except SourceError:
        raise
    except ZIP_ERRORS as error:
        raise SourceError(f"{file} is not a valid workbook: {first_line(error)}") from error
    except BaseException as error:
        # The library is written in Rust; its panics are not exceptions.
        kind = type(error)
        if kind.__name__ == "PasswordError":
            raise SourceError(f"{file} is protected by a password; save it without one") from error
        if kind.__name__ != "PanicException" and not kind.__module__.startswith("python_calamine"):
            raise
        raise SourceError(f"{file} is not a valid workbook: {first_line(error)}") from error
