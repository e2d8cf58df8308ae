"""Rows from standard input, copied to a temporary file because commands may read them more than once."""

from __future__ import annotations

import re
import secrets
import shutil
import sys
import tempfile
from contextvars import ContextVar
from pathlib import Path

STDIN = "-"
STDIN_NAME = "standard input"
STDIN_KINDS = ("csv", "jsonl", "arff", "parquet", "xlsx", "feather")

_stdin_copy: ContextVar[Path | None] = ContextVar("copy of standard input", default=None)


def copy_stdin(kind: str) -> Path:
    """Copy standard input to a temporary file, which is removed when the command ends, and return its path."""
    from tanbark.cli.terminal.console import CLEANUP, CommandError, err

    if sys.stdin is None:
        raise CommandError("standard input is closed; name a file instead of -")
    if sys.stdin.isatty():
        keys = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        err().print(f"reading rows from the terminal; press {keys} to finish")
    # The folder is removed even if a signal arrives while it is created.
    folder = Path(tempfile.gettempdir(), f"tanbark-{secrets.token_hex(8)}")
    CLEANUP.get().callback(shutil.rmtree, folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    path = folder / f"stdin.{kind}"
    _stdin_copy.set(path)
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def with_stdin_name(message: str) -> str:
    """Return a message with the path of the temporary file replaced by "standard input"."""
    path = _stdin_copy.get()
    if path is None:
        return message
    message = re.sub(rf"rename it to {path.stem}\.\w+\.(gz|zst)", r"unpack it, for example with zcat", message)
    message = re.sub(rf"rename it to {path.stem}\.(\w+)", r"use --from \1", message)
    return message.replace(str(path), STDIN_NAME)
