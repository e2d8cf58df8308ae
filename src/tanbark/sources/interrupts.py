"""Waiting for a database in such a way that Ctrl-C is heeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Found = TypeVar("Found")

OFTEN = 0.2
LONG = 5.0


def interruptible(call: Callable[[], Found], cancel: Callable[[], object] | None = None) -> Found:
    """Return what a function returns that may wait where no signal reaches it: it is called in another thread.

    After an interrupt `cancel` should make it end; what cannot be cancelled is left to end with the process.
    """
    done: Future[Found] = Future()
    # To wait for the future itself would leave its lock in disorder after an interrupt.
    ended: SimpleQueue[object] = SimpleQueue()
    done.add_done_callback(ended.put)

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        while not done.done():
            with suppress(Empty):
                ended.get(timeout=OFTEN)
    except (KeyboardInterrupt, SystemExit):
        if cancel is not None:
            cancel()
            # Not only its answer is awaited: nothing shall be inside the database when the process ends.
            thread.join(LONG)
        raise
    return done.result()


def each(items: Iterator[Found], cancel: Callable[[], object] | None = None) -> Iterator[Found]:
    """Yield items, none of which is None, and heed an interrupt while the next is awaited."""
    while (item := interruptible(lambda: next(items, None), cancel)) is not None:
        yield item
