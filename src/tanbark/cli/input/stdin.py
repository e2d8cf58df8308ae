"""Rows from standard input, kept in a file while a command runs, since they are read more than once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

STDIN = "-"
CALLED = "standard input"
KINDS = ("csv", "jsonl", "arff", "parquet")

_spool: ContextVar[Path | None] = ContextVar("spool", default=None)


def spooled(kind: str) -> Path:
    """Return a file of what standard input holds; `spooling` removes it."""
    from tanbark.cli.terminal.console import CommandError, err

    if sys.stdin is None:
        raise CommandError("standard input is closed; name a file instead of -")
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        err().print(f"reading rows from the terminal; end them with {end}")
    path = Path(tempfile.mkdtemp(prefix="tanbark-")) / f"stdin.{kind}"
    _spool.set(path)
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


@contextmanager
def spooling() -> Iterator[None]:
    """Remove the file, however a command ends."""
    try:
        yield
    finally:
        path = _spool.get()
        if path is not None:
            shutil.rmtree(path.parent, ignore_errors=True)


def by_name(message: str) -> str:
    """Return a message in which the file is called what a person knows it as."""
    path = _spool.get()
    return message if path is None else message.replace(str(path), CALLED)
