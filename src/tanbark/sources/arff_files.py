"""ARFF files, the data format of Weka."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from tanbark.messages import first_repeated
from tanbark.sources.duckdb_rows import Rows, connect
from tanbark.sources.file_source import FileSource, StreamErrors
from tanbark.sources.source import SourceError, check_names
from tanbark.sources.stored_files import TextFile
from tanbark.sources.text_files import opened_lines

if TYPE_CHECKING:
    import pyarrow as pa


BATCH_ROWS = 65_536

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)$", re.IGNORECASE)
# Unquoted values are stripped afterwards: matching the spaces at both ends would take quadratic time.
_VALUE = re.compile(rf"\s*(?:({_QUOTED})\s*(?=,|$)|([^,]*))(,|$)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A column of an ARFF file: its levels if it is nominal, otherwise None, and whether it holds numbers."""

    name: str
    levels: tuple[str, ...] | None
    numeric: bool


@dataclass(frozen=True)
class Header:
    """The attributes of an ARFF file, and the line (from 1) where the rows begin."""

    attributes: tuple[Attribute, ...]
    first_row: int


def read_header(file: TextFile) -> Header:
    """Read the header of an ARFF file."""
    attributes: list[Attribute] = []
    for number, line in _lines(file):
        text = line.strip()
        keyword = text.split(maxsplit=1)[0].lower() if text else ""
        if not text or text.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@data":
            if not attributes:
                raise SourceError(f"{file} declares no attributes; an ARFF file needs @attribute lines")
            check_names(file, [a.name for a in attributes])
            return Header(tuple(attributes), number + 1)
        if keyword != "@attribute":
            raise SourceError(f"{file}, line {number}: expected @attribute or @data, found {text[:40]!r}")
        attributes.append(_attribute(file, number, text))
    raise SourceError(f"{file} has no @data line; is it an ARFF file?")


def arrow_schema(header: Header) -> pa.Schema:
    """Return the Arrow schema of the typed rows that `batches` yields."""
    import pyarrow as pa

    # In Arrow, an ordered dictionary marks its levels as declared, not merely stored.
    nominal, number = pa.dictionary(pa.int32(), pa.string(), ordered=True), pa.float64()
    return pa.schema(
        [(a.name, nominal if a.levels is not None else number if a.numeric else pa.string()) for a in header.attributes]
    )


def batches(file: TextFile, header: Header, missing: tuple[str, ...], typed: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an ARFF file.

    Parameters
    ----------
    file : TextFile
        The file.
    header : Header
        Its header.
    missing : tuple of str
        Texts that represent missing values, in addition to ``?``, unless they are declared levels.
    typed : bool
        Whether numbers are float64 and nominal values dictionaries with all declared levels; otherwise all values are
        text.

    Yields
    ------
    batch : pyarrow.RecordBatch
        Some rows.
    """
    import pyarrow as pa

    columns = header.attributes
    absent = [set(missing) - set(column.levels or ()) for column in columns]
    rows = _rows(file, header)
    while chunk := list(islice(rows, BATCH_ROWS)):
        arrays = [
            _array(file, column, [None if v in tokens else v for v in values], typed)
            for column, tokens, values in zip(columns, absent, zip(*chunk, strict=True), strict=True)
        ]
        yield pa.record_batch(arrays, names=[column.name for column in columns])


def _rows(file: TextFile, header: Header) -> Iterator[list[str | None]]:
    """Yield the values of each row; an unquoted ``?`` is None."""
    expected = len(header.attributes)
    for number, line in _lines(file):
        text = line.strip()
        if number < header.first_row or not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise SourceError(f"{file}, line {number}: this is a sparse ARFF file; convert it to a dense one")
        values: list[str | None]
        if "'" in text or '"' in text:
            try:
                values = _split(text)
            except SourceError as error:
                raise SourceError(f"{file}, line {number}: {error}") from None
        else:
            values = [None if v == "?" else v for v in map(str.strip, text.split(","))]
        if len(values) != expected:
            raise SourceError(
                f"{file}, line {number}: expected {expected} values, one per attribute, got {len(values)}"
            )
        yield values


def _split(text: str) -> list[str | None]:
    r"""Return the values of a line in which some are quoted.

    >>> _split("1, 'it\\'s, so', ?, \"?\"")
    ['1', "it's, so", None, '?']
    """
    values: list[str | None] = []
    for match in _VALUE.finditer(text):
        quoted, plain, more = match.groups()
        value = quoted or plain.strip()
        if not quoted and value[:1] in ("'", '"'):
            raise SourceError(f"a quote is not closed, or text follows it, in {text[:60]!r}")
        values.append(None if value == "?" else _unquoted(value))
        if not more:
            break
    return values


def _unquoted(value: str) -> str:
    """Return a value without quotes and escapes."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), value[1:-1])
    return value


def _attribute(file: TextFile, number: int, text: str) -> Attribute:
    """Parse an @attribute line."""
    match = _ATTRIBUTE.match(text)
    if match is None or not match[2]:
        raise SourceError(f"{file}, line {number}: an attribute needs a name and a type")
    name, kind = _unquoted(match[1]), match[2].split("%")[0].strip() if not match[2].startswith("{") else match[2]
    if kind.startswith("{"):
        if "}" not in kind:
            raise SourceError(f"{file}, line {number}: the levels of {name!r} lack a closing brace")
        levels = tuple(str(v) if v is not None else "?" for v in _split(kind[1 : kind.rindex("}")].strip().rstrip(",")))
        repeated = first_repeated(levels)
        if repeated is not None:
            raise SourceError(f"{file}, line {number}: {name!r} declares the level {repeated!r} twice")
        return Attribute(name, levels, False)
    word = kind.split()[0].lower() if kind else ""
    if word in {"numeric", "real", "integer"}:
        return Attribute(name, None, True)
    if word in {"string", "date"}:
        # A recipe recognises dates in text, whatever their format is called here.
        return Attribute(name, None, False)
    raise SourceError(
        f"{file}, line {number}: {name!r} has the unsupported type {word!r}; use numeric, string, date or nominal"
    )


def _array(file: TextFile, column: Attribute, values: list[str | None], typed: bool) -> pa.Array:
    """Return the values of a column as an Arrow array."""
    import pyarrow as pa

    if not typed:
        return pa.array(values, pa.string())
    if column.levels is not None:
        place: dict[str | None, int] = {level: code for code, level in enumerate(column.levels)}
        codes = [None if v is None else place.get(v, -1) for v in values]
        if -1 in codes:
            undeclared = values[codes.index(-1)]
            raise SourceError(f"column {column.name!r} of {file} holds {undeclared!r}, which is not a declared level")
        indices, levels = pa.array(codes, pa.int32()), pa.array(column.levels, pa.string())
        return pa.DictionaryArray.from_arrays(indices, levels, ordered=True)
    if not column.numeric:
        return pa.array(values, pa.string())
    try:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    except ValueError as error:
        value = str(error).rsplit(":", 1)[-1].strip()
        raise SourceError(
            f"column {column.name!r} of {file} is declared numeric but holds {value}; "
            "if this means missing, declare it with missing="
        ) from error


def _lines(file: TextFile) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, from 1."""
    with opened_lines(file) as lines:
        yield from enumerate(lines, start=1)


class ArffFiles(FileSource):
    """ARFF files with the same attributes."""

    kind = "arff"
    stored: tuple[TextFile, ...]

    @cached_property
    def _headers(self) -> list[Header]:
        """Headers of the files, which must declare the same attributes."""
        headers = [read_header(file) for file in self.stored]
        for file, header in zip(self.stored, headers, strict=True):
            if header.attributes != headers[0].attributes:
                raise SourceError(f"{file} declares different attributes than {self.stored[0]}")
        return headers

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return arrow_schema(self._headers[0])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or the given ones."""
        for batch in self._batches(typed=True):
            yield batch if columns is None else batch.select(list(columns))

    def as_written(self) -> Rows:
        """Return the rows with every value as text."""
        import pyarrow as pa

        names = tuple(self.schema.names)
        connection = connect()
        texts = pa.schema([(name, pa.string()) for name in names])
        connection.register("arff_rows", pa.RecordBatchReader.from_batches(texts, self._batches(typed=False)))
        return Rows(self, connection, "arff_rows", names, ("VARCHAR",) * len(names), StreamErrors(self))

    def _batches(self, typed: bool) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files in order."""
        for file, header in zip(self.stored, self._headers, strict=True):
            yield from batches(file, header, self.missing, typed)
