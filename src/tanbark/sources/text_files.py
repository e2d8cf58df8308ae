"""Text files: CSV and JSON Lines."""

from __future__ import annotations

import csv
import glob
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from tanbark.sources.duckdb_rows import Rows, connect, interruptible, quoted, token_spellings
from tanbark.sources.file_source import DuckFiles, FileErrors
from tanbark.sources.source import SourceError, check_names

MISSING = ("", "NA", "NaN", "null", "?")
"""Texts that represent missing values by default."""
MAX_LINE_CHARACTERS = 2**24
"""Maximum length of a line."""


def open_text(path: Path) -> IO[str]:
    """Open a text file, decompressing it if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def lines(path: Path, file: IO[str]) -> Iterator[str]:
    """Yield the lines of a text file; long lines raise SourceError, so that decompression cannot fill the memory."""
    while line := file.readline(MAX_LINE_CHARACTERS + 1):
        if len(line) > MAX_LINE_CHARACTERS:
            raise SourceError(f"{path} has a line of more than {MAX_LINE_CHARACTERS:,} characters; is it a table?")
        yield line


class TextErrors:
    """Context manager that converts errors of reading a text file to SourceError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise SourceError(f"{self.path} is not UTF-8 text; convert it, for example with iconv") from error
        if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
            raise SourceError(f"{self.path} is not a valid gzip file") from error
        if isinstance(error, csv.Error):
            raise SourceError(f"{self.path} is not a valid CSV file: {error}") from error


# Without BOOLEAN, because DuckDB would convert "yes" and "t" to true.
_TYPES = "['NULL', 'BIGINT', 'DOUBLE', 'DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMPTZ', 'VARCHAR']"


class CsvFiles(DuckFiles):
    """CSV files. The separator is inferred from the first line, the types from all lines.

    Columns of `labels` stay text unless all values are integers: 1:30 is not read as a time, nor 1e5 as 100000.
    """

    kind = "csv"

    def __init__(self, paths: Sequence[Path], missing: Sequence[str], labels: Sequence[str] = ()) -> None:
        super().__init__(paths, missing)
        self.labels = tuple(labels)

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        return self._described(["all_varchar=true"])[0]

    def typed(self) -> Rows:
        """Return the rows in the narrowest types that fit all lines of the files."""
        null = f"nullstr=[{', '.join(map(quoted, token_spellings(self.missing)))}]"
        inferred, columns = self._described([f"sample_size=-1, auto_type_candidates={_TYPES}", null])
        kinds = [
            "VARCHAR" if name in self.labels and kind != "BIGINT" else kind
            for name, kind in zip(inferred.names, inferred.types, strict=True)
        ]
        # Explicit types avoid inferring them again each time the files are read.
        types = ", ".join(f"{quoted(column)}: {quoted(kind)}" for column, kind in zip(columns, kinds, strict=True))
        return self._described([null, f"types={{{types}}}"])[0]

    def _described(self, options: list[str]) -> tuple[Rows, list[str]]:
        """Return the rows read with the given options, and DuckDB's names of the columns."""
        delimiter = _delimiter(self.paths[0])
        names = _header(self.paths[0], delimiter)
        for path in self.paths[1:]:
            self.check_same_columns(names, path, _header(path, delimiter))
        dialect = f"header=true, skip=0, delim={quoted(delimiter)}, quote='\"', escape='\"', comment=''"
        union = ["union_by_name=true"] if len(self.paths) > 1 else []
        connection = connect()
        relation = f"read_csv({', '.join([self.sql_paths(), dialect, *options, *union])})"
        errors = _CsvErrors(self)
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
        return Rows(self, connection, relation, names, tuple(map(str, found.types)), errors), found.columns


class _CsvErrors(FileErrors):
    """Convert errors of reading CSV files, and look for lines with a wrong number of values."""

    def diagnose(self) -> None:
        """Raise SourceError if a line has more or fewer values than the first."""
        for path in self.source.paths:
            _check_line_lengths(path)


def _delimiter(path: Path) -> str:
    """Return which of comma, semicolon, tab and vertical bar separates the names in the first line."""
    with TextErrors(path), open_text(path) as file:
        first = next(lines(path, file), "")
    outside = "".join(first.split('"')[::2])
    return max(",;\t|", key=outside.count)


def _header(path: Path, delimiter: str) -> tuple[str, ...]:
    """Return the column names in the first line."""
    with TextErrors(path), open_text(path) as file:
        names = [name.strip() for name in next(csv.reader(lines(path, file), delimiter=delimiter), [])]
    if not names:
        raise SourceError(f"{path} is empty; its first line must name the columns")
    names = [name or f"column{i}" for i, name in enumerate(names)]
    check_names(path, names)
    return tuple(names)


def _check_line_lengths(path: Path) -> None:
    """Raise SourceError if a line of a CSV file has more or fewer values than the first."""
    delimiter = _delimiter(path)
    with TextErrors(path), open_text(path) as file:
        reader = csv.reader(lines(path, file), delimiter=delimiter)
        expected = len(next(reader))
        for row in reader:
            if row and len(row) != expected:
                raise SourceError(
                    f"{path}, line {reader.line_num}: expected {expected} values, one per column, got {len(row)}"
                )


class JsonFiles(DuckFiles):
    """JSON Lines files. Some texts represent missing values, as in CSV files."""

    kind = "json"
    texts_may_be_missing = True

    def as_written(self) -> Rows:
        """Return the rows in the narrowest types that fit all lines."""
        union = ", union_by_name=true" if len(self.paths) > 1 else ""
        lines = "format='newline_delimited'"
        relation = f"read_json({self.sql_paths()}, {lines}, records=true, sample_size=-1{union})"
        connection = connect()
        # Several threads would return the rows in any order.
        connection.execute("SET threads = 1")
        errors = _JsonErrors(self)
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
        names, types = tuple(found.columns), tuple(map(str, found.types))
        check_names(self.name, names)
        columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in zip(names, types, strict=True))
        parts = [f"read_json({quoted(glob.escape(str(p)))}, {lines}, columns={{{columns}}})" for p in self.paths]
        return Rows(self, connection, relation, names, types, errors, tuple(parts) if len(parts) > 1 else ())


class _JsonErrors(FileErrors):
    """Convert errors of reading JSON Lines files."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if "non-record JSON" in str(error):
            raise SourceError(
                f"{self.source.name} is not a JSON Lines file; each line must be a JSON object"
            ) from error
        super().__exit__(kind, error, trace)
