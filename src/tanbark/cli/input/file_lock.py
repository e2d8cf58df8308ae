"""Allow one update of a model file at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tanbark.cli.terminal.console import CommandError, err

NOTICE = 1.0
"""After so many seconds of waiting a person wants to know why."""


def was_updated(path: Path) -> bool:
    """Return whether a file has ever been updated, so that an update may be running."""
    return _lock_of(path).exists()


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextmanager
def alone(path: Path, wait: float) -> Iterator[None]:
    """Let nobody else in who calls this for the same file; where somebody is in, wait up to `wait` seconds.

    The lock is the operating system's and ends with the process that holds it, whatever ends that. It is on a hidden
    file beside `path`, which stays: were it removed, two processes could each lock a file of its name.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(_lock_of(path))
    try:
        try:
            lock.acquire(timeout=min(wait, NOTICE))
        except Timeout:
            if wait <= NOTICE:
                raise
            note = f"note: another update of {path.name} is running; waiting for it up to {wait:g} s"
            err().print(note, style="yellow", soft_wrap=True)
            lock.acquire(timeout=wait - NOTICE)
    except Timeout as error:
        raise CommandError(
            f"another update of {path} was still running after {wait:g} s; nothing was learned, so try again, or wait "
            "longer with --wait"
        ) from error
    try:
        yield
    finally:
        lock.release()
