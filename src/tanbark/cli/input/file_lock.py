"""A lock that allows one update of a model file at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tanbark.cli.terminal.console import CommandError, err

SECONDS_BEFORE_NOTE = 1.0
"""A note explains the waiting after this many seconds."""


def was_updated(path: Path) -> bool:
    """Return whether a file has ever been updated, so that an update may be running."""
    return _lock_path(path).exists()


def _lock_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextmanager
def exclusive_lock(path: Path, wait: float) -> Iterator[None]:
    """Hold the exclusive lock of a model file; wait up to `wait` seconds for it.

    The operating system releases the lock when the process ends, however it ends. The lock is on a hidden file next to
    `path`, which is never removed: otherwise two processes could each lock a different file of the same name.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(_lock_path(path))
    try:
        try:
            lock.acquire(timeout=min(wait, SECONDS_BEFORE_NOTE))
        except Timeout:
            if wait <= SECONDS_BEFORE_NOTE:
                raise
            note = f"note: another update of {path.name} is running; waiting up to {wait:g} s for it"
            err().print(note, style="yellow", soft_wrap=True)
            lock.acquire(timeout=wait - SECONDS_BEFORE_NOTE)
    except Timeout as error:
        raise CommandError(
            f"another update of {path} was still running after {wait:g} s, so the model was not changed; try again or "
            "wait longer with --wait"
        ) from error
    try:
        yield
    finally:
        lock.release()
