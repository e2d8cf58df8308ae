"""Text files: CSV and JSON lines."""

from __future__ import annotations

import csv
import glob
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from tanbark.sources.duckdb_rows import Rows, connect, interruptible, quoted, spelled
from tanbark.sources.file_source import DuckFiles, reading_files
from tanbark.sources.source import SourceError, check_names

MISSING = ("", "NA", "NaN", "null", "?")
"""What a text table writes for no value."""
MOST_LINE = 2**24


def open_text(path: Path) -> IO[str]:
    """Return a text file, unpacked if it must be."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def lines(path: Path, file: IO[str]) -> Iterator[str]:
    """Yield the lines of a text file; a line that is unpacked from little must not fill the memory."""
    while line := file.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise SourceError(f"{path} has a line of more than {MOST_LINE:,} characters; is it a table?")
        yield line


class reading_text:
    """Turn what can go wrong with a text file into sentences."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise SourceError(f"{self.path} is not UTF-8 text; convert it, for example with iconv") from error
        if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
            raise SourceError(f"{self.path} is not a whole gzip file") from error
        if isinstance(error, csv.Error):
            raise SourceError(f"{self.path} cannot be read as CSV ({error})") from error


# Without BOOLEAN, since DuckDB takes "yes" and "t" for one, and a person who wrote "yes" wants to read "yes".
_TYPES = "['NULL', 'BIGINT', 'DOUBLE', 'DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMPTZ', 'VARCHAR']"


class CsvFiles(DuckFiles):
    """CSV files. The separator is read off the first line; types are those of the whole files.

    Columns of `labels` stay text unless they are whole numbers: 1:30 is then no time, 1e5 not 100000.
    """

    kind = "csv"

    def __init__(self, paths: Sequence[Path], missing: Sequence[str], labels: Sequence[str] = ()) -> None:
        super().__init__(paths, missing)
        self.labels = tuple(labels)

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        return self._described(["all_varchar=true"])[0]

    def typed(self) -> Rows:
        """Return the rows in types that all of the files' lines allow."""
        null = f"nullstr=[{', '.join(map(quoted, spelled(self.missing)))}]"
        found, columns = self._described([f"sample_size=-1, auto_type_candidates={_TYPES}", null])
        kinds = [
            "VARCHAR" if name in self.labels and kind != "BIGINT" else kind
            for name, kind in zip(found.names, found.types)
        ]
        # With the types spelled out they need not be looked for again each time the files are read.
        types = ", ".join(f"{quoted(column)}: {quoted(kind)}" for column, kind in zip(columns, kinds))
        return self._described([null, f"types={{{types}}}"])[0]

    def _described(self, options: list[str]) -> tuple[Rows, list[str]]:
        """Return the rows as read with some options, and what DuckDB calls the columns."""
        delimiter = _delimiter(self.paths[0])
        names = _header(self.paths[0], delimiter)
        for path in self.paths[1:]:
            self.refuse_different(names, path, _header(path, delimiter))
        dialect = f"header=true, skip=0, delim={quoted(delimiter)}, quote='\"', escape='\"', comment=''"
        together = ["union_by_name=true"] if len(self.paths) > 1 else []
        connection = connect()
        relation = f"read_csv({', '.join([self.listed(), dialect, *options, *together])})"
        errors = _reading_csv(self)
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
        return Rows(self, connection, relation, names, tuple(map(str, found.types)), errors), found.columns


class _reading_csv(reading_files):
    def look_closer(self) -> None:
        """Raise where a line has more or fewer values than the first."""
        for path in self.source.paths:
            _refuse_ragged(path)


def _delimiter(path: Path) -> str:
    """Return which of comma, semicolon, tab and bar separates the names on the first line."""
    with reading_text(path), open_text(path) as file:
        first = next(lines(path, file), "")
    outside = "".join(first.split('"')[::2])
    return max(",;\t|", key=outside.count)


def _header(path: Path, delimiter: str) -> tuple[str, ...]:
    with reading_text(path), open_text(path) as file:
        names = [name.strip() for name in next(csv.reader(lines(path, file), delimiter=delimiter), [])]
    if not names:
        raise SourceError(f"{path} is empty; its first line should name the columns")
    names = [name or f"column{i}" for i, name in enumerate(names)]
    check_names(path, names)
    return tuple(names)


def _refuse_ragged(path: Path) -> None:
    """Raise where a line of a CSV file has more or fewer values than its first."""
    delimiter = _delimiter(path)
    with reading_text(path), open_text(path) as file:
        reader = csv.reader(lines(path, file), delimiter=delimiter)
        wanted = len(next(reader))
        for row in reader:
            if row and len(row) != wanted:
                raise SourceError(
                    f"{path}, line {reader.line_num}: {len(row)} values where the first line names {wanted} columns"
                )


class JsonFiles(DuckFiles):
    """JSON-lines files. Text may say that it is missing, as in any text table."""

    kind = "json"
    texts_may_be_missing = True

    def as_written(self) -> Rows:
        """Return the rows in types that all lines allow."""
        together = ", union_by_name=true" if len(self.paths) > 1 else ""
        lines = "format='newline_delimited'"
        relation = f"read_json({self.listed()}, {lines}, records=true, sample_size=-1{together})"
        connection = connect()
        # Several threads would take parts of the files as they come, and so would the rows come: in any order.
        connection.execute("SET threads = 1")
        errors = _reading_json(self)
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
        names, types = tuple(found.columns), tuple(map(str, found.types))
        check_names(self.name, names)
        columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in zip(names, types))
        each = [f"read_json({quoted(glob.escape(str(p)))}, {lines}, columns={{{columns}}})" for p in self.paths]
        return Rows(self, connection, relation, names, types, errors, tuple(each) if len(each) > 1 else ())


class _reading_json(reading_files):
    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if "non-record JSON" in str(error):
            raise SourceError(f"{self.source.name} is not JSON lines; each line should be an object") from error
        super().__exit__(kind, error, trace)
