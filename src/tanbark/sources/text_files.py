"""Reading text files: what all of them share."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tanbark.sources.errors import SourceError

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
