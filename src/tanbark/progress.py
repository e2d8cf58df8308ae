"""The progress protocol: one signature by which all long-running work reports how far it is.

A `Progress` is called with a short text that says what is being done, the amount done so far, and the total amount, or
None while the total is unknown. Functions take one as an argument. Estimators, whose `fit` has the signature of
scikit-learn, report to the one that is `listening`, or to a `progress_bar` if they are verbose.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

Progress = Callable[[str, float, float | None], None]
"""Called with the task, the amount done and the total amount (None if it is unknown)."""

BAR_WIDTH = 30
SECONDS_BETWEEN_REPORTS = 0.2


def silent(task: str, done: float, total: float | None) -> None:
    """Report nothing."""


_listener: ContextVar[Progress] = ContextVar("progress", default=silent)


@contextmanager
def listening(progress: Progress) -> Iterator[None]:
    """Let the estimators that are fitted inside this context report to `progress`."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Progress:
    """Return the progress callback of the current context."""
    return _listener.get()


@contextmanager
def progress_bar(shown: bool) -> Iterator[Progress]:
    """Yield a callback that shows progress on stderr if `shown`, otherwise the one of the current context.

    A terminal shows a bar, a notebook a line of text that is rewritten, and a log file plain lines.
    """
    if not shown:
        yield listener()
    elif sys.stderr.isatty():
        with _terminal_bar() as progress:
            yield progress
    else:
        text = _PlainText(sys.stderr, in_place="ipykernel" in sys.modules)
        try:
            yield text
        finally:
            text.close()


@contextmanager
def _terminal_bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=BAR_WIDTH))
    with Bar(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        line = bar.add_task("", total=None)

        def show(task: str, done: float, total: float | None) -> None:
            bar.update(line, description=task, completed=done, total=total)

        yield show


class _PlainText:
    """Progress as text, at most a few times a second.

    A notebook shows one line that is rewritten in place; a log file gets a line for each report.
    """

    def __init__(self, stream: TextIO, in_place: bool) -> None:
        self._stream = stream
        self._in_place = in_place
        self._width = 0
        self._next = 0.0
        self._skipped = ""

    def __call__(self, task: str, done: float, total: float | None) -> None:
        text = task
        if total:
            filled = round(BAR_WIDTH * min(done / total, 1.0))
            text = f"{task} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done / total:.0%}"
        now = time.monotonic()
        if now < self._next and not (total and done >= total):
            self._skipped = text
            return
        self._next = now + SECONDS_BETWEEN_REPORTS
        self._write(text)

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text.ljust(self._width)}" if self._in_place else f"{text}\n")
        self._stream.flush()
        self._width = len(text)
        self._skipped = ""

    def close(self) -> None:
        """Write the last report, if it was skipped, and end the line."""
        if self._skipped:
            self._write(self._skipped)
        if self._width and self._in_place:
            self._stream.write("\n")
            self._stream.flush()
