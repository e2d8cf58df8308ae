"""Names of columns and of values."""

from __future__ import annotations

from collections.abc import Iterable


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has come before, None where none has.

    >>> first_repeated(["a", "b", "a", "b"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
