"""Files of text: written whole or not at all, read within bounds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tanbark.export.errors import NetworkFileError
from tanbark.network import Network
from tanbark.writing import replacing

MOST_BYTES = 2**28
MOST_SAID = 500

Path_ = str | os.PathLike[str]


def written(text: str, path: Path_ | None) -> str:
    """Return a text, having written it to a file if there is a path."""
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(text.encode())
    return text


def read(source: Path_ | IO[bytes] | IO[str], parse: Callable[[bytes], Network]) -> Network:
    """Return what a file describes; an error names the file and the line."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            content: bytes | str = file.read(MOST_BYTES + 1)
        name = os.fspath(source)
    else:
        content, name = source.read(MOST_BYTES + 1), getattr(source, "name", "the file")
    try:
        if len(content) > MOST_BYTES:
            raise NetworkFileError(f"the file is larger than {MOST_BYTES // 2**20} MB")
        return parse(content.encode() if isinstance(content, str) else content)
    except NetworkFileError as error:
        where = f"{name}, line {error.line}" if error.line else name
        # A name may be as long as the file.
        raise NetworkFileError(f"{where}: {str(error)[:MOST_SAID]}", error.line) from error.__cause__
