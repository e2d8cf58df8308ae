"""Handle Ctrl-C."""

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

SAME = 2.0
"""For so many seconds a further interrupt is the same wish: who presses Ctrl-C often would tear what clears up."""
OFTEN = 0.2
"""After so many seconds it is looked whether an interrupt is being heeded."""
LONG = 10.0
"""For so many seconds an error may be what somebody made of an interrupt."""

OWN_PROCESS: ContextVar[bool] = ContextVar("own process", default=False)
"""Whether the process ends with the command."""


def end_by_interrupt() -> NoReturn:
    """End the process as an interrupt ends one that knows nothing of interrupts, but without a word.

    From this a shell knows that the loop or script that it runs should end too: an exit code says that all is in order.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise KeyboardInterrupt


@contextmanager
def heeding() -> Iterator[None]:
    """Let an interrupt stop what is inside as a KeyboardInterrupt, whatever other error somebody made of it.

    Once there was one, those that follow within seconds are ignored, also while the process ends, and threads do not
    tell what became of them.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    wish = _Wish(usual)
    failed = threading.excepthook
    threading.excepthook = lambda what: None if wish.told else failed(what)
    signal.signal(signal.SIGINT, wish.pressed)
    try:
        with _looking(wish):
            yield
    except Exception as error:
        if not wish.recent or isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
            raise
        raise KeyboardInterrupt from error
    finally:
        if not (wish.told and OWN_PROCESS.get()):
            signal.signal(signal.SIGINT, usual)
            threading.excepthook = failed


class _Wish:
    """That a command should stop.

    An interrupt may be lost: it comes while Python clears something away, where nothing can be raised (so it is after
    a module was imported, and whenever an object is forgotten), or in code that goes on whatever happens (so begin
    modules that Cython wrote). Where no interrupt is being heeded a moment later, it is sent again.
    """

    def __init__(self, usual: Callable[..., Any]) -> None:
        self._usual = usual
        self._last = -math.inf
        self.told = False
        self.looked_after = False

    @property
    def recent(self) -> bool:
        """Whether there was an interrupt of which an error that comes now may have been made."""
        return time.monotonic() - self._last < LONG

    def pressed(self, number: int, frame: Any) -> None:
        """Interrupt, unless that was done just now."""
        if time.monotonic() - self._last < SAME:
            return
        self._last, self.told = time.monotonic(), True
        if self.looked_after:
            signal.setitimer(signal.ITIMER_REAL, OFTEN)
        self._usual(number, frame)

    def look(self, *_: Any) -> None:
        """Interrupt again where nobody heeds it."""
        signal.setitimer(signal.ITIMER_REAL, OFTEN)
        error = sys.exc_info()[1]
        while error is not None and not isinstance(error, KeyboardInterrupt):
            error = error.__context__
        if error is None:
            self._last = -math.inf
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _looking(wish: _Wish) -> Iterator[None]:
    """Let a clock look after a wish, and Python not tell of interrupts that it has lost.

    There is one clock; whoever called the command may be using it.
    """
    if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    told = sys.unraisablehook

    def tell(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            told(lost)

    wish.looked_after = True
    signal.signal(signal.SIGALRM, wish.look)
    sys.unraisablehook = tell
    try:
        yield
    finally:
        wish.looked_after = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.unraisablehook = told
