"""Formats of files by their first bytes, and advice if they are not what the name of the file says."""

from __future__ import annotations

import codecs
import mmap
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tanbark.sources.source import SourceError
from tanbark.sources.stored_files import ZIP_ERRORS, StoredFile

SIGNATURE_BYTES = 4096
"""Number of bytes by which a format is recognised."""
MAX_MODEL_HEADER_BYTES = 100_000_000
"""Maximum size of the header of a safetensors file."""
TEXT_KINDS = ("csv", "json", "arff")
"""Formats that are text."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_JSON_OBJECT = re.compile(r'\{\s*["}]')
_JSON_ARRAY = re.compile(r"\[\s*\{")


@dataclass(frozen=True)
class Signature:
    """A format that the content of a file shows.

    Parameters
    ----------
    described : str
        The format in words.
    suffixes : tuple of str
        Endings of file names of this format, the usual one first. They are empty if the format cannot be read.
    advice : str, default=""
        What to do if the format cannot be read.
    """

    described: str
    suffixes: tuple[str, ...] = ()
    advice: str = ""


_UNPACK = "unpack it first"
_EXPORT = "export the table as CSV"
_ZIP = Signature("a zip archive", (".zip",))
_GZIP = Signature("a file compressed with gzip", (".gz",))
_ZSTD = Signature("a file compressed with zstd", (".zst",))
_OLD_EXCEL = Signature("an Excel workbook", (".xls",))
_BEGINNINGS = (
    (b"PAR1", Signature("a Parquet file", (".parquet", ".pq"))),
    (b"ARROW1", Signature("an Arrow file", (".arrow", ".feather", ".ipc", ".arrows"))),
    (b"\xff\xff\xff\xff", Signature("an Arrow stream", (".arrows", ".arrow", ".feather", ".ipc"))),
    (b"FEA1", Signature("a Feather file of the old version 1", advice="write it again with version 2")),
    (b"PK\x03\x04", _ZIP),
    (b"PK\x05\x06", _ZIP),
    (b"\x1f\x8b", _GZIP),
    (b"\x28\xb5\x2f\xfd", _ZSTD),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_EXCEL),
    (b"BZh", Signature("a file compressed with bzip2", advice=_UNPACK)),
    (b"\xfd7zXZ\x00", Signature("a file compressed with xz", advice=_UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Signature("a 7z archive", advice=_UNPACK)),
    (b"Rar!\x1a\x07", Signature("a RAR archive", advice=_UNPACK)),
    (b"SQLite format 3\x00", Signature("an SQLite database", advice="read it with an SQL query")),
    (b"%PDF-", Signature("a PDF document", advice="copy the table into a spreadsheet and save that as CSV")),
    (b"\x89HDF\r\n\x1a\n", Signature("an HDF5 file", advice=_EXPORT)),
    (b"\x93NUMPY", Signature("a NumPy file", advice=_EXPORT)),
    (b"\x89PNG", Signature("a picture", advice="a table is needed")),
    (b"\xff\xd8\xff", Signature("a picture", advice="a table is needed")),
    (b"$FL2", Signature("an SPSS file", advice=_EXPORT)),
    (b"<stata_dta>", Signature("a Stata file", advice=_EXPORT)),
    (b"{\\rtf", Signature("a text document (RTF)", advice="save it as plain text")),
)
_DUCKDB = Signature("a DuckDB database", advice="read it with an SQL query")
_TAR = Signature("a tar archive", advice=_UNPACK)
_PICKLE = Signature("a Python pickle", advice="write the table as CSV or Parquet")
_MODEL = Signature("a saved model", advice="a table is needed")
_HTML = Signature("a web page (HTML)", advice="open it in a spreadsheet program and save it as CSV")
_XML = Signature("an XML file", advice="open it in a spreadsheet program and save it as CSV")
_ARFF = Signature("an ARFF file", (".arff",))
_JSON_LINES = Signature("a JSON Lines file", (".jsonl", ".ndjson", ".json"))
_JSON = Signature("a JSON file", (".json", ".jsonl", ".ndjson"))
_TEXT = Signature("a text file", (".csv", ".tsv", ".txt"))
_ENTRIES = (
    ("xl/workbook.xml", Signature("an Excel workbook", (".xlsx", ".xlsm"))),
    ("xl/workbook.bin", Signature("an Excel workbook", (".xlsb",))),
    (
        "word/document.xml",
        Signature("a Word document", advice="copy the table into a spreadsheet and save that as CSV"),
    ),
)
_OPEN_DOCUMENT = Signature("an OpenDocument spreadsheet", (".ods",))


PACKED = {".zip": _ZIP, ".gz": _GZIP, ".zst": _ZSTD}
"""Formats in which other files are stored."""


def check_packing(file: StoredFile) -> None:
    """Raise SourceError if a file is named like an archive or a compressed file, but is another one."""
    suffix = file.path.suffix.lower()
    if suffix not in PACKED:
        return
    found = signature(file.path)
    if found is not None and found is not PACKED[suffix]:
        raise _error(file, found)


def check_content(file: StoredFile, kind: str | None, kinds: Mapping[str, str]) -> None:
    """Raise SourceError if the content of a file shows another format than its name.

    Parameters
    ----------
    file : StoredFile
        The file.
    kind : str or None
        Format that the name says, or None if it says none that can be read.
    kinds : mapping
        Format of each ending of file names.
    """
    is_packed = file.path.suffix.lower() in PACKED
    found = signature_of_bytes(file.first_bytes(SIGNATURE_BYTES)) if is_packed else signature(file.path)
    if found is None or (found is _ZIP and kind == "excel"):
        return
    if found is _TEXT and kind in TEXT_KINDS and not (kind == "json" and _is_no_json(file)):
        return
    suffix = file.suffixes[0]
    if suffix in found.suffixes or (kind in map(kinds.get, found.suffixes) and kind not in (None, "excel")):
        return
    if kind is None and found is _TEXT:
        return
    if found is _OLD_EXCEL and suffix == ".xlsx" and _has_encrypted_workbook(file.path):
        raise SourceError(f"{file} is protected by a password; save it without one")
    raise _error(file, found)


def _is_no_json(file: StoredFile) -> bool:
    """Return whether a text begins with a letter or a quote, as the names of columns do, and JSON objects do not."""
    return re.match(rb"(\xef\xbb\xbf)?\s*[A-Za-z\"']", file.first_bytes(SIGNATURE_BYTES)) is not None


def signature(path: Path) -> Signature | None:
    """Return the format of a file, or None if it is not recognised."""
    with path.open("rb") as file:
        found = signature_of_bytes(file.read(SIGNATURE_BYTES))
    if found is not _ZIP or not zipfile.is_zipfile(path):
        return found
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and b"opendocument.spreadsheet" in archive.read("mimetype"):
                return _OPEN_DOCUMENT
    except (*ZIP_ERRORS, RuntimeError, OSError):
        return found
    return next((within for name, within in _ENTRIES if name in names), found)


def signature_of_bytes(start: bytes) -> Signature | None:
    """Return the format of a file by its first bytes, or None if it is not recognised.

    >>> signature_of_bytes(b"%PDF-1.7").described
    'a PDF document'
    """
    found = next((one for beginning, one in _BEGINNINGS if start.startswith(beginning)), None)
    if found is not None:
        return found
    if start[8:12] == b"DUCK":
        return _DUCKDB
    if start[257:262] == b"ustar":
        return _TAR
    if start[8:10] == b'{"' and int.from_bytes(start[:8], "little") < MAX_MODEL_HEADER_BYTES:
        return _MODEL
    if (
        start[:1] == b"\x80"
        and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
        and start[2:3] in (b"\x95", b"c", b"}")
    ):
        return _PICKLE
    return _signature_of_text(start)


def _signature_of_text(start: bytes) -> Signature | None:
    """Return the format of a text, or None if the first bytes are not those of a text."""
    is_wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = start.decode("utf-16" if is_wide else "utf-8-sig", errors="ignore").lstrip()
    if not text or _CONTROL.search(text):
        return None
    beginning = text[:100].lower()
    if beginning.startswith(("<!doctype html", "<html", "<table")):
        return _HTML
    if beginning.startswith("<?xml"):
        return _HTML if "<html" in text.lower() else _XML
    lines = (line.strip().lower() for line in text.splitlines())
    if next((line for line in lines if line and not line.startswith("%")), "").startswith("@relation"):
        return _ARFF
    if _JSON_OBJECT.match(text):
        return _JSON_LINES
    return _JSON if _JSON_ARRAY.match(text) else _TEXT


def _has_encrypted_workbook(path: Path) -> bool:
    """Return whether a file in the old format of Microsoft Office holds an encrypted one in the new format."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find("EncryptedPackage".encode("utf-16-le")) >= 0


def _error(file: StoredFile, found: Signature) -> SourceError:
    """Return the error about a file of another format than its name says."""
    if not found.suffixes:
        return SourceError(f"{file}: this is {found.described}; {found.advice}")
    path = file.path
    advice = "rename it to"
    if path.suffix.lower() in PACKED:
        advice = "unpack it and rename it to" if signature(path) is PACKED[path.suffix.lower()] else advice
        path = path.with_suffix("")
    if found in (_GZIP, _ZSTD):
        path = path.with_name(path.name + found.suffixes[0])
    elif path.suffix.lower() not in found.suffixes:
        path = path.with_suffix(found.suffixes[0])
    return SourceError(f"{file}: this is {found.described}; {advice} {path.name}")
