"""Text files: CSV and JSON."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from tanbark.sources.duckdb_rows import Rows, connect, interruptible, quoted, token_spellings
from tanbark.sources.file_source import DuckFiles, FileErrors, check_same_order, sql_path
from tanbark.sources.source import SourceError, check_names

MISSING = ("", "NA", "NaN", "null", "?")
"""Texts that represent missing values by default."""
MAX_LINE_CHARACTERS = 2**24
"""Maximum length of a line."""
MAX_CSV_ROW_BYTES = 2_000_000
"""Maximum size of a row of a CSV file, as in DuckDB."""
MAX_JSON_BLANKS = 2**16
"""Number of characters in which a JSON file must begin."""
_NUMBERED = re.compile(r"_\d+$")
"""The end of the name that DuckDB gives to a key which equals another key except for case."""
_TEMPORAL = ("DATE", "TIME", "INTERVAL")
"""Prefixes of the SQL types that DuckDB infers for some texts."""
_NUMBER_TYPES = "['NULL', 'BIGINT', 'DOUBLE', 'VARCHAR']"
"""The types that DuckDB may infer for a column of a CSV file."""
_PLAIN = {
    "BIGINT": "CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) IS NOT DISTINCT FROM {0}",
    # Text comparisons rule out names such as inf, blanks, leading zeros as in 007, and signs other than minus.
    "DOUBLE": (
        "(({0} >= '0' AND {0} < ':' AND NOT ({0} >= '00' AND {0} < '0:')) OR ({0} >= '-0' AND {0} < '-:')) "
        "AND NOT contains({0}, '_') AND coalesce(isfinite(TRY_CAST({0} AS DOUBLE)), false)"
    ),
}
"""SQL conditions on texts that are plain numbers, by the type of the numbers."""


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
        if isinstance(error, csv.Error) and "field limit" in str(error):
            raise SourceError(
                f"{self.path} has a value of more than {csv.field_size_limit():,} characters; is a quote not closed?"
            ) from error
        if isinstance(error, csv.Error):
            raise SourceError(f"{self.path} is not a valid CSV file: {error}") from error


class CsvFiles(DuckFiles):
    """CSV files. The separator is inferred from the first line.

    Columns of plain numbers are read as numbers, and all others as text, which a recipe may read as numbers or dates.
    Columns of `labels` stay text unless all values are integers: 1e5 is not read as 100000.
    """

    kind = "csv"

    def __init__(self, paths: Sequence[Path], missing: Sequence[str], labels: Sequence[str] = ()) -> None:
        super().__init__(paths, missing)
        self.labels = tuple(labels)
        self._rows: int | None = None

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        return self._described(["all_varchar=true"])[0]

    def typed(self) -> Rows:
        """Return the rows with columns of plain numbers as numbers, and all others as text."""
        null = f"nullstr=[{', '.join(map(quoted, token_spellings(self.missing)))}]"
        # The first rows show which columns may be numeric.
        guessed = self._described([f"auto_type_candidates={_NUMBER_TYPES}", null])[0].types
        rows, columns = self._described(["all_varchar=true", null])
        kinds = self._checked_types(rows, guessed)
        types = ", ".join(f"{quoted(column)}: {quoted(kind)}" for column, kind in zip(columns, kinds, strict=True))
        return self._described([null, f"types={{{types}}}"])[0]

    def _checked_types(self, rows: Rows, guessed: Sequence[str]) -> list[str]:
        """Return the type of each column, given a guess from the first rows, after checking all rows; count the rows.

        The types are all that other rows can rule out: a column of integers has only integers as Python prints them,
        and a column of floats only finite numbers without leading zeros or anything that needs interpretation.
        """
        wanted = [
            "VARCHAR" if kind not in _PLAIN or (name in self.labels and kind != "BIGINT") else kind
            for name, kind in zip(rows.names, guessed, strict=True)
        ]
        checks = [
            (i, kind)
            for i, most in enumerate(wanted)
            for kind in (("BIGINT", "DOUBLE") if most == "BIGINT" and rows.names[i] not in self.labels else (most,))
            if kind in _PLAIN
        ]
        plain = [f"bool_and({_PLAIN[kind].format(f'c{i}')}) FILTER (WHERE c{i} IS NOT NULL)" for i, kind in checks]
        columns = ", ".join(f"c{i}" for i in range(len(rows.names)))
        query = f"SELECT {', '.join(['count(*)', *plain])} FROM {rows.relation} AS rows({columns})"
        with rows.errors:
            found = interruptible(lambda: rows.connection.sql(query).fetchall()[0], rows.connection.interrupt)
        self._rows, *fits = found
        kinds = ["VARCHAR"] * len(wanted)
        for (i, kind), fit in zip(reversed(checks), reversed(fits), strict=True):
            kinds[i] = kind if fit else kinds[i]
        return kinds

    @property
    def total(self) -> int | None:
        """Number of rows, once the types of the columns have been determined."""
        return self._rows

    def _described(self, options: list[str]) -> tuple[Rows, list[str]]:
        """Return the rows read with the given options, and DuckDB's names of the columns."""
        delimiter = _delimiter(self.paths[0])
        names = _header(self.paths[0], delimiter)
        headers = [names, *(_header(path, delimiter) for path in self.paths[1:])]
        for path, others in zip(self.paths[1:], headers[1:], strict=True):
            self.check_same_columns(names, path, others)
        check_same_order(self.paths, headers)
        dialect = f"header=true, skip=0, delim={quoted(delimiter)}, quote='\"', escape='\"', comment=''"
        union = ["union_by_name=true"] if any(others != names for others in headers) else []
        union.append("hive_partitioning=false")
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
    broken = next((at for at, name in enumerate(names, start=1) if "\n" in name or "\r" in name), None)
    if broken is not None:
        raise SourceError(f"{path}: the name of column {broken} contains a line break; rename the column")
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
    """JSON Lines files, or JSON arrays of objects. Some texts represent missing values, as in CSV files."""

    kind = "json"
    texts_may_be_missing = True

    def as_written(self) -> Rows:
        """Return the rows in the narrowest types that fit all objects; dates stay text."""
        layout = f"format='{'array' if all(map(_is_json_array, self.paths)) else 'newline_delimited'}'"
        connection = connect()
        # Several threads would return the rows in any order.
        connection.execute("SET threads = 1")
        errors = _JsonErrors(self)
        union = f"union_by_name={'true' if len(self.paths) > 1 else 'false'}"
        relation = (
            f"read_json({self.sql_paths()}, {layout}, records=true, sample_size=-1, hive_partitioning=false, {union})"
        )
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
            names = tuple(found.columns)
            if len(self.paths) > 1 or any(_NUMBERED.search(name) for name in names):
                self._check_keys(connection, layout)
        types = tuple("VARCHAR" if str(kind).startswith(_TEMPORAL) else str(kind) for kind in found.types)
        check_names(self.name, names)
        columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in zip(names, types, strict=True))
        options = f"{layout}, records=true, hive_partitioning=false, columns={{{columns}}}"
        parts = tuple(f"read_json({sql_path(path)}, {options})" for path in self.paths)
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


def _is_json_array(path: Path) -> bool:
    """Return whether a JSON file begins with a bracket."""
    with TextErrors(path), open_text(path) as file:
        return file.read(MAX_JSON_BLANKS).lstrip().startswith("[")


class _JsonErrors(FileErrors):
    """Convert errors of reading JSON files."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if "non-record JSON" in str(error):
            raise SourceError(
                f"{self.source.name} is not a table; each line or array element must be an object"
            ) from error
        if "maximum_object_size" in str(error):
            raise SourceError(f"{self.source.name} has a JSON object of more than 16 MiB; is it a table?") from error
        super().__exit__(kind, error, trace)
