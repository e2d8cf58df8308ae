"""Ctrl-C: it stops a command wherever it comes, and once."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

SAME = 2.0
"""For so many seconds a further interrupt is the same wish: who presses Ctrl-C often would tear what clears up."""
SOON = 0.05


@contextmanager
def heeding() -> Iterator[None]:
    """Let an interrupt stop what is inside as a KeyboardInterrupt, whatever other error somebody made of it.

    Once there was one, interrupts that follow within seconds are ignored also while the process ends.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    pressed = _Pressed(usual)
    signal.signal(signal.SIGINT, pressed)
    try:
        with _sending_again(pressed):
            yield
    except Exception as error:
        if not pressed.ever or isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
            raise
        raise KeyboardInterrupt from error
    finally:
        if not pressed.ever:
            signal.signal(signal.SIGINT, usual)


class _Pressed:
    """What is called when somebody presses Ctrl-C."""

    def __init__(self, usual: Callable[..., Any]) -> None:
        self._usual = usual
        self._last = -math.inf
        self.ever = False

    def __call__(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        if now - self._last < SAME:
            return
        self._last, self.ever = now, True
        self._usual(number, frame)

    def again(self, *_: Any) -> None:
        """Interrupt as if nobody had before."""
        self._last = -math.inf
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _sending_again(pressed: _Pressed) -> Iterator[None]:
    """Send an interrupt again that came while Python cleared something away, where nothing can be raised.

    So it is after a module was imported, and whenever an object is forgotten. A clock sends it, some moments later: in
    the midst of being told that it was lost, it would be lost again.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    told = sys.unraisablehook

    def tell(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, SOON)
        else:
            told(lost)

    rung = signal.signal(signal.SIGALRM, pressed.again)
    sys.unraisablehook = tell
    try:
        yield
    finally:
        sys.unraisablehook = told
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, rung)
