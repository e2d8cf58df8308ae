"""Open files by path or glob pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from tanbark.sources.arff_files import ArffFiles
from tanbark.sources.arrow_files import ArrowFiles
from tanbark.sources.excel_files import ExcelFiles
from tanbark.sources.file_signatures import TEXT_KINDS, check_content, check_packing
from tanbark.sources.file_source import FileSource
from tanbark.sources.parquet_files import ParquetFiles
from tanbark.sources.source import SourceError
from tanbark.sources.stored_files import COMPRESSIONS, StoredFile, TextFile, check_encoding
from tanbark.sources.text_files import MISSING, CsvFiles, JsonFiles

KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow file",
    ".arrow": "arrow file",
    ".arrows": "arrow file",
    ".ipc": "arrow file",
    ".arff": "arff",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
"""Format of each ending of file names."""


def files(
    data: str | Path,
    missing: Sequence[str] | None = None,
    labels: Sequence[str] = (),
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> FileSource:
    """Return a source that reads one or more files.

    Parameters
    ----------
    data : str or Path
        A CSV, Excel, OpenDocument, Parquet, Feather, Arrow, ARFF or JSON file, or a glob pattern such as
        ``"part-*.parquet"``. Text files may be compressed with gzip or zstd, and every file may be the only one in a
        zip archive.
    missing : sequence of str, default=None
        Texts that represent missing values in text files, in addition to the empty text. None means NA, NaN, null
        and ?.
    labels : sequence of str, default=()
        Columns of CSV files that hold labels. They stay text unless all values are integers.
    encoding : str, default=None
        Encoding of text files, such as ``"latin-1"``. None means that of the byte order mark of a file if it has one,
        otherwise UTF-8, or Windows-1252 with a warning if the file is not valid UTF-8.
    sheet : str or int, default=None
        Sheet of Excel and OpenDocument files, by name or by number from 1. None means the first sheet with values.

    Returns
    -------
    source : FileSource
        The source, which can be read more than once.

    Raises
    ------
    SourceError
        If there is no such file, its format is not supported, or its content is not what its name says.

    See Also
    --------
    sql : Read the result of an SQL query.

    Examples
    --------
    >>> from tanbark import Counts, sources
    >>> counts = Counts.from_batches(sources.files("part-*.parquet"), target="y")  # doctest: +SKIP
    """
    tokens = MISSING if missing is None else ("", *missing)
    given = str(data)
    paths = [Path(given)]
    if not paths[0].exists():
        if paths[0].is_symlink():
            raise SourceError(f"{given} is a symbolic link that leads to no file")
        if not glob.has_magic(given):
            raise SourceError(f"there is no file {given}")
        # Path.glob does not accept absolute patterns.
        matches = sorted(glob.glob(given, recursive=True))  # noqa: PTH207 (see above)
        paths = [Path(match) for match in matches if Path(match).is_file()]
        if not paths:
            raise SourceError(f"no file matches {given}")
    if encoding is not None:
        check_encoding(encoding)
    stored = [_stored(path, encoding) for path in paths]
    kinds = {KINDS[file.suffixes[0]] for file in stored}
    if len(kinds) > 1:
        raise SourceError(f"{given} matches files of several formats ({', '.join(sorted(kinds))}); choose one format")
    kind = kinds.pop()
    if sheet is not None and kind != "excel":
        raise SourceError(f"{given} has no sheets; sheet= is for Excel and OpenDocument files")
    texts = [file for file in stored if isinstance(file, TextFile)]
    if encoding is not None and not texts:
        raise SourceError(f"{given} is not a text file; encoding= is for text files")
    if kind == "csv":
        return CsvFiles(texts, tokens, labels)
    if kind == "json":
        return JsonFiles(texts, tokens)
    if kind == "arff":
        return ArffFiles(texts, tokens)
    if kind == "excel":
        return ExcelFiles(stored, tokens, sheet)
    return ParquetFiles(stored, tokens) if kind == "parquet" else ArrowFiles(stored, tokens)


def _stored(path: Path, encoding: str | None) -> StoredFile:
    """Return a file, and raise SourceError if it cannot be read or is not what its name says."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise SourceError(f"{os.fsencode(path)!r}: the name of the file is not valid UTF-8; rename the file") from None
    if path.is_dir():
        raise SourceError(f"{path} is a folder; name its files with a pattern such as '{path}/*.csv'")
    if not path.is_file():
        raise SourceError(f"{path} is a pipe or a device, which can be read only once; write its rows to a file first")
    file = StoredFile(path)
    check_packing(file)
    suffix, compression = file.suffixes
    kind = KINDS.get(suffix)
    if kind in TEXT_KINDS:
        file = TextFile(path, encoding)
    elif kind is not None and compression:
        raise SourceError(
            f"{file}: {COMPRESSIONS[compression]} is supported for text files only, not for {suffix}; unpack the file"
        )
    check_content(file, kind, KINDS)
    if kind is None:
        packed = "" if file.inner_name == path.name else f"{file.inner_name} in "
        raise SourceError(
            f"{packed}{path}: the name must end in {', '.join(KINDS)} (text formats may add .gz or .zst, all .zip)"
        )
    return file
