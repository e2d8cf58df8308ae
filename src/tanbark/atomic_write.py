"""Write a file completely or leave the old one in place."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, suffix: str = "") -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of `path` once all of it is on the disk; after an error nothing has changed.

    It is written under a hidden name that ends in `suffix`. Once this is left, not even a power cut brings the old file
    back. A link is followed, and a file that was there passes its permissions on. A device or a pipe is written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, replacing(Path(folder, "a")) as file:
    ...     _ = file.write(b"whole")
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file() and not real.is_dir():
        with real.open("wb") as device:
            yield device
        return
    try:
        file = _new_file(real, suffix)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with file:
            with suppress(FileNotFoundError):
                os.chmod(file.name, stat.S_IMODE(real.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, real)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(file.name)
        if isinstance(error, OSError) and error.errno and error.filename is None:
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise
    _sync_folder(real.parent)


def remove_leftovers(path: Path, suffix: str) -> None:
    """Remove what runs that were killed had written aside for `path` under this suffix.

    Only whoever knows that no such run is alive may call this.
    """
    real = Path(os.path.realpath(path))
    named = re.compile(rf"\.{re.escape(real.name)}\.[a-z0-9_]{{8}}{re.escape(suffix)}")
    for entry in os.scandir(real.parent):
        if named.fullmatch(entry.name):
            Path(entry).unlink(missing_ok=True)


def _new_file(path: Path, suffix: str) -> IO[bytes]:
    """Return a file beside `path`, open for writing, with the permissions that a new one gets.

    Python has no way to ask for these that threads could use at the same time (`os.umask` changes them), so that the
    module `tempfile`, whose files nobody else can read, is of no use.
    """
    while True:
        with suppress(FileExistsError):
            return path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}").open("xb")


def _sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system has a way to."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
