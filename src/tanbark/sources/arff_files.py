"""ARFF files, the format of Weka."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tanbark.schema.encode.columns import first_repeated
from tanbark.sources.duckdb_rows import Rows, connect
from tanbark.sources.file_source import FileSource, reading_files
from tanbark.sources.source import SourceError, check_names
from tanbark.sources.text_files import lines, open_text, reading_text

if TYPE_CHECKING:
    import pyarrow as pa


ROWS = 65_536

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)$", re.IGNORECASE)
# What is not quoted is stripped of spaces afterwards: to look for them at both ends at once takes their number squared.
_VALUE = re.compile(rf"\s*(?:({_QUOTED})\s*(?=,|$)|([^,]*))(,|$)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A column of an ARFF file: its levels where it is nominal, else None, and whether it holds numbers."""

    name: str
    levels: tuple[str, ...] | None
    numeric: bool


@dataclass(frozen=True)
class Header:
    """The attributes of an ARFF file, and on which line (from 1) the rows begin."""

    attributes: tuple[Attribute, ...]
    first_row: int


def read_header(path: Path) -> Header:
    """Return what an ARFF file declares."""
    attributes: list[Attribute] = []
    for number, line in _lines(path):
        text = line.strip()
        keyword = text.split(maxsplit=1)[0].lower() if text else ""
        if not text or text.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@data":
            if not attributes:
                raise SourceError(f"{path} declares no attributes; an ARFF file needs @attribute lines")
            check_names(path, [a.name for a in attributes])
            return Header(tuple(attributes), number + 1)
        if keyword != "@attribute":
            raise SourceError(f"{path}, line {number}: expected @attribute or @data, found {text[:40]!r}")
        attributes.append(_attribute(path, number, text))
    raise SourceError(f"{path} has no @data line; is it an ARFF file?")


def arrow_schema(header: Header) -> pa.Schema:
    """Return the columns as `batches` yields them when typed."""
    import pyarrow as pa

    # An ordered dictionary is how Arrow says that these levels are declared and not merely those stored.
    nominal, number = pa.dictionary(pa.int32(), pa.string(), ordered=True), pa.float64()
    return pa.schema(
        [(a.name, nominal if a.levels is not None else number if a.numeric else pa.string()) for a in header.attributes]
    )


def batches(path: Path, header: Header, missing: tuple[str, ...], typed: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an ARFF file.

    Parameters
    ----------
    path : Path
    header : Header
    missing : tuple of str
        What else than ``?`` is no value. A declared level always is one.
    typed : bool
        Whether numbers are float64 and nominal values dictionaries with all declared levels; otherwise all is text.
    """
    import pyarrow as pa

    columns = header.attributes
    absent = [set(missing) - set(column.levels or ()) for column in columns]
    rows = _rows(path, header)
    while chunk := list(islice(rows, ROWS)):
        arrays = [
            _array(path, column, [None if v in none else v for v in values], typed)
            for column, none, values in zip(columns, absent, zip(*chunk))
        ]
        yield pa.record_batch(arrays, names=[column.name for column in columns])


def _rows(path: Path, header: Header) -> Iterator[list[str | None]]:
    """Yield the values of each row; an unquoted ``?`` is None."""
    wanted = len(header.attributes)
    for number, line in _lines(path):
        text = line.strip()
        if number < header.first_row or not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise SourceError(f"{path}, line {number}: this is a sparse ARFF file; convert it to a dense one")
        values: list[str | None]
        if "'" in text or '"' in text:
            try:
                values = _split(text)
            except SourceError as error:
                raise SourceError(f"{path}, line {number}: {error}") from None
        else:
            values = [None if v == "?" else v for v in map(str.strip, text.split(","))]
        if len(values) != wanted:
            raise SourceError(f"{path}, line {number}: {len(values)} values where {wanted} attributes are declared")
        yield values


def _split(text: str) -> list[str | None]:
    """Return the values of a line in which some are quoted.

    >>> _split("1, 'it\\\\'s, so', ?, \\"?\\"")
    ['1', "it's, so", None, '?']
    """
    values: list[str | None] = []
    for match in _VALUE.finditer(text):
        quoted, plain, more = match.groups()
        value = quoted or plain.strip()
        if not quoted and value[:1] in ("'", '"'):
            raise SourceError(f"a quote is not closed, or is followed by more, in the row {text[:60]!r}")
        values.append(None if value == "?" else _unquoted(value))
        if not more:
            break
    return values


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), value[1:-1])
    return value


def _attribute(path: Path, number: int, text: str) -> Attribute:
    match = _ATTRIBUTE.match(text)
    if match is None or not match[2]:
        raise SourceError(f"{path}, line {number}: an attribute needs a name and a type")
    name, kind = _unquoted(match[1]), match[2].split("%")[0].strip() if not match[2].startswith("{") else match[2]
    if kind.startswith("{"):
        if "}" not in kind:
            raise SourceError(f"{path}, line {number}: the levels of {name!r} lack a closing brace")
        levels = tuple(str(v) if v is not None else "?" for v in _split(kind[1 : kind.rindex("}")].strip().rstrip(",")))
        twice = first_repeated(levels)
        if twice is not None:
            raise SourceError(f"{path}, line {number}: {name!r} declares the level {twice!r} twice")
        return Attribute(name, levels, False)
    word = kind.split()[0].lower() if kind else ""
    if word in {"numeric", "real", "integer"}:
        return Attribute(name, None, True)
    if word == "string":
        return Attribute(name, None, False)
    if word == "date":
        raise SourceError(f"column {name!r} of {path} holds dates; turn it into numbers or remove it from the file")
    raise SourceError(f"{path}, line {number}: {name!r} is of type {word!r}; numeric, string and nominal can be read")


def _array(path: Path, column: Attribute, values: list[str | None], typed: bool) -> pa.Array:
    import pyarrow as pa

    if not typed:
        return pa.array(values, pa.string())
    if column.levels is not None:
        place: dict[str | None, int] = {level: code for code, level in enumerate(column.levels)}
        codes = [None if v is None else place.get(v, -1) for v in values]
        if -1 in codes:
            strange = values[codes.index(-1)]
            raise SourceError(f"column {column.name!r} of {path} holds {strange!r}, which it does not declare")
        indices, levels = pa.array(codes, pa.int32()), pa.array(column.levels, pa.string())
        return pa.DictionaryArray.from_arrays(indices, levels, ordered=True)
    if not column.numeric:
        return pa.array(values, pa.string())
    try:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    except ValueError as error:
        strange = str(error).rsplit(":", 1)[-1].strip()
        raise SourceError(
            f"column {column.name!r} of {path} is declared numeric but holds {strange}; "
            "if that means missing, say so with missing="
        ) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, from 1."""
    with reading_text(path), open_text(path) as file:
        yield from enumerate(lines(path, file), start=1)


class ArffFiles(FileSource):
    """ARFF files."""

    kind = "arff"

    @cached_property
    def _headers(self) -> list[Header]:
        headers = [read_header(path) for path in self.paths]
        for path, header in zip(self.paths, headers):
            if header.attributes != headers[0].attributes:
                raise SourceError(f"{path} declares other attributes than {self.paths[0]}")
        return headers

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""
        return arrow_schema(self._headers[0])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        for batch in self._batches(typed=True):
            yield batch if columns is None else batch.select(list(columns))

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        import pyarrow as pa

        names = tuple(self.schema.names)
        connection = connect()
        texts = pa.schema([(name, pa.string()) for name in names])
        connection.register("arff_rows", pa.RecordBatchReader.from_batches(texts, self._batches(typed=False)))
        return Rows(self, connection, "arff_rows", names, ("VARCHAR",) * len(names), reading_files(self))

    def _batches(self, typed: bool) -> Iterator[pa.RecordBatch]:
        for path, header in zip(self.paths, self._headers):
            yield from batches(path, header, self.missing, typed)
