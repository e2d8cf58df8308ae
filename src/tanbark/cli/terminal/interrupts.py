"""Handling of Ctrl-C (SIGINT)."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

import typer

DEBOUNCE_SECONDS = 2.0
"""Ignore further interrupts for this long, so that repeated Ctrl-C cannot interrupt cleanup."""
RETRY_SECONDS = 0.2
"""Check after this long whether an interrupt is being handled, and send it again if not."""
CAUSE_SECONDS = 10.0
"""An error that is raised within this time of an interrupt is attributed to it."""

OWNS_PROCESS: ContextVar[bool] = ContextVar("owns process", default=False)
"""Whether the process ends with the command."""


def end_by_interrupt() -> NoReturn:
    """End the process as an unhandled interrupt does, but without a traceback.

    A shell then also ends the loop or script that runs the process. It would continue after an exit code.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise KeyboardInterrupt


@contextmanager
def handling_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT, even if a library converts it into another error.

    After the first interrupt, further ones are ignored for some seconds, also while the process ends, and errors in
    threads are not printed.
    """
    default = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(default):
        yield
        return
    handler = _InterruptHandler(default)
    thread_hook = threading.excepthook
    threading.excepthook = lambda args: None if handler.interrupted else thread_hook(args)
    signal.signal(signal.SIGINT, handler.on_interrupt)
    try:
        with _retrying(handler):
            yield
    except Exception as error:
        if not handler.recent or isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
            raise
        raise KeyboardInterrupt from error
    finally:
        if not (handler.interrupted and OWNS_PROCESS.get()):
            signal.signal(signal.SIGINT, default)
            threading.excepthook = thread_hook


class _InterruptHandler:
    """The handler of SIGINT.

    Python can lose an interrupt. An exception that is raised in a destructor or in a callback of the garbage collector
    is discarded; this includes the callbacks that run after a module is imported. Modules compiled by Cython discard
    exceptions in parts of their initialisation. If no KeyboardInterrupt is being handled shortly after an interrupt,
    the interrupt is therefore sent again.
    """

    def __init__(self, default: Callable[..., Any]) -> None:
        self._default = default
        self._last = -math.inf
        self.interrupted = False
        self.has_timer = False

    @property
    def recent(self) -> bool:
        """Whether an error that is raised now may be the result of an interrupt."""
        return time.monotonic() - self._last < CAUSE_SECONDS

    def on_interrupt(self, number: int, frame: Any) -> None:
        """Call the default handler, unless it was called just before."""
        if time.monotonic() - self._last < DEBOUNCE_SECONDS:
            return
        self._last, self.interrupted = time.monotonic(), True
        if self.has_timer:
            signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
        self._default(number, frame)

    def on_timer(self, *_: Any) -> None:
        """Send the interrupt again if no KeyboardInterrupt is being handled."""
        signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
        error = sys.exc_info()[1]
        while error is not None and not isinstance(error, KeyboardInterrupt):
            error = error.__context__
        if error is None:
            self._last = -math.inf
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _retrying(handler: _InterruptHandler) -> Iterator[None]:
    """Send lost interrupts again after a timer expires, and keep Python from printing the lost ones.

    A process has one such timer. If SIGALRM already has a handler, the caller is using it and it is left alone.
    """
    if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    unraisable_hook = sys.unraisablehook

    def hook(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            unraisable_hook(lost)

    handler.has_timer = True
    signal.signal(signal.SIGALRM, handler.on_timer)
    sys.unraisablehook = hook
    try:
        yield
    finally:
        handler.has_timer = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.unraisablehook = unraisable_hook
