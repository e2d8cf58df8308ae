"""Open files by path or glob pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from tanbark.sources.arff_files import ArffFiles
from tanbark.sources.file_source import FileSource
from tanbark.sources.parquet_files import ParquetFiles
from tanbark.sources.source import SourceError
from tanbark.sources.text_files import MISSING, CsvFiles, JsonFiles

KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


def files(data: str | Path, missing: Sequence[str] | None = None, labels: Sequence[str] = ()) -> FileSource:
    """Return a source that reads one or more files.

    Parameters
    ----------
    data : str or Path
        A CSV, Parquet, ARFF or JSON Lines file, or a glob pattern such as ``"part-*.parquet"``. Text files may be
        compressed with gzip.
    missing : sequence of str, default=None
        Texts that represent missing values in text files, in addition to the empty text. None means NA, NaN, null
        and ?.
    labels : sequence of str, default=()
        Columns of CSV files that hold labels. They stay text unless all values are integers.

    Returns
    -------
    source : FileSource
        The source, which can be read more than once.

    Raises
    ------
    SourceError
        If there is no such file, or its format is not supported.

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
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise SourceError(f"{given} matches files of several formats ({', '.join(sorted(kinds))}); choose one format")
    kind = kinds.pop()
    if kind == "csv":
        return CsvFiles(paths, tokens, labels)
    if kind == "parquet":
        return ParquetFiles(paths, tokens)
    return ArffFiles(paths, tokens) if kind == "arff" else JsonFiles(paths, tokens)


def _kind(path: Path) -> str:
    """Return the format of a file by its extension, and raise SourceError if it cannot be read."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise SourceError(f"{os.fsencode(path)!r}: the name of the file is not valid UTF-8; rename the file") from None
    if path.is_dir():
        raise SourceError(f"{path} is a folder; name its files with a pattern such as '{path}/*.csv'")
    if not path.is_file():
        raise SourceError(f"{path} is a pipe or a device, which can be read only once; write its rows to a file first")
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
        if suffixes and KINDS.get(suffixes[-1]) == "parquet":
            raise SourceError(
                f"{path}: gzip is not supported for Parquet, which has its own compression; unpack the file first"
            )
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise SourceError(f"{path}: the name must end in {', '.join(KINDS)} (text formats may add .gz)")
    return kind
