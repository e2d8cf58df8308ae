"""Ctrl-C that comes where Python can only ignore it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SOON = 0.05


@contextmanager
def heeding() -> Iterator[None]:
    """Send an interrupt again that came while Python cleared something away, where nothing can be raised.

    So it is after a module was imported, and whenever an object is forgotten. A clock sends it, some moments later: in
    the midst of being told that it was lost, it would be lost again.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    told = sys.unraisablehook

    def tell(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, SOON)
        else:
            told(lost)

    rung = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.unraisablehook = tell
    try:
        yield
    finally:
        sys.unraisablehook = told
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, rung)
