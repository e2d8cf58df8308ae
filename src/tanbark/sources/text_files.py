"""Text files: CSV and JSON."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import IO, Any

from tanbark.sources.duckdb_rows import Rows, connect, interruptible, quoted, token_spellings
from tanbark.sources.file_source import DuckFiles, FileErrors, check_same_order, sql_path
from tanbark.sources.source import SourceError, check_names
from tanbark.sources.stored_files import COMPRESSIONS, TextFile

MISSING = ("", "NA", "NaN", "null", "?")
"""Texts that represent missing values by default."""
MAX_LINE_CHARACTERS = 2**24
"""Maximum length of a line."""
MAX_CSV_ROW_BYTES = 2_000_000
"""Maximum size of a row of a CSV file, as in DuckDB."""
MAX_JSON_BLANKS = 2**16
"""Number of characters in which a JSON file must begin."""
DELIMITERS = ";\t|,"
"""Characters that may separate the values of a CSV file."""
ROWS_FOR_DELIMITER = 20
"""Number of rows that show which delimiter fits."""
_SEPARATOR_LINE = re.compile(r"sep=.?\s*$", re.IGNORECASE)
"""A line that tells Excel the delimiter."""
_LINE_ENDS = {"\n": "LF", "\r\n": "CR LF", "\r": "CR", "": "nothing"}
_NUMBERED = re.compile(r"_\d+$")
"""The end of the name that DuckDB gives to a key which equals another key except for case."""
_TEMPORAL = ("DATE", "TIME", "INTERVAL")
"""Prefixes of the SQL types that DuckDB infers for some texts."""
_NUMBER_TYPES = "['NULL', 'BIGINT', 'DOUBLE', 'VARCHAR']"
"""The types that DuckDB may infer for a CSV column; it reads neither 007 nor +5 as a number."""


@contextmanager
def opened_lines(file: TextFile) -> Iterator[Iterator[str]]:
    """Open a text file, and convert errors of reading it or of parsing it as CSV to SourceError.

    The lines keep their ends. Long lines raise SourceError, so that decompression cannot fill the memory.
    """
    try:
        with file.unpacking_errors(), file.open() as text:
            yield _lines(file, text)
    except csv.Error as error:
        if "field limit" in str(error):
            raise SourceError(
                f"{file} has a value of more than {csv.field_size_limit():,} characters; is a quote not closed?"
            ) from error
        raise SourceError(f"{file} is not a valid CSV file: {error}") from error


def _lines(file: TextFile, text: IO[str]) -> Iterator[str]:
    while line := text.readline(MAX_LINE_CHARACTERS + 1):
        if len(line) > MAX_LINE_CHARACTERS:
            raise SourceError(f"{file} has a line of more than {MAX_LINE_CHARACTERS:,} characters; is it a table?")
        yield line


def _compression(files: Sequence[TextFile]) -> str:
    """Return DuckDB's option for the compression of the files, which it would not recognise after a question mark."""
    kinds = {COMPRESSIONS.get(file.local.suffix.lower(), "none") for file in files}
    return f"compression='{kinds.pop() if len(kinds) == 1 else 'auto'}'"


class CsvFiles(DuckFiles):
    """CSV files. The separator is inferred from the first line.

    Columns of plain numbers are read as numbers, and all others as text, which a recipe may read as numbers or dates.
    Columns of `labels` stay text unless all values are integers: 1e5 is not read as 100000.
    """

    kind = "csv"
    stored: tuple[TextFile, ...]

    def __init__(self, stored: Sequence[TextFile], missing: Sequence[str], labels: Sequence[str] = ()) -> None:
        super().__init__(stored, missing)
        self.labels = tuple(labels)

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        return self._described(["all_varchar=true"])[0]

    def typed(self) -> Rows:
        """Return the rows with columns of plain numbers as numbers, and all others as text."""
        null = f"nullstr=[{', '.join(map(quoted, token_spellings(self.missing)))}]"
        inferred, columns = self._described([f"sample_size=-1, auto_type_candidates={_NUMBER_TYPES}", null])
        kinds = [
            "VARCHAR" if name in self.labels and kind != "BIGINT" else kind
            for name, kind in zip(inferred.names, inferred.types, strict=True)
        ]
        # Explicit types avoid inferring them again each time the files are read.
        types = ", ".join(f"{quoted(column)}: {quoted(kind)}" for column, kind in zip(columns, kinds, strict=True))
        return self._described([null, f"types={{{types}}}"])[0]

    def read_as_text(self, names: Collection[str]) -> bool:
        """Read those of the named columns that hold fractions as text; return whether that changes anything."""
        rows = self._typed
        chosen = [name for name, kind in zip(rows.names, rows.types, strict=True) if kind == "DOUBLE" and name in names]
        if not chosen:
            return False
        self.labels += tuple(chosen)
        for cached in ("_typed", "schema"):
            self.__dict__.pop(cached, None)
        return True

    def _described(self, options: list[str]) -> tuple[Rows, list[str]]:
        """Return the rows read with the given options, and DuckDB's names of the columns."""
        delimiter = _delimiter(self.stored[0])
        names = _header(self.stored[0], delimiter)
        for file in self.stored[1:]:
            if _delimiter(file) != delimiter and len(names) > 1:
                raise SourceError(
                    f"{file} separates values by {_delimiter(file)!r}, but {self.stored[0]} by {delimiter!r}; use the "
                    "same delimiter in all files"
                )
        headers = [names, *(_header(file, delimiter) for file in self.stored[1:])]
        for file, others in zip(self.stored[1:], headers[1:], strict=True):
            self.check_same_columns(names, file, others)
        check_same_order(self.stored, headers)
        dialect = f"header=true, skip=0, delim={quoted(delimiter)}, quote='\"', escape='\"', comment=''"
        union = ["union_by_name=true"] if any(others != names for others in headers) else []
        union += ["hive_partitioning=false", _compression(self.stored)]
        connection = connect()
        relation = f"read_csv({', '.join([self.sql_paths(), dialect, *options, *union])})"
        errors = _CsvErrors(self)
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
        return Rows(self, connection, relation, names, tuple(map(str, found.types)), errors), found.columns


class _CsvErrors(FileErrors):
    """Convert errors of reading CSV files, and look for lines with a wrong number of values."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Raise SourceError if a line is too long."""
        if "Maximum line size" in str(error):
            raise SourceError(
                f"{self.source.name} has a row of more than {MAX_CSV_ROW_BYTES:,} bytes; is a quote not closed?"
            ) from error
        super().__exit__(kind, error, trace)

    def diagnose(self) -> None:
        """Raise SourceError if a line has more or fewer values than the first."""
        for file in self.source.stored:
            assert isinstance(file, TextFile)
            _check_lines(file)


def _delimiter(file: TextFile) -> str:
    """Return which of semicolon, tab, vertical bar and comma separates the names in the first line.

    The character that is most frequent there, of those that separate the same number of values in the rows below. If
    several are equally frequent, a comma is least likely, because names and numbers may contain it.
    """
    with opened_lines(file) as lines:
        first = next(lines, "")
    outside = "".join(first.split('"')[::2])
    found = sorted((one for one in DELIMITERS if one in outside), key=outside.count, reverse=True)
    return next((one for one in found if len(found) > 1 and _fits_first_rows(file, one)), found[0] if found else ",")


def _fits_first_rows(file: TextFile, delimiter: str) -> bool:
    """Return whether the first rows have as many values as the first line if they are separated by a character."""
    with opened_lines(file) as lines, suppress(csv.Error):
        reader = csv.reader(lines, delimiter=delimiter)
        expected = len(next(reader))
        return all(len(row) == expected for row in islice(reader, ROWS_FOR_DELIMITER) if row)
    return False


def _header(file: TextFile, delimiter: str) -> tuple[str, ...]:
    """Return the column names in the first line."""
    with opened_lines(file) as lines:
        first = next(lines, "")
        row: list[str] = next(csv.reader(chain([first], lines), delimiter=delimiter), [])
        has_more = bool(row or next(lines, ""))
    broken = next((at for at, name in enumerate(row, start=1) if "\n" in name or "\r" in name), None)
    names = [name.strip() for name in row]
    if not has_more:
        raise SourceError(f"{file} is empty; its first line must name the columns")
    if not first.strip("\ufeff \r\n"):
        raise SourceError(f"{file}: the first line is blank; it must name the columns")
    if _SEPARATOR_LINE.match(first):
        raise SourceError(
            f"{file}: the first line, {first.strip()!r}, must be removed; the first line names the columns"
        )
    if broken is not None:
        raise SourceError(f"{file}: the name of column {broken} contains a line break; rename the column")
    names = [name or f"column{i}" for i, name in enumerate(names)]
    check_names(file, names)
    return tuple(names)


def _check_lines(file: TextFile) -> None:
    """Raise SourceError if a row of a CSV file has more or fewer values than the first line, or is not valid."""
    delimiter = _delimiter(file)
    with opened_lines(file) as lines:
        ends: list[str] = []
        reader = csv.reader(_noting_ends(lines, ends), delimiter=delimiter)
        expected = len(next(reader))
        end = ends[-1]
        first_row = True
        for row in reader:
            if row and len(row) != expected:
                advice = "; the first line must name the columns" if first_row else ""
                if any("\n" in value or "\r" in value for value in row):
                    advice = "; is a quote not closed?"
                raise SourceError(
                    f"{file}, line {reader.line_num}: expected {expected} values, one per column, "
                    f"got {len(row)}{advice}"
                )
            first_row = False
            if ends[-1] not in ("", end):
                raise SourceError(
                    f"{file}, line {reader.line_num}: the line does not end with {_LINE_ENDS[end]} as the first one "
                    "does; use the same line ends in the whole file"
                )
    _check_quotes(file, delimiter)


def _noting_ends(lines: Iterator[str], ends: list[str]) -> Iterator[str]:
    """Yield lines, and note the end of the last one."""
    for line in lines:
        ends[:] = [line[len(line.rstrip("\r\n")) :]]
        yield line


def _check_quotes(file: TextFile, delimiter: str) -> None:
    """Raise SourceError if a quote is not closed, or text follows it."""
    with opened_lines(file) as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error as error:
            if "field limit" in str(error):
                raise
            raise SourceError(
                f"{file}, line {reader.line_num}: a quote is not closed, or text follows it; write a quote within a "
                "quoted value twice"
            ) from error


class JsonFiles(DuckFiles):
    """JSON Lines files, or JSON arrays of objects. Some texts represent missing values, as in CSV files."""

    kind = "json"
    stored: tuple[TextFile, ...]
    texts_may_be_missing = True

    def as_written(self) -> Rows:
        """Return the rows in the narrowest types that fit all objects; dates stay text."""
        layout = f"format='{'array' if all(map(_is_json_array, self.stored)) else 'newline_delimited'}'"
        layout += f", {_compression(self.stored)}"
        connection = connect()
        # Several threads would return the rows in any order.
        connection.execute("SET threads = 1")
        errors = _JsonErrors(self)
        union = f"union_by_name={'true' if len(self.stored) > 1 else 'false'}"
        relation = (
            f"read_json({self.sql_paths()}, {layout}, records=true, sample_size=-1, hive_partitioning=false, {union})"
        )
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
            names = tuple(found.columns)
            if len(self.stored) > 1 or any(_NUMBERED.search(name) for name in names):
                self._check_keys(connection, layout)
        types = tuple("VARCHAR" if str(kind).startswith(_TEMPORAL) else str(kind) for kind in found.types)
        check_names(self.name, names)
        columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in zip(names, types, strict=True))
        options = f"{layout}, records=true, hive_partitioning=false, columns={{{columns}}}"
        parts = tuple(f"read_json({sql_path(file)}, {options})" for file in self.stored)
        return Rows(self, connection, parts[0], names, types, errors, parts if len(parts) > 1 else ())

    def _check_keys(self, connection: Any, layout: str) -> None:
        """Raise SourceError if two keys differ only in case: DuckDB would rename one, or read only one of them."""
        objects = f"read_json_objects({self.sql_paths()}, {layout}, hive_partitioning=false)"
        keys = connection.sql(f"SELECT DISTINCT unnest(json_keys(json)) FROM {objects} ORDER BY 1").fetchall()
        spellings: dict[str, str] = {}
        for (key,) in keys:
            other = spellings.setdefault(key.lower(), key)
            if other != key:
                raise SourceError(
                    f"{self.name} has the keys {other!r} and {key!r}, which differ only in case; rename one"
                )


def _is_json_array(file: TextFile) -> bool:
    """Return whether a JSON file begins with a bracket."""
    with file.unpacking_errors(), file.open() as text:
        return text.read(MAX_JSON_BLANKS).lstrip().startswith("[")


class _JsonErrors(FileErrors):
    """Convert errors of reading JSON files."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if "non-record JSON" in str(error):
            raise SourceError(
                f"{self.source.name} is not a table; each line or array element must be an object"
            ) from error
        repeated = re.search(r"has duplicate key (\".*\")", str(error))
        if repeated:
            raise SourceError(f"{self.source.name} has an object with the key {repeated[1]} twice") from error
        if "Malformed JSON" in str(error):
            raise SourceError(
                f"{self.source.name} is not valid JSON; each line must be an object, or the file an array of objects"
            ) from error
        if "maximum_object_size" in str(error):
            raise SourceError(f"{self.source.name} has a JSON object of more than 16 MiB; is it a table?") from error
        super().__exit__(kind, error, trace)
