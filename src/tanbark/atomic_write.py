"""Atomic replacement of files, and locks that allow one writer at a time."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

TEMPORARY_SUFFIX = ".part"
"""The end of the names of temporary files, so that no file of a user is taken for one."""
CLOSE_BEFORE_RENAME = os.name == "nt"
"""Windows does not rename open files."""
SECONDS_BEFORE_NOTICE = 1.0
"""The time after which `exclusive_lock` reports that it is waiting."""


@contextmanager
def replacing(path: Path, suffix: str = TEMPORARY_SUFFIX) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces `path` when the context exits; after an error, `path` is unchanged.

    The temporary file has a hidden name that ends in `suffix`; those of killed processes are removed. Both the file
    and its folder are synced to disk, so that the replacement survives a power failure. Symbolic links are followed,
    and the permissions of an existing file are kept. Devices and pipes are written to directly.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, replacing(Path(folder, "a")) as file:
    ...     _ = file.write(b"content")
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file() and not real.is_dir():
        with real.open("wb") as device:
            yield device
        return
    try:
        file = _new_file(real, suffix)
        remove_leftovers(real, suffix)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with file:
            with suppress(FileNotFoundError):
                Path(file.name).chmod(stat.S_IMODE(real.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not CLOSE_BEFORE_RENAME:
                # While the lock is held, no other process takes the file for a leftover.
                Path(file.name).replace(real)
        if CLOSE_BEFORE_RENAME:
            Path(file.name).replace(real)
    except BaseException as error:
        Path(file.name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename is None:
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise
    _sync_folder(real.parent)


def remove_leftovers(path: Path, suffix: str) -> None:
    """Remove the temporary files that killed processes left behind when replacing `path` with this suffix.

    A process that is still writing holds the lock of its temporary file, which is left alone.
    """
    real = Path(os.path.realpath(path))
    pattern = re.compile(rf"\.{re.escape(real.name)}\.[a-z0-9_]{{8}}{re.escape(suffix)}")
    for entry in os.scandir(real.parent):
        if not pattern.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
            continue
        # On Windows, which has no such locks, a file that is being written cannot be removed.
        with suppress(OSError), Path(entry).open("rb") as leftover:
            if _lock_unless_held(leftover):
                Path(entry).unlink(missing_ok=True)


def _lock_unless_held(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed, and return False if another process has locked it.

    Raise OSError if the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _new_file(path: Path, suffix: str) -> IO[bytes]:
    """Create a file next to `path` with the default permissions of new files, open it for writing and lock it.

    `tempfile` creates files that only the owner can read. Restoring the default permissions would require reading the
    umask, which is possible only by changing it (`os.umask`) and therefore not thread-safe.
    """
    while True:
        with suppress(FileExistsError):
            file = path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}").open("xb")
            if not _taken_for_leftover(file):
                return file
            file.close()


def _taken_for_leftover(new: IO[bytes]) -> bool:
    """Lock a new file, and return whether another process removed it, or is about to, before it was locked."""
    try:
        return not _lock_unless_held(new) or not os.fstat(new.fileno()).st_nlink
    except OSError:  # The file system has no locks, so that no process removes leftovers.
        return False


def _sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk, if the system supports it."""
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


def has_lock(path: Path) -> bool:
    """Return whether a file has ever been locked, so that another process may be writing it."""
    return _lock_path(path).exists()


def _lock_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextmanager
def exclusive_lock(path: Path, wait: float, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the exclusive lock of a file.

    The operating system releases the lock when the process ends, however it ends. The lock is on a hidden file next to
    `path`, which is never removed: otherwise two processes could each lock a different file of the same name.

    Parameters
    ----------
    path : Path
    wait : float
        The number of seconds to wait for another process that holds the lock.
    on_wait : callable
        Called if the lock is not free after a second.

    Raises
    ------
    TimeoutError
        If the lock is not free after `wait` seconds.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(_lock_path(path))
    try:
        try:
            lock.acquire(timeout=min(wait, SECONDS_BEFORE_NOTICE))
        except Timeout:
            if wait <= SECONDS_BEFORE_NOTICE:
                raise
            on_wait()
            lock.acquire(timeout=wait - SECONDS_BEFORE_NOTICE)
    except Timeout as error:
        raise TimeoutError(f"another update of {path} was still running after {wait:g} s") from error
    try:
        yield
    finally:
        lock.release()
