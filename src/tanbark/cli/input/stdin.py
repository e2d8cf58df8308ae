"""Rows from standard input, copied to a temporary file because commands may read them more than once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

STDIN = "-"
STDIN_NAME = "standard input"
STDIN_KINDS = ("csv", "jsonl", "arff", "parquet")

_copy: ContextVar[Path | None] = ContextVar("copy of standard input", default=None)


def copy_stdin(kind: str) -> Path:
    """Copy standard input to a temporary file, which `removing_stdin_copy` removes, and return its path."""
    from tanbark.cli.terminal.console import CommandError, err

    if sys.stdin is None:
        raise CommandError("standard input is closed; name a file instead of -")
    if sys.stdin.isatty():
        keys = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        err().print(f"reading rows from the terminal; press {keys} to finish")
    path = Path(tempfile.mkdtemp(prefix="tanbark-")) / f"stdin.{kind}"
    _copy.set(path)
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


@contextmanager
def removing_stdin_copy() -> Iterator[None]:
    """Remove the copy of standard input, if there is one, when the command ends."""
    try:
        yield
    finally:
        path = _copy.get()
        if path is not None:
            shutil.rmtree(path.parent, ignore_errors=True)


def with_stdin_name(message: str) -> str:
    """Return a message with the path of the temporary file replaced by "standard input"."""
    path = _copy.get()
    return message if path is None else message.replace(str(path), STDIN_NAME)
