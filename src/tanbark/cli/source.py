"""Where rows come from: CSV, Parquet, ARFF and JSON-lines files, one or many, as Arrow record batches."""

from __future__ import annotations

import csv
import glob
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tanbark.cli import arff
from tanbark.cli.errors import CommandError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_VALUES = 1_000_000

KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".jsonl": "json",
    ".ndjson": "json",
}

# Without BOOLEAN, since DuckDB takes "yes" and "t" for one, and a person who wrote "yes" wants to read "yes".
_TYPES = "['NULL', 'BIGINT', 'DOUBLE', 'DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMPTZ', 'VARCHAR']"


@dataclass(frozen=True)
class Source:
    """Files of one kind and what counts as missing in them."""

    paths: tuple[Path, ...]
    kind: str
    missing: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call the files in a sentence."""
        return str(self.paths[0]) if len(self.paths) == 1 else f"{self.paths[0]} and {len(self.paths) - 1} more"


@dataclass(frozen=True)
class Rows:
    """Rows that DuckDB can read: column `i` is ``c<i>`` in SQL, whatever its name.

    Parameters
    ----------
    source : Source
    connection : duckdb.DuckDBPyConnection
    relation : str
        What comes after FROM.
    names, types : tuples of str
        The columns' names in the files, and their SQL types.
    total : int, optional
        How many rows there are, where that is known without reading them.
    """

    source: Source
    connection: Any
    relation: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    total: int | None = None

    def select(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the values of SQL expressions in the order of the rows, as columns named 0, 1, ..."""
        named = ", ".join(f'{expression} AS "{i}"' for i, expression in enumerate(expressions))
        columns = ", ".join(f"c{i}" for i in range(len(self.names)))
        batch = min(max(BATCH_VALUES // len(expressions), 1_000), 65_536)
        with _reading(self.source):
            yield from self.connection.sql(f"SELECT {named} FROM {self.relation} AS rows({columns})").to_arrow_reader(
                batch
            )


def find(data: str, missing: Sequence[str] | None) -> Source:
    """Return the files that a path or a pattern names."""
    from tanbark.datasets.folder import MISSING

    tokens = MISSING if missing is None else ("", *missing)
    paths = [Path(data)]
    if not paths[0].exists():
        if not glob.has_magic(data):
            raise CommandError(f"there is no file {data}")
        paths = [Path(p) for p in sorted(glob.glob(data, recursive=True)) if Path(p).is_file()]
        if not paths:
            raise CommandError(f"no file matches {data}")
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise CommandError(f"{data} matches files of several kinds ({', '.join(sorted(kinds))}); name one kind")
    return Source(tuple(paths), kinds.pop(), tokens)


def typed(source: Source, labels: Sequence[str] = ()) -> tuple[tuple[str, ...], Iterator[pa.RecordBatch], int | None]:
    """Return the names of the columns, record batches of values in types that the files suggest, and their number.

    Columns of `labels` stay text in a text table unless they are whole numbers: 1:30 is then no time, 1e5 not 100000.
    """
    if source.kind == "arff":
        headers = _arff_headers(source)
        return _arff_names(headers), _arff_batches(source, headers, typed=True), None
    rows = _csv(source, as_text=False, labels=labels) if source.kind == "csv" else as_written(source)
    # Text in JSON may say that it is missing, as in any text table; in CSV it was found out while reading.
    texts = source.kind == "json"
    expressions = [present(f"c{i}", t, source.missing if texts else ()) for i, t in enumerate(rows.types)]
    named = (batch.rename_columns(list(rows.names)) for batch in rows.select(expressions))
    return rows.names, named, rows.total


def as_written(source: Source) -> Rows:
    """Return the rows as the files have them: in a text table every value is text."""
    if source.kind == "csv":
        return _csv(source, as_text=True)
    if source.kind == "arff":
        import pyarrow as pa

        headers = _arff_headers(source)
        names = _arff_names(headers)
        schema = pa.schema([(name, pa.string()) for name in names])
        connection = _connect()
        batches = _arff_batches(source, headers, typed=False)
        connection.register("arff_rows", pa.RecordBatchReader.from_batches(schema, batches))
        return Rows(source, connection, "arff_rows", names, ("VARCHAR",) * len(names))
    function = "read_parquet" if source.kind == "parquet" else "read_json"
    options = "" if source.kind == "parquet" else ", format='newline_delimited', sample_size=-1"
    connection = _connect()
    together = ", union_by_name=true" if len(source.paths) > 1 else ""
    relation = f"{function}({_paths(source)}{options}{together})"
    total = None
    with _reading(source):
        described = connection.sql(f"SELECT * FROM {relation}")
        names, types = tuple(described.columns), tuple(map(str, described.types))
        if source.kind == "parquet":
            total = connection.sql(f"SELECT count(*) FROM {relation}").fetchall()[0][0]
            names = _parquet_names(source, names)
    return Rows(source, connection, relation, names, types, total)


def present(expression: str, sql_type: str, missing: Sequence[str]) -> str:
    """Return an SQL expression that is null where a text says that it is missing."""
    if sql_type == "JSON":
        expression = f"({expression} ->> '$')"
    elif sql_type != "VARCHAR":
        return expression
    if not missing:
        return expression
    tokens = ", ".join(map(quoted, _spelled(missing)))
    return f"CASE WHEN {expression} IN ({tokens}) THEN NULL ELSE {expression} END"


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _spelled(missing: Sequence[str]) -> list[str]:
    """Return the tokens as they stand in files, some of which put a space after each comma."""
    return list(dict.fromkeys(chain(missing, (f" {token}" for token in missing))))


def _kind(path: Path) -> str:
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name its files with a pattern such as '{path}/*.csv'")
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
        if suffixes and KINDS.get(suffixes[-1]) == "parquet":
            raise CommandError(f"{path}: Parquet is compressed by itself; unpack the file first")
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise CommandError(f"{path}: the name must end in {', '.join(KINDS)} (text may end in .gz after that)")
    return kind


def _connect() -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    return connection


def _paths(source: Source) -> str:
    return "[" + ", ".join(quoted(glob.escape(str(path))) for path in source.paths) + "]"


# CSV


def _csv(source: Source, as_text: bool, labels: Sequence[str] = ()) -> Rows:
    """Return the rows of CSV files, whose first line names the columns.

    The separator is read off that line. Types are those of the whole files, not of their beginnings.
    """
    delimiter = _delimiter(source.paths[0])
    names = _header(source.paths[0], delimiter)
    for path in source.paths[1:]:
        _refuse_different(source.paths[0], names, path, _header(path, delimiter))
    options = [
        f"header=true, skip=0, delim={quoted(delimiter)}, quote='\"', escape='\"', comment=''",
        "all_varchar=true"
        if as_text
        else f"sample_size=-1, auto_type_candidates={_TYPES}, "
        f"nullstr=[{', '.join(map(quoted, _spelled(source.missing)))}]",
        *(["union_by_name=true"] if len(source.paths) > 1 else []),
    ]
    connection = _connect()
    relation = f"read_csv({_paths(source)}, {', '.join(options)})"
    with _reading(source):
        described = connection.sql(f"SELECT * FROM {relation}")
        found = zip(names, described.columns, map(str, described.types))
        kept = [column for name, column, kind in found if name in labels and kind not in ("BIGINT", "VARCHAR")]
        if kept:
            types = ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in kept)
            relation = f"read_csv({_paths(source)}, {', '.join(options)}, types={{{types}}})"
            described = connection.sql(f"SELECT * FROM {relation}")
    return Rows(source, connection, relation, names, tuple(map(str, described.types)))


def _open(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _delimiter(path: Path) -> str:
    """Return which of comma, semicolon, tab and bar separates the names on the first line."""
    with _reading_text(path), _open(path) as file:
        first = file.readline()
    outside = "".join(first.split('"')[::2])
    return max(",;\t|", key=outside.count)


def _header(path: Path, delimiter: str) -> tuple[str, ...]:
    with _reading_text(path), _open(path) as file:
        names = [name.strip() for name in next(csv.reader(file, delimiter=delimiter), [])]
    if not names:
        raise CommandError(f"{path} is empty; its first line should name the columns")
    names = [name or f"column{i}" for i, name in enumerate(names)]
    for name in names:
        if names.count(name) > 1:
            raise CommandError(f"{path} has two columns named {name!r}; rename one")
    return tuple(names)


def _refuse_different(first: Path, names: Sequence[str], path: Path, others: Sequence[str]) -> None:
    for here, there, has, lacks in ((names, others, first, path), (others, names, path, first)):
        for name in here:
            if name not in there:
                raise CommandError(f"{lacks} has no column {name!r}, which {has} has")


class _reading_text:
    """Turn what can go wrong with a text file into sentences."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise CommandError(f"{self.path} is not UTF-8 text; convert it, for example with iconv") from error
        if isinstance(error, gzip.BadGzipFile | EOFError):
            raise CommandError(f"{self.path} is not a whole gzip file") from error
        if isinstance(error, csv.Error):
            raise CommandError(f"{self.path} cannot be read as CSV ({error})") from error


class _reading:
    """Turn what DuckDB says about files into sentences."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import duckdb

        if not isinstance(error, duckdb.Error) or isinstance(error, duckdb.InterruptException):
            return
        if self.source.kind == "csv":
            for path in self.source.paths:
                _refuse_ragged(path)
        if "not utf-8" in str(error).lower():
            raise CommandError(f"{self.source.name} is not UTF-8 text; convert it, for example with iconv") from error
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
        raise CommandError(f"{self.source.name} cannot be read: {said}") from error


def _refuse_ragged(path: Path) -> None:
    """Raise where a line of a CSV file has more or fewer values than its first."""
    delimiter = _delimiter(path)
    with _reading_text(path), _open(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        wanted = len(next(reader))
        for row in reader:
            if row and len(row) != wanted:
                raise CommandError(
                    f"{path}, line {reader.line_num}: {len(row)} values where the first line names {wanted} columns"
                )


# Parquet


def _parquet_names(source: Source, found: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names as the file has them: DuckDB renames one of two that differ in case only."""
    if len(source.paths) > 1:
        return found
    from pyarrow.parquet import read_schema

    names = tuple(read_schema(source.paths[0]).names)
    return names if len(names) == len(found) else found


# ARFF


def _arff_headers(source: Source) -> list[arff.Header]:
    headers = [arff.read_header(path) for path in source.paths]
    for path, header in zip(source.paths, headers):
        if header.attributes != headers[0].attributes:
            raise CommandError(f"{path} declares other attributes than {source.paths[0]}")
    return headers


def _arff_names(headers: list[arff.Header]) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in headers[0].attributes)


def _arff_batches(source: Source, headers: list[arff.Header], typed: bool) -> Iterator[pa.RecordBatch]:
    for path, header in zip(source.paths, headers):
        yield from arff.batches(path, header, source.missing, typed)
