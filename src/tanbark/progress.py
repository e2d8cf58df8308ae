"""The progress protocol: how long-running work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Report = Callable[[str, float], None]
"""What is called with a few words and the share of the work that is done, NaN where nobody can know it."""


def silent(words: str, share: float) -> None:
    """Tell nobody."""


_listener: ContextVar[Report] = ContextVar("report", default=silent)


@contextmanager
def listening(report: Report) -> Iterator[None]:
    """Have the searches of all classifiers that are fitted inside tell how far they are."""
    token = _listener.set(report)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Report:
    """Return who is listening."""
    return _listener.get()
