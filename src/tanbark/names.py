"""Checks of names, free of heavy imports so that the command line starts quickly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def first_repeated(names: Iterable[T]) -> T | None:
    """Return the first item that repeats an earlier one, or None if all are distinct.

    >>> first_repeated(["a", "b", "a", "b"])
    'a'
    """
    seen: set[T] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
