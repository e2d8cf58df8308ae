"""Waiting for a database in such a way that Ctrl-C is heeded."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

Found = TypeVar("Found")

OFTEN = 0.2
LONG = 5.0


def interruptible(call: Callable[[], Found], cancel: Callable[[], object] | None = None) -> Found:
    """Return what a function returns that may wait where no signal reaches it: it is called in another thread.

    After an interrupt `cancel` should make it end; what cannot be cancelled is left to end with the process.
    """
    begun = _Call(call, cancel)
    try:
        return begun.result()
    except BaseException:
        begun.end()
        raise


def each(items: Iterator[Found], cancel: Callable[[], object] | None = None) -> Iterator[Found]:
    """Yield items, none of which is None, and heed an interrupt while the next is awaited."""
    while (item := interruptible(lambda: next(items, None), cancel)) is not None:
        yield item


class _Call(Generic[Found]):
    """A function that is called in another thread."""

    def __init__(self, call: Callable[[], Found], cancel: Callable[[], object] | None) -> None:
        self._call, self._cancel = call, cancel
        self._wanted = True
        self._thread = Thread(target=self._run, daemon=True)
        self._done: Future[Found] = Future()
        # To wait for the future itself would leave its lock in disorder after an interrupt.
        self._ended: SimpleQueue[None] = SimpleQueue()

    def result(self) -> Found:
        """Return what the function returned, or raise what it raised."""
        self._thread.start()
        while not self._done.done():
            with suppress(Empty):
                self._ended.get(timeout=OFTEN)
        # A thread that Python finds at its end, though it has nothing more to do, keeps what it holds.
        self._thread.join()
        return self._done.result()

    def _run(self) -> None:
        """Call the function, unless nobody wants it any more."""
        _inside.add(self)
        try:
            if self._wanted:
                self._done.set_result(self._call())
        except BaseException as error:
            self._done.set_exception(error)
        finally:
            _inside.discard(self)
            self._ended.put(None)

    def end(self) -> None:
        """Cancel the function, and wait until its thread has ended, though not for ever."""
        self._wanted = False
        if self._cancel is None:
            return
        late = time.monotonic() + LONG
        while self in _inside and time.monotonic() < late:
            # It may have ended meanwhile; or it had not begun to wait, so that there was nothing to cancel.
            with suppress(Exception):
                self._cancel()
            with suppress(Empty):
                self._ended.get(timeout=OFTEN)
        if self._thread.is_alive():
            self._thread.join(max(late - time.monotonic(), 0.0))


_inside: set[_Call[Any]] = set()
"""The calls that have not ended."""


@atexit.register
def _end_all() -> None:
    """Get threads out of databases before Python ends: where one came back from DuckDB later, the process would abort.

    One is left there by an interrupt that comes while another is heeded.
    """
    for call in list(_inside):
        call.end()
