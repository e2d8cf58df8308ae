"""CSV files, whose first line names the columns."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from tanbark.sources.errors import SourceError, check_names
from tanbark.sources.file_source import DuckFiles, reading_files
from tanbark.sources.interrupts import interruptible
from tanbark.sources.rows import Rows, connect, quoted, spelled
from tanbark.sources.text_files import lines, open_text, reading_text

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
