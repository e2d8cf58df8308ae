"""What went wrong, in one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from tanbark.cli.stdin import by_name


class CommandError(Exception):
    """Something that the user can put right, said in one sentence."""


def sentence(error: BaseException) -> str:
    """Return what an exception says, on one line.

    >>> sentence(ValueError("column 'x' is\\n  odd"))
    "column 'x' is odd"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, OSError) and error.strerror:
        return f"what was to be written could not be: {error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table; leave columns out with --ignore"
    text = as_option(" ".join(by_name(str(error)).split()))
    known = isinstance(error, CommandError | ValueError | TypeError | OSError) or type(error).__module__ == "_duckdb"
    known = known or (isinstance(error, ImportError) and "tanbark[" in text)
    return text if known and text else f"{type(error).__name__}: {text} (tanbark --debug shows where)"


def as_option(message: str) -> str:
    """Return a message of the library's with settings as they are written on the command line.

    >>> as_option("use search='greedy'")
    'use --set search=greedy'
    >>> as_option("say so with missing=")
    'say so with --missing'
    """
    return re.sub(r"\bsearch='(\w+)'", r"--set search=\1", message.replace("with missing=", "with --missing"))


def check_writable(path: Path, read: Iterable[Path] = ()) -> None:
    """Raise where a file cannot be written, or is one of those that are read, before there is anything to write."""
    if any(path.resolve() == one.resolve() or (path.exists() and one.exists() and path.samefile(one)) for one in read):
        raise CommandError(f"{path} is a file that this command reads or writes already; name another to write to")
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no such folder, or it is one itself")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{path} cannot be written: permission denied")
