"""Open the files that a path or a pattern names."""

from __future__ import annotations

import glob
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
    ".jsonl": "json",
    ".ndjson": "json",
}


def files(data: str | Path, missing: Sequence[str] | None = None, labels: Sequence[str] = ()) -> FileSource:
    """Return the files that a path or a pattern names, as rows that can be read more than once.

    Parameters
    ----------
    data : str or Path
        A CSV, Parquet, ARFF or JSON-lines file, or a pattern such as ``"part-*.parquet"``.
    missing : sequence of str, optional
        What stands for no value in a text table, instead of NA, NaN, null and ?.
    labels : sequence of str
        Columns of a CSV file that are labels: they stay text unless they are whole numbers.

    Examples
    --------
    >>> from tanbark import Counts, sources
    >>> counts = Counts.from_batches(sources.files("part-*.parquet"), target="y")  # doctest: +SKIP
    """
    tokens = MISSING if missing is None else ("", *missing)
    given = str(data)
    paths = [Path(given)]
    if not paths[0].exists():
        if not glob.has_magic(given):
            raise SourceError(f"there is no file {given}")
        paths = [Path(p) for p in sorted(glob.glob(given, recursive=True)) if Path(p).is_file()]
        if not paths:
            raise SourceError(f"no file matches {given}")
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise SourceError(f"{given} matches files of several kinds ({', '.join(sorted(kinds))}); name one kind")
    kind = kinds.pop()
    if kind == "csv":
        return CsvFiles(paths, tokens, labels)
    if kind == "parquet":
        return ParquetFiles(paths, tokens)
    return ArffFiles(paths, tokens) if kind == "arff" else JsonFiles(paths, tokens)


def _kind(path: Path) -> str:
    if path.is_dir():
        raise SourceError(f"{path} is a folder; name its files with a pattern such as '{path}/*.csv'")
    if not path.is_file():
        raise SourceError(f"{path} is a pipe or a device, which can be read only once; write its rows to a file first")
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
        if suffixes and KINDS.get(suffixes[-1]) == "parquet":
            raise SourceError(f"{path}: Parquet is compressed by itself; unpack the file first")
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise SourceError(f"{path}: the name must end in {', '.join(KINDS)} (text may end in .gz after that)")
    return kind
